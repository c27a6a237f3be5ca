// A key's settings as the texts of a form, and back.
import type { Operations } from '../api/schema.ts';
import type { Key } from './keys-page.tsx';

export interface KeyTexts {
  readonly name: string;
  readonly roles: readonly ('models' | 'admin')[];
  /** Behind commas; empty: all. */
  readonly models: string;
  /** Of the budget; empty: none. */
  readonly usd: string;
  readonly per: string;
  /** A minute; empty: no limit. */
  readonly requests: string;
  /** As `datetime-local` has it, in the zone of who looks; empty: never. */
  readonly expires: string;
  /** Limits and budgets that the form has no field for: they stay as they are. */
  readonly rest: Pick<Key, 'limits' | 'budgets'>;
}

type Budget = Key['budgets'][number];
type Limit = Key['limits'][number];

/** What the form's one field for budgets means: nothing besides money and time. */
function isPlainBudget(budget: Budget): boolean {
  return Object.entries(budget).every(([name, value]) => ['usd', 'per'].includes(name) || value == null);
}

function isPlainLimit(limit: Limit): boolean {
  return (
    limit.requests !== undefined &&
    limit.per === 'minute' &&
    Object.entries(limit).every(([name, value]) => ['requests', 'per'].includes(name) || value == null)
  );
}

/** @param key null: the usual settings of a new one */
export function textsOf(key: Key | null): KeyTexts {
  const budget = key?.budgets.find(isPlainBudget);
  const limit = key?.limits.find(isPlainLimit);
  return {
    name: key?.name ?? '',
    roles: key?.roles ?? ['models'],
    models: key?.models?.join(', ') ?? '',
    usd: budget ? String(budget.usd) : '',
    per: budget?.per ?? 'month',
    requests: limit ? String(limit.requests) : '',
    expires: key?.expires_at == null ? '' : localTime(key.expires_at),
    rest: {
      budgets: key?.budgets.filter((each) => each !== budget) ?? [],
      limits: key?.limits.filter((each) => each !== limit) ?? [],
    },
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
    budgets: [
      ...(texts.usd === '' ? [] : [{ usd: Number(texts.usd), per: texts.per }]),
      ...texts.rest.budgets,
    ],
    limits: [
      ...(texts.requests === '' ? [] : [{ requests: Number(texts.requests), per: 'minute' }]),
      ...texts.rest.limits,
    ],
    expires_at: texts.expires === '' ? null : new Date(texts.expires).toISOString(),
  };
}

function localTime(iso: string): string {
  const time = new Date(iso);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}
