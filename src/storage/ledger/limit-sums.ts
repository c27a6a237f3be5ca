// Sums that limits start from: by owner and model, since a given millisecond. Combines rows of sums with the records of
// the first, partial hour. The database adds them up in small queries.
import { type RawBuilder, sql } from 'kysely';
import type { LedgerSum, SumQuery } from '../../accounts/limits/index.ts';
import { othersRun } from '../others-run.ts';
import type { Database, Queries } from '../tables/database.ts';
import { APART } from './record-tables.ts';
import { firstIdAt } from '../record-ids.ts';
import { NO_END, type SpanPart, spanParts } from './usage-spans.ts';
import { OTHER_END_USERS } from './end-users.ts';
import { edgeOf, foldedUpTo, oneOf, purgedBefore } from './report-queries.ts';
import { DAY, FIVE, FIVE_MINUTES_PER_HOUR, HOUR, HOUR_MS, HOURS, periodMs } from './usage-tables.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Sums per yielded batch. */
const MOST_SUMS = 1_000;
/** Periods per query: hours of about a day, or days of a month. */
const PERIODS = 31;

/** Requests as limits count them: `countedRequestsIn` in SQL. */
const COUNTED = sql`(requests - errors + charged_errors + tool_turns)`;
const TOKENS = sql`(input_uncached + input_cache_read + input_cache_write_5m + input_cache_write_1h + input_audio
  + input_image + output_text + output_reasoning + output_audio)`;

interface FoundSum extends Omit<LedgerSum, 'endUser'> {
  readonly endUser: string;
}

/** Yields the sums, combined by owner and model as far as memory allows. */
export async function* limitSums(database: Database, query: SumQuery): AsyncGenerator<readonly LedgerSum[]> {
  const sums = new Map<string, LedgerSum>();
  for await (const some of partsOf(database, query)) {
    for (const sum of some) {
      const slice = query.inSlices ? Math.floor(sum.atMs / HOUR_MS) : 0;
      const name = JSON.stringify([sum.ownerId, sum.endUser, sum.model, sum.endpoint, slice]);
      sums.set(name, together(sums.get(name), sum));
    }
    if (sums.size < MOST_SUMS) continue;
    yield [...sums.values()];
    sums.clear();
  }
  if (sums.size > 0) yield [...sums.values()];
}

function together(known: LedgerSum | undefined, sum: LedgerSum): LedgerSum {
  if (!known) return sum;
  return {
    ...sum,
    atMs: Math.max(known.atMs, sum.atMs),
    requests: known.requests + sum.requests,
    tokens: known.tokens + sum.tokens,
    nanoUsd: known.nanoUsd + sum.nanoUsd,
  };
}

async function* partsOf(database: Database, query: SumQuery): AsyncGenerator<readonly LedgerSum[]> {
  const { by, fromMs, inSlices } = query;
  // Sums by provider have no end users.
  const byEndUser = query.byEndUser && by !== 'provider';
  const asked = { ...query, byEndUser };
  const firstHour = Math.floor(fromMs / HOUR_MS);
  const ask = async (
    parts: readonly RawBuilder<unknown>[],
    sliceMs: DurationMs | null,
  ): Promise<readonly LedgerSum[]> => {
    const found = await database.read<FoundSum>(addedUp(by, parts, sliceMs));
    await othersRun();
    return found.map((sum) => ({ ...sum, endUser: sum.endUser || null }));
  };
  const purgedMs = await database.ask(purgedBefore);
  // If the hour's records are deleted, the whole hour counts.
  const isPart = fromMs > firstHour * HOUR_MS && fromMs >= purgedMs;
  const from = isPart ? firstHour + 1 : firstHour;
  const sliceMs = inSlices ? HOUR_MS : null;
  if (isPart) yield await ask(recordsBetween(asked, fromMs, from * HOUR_MS), sliceMs);
  const folded = await database.ask(foldedUpTo);
  const [first, last] = await database.ask(edges);
  const finest = inSlices || byEndUser ? 'hour' : 'day';
  const range = { from: Math.max(from, first), to: Math.min(NO_END, last + 1) };
  if (range.from >= range.to) return;
  for (const part of spanParts(range, folded, { finest }))
    for (let start = part.from; start < part.to;) {
      const end = Math.min(start + (part.span === FIVE ? PERIODS * FIVE_MINUTES_PER_HOUR : PERIODS), part.to);
      const some = { ...part, from: start, to: end };
      const parts = [usageRows(asked, some), ...(byEndUser ? endUserRows(asked, some) : [])];
      yield await ask(parts, sliceMs);
      start = end;
    }
}

