// What limits are set from: sums by owner and model from a time on, to the millisecond: whole hours and days from the rows of
// sums, the hour that the time lies in from its records. The database adds them up; they are read some at a time.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { LedgerSum, SumQuery } from '../../../limits/index.ts';
import { firstIdAt } from '../../record-ids.ts';
import { DAY_HOURS, HOUR_MS } from '../../usage/hours.ts';
import type { PostgresSchema } from '../store.ts';
import { OTHER_END_USERS } from './end-user-rows.ts';
import { PURGED_BEFORE, type UsageTable } from './usage-tables.ts';

/** Sums that are read in one go. */
const MOST_SUMS = 1_000;

export async function* ledgerSums(
  db: Kysely<PostgresSchema>,
  query: SumQuery,
): AsyncGenerator<readonly LedgerSum[]> {
  const { by, inSlices } = query;
  // Of end users a provider's sums know nothing.
  const byEndUser = query.byEndUser && by !== 'provider';
  const parts = partsOf({ ...query, byEndUser }, await purgedBefore(db));
  const slice = inSlices ? sql`floor(at / ${sql.lit(HOUR_MS)})` : sql`0::float8`;
  const sums = sql`
    select owner as "ownerId", end_user as "endUser", model, max(at) as "atMs", sum(requests)::bigint as requests,
      sum(tokens)::bigint as tokens, sum(nano_usd)::bigint as "nanoUsd"
    from (${sql.join(parts, sql` union all `)}) p
    ${by === 'provider' ? sql`where owner <> ''` : sql``}
    group by owner, end_user, model, ${slice}
    having sum(requests) > 0 or sum(tokens) > 0 or sum(nano_usd) > 0`;
  const tx = await db.startTransaction().setAccessMode('read only').execute();
  try {
    await sql`declare sums no scroll cursor for ${sums}`.execute(tx);
    for (;;) {
      const { rows } = await sql<LedgerSum>`fetch ${sql.lit(MOST_SUMS)} from sums`.execute(tx);
      if (rows.length > 0) yield rows;
      if (rows.length < MOST_SUMS) return;
    }
  } finally {
    await tx.rollback().execute();
  }
}

async function purgedBefore(db: Kysely<PostgresSchema>): Promise<number> {
  const { rows } = await sql<{ value: string }>`
    select value from settings where name = ${PURGED_BEFORE}`.execute(db);
  return Number(rows[0]?.value ?? 0);
}

function partsOf(query: SumQuery, purgedMs: number): readonly RawBuilder<unknown>[] {
  const { fromMs, byEndUser, inSlices } = query;
  const firstHour = Math.floor(fromMs / HOUR_MS);
  // Where its records are gone, the whole hour counts.
  const isPart = fromMs > firstHour * HOUR_MS && fromMs >= purgedMs;
  const from = isPart ? firstHour + 1 : firstHour;
  const parts = isPart ? [recordsBetween(query, fromMs, from * HOUR_MS)] : [];
  if (byEndUser) return [...parts, rowsFrom(query, 'usage_hourly', from), ...endUsersFrom(query, from)];
  if (inSlices) return [...parts, rowsFrom(query, 'usage_hourly', from)];
  const firstDay = Math.ceil(from / DAY_HOURS);
  return [
    ...parts,
    rowsFrom(query, 'usage_hourly', from, firstDay * DAY_HOURS),
    rowsFrom(query, 'usage_daily', firstDay),
  ];
}

function ownerOf(by: SumQuery['by']): RawBuilder<unknown> {
  return by === 'gateway' ? sql`''` : sql.ref(by);
}

/** What ends the condition of a part where only some are asked of. */
function ofOwners({ by, owners }: SumQuery): RawBuilder<unknown> {
  return owners && by !== 'gateway' ? sql`and ${sql.ref(by)} = any(${owners}::text[])` : sql``;
}

/** Requests as limits count them: `countedRequestsIn`, for rows. */
const COUNTED = sql`(requests - errors + charged_errors + tool_turns)`;

/** Rows of hours or days from one on, each at its last millisecond. */
function rowsFrom(query: SumQuery, table: UsageTable, from: number, to?: number): RawBuilder<unknown> {
  const ms = table === 'usage_daily' ? DAY_HOURS * HOUR_MS : HOUR_MS;
  return sql`
    select ${ownerOf(query.by)} as owner, null::text as end_user, model,
      (period + 1)::float8 * ${sql.lit(ms)} - 1 as at, ${COUNTED} as requests,
      input_uncached + input_cache_read + input_cache_write_5m + input_cache_write_1h + input_audio + input_image
        + output_text + output_reasoning + output_audio as tokens,
      nano_usd
    from ${sql.table(table)}
    where period >= ${from} ${to === undefined ? sql`` : sql`and period < ${to}`} ${ofOwners(query)}`;
}

/** The end users of hours; and the same taken away from those who named nobody, who have what is left of the sums. */
function endUsersFrom(query: SumQuery, from: number): readonly RawBuilder<unknown>[] {
  const rows = (endUser: RawBuilder<unknown>, sign: RawBuilder<unknown>) => sql`
    select ${ownerOf(query.by)} as owner, ${endUser} as end_user, model,
      (period + 1)::float8 * ${sql.lit(HOUR_MS)} - 1 as at, ${sign} ${COUNTED} as requests,
      ${sign} (input_tokens + output_tokens) as tokens, ${sign} nano_usd as nano_usd
    from usage_end_users
    where period >= ${from} and end_user <> ${OTHER_END_USERS} ${ofOwners(query)}`;
  return [rows(sql`end_user`, sql``), rows(sql`null::text`, sql`-`)];
}

/** Records of a part of an hour. */
function recordsBetween(query: SumQuery, fromMs: number, toMs: number): RawBuilder<unknown> {
  const columns = sql`${ownerOf(query.by)} as owner, ${query.byEndUser ? sql`end_user` : sql`null::text`} as end_user,
      model, r.created_at as at, requests, tokens, nano_usd`;
  const time = sql`r.created_at >= ${fromMs} and r.created_at < ${toMs} ${ofOwners(query)}`;
  return sql`
    select ${columns} from records r
    where id >= ${Buffer.from(firstIdAt(fromMs))} and id < ${Buffer.from(firstIdAt(toMs))} and ${time}
      and not exists (select from records_elsewhere e where e.created_at = r.created_at and e.id = r.id)
    union all select ${columns} from records r join records_elsewhere e on e.id = r.id
    where e.created_at >= ${fromMs} and e.created_at < ${toMs} ${ofOwners(query)}`;
}
