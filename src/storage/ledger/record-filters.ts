// Filters of generations as SQL: conditions on records, and on the usage groups that sums are kept by.
import { type RawBuilder, sql } from 'kysely';
import { OUTCOMES, REQUEST_STATES } from '../../accounts/ledger/index.ts';
import { nanoUsdOf } from '../../accounts/limits/index.ts';
import type { GenerationFilters, UsageDimension, UsageQuery } from '../../accounts/ports/index.ts';
import { othersRun } from '../others-run.ts';
import type { Database } from '../tables/database.ts';
import { APART } from './record-tables.ts';
import { oneOf } from './report-queries.ts';

/** Filters that have a usage dimension of their own. */
const NAMES: readonly (readonly [keyof GenerationFilters, UsageDimension])[] = [
  ['project', 'project'],
  ['key', 'key'],
  ['model', 'model'],
  ['requestedModel', 'requested_model'],
  ['protocol', 'protocol'],
];
/** Dimensions in which an attempt may differ from its request. */
const OF_ATTEMPTS: typeof NAMES = [
  ['provider', 'provider'],
  ['endpoint', 'endpoint'],
  ['outcome', 'outcome'],
];

/** Minimum number of hexadecimal digits for a search by id. */
const LEAST_DIGITS = 4;
const ID_DIGITS = 32;

/** Ids from `from` (inclusive) to `to` (exclusive). */
export interface IdSpan {
  readonly from: Buffer;
  readonly to: Buffer;
}

/** Makes a condition on records from a condition on their groups. */
export type InGroups = (groups: RawBuilder<unknown>) => RawBuilder<unknown>;

/**
 * Maximum number of groups that are inlined by id. With more, each statement selects them itself. SQLite reads the ids
 * again in each of many statements.
 */
const MOST_GROUPS = { sqlite: 2_000, postgres: 50_000 } as const;

/**
 * Selects the groups once for all statements of a query. Both databases test a known list of ids faster than a
 * subquery: PostgreSQL would underestimate its rows and compare each record with each group.
 * @returns an argument for `passing`
 */
export async function groupsOnce({ kind, dialect, read }: Database, f: GenerationFilters): Promise<InGroups> {
  const asked: RawBuilder<unknown>[] = [];
  passing(f, (groups) => {
    asked.push(groups);
    return inGroups(groups);
  });
  const most = MOST_GROUPS[kind];
  const found: RawBuilder<unknown>[] = [];
  for (const groups of asked) {
    const rows = await read<{ id: number }>(
      sql`select g.id from usage_groups g where ${groups} limit ${sql.lit(most + 1)}`,
    );
    const ids = rows.map(({ id }) => id);
    if (ids.length > most) found.push(inGroups(groups));
    // A constant, so that no record is read if no group matches.
    else found.push(ids.length === 0 ? sql`false` : dialect.among('grp', ids));
    await othersRun();
  }
  // `passing` asks for its conditions in the same order each time.
  let at = 0;
  return () => found[at++ % found.length] ?? sql`false`;
}

/** Condition on records that match. @param of makes the conditions on groups */
function passing(f: GenerationFilters, of: InGroups = inGroups): RawBuilder<unknown> {
  // Cheap numeric comparisons come before conditions on groups.
  const conditions: RawBuilder<unknown>[] = leavesOutOk(f) ? [NOT_OK] : [];
  if (f.endUser) {
    const named = f.endUser.filter((name) => name !== '');
    // The empty name selects records without an end user.
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
  if (f.minDurationMs !== undefined) conditions.push(sql`duration_ms >= ${Math.ceil(f.minDurationMs)}`);
  if (f.minAttempts !== undefined) conditions.push(sql`attempts >= ${f.minAttempts}`);
  if (f.fromMs !== undefined) conditions.push(sql`created_at >= ${f.fromMs}`);
  if (f.toMs !== undefined) conditions.push(sql`created_at < ${f.toMs}`);
  const names = namesOf(f, [...NAMES, ...OF_ATTEMPTS]);
  if (names.length > 0) conditions.push(of(sql.join(names, sql` and `)));
  if (f.attempted) conditions.push(attemptedAt(f.attempted, of));
  if (f.text) conditions.push(withText(f.text, of));
  if (f.slowerThan) conditions.push(slower(f.slowerThan, of));
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `);
}

/** Condition: requests with an id in a span that match. @param groups result of `groupsOnce` */
export function matching({ from, to }: IdSpan, f: GenerationFilters, groups: InGroups): RawBuilder<unknown> {
  return sql`id >= ${from} and id < ${to} and apart <> ${sql.lit(APART.late)} and ${passing(f, groups)}`;
}

/** Records that are not plain `ok`. The same text as in the partial index `records_others`, so that it is used. */
export const NOT_OK = sql`state <> 0`;

/** True if the filters exclude all plain `ok` records. */
export function leavesOutOk({ state, outcome, errorKind, status }: GenerationFilters): boolean {
  return (
    state?.includes('ok') === false ||
    outcome?.includes('ok') === false ||
    errorKind !== undefined ||
    isRefused(status)
  );
}

/** The filters as filters of sums, without times and states. @returns null if only records can answer them */
export function filtersOfSums(f: GenerationFilters): UsageQuery['filters'] | null {
  const { fromMs: _, toMs: __, state: ___, ...others } = f;
  const known = [...NAMES, ...OF_ATTEMPTS];
  const given = (Object.keys(others) as (keyof typeof others)[]).filter((name) => others[name] !== undefined);
  if (!given.every((name) => known.some(([filter]) => filter === name))) return null;
  return Object.fromEntries(
    known.map(([filter, name]) => [name, f[filter] as readonly string[] | undefined]),
  );
}

/** An error status excludes `ok`. */
function isRefused(status: GenerationFilters['status']): boolean {
  return status !== undefined && status.length > 0 && status.every((each) => each >= 400);
}

/** Condition on groups: every hour with a match has a row of such a group. Null: any hour may have a match. */
export function groupsOfHours(f: GenerationFilters): RawBuilder<unknown> | null {
  const isTried = f.attempted !== undefined;
  // The attempt may belong to another group than its request.
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

/** Records that took longer than usual at their endpoint. Endpoints with the same time share a condition. */
function slower(usual: NonNullable<GenerationFilters['slowerThan']>, of: InGroups): RawBuilder<unknown> {
  const times = Map.groupBy(usual, ({ ms }) => Math.ceil(ms));
  if (times.size === 0) return sql`false`;
  const each = [...times].map(([ms, endpoints]) => {
    const groups = endpoints.map(
      ({ model, endpoint }) => sql`(g.model = ${model} and g.endpoint = ${endpoint})`,
    );
    return sql`(duration_ms > ${ms} and ${of(anyOf(groups))})`;
  });
  // Implied by the rest, and decided with one comparison for most records.
  return sql`duration_ms > ${Math.min(...times.keys())} and ${anyOf(each)}`;
}

function anyOf(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`false` : sql`(${sql.join(conditions, sql` or `)})`;
}

function containing(text: string): string {
  return `%${text.replaceAll(/[%_\\]/g, String.raw`\$&`)}%`;
}