/** First and last hour with rows. Day 0 holds the sums of all purged days. */
function* edges(): Queries<readonly [number, number]> {
  const found: number[] = [];
  for (const [span, hours] of [
    [FIVE, 1 / FIVE_MINUTES_PER_HOUR],
    [HOUR, 1],
    [DAY, HOURS],
  ] as const)
    for (const order of ['asc', 'desc'] as const) {
      const period = yield* edgeOf(span, order);
      if (period !== undefined) found.push(Math.floor(period * hours), Math.ceil((period + 1) * hours) - 1);
    }
  return [Math.min(NO_END, ...found), Math.max(-1, ...found)];
}

function addedUp(
  by: SumQuery['by'],
  parts: readonly RawBuilder<unknown>[],
  sliceMs: DurationMs | null,
): RawBuilder<unknown> {
  const slice = sliceMs === null ? sql`` : sql`, floor(at / ${sql.lit(sliceMs)})`;
  return sql`
    select owner as "ownerId", end_user as "endUser", model, endpoint, max(at) as "atMs", cast(sum(requests) as bigint) as requests,
      cast(sum(tokens) as bigint) as tokens, cast(sum(nano_usd) as bigint) as "nanoUsd"
    from (${sql.join(parts, sql` union all `)}) p
    ${by === 'provider' ? sql`where owner <> ''` : sql``}
    group by owner, end_user, model, endpoint ${slice}
    having sum(requests) > 0 or sum(tokens) > 0 or sum(nano_usd) > 0`;
}

function ownerOf(by: SumQuery['by'], table: string): RawBuilder<unknown> {
  return by === 'gateway' ? sql`''` : sql.ref(`${table}.${by}`);
}

/** Empty for sums by end user, which have no endpoint: rows that are subtracted from others must match them. */
function endpointOf({ byEndUser }: SumQuery): RawBuilder<unknown> {
  return byEndUser ? sql`''` : sql`g.endpoint`;
}

/** Condition on the owners, if only some are requested. */
function ofOwners({ by, owners }: SumQuery, table: string): RawBuilder<unknown> {
  return owners && by !== 'gateway' ? sql`and ${oneOf(`${table}.${by}`, owners)}` : sql``;
}

/** Rows of sums, each with its last millisecond as its time. */
function usageRows(query: SumQuery, { span, from, to }: SpanPart): RawBuilder<unknown> {
  return sql`
    select ${ownerOf(query.by, 'g')} as owner, '' as end_user, g.model as model, ${endpointOf(query)} as endpoint,
      ${lastMs('u.period', periodMs(span))} as at, ${COUNTED} as requests, ${TOKENS} as tokens, nano_usd
    from usage u cross join usage_groups g
    where g.id = u.grp and u.span = ${span} and u.period >= ${from} and u.period < ${to} ${ofOwners(query, 'g')}`;
}

/** Rows of end users, and the same amounts subtracted from the row without end user, which thus holds the rest. */
function endUserRows(query: SumQuery, { span, from, to }: SpanPart): readonly RawBuilder<unknown>[] {
  const hours =
    span === FIVE ? { from: from / FIVE_MINUTES_PER_HOUR, to: to / FIVE_MINUTES_PER_HOUR } : { from, to };
  const rows = (endUser: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    select ${ownerOf(query.by, 'e')} as owner, ${endUser} as end_user, model, '' as endpoint, ${lastMs('period', HOUR_MS)} as at,
      ${sign}${COUNTED} as requests, ${sign}(input_tokens + output_tokens) as tokens, ${sign}nano_usd as nano_usd
    from usage_end_users e
    where period >= ${Math.ceil(hours.from)} and period < ${Math.ceil(hours.to)}
      and end_user <> ${OTHER_END_USERS} ${ofOwners(query, 'e')}`;
  return [rows(sql`end_user`, sql``), rows(sql`''`, sql`-`)];
}

function lastMs(period: string, ms: number): RawBuilder<unknown> {
  return sql`cast((${sql.ref(period)} + 1) * ${sql.lit(ms)} - 1 as double precision)`;
}

/** Records of a partial hour: those whose id has the time of the request, and all others. */
function recordsBetween(query: SumQuery, fromMs: UnixMs, toMs: UnixMs): readonly RawBuilder<unknown>[] {
  const endUser = query.byEndUser ? sql`coalesce(r.end_user, '')` : sql`''`;
  const selected = sql`
    select ${ownerOf(query.by, 'g')} as owner, ${endUser} as end_user, g.model as model, ${endpointOf(query)} as endpoint,
      r.created_at as at, r.requests as requests, r.tokens as tokens, coalesce(r.nano_usd, 0) as nano_usd
    from records r cross join usage_groups g
    where g.id = r.grp and r.created_at >= ${fromMs} and r.created_at < ${toMs} ${ofOwners(query, 'g')}`;
  return [
    sql`${selected} and r.id >= ${firstIdAt(fromMs)} and r.id < ${firstIdAt(toMs)} and r.apart = ${sql.lit(APART.none)}`,
    sql`${selected} and r.apart <> ${sql.lit(0)}`,
  ];
}
