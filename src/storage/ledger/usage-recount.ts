// Recomputes the sums of a day from its records. A repair, in case they ever differ.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import { CompactReader } from '../compact/reader.ts';
import { othersRun } from '../others-run.ts';
import { behind, firstIdAt, idOfRow } from '../record-ids.ts';
import { type Database, firstOf } from '../tables/database.ts';
import { readRecord } from './record-codec.ts';
import { foldedUpTo, purgedBefore } from './report-queries.ts';
import type { RecordRow } from './record-list.ts';
import { APART } from './record-tables.ts';
import { countedRecord } from './record-writer.ts';
import { Sums } from './sums.ts';
import { RequestNames } from './usage-groups.ts';
import { DAY_MS, HOURS } from './usage-tables.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Records per query: a few milliseconds. */
const CHUNK = 200;
/** Attempts to read a day while records are still added to it. */
const ROUNDS = 3;

/**
 * @param day days since 1970, in UTC
 * @returns number of records of the day
 * @throws GatewayError `conflict` if the day is not over, records of it were deleted, or records are still added
 */
export async function recountDay(database: Database, writer: UsageWriter, day: number): Promise<number> {
  const folded = await database.ask(foldedUpTo);
  if (Math.floor(folded.hour / HOURS) <= day) throw refused('its hours are not included in daily sums yet');
  if (day * DAY_MS < (await database.ask(purgedBefore)))
    throw refused('some of its records have been deleted');
  for (let round = 0; round < ROUNDS; round += 1) {
    const { sums, records } = await read(database, day);
    const isSame = await database.exclusively(function* () {
      yield* writer.folded('update');
      const found = yield* firstOf<{ readonly many: number }>(sql`
        select (select count(*) from records where ${lyingAt(day)}) +
          (select count(*) from records where ${lyingApart(day)}) as many`);
      if (found?.many !== records) return false;
      yield* writer.replaceDay(day, sums);
      return true;
    });
    if (isSame) return records;
  }
  throw refused('it still receives records');
}

function refused(why: string): GatewayError {
  return new GatewayError('conflict', `The sums of this day cannot be recomputed: ${why}.`);
}

function lyingAt(day: number) {
  return sql`id >= ${firstIdAt(day * DAY_MS)} and id < ${firstIdAt((day + 1) * DAY_MS)}
    and apart = ${sql.lit(APART.none)}`;
}

function lyingApart(day: number) {
  return sql`apart <> ${sql.lit(APART.none)} and created_at >= ${day * DAY_MS} and created_at < ${(day + 1) * DAY_MS}`;
}

async function read(
  database: Database,
  day: number,
): Promise<{ readonly sums: Sums; readonly records: number }> {
  const [sums, names] = [new Sums(), new RequestNames()];
  let records = 0;
  const count = (rows: readonly RecordRow[]): void => {
    records += rows.length;
    for (const { id, record } of rows)
      sums.count(countedRecord(readRecord(new CompactReader(record), idOfRow(id), null, 'lean'), names, id));
  };
  for (let from = firstIdAt(day * DAY_MS); ;) {
    const rows = await database.read<RecordRow>(
      sql`select id, record from records where ${lyingAt(day)} and id >= ${from} order by id limit ${CHUNK}`,
    );
    count(rows);
    const last = rows.at(-1);
    if (!last || rows.length < CHUNK) break;
    from = behind(last.id);
    await othersRun();
  }
  count(await database.read<RecordRow>(sql`select id, record from records where ${lyingApart(day)}`));
  return { sums, records };
}
