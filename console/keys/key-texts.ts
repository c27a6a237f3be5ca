// Converts a key's settings to form values and back.
import type { Answer } from '../api/client.ts';
import type { Operations } from '../api/schema.ts';
import { limitWords } from '../format/numbers.ts';
import { allowanceOf, ownerOf, type Allowance } from './allowance.ts';

export type Key = Answer<'GET /keys'>['data'][number];
type KeySettings = Pick<
  Key,
  'name' | 'roles' | 'models' | 'limits' | 'budgets' | 'log_content' | 'expires_at'
>;

export interface KeyTexts {
  readonly name: string;
  readonly roles: readonly ('models' | 'admin')[];
  /** Ids, and patterns with `*`; none: all. */
  readonly models: readonly string[];
  readonly allowance: Allowance;
  /** Storage of request and response bodies. */
  readonly logContent: 'as configured' | 'yes' | 'no';
  /** In the format of `datetime-local`, in the user's time zone; empty: never. */
  readonly expires: string;
}

/** @param key null: defaults of a new key */
export function textsOf(key: KeySettings | null): KeyTexts {
  return {
    name: key?.name ?? '',
    roles: key?.roles ?? ['models'],
    models: key?.models ?? [],
    allowance: allowanceOf(key),
    logContent: key?.log_content == null ? 'as configured' : key.log_content ? 'yes' : 'no',
    expires: key?.expires_at == null ? '' : localTime(key.expires_at),
  };
}

/** Request body, both to create and to change a key. */
export function settingsOf(texts: KeyTexts): Operations['POST /keys']['body'] {
  return {
    name: texts.name,
    roles: texts.roles,
    models: texts.models.length === 0 ? null : texts.models,
    ...ownerOf(texts.allowance),
    log_content: texts.logContent === 'as configured' ? null : texts.logContent === 'yes',
    expires_at: texts.expires === '' ? null : new Date(texts.expires).toISOString(),
  };
}

function localTime(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Short form of a limit: `$20 / month`. @param text as in the API: `$20.00 per month` */
export function shortLimit(text: string): string {
  return limitWords(text)
    .replace(/\.00\b/, '')
    .replace(' per ', ' / ');
}
