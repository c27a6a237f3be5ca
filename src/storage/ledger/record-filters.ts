// Filters of generations in SQL: conditions on rows of records, and on the groups of names that sums know.
import { type RawBuilder, sql } from 'kysely';
import { OUTCOMES, REQUEST_STATES } from '../../accounts/ledger/index.ts';
import { nanoUsdOf } from '../../accounts/limits/index.ts';
import type { GenerationFilters, UsageDimension, UsageQuery } from '../../accounts/ports/index.ts';
import { othersRun } from '../others-run.ts';
import { type Database, rowsOf } from '../tables/database.ts';
import { oneOf } from './report-queries.ts';

/** Names of groups that a filter of its own is for. */
const NAMES: readonly (readonly [keyof GenerationFilters, UsageDimension])[] = [
  ['project', 'project'],
  ['key', 'key'],
  ['model', 'model'],
  ['requestedModel', 'requested_model'],
  ['protocol', 'protocol'],
];
/** Names that an attempt may have others of than its request. */
const OF_ATTEMPTS: typeof NAMES = [
  ['provider', 'provider'],
  ['endpoint', 'endpoint'],
  ['outcome', 'outcome'],
];

/** First digits of an id that are enough to look for it. */
const LEAST_DIGITS = 4;
const ID_DIGITS = 32;

/** Condition on records whose group meets a condition. */
export type InGroups = (groups: RawBuilder<unknown>) => RawBuilder<unknown>;

/** Groups that are named by their numbers; more are looked up again by each statement. */
const MOST_GROUPS = 2_000;

/**
 * Looks groups up once for all statements of a question. PostgreSQL needs one statement and looks them up in it.
 * @returns what `passing` takes
 */
export async function groupsOnce({ kind, ask }: Database, f: GenerationFilters): Promise<InGroups> {
  if (kind === 'postgres') return inGroups;
  const asked: RawBuilder<unknown>[] = [];
  passing(f, (groups) => {
    asked.push(groups);
    return inGroups(groups);
  });
  const found: RawBuilder<unknown>[] = [];
  for (const groups of asked) {
    const rows = await ask(() =>
      rowsOf<{ id: number }>(
        sql`select g.id from usage_groups g where ${groups} limit ${sql.lit(MOST_GROUPS + 1)}`,
      ),
    );
    const ids = rows.map(({ id }) => id);
    // SQLite filters rows by a subquery sooner than by a list: it makes a Bloom filter of it.
    const known = sql`grp in (select value from json_each(${JSON.stringify(ids)}))`;
    found.push(ids.length > MOST_GROUPS ? inGroups(groups) : known);
    await othersRun();
  }
  // Conditions come in the same order each time.
  let at = 0;
  return () => found[at++ % found.length] ?? sql`false`;
}

