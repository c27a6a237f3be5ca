// Query parameters that filter generations, shared by the list, its counts and its facets.
import { TEXTS } from '../../canonical/index.ts';
import { z } from 'zod';
import type { KeyCommands } from '../../accounts/auth/index.ts';
import { OUTCOMES, REQUEST_STATES } from '../../accounts/ledger/index.ts';
import type { GenerationFilters } from '../../accounts/ports/index.ts';
import { isFound } from './page.ts';
import { momentMs, time } from './time.ts';
import type { UsualTimes } from './usual-times.ts';

/** Maximum number of keys that a text search matches by name. */
const MOST_KEYS = 100;

/** Largest cost in USD whose nano-dollars are an exact number, and one for PostgreSQL. */
const MOST_USD = Math.floor(Number.MAX_SAFE_INTEGER / 1e9);

const several = (what: string) => z.string().optional().describe(`${what}, separated by commas.`);

/** `answered` is the former name of `ok`. */
const WORDS: readonly string[] = [...OUTCOMES, 'answered'];

function someOf(words: readonly string[], what: string) {
  const word = `(?:${words.join('|')})`;
  return z
    .string()
    .regex(new RegExp(`^${word}(,${word})*$`), {
      error: TEXTS.mustBeSomeOf(words),
    })
    .optional()
    .describe(`${what}, separated by commas.`);
}

/** Query parameters. */
export const GENERATION_FILTERS = {
  project: several('Projects'),
  key: several('Ids of keys'),
  model: several('Models that ran, or were requested if none ran'),
  requested_model: several('Requested models, as written by clients'),
  provider: several('Providers that responded or were tried last'),
  attempted: several('Providers that were tried, even if another one responded'),
  endpoint: several('Endpoints'),
  protocol: several('Protocols of clients'),
  end_user: several('End users, as in records'),
  status: z
    .string()
    .regex(/^\d{3}(,\d{3})*$/, { error: 'must be HTTP statuses separated by commas' })
    .optional()
    .describe('HTTP statuses that clients got, separated by commas.'),
  outcome: someOf(WORDS, 'Outcomes'),
  state: someOf(REQUEST_STATES, 'States'),
  error_kind: several('Kinds of errors'),
  min_cost_usd: z.coerce.number().min(0).max(MOST_USD).optional().describe('Minimum cost in USD.'),
  min_duration_ms: z.coerce
    .number()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .optional()
    .describe('Minimum duration in milliseconds.'),
  min_attempts: z.coerce.number().int().min(0).optional().describe('Minimum number of attempts.'),
  slow: z
    .enum(['true', 'false'])
    .optional()
    .describe(
      '`true`: only requests slower than 95 % of the requests at their endpoint in the last 24 hours.',
    ),
  text: z
    .string()
    .max(200)
    .optional()
    .describe(
      'Part of the name of a model or key, the id of a key, or the first 4 or more characters of an id.',
    ),
  from: time.optional().describe('Only requests at or after this time.'),
  to: time.optional().describe('Only requests before this time.'),
};

const querySchema = z.strictObject(GENERATION_FILTERS);
export type GenerationFilterQuery = z.output<typeof querySchema>;

interface FilterDependencies {
  readonly keys: Pick<KeyCommands, 'configured' | 'list'>;
  readonly usual: Pick<UsualTimes, 'slow'>;
  /** Time zone of days in queries. */
  readonly timeZone: string;
}

/** Filters from query parameters. */
export async function generationFilters(
  query: GenerationFilterQuery,
  { keys, usual, timeZone }: FilterDependencies,
): Promise<GenerationFilters> {
  const outcome = namesIn(query.outcome)?.map((word) => OUTCOMES.find((each) => each === word) ?? 'ok');
  const state = namesIn(query.state)?.flatMap((word) => REQUEST_STATES.find((each) => each === word) ?? []);
  const text = query.text?.trim();
  return {
    project: namesIn(query.project),
    key: namesIn(query.key),
    model: namesIn(query.model),
    requestedModel: namesIn(query.requested_model),
    provider: namesIn(query.provider),
    attempted: namesIn(query.attempted),
    endpoint: namesIn(query.endpoint),
    protocol: namesIn(query.protocol),
    endUser: namesIn(query.end_user),
    status: namesIn(query.status)?.map(Number),
    outcome,
    state,
    errorKind: namesIn(query.error_kind),
    minCostUsd: query.min_cost_usd,
    minDurationMs: query.min_duration_ms,
    minAttempts: query.min_attempts,
    slowerThan: query.slow === 'true' ? await usual.slow() : undefined,
    text: text ? { text, keyIds: await keysWith(text, keys) } : undefined,
    fromMs: momentMs(query.from, timeZone),
    toMs: momentMs(query.to, timeZone),
  };
}

async function keysWith(text: string, keys: FilterDependencies['keys']): Promise<readonly string[]> {
  const inFile = keys.configured().filter(({ id, name }) => isFound(text, id, name));
  const stored = await keys.list({ limit: MOST_KEYS, order: 'desc', search: text, projectId: undefined });
  return [...inFile, ...stored.entries].map(({ id }) => id);
}

/** Names of keys by id. Deleted keys are missing. */
export async function keyNames(
  ids: readonly string[],
  keys: FilterDependencies['keys'],
): Promise<ReadonlyMap<string, string>> {
  const wanted = [...new Set(ids)];
  const found = keys.configured().filter(({ id }) => wanted.includes(id));
  const stored =
    wanted.length > found.length
      ? (await keys.list({ limit: wanted.length, order: 'asc', ids: wanted, projectId: undefined })).entries
      : [];
  return new Map([...found, ...stored].map(({ id, name }) => [id, name]));
}

/** Splits a comma-separated list. */
export function namesIn(given: string | undefined): readonly string[] | undefined {
  return given?.split(',').map((name) => name.trim());
}
