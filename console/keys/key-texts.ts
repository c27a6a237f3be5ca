// A key's settings as the texts of a form, and back.
import type { Answer } from '../api/client.ts';
import type { Operations } from '../api/schema.ts';
import { allowanceOf, ownerOf, type Allowance } from './allowance.ts';

export type Key = Answer<'GET /keys'>['data'][number];

export interface KeyTexts {
  readonly name: string;
  readonly roles: readonly ('models' | 'admin')[];
  /** Behind commas; empty: all. */
  readonly models: string;
  readonly allowance: Allowance;
  /** Whether what its requests say is kept. */
  readonly logContent: 'as configured' | 'yes' | 'no';
  /** As `datetime-local` has it, in the zone of who looks; empty: never. */
  readonly expires: string;
}

/** @param key null: the usual settings of a new one */
export function textsOf(key: Key | null): KeyTexts {
  return {
    name: key?.name ?? '',
    roles: key?.roles ?? ['models'],
    models: key?.models?.join(', ') ?? '',
    allowance: allowanceOf(key),
    logContent: key?.log_content == null ? 'as configured' : key.log_content ? 'yes' : 'no',
    expires: key?.expires_at == null ? '' : localTime(key.expires_at),
  };
}

/** What is sent; both makes and changes of keys take it. */
export function settingsOf(texts: KeyTexts): Operations['POST /keys']['body'] {
  const models = texts.models
    .split(',')
    .map((model) => model.trim())
    .filter((model) => model !== '');
  return {
    name: texts.name,
    roles: texts.roles,
    models: models.length === 0 ? null : models,
    ...ownerOf(texts.allowance),
    log_content: texts.logContent === 'as configured' ? null : texts.logContent === 'yes',
    expires_at: texts.expires === '' ? null : new Date(texts.expires).toISOString(),
  };
}

function localTime(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