/** Rows that pass. Times are left out where the range of ids says them. @param of looks groups up */
export function passing(f: GenerationFilters, of: InGroups = inGroups): RawBuilder<unknown> {
  // Numbers are compared sooner than names are looked up.
  const conditions: RawBuilder<unknown>[] = leavesOutOk(f) ? [NOT_OK] : [];
  if (f.endUser) {
    const named = f.endUser.filter((name) => name !== '');
    // None is asked for by the empty name, as everywhere.
    const none = f.endUser.includes('') ? sql`or end_user is null` : sql``;
    conditions.push(sql`(end_user is not null and ${oneOf('end_user', named)} ${none})`);
  }
  if (f.status) conditions.push(oneOf('status', f.status));
  if (f.state)
    conditions.push(
      oneOf(
        'state',
        f.state.map((state) => REQUEST_STATES.indexOf(state)),
      ),
    );
  if (f.errorKind) conditions.push(oneOf('error_kind', f.errorKind));
  if (f.minCostUsd !== undefined) conditions.push(sql`nano_usd >= ${nanoUsdOf(f.minCostUsd)}`);
  if (f.minDurationMs !== undefined) conditions.push(sql`duration_ms >= ${f.minDurationMs}`);
  if (f.minAttempts !== undefined) conditions.push(sql`attempts >= ${f.minAttempts}`);
  if (f.fromMs !== undefined) conditions.push(sql`created_at >= ${f.fromMs}`);
  if (f.toMs !== undefined) conditions.push(sql`created_at < ${f.toMs}`);
  const names = namesOf(f, [...NAMES, ...OF_ATTEMPTS]);
  if (names.length > 0) conditions.push(of(sql.join(names, sql` and `)));
  if (f.attempted) conditions.push(attemptedAt(f.attempted, of));
  if (f.text) conditions.push(withText(f.text, of));
  if (f.slowerThan) conditions.push(anyOf(f.slowerThan.map((each) => slower(each, of))));
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** Rows of the index of records that are not plain `ok`, in the words of that index. */
export const NOT_OK = sql`state <> 0`;

/** True: no record passes that is plain `ok`. */
export function leavesOutOk({ state, outcome, errorKind, status }: GenerationFilters): boolean {
  return (
    state?.includes('ok') === false ||
    outcome?.includes('ok') === false ||
    errorKind !== undefined ||
    isRefused(status)
  );
}

/**
 * Filters as sums know them, whatever states are asked for.
 * @returns null where only records know whether they pass
 */
export function filtersOfSums(f: GenerationFilters): UsageQuery['filters'] | null {
  const { fromMs: _, toMs: __, state: ___, ...others } = f;
  const known = [...NAMES, ...OF_ATTEMPTS];
  const given = (Object.keys(others) as (keyof typeof others)[]).filter((name) => others[name] !== undefined);
  if (!given.every((name) => known.some(([filter]) => filter === name))) return null;
  return Object.fromEntries(
    known.map(([filter, name]) => [name, f[filter] as readonly string[] | undefined]),
  );
}

/** A request that was answered with an error is none that went well. */
function isRefused(status: GenerationFilters['status']): boolean {
  return status !== undefined && status.length > 0 && status.every((each) => each >= 400);
}

/** Groups one of which every hour has in which something passes. Null: all hours may have it. */
export function groupsOfHours(f: GenerationFilters): RawBuilder<unknown> | null {
  const isTried = f.attempted !== undefined;
  // The attempt may be of another group than its request.
  const conditions = namesOf(f, isTried ? NAMES : [...NAMES, ...OF_ATTEMPTS]);
  if (f.attempted) conditions.push(oneOf('g.provider', f.attempted));
  if (isRefused(f.status) && !isTried)
    conditions.push(
      oneOf(
        'g.outcome',
        OUTCOMES.filter((outcome) => outcome !== 'ok'),
      ),
    );
  return conditions.length === 0 ? null : sql.join(conditions, sql` and `);
}

function namesOf(f: GenerationFilters, of: typeof NAMES): RawBuilder<unknown>[] {
  return of.flatMap(([filter, name]) => {
    const texts = f[filter] as readonly string[] | undefined;
    return texts ? [oneOf(`g.${name}`, texts)] : [];
  });
}

function inGroups(groups: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`grp in (select g.id from usage_groups g where ${groups})`;
}

function attemptedAt(providers: readonly string[], of: InGroups): RawBuilder<unknown> {
  const others = providers.map((provider) => sql`tried like ${containing(`|${provider}|`)} escape '\\'`);
  return anyOf([of(oneOf('g.provider', providers)), ...others]);
}

function withText(
  { text, keyIds }: NonNullable<GenerationFilters['text']>,
  of: InGroups,
): RawBuilder<unknown> {
  const like = containing(text.toLowerCase());
  const names = anyOf([
    sql`lower(g.model) like ${like} escape '\\'`,
    sql`lower(g.requested_model) like ${like} escape '\\'`,
    oneOf('g.key', keyIds),
  ]);
  const digits = text.toLowerCase().replaceAll('-', '');
  const isId = digits.length >= LEAST_DIGITS && digits.length <= ID_DIGITS && /^[0-9a-f]+$/.test(digits);
  if (!isId) return of(names);
  const [first, last] = ['0', 'f'].map((digit) => Buffer.from(digits.padEnd(ID_DIGITS, digit), 'hex'));
  return anyOf([of(names), sql`(id >= ${first} and id <= ${last})`]);
}

function slower({ model, endpoint, ms }: NonNullable<GenerationFilters['slowerThan']>[number], of: InGroups) {
  return sql`(duration_ms > ${Math.ceil(ms)} and ${of(sql`g.model = ${model} and g.endpoint = ${endpoint}`)})`;
}

function anyOf(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`false` : sql`(${sql.join(conditions, sql` or `)})`;
}

function containing(text: string): string {
  return `%${text.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;
}
