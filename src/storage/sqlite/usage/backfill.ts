// Adds up, in small steps and once, what was written before there were sums, from the newest record back to the oldest; and
// what an older program writes beside this one, or instead of it.
//
// A row says whether it is counted. How far the steps have come is in the settings, changed by the transaction of each:
// whoever goes on goes on there, after a crash or in another process. Without an entry there, all is done.
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { GroupCommit } from '../group-commit.ts';
import type { SqliteNames } from '../names.ts';
import { liesAtItsTime, storedId, textId, timeOf } from '../../record-ids.ts';
import type { SqliteBase } from '../store.ts';
import { countedRecord } from './counted-record.ts';
import { RecordScan, type ScannedRecord } from './record-scan.ts';
import { LEFT_GENERATIONS, LEFT_RECORDS } from './usage-tables.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Records of one step: two or three milliseconds. */
const STEP = 64;

export class Backfill {
  readonly #commits: GroupCommit;
  readonly #names: SqliteNames;
  readonly #writer: UsageWriter;
  readonly #scan: RecordScan;
  /** Binds the name of a setting. */
  readonly #left: SqlStatement;
  /** Binds value and name of a setting. */
  readonly #setLeft: SqlStatement;
  /** Binds the name of a setting. */
  readonly #done: SqlStatement;
  /** Binds how many. */
  readonly #uncounted: SqlStatement;
  /** Binds 1 and an id. */
  readonly #setCounted: SqlStatement;
  /** Binds an id. */
  readonly #dropUncounted: SqlStatement;
  /** Binds time and id. */
  readonly #insertElsewhere: SqlStatement;

  constructor(base: SqliteBase, writer: UsageWriter) {
    const { connection, db, names, commits } = base;
    this.#commits = commits;
    this.#names = names;
    this.#writer = writer;
    this.#scan = new RecordScan(base);
    const prepare = (query: { compile(): { sql: string } }): SqlStatement =>
      connection.prepare(query.compile().sql);
    this.#left = prepare(db.selectFrom('settings').select('value').where('name', '=', ''));
    this.#setLeft = prepare(db.updateTable('settings').set({ value: '' }).where('name', '=', ''));
    this.#done = prepare(db.deleteFrom('settings').where('name', '=', ''));
    this.#uncounted = prepare(db.selectFrom('records_uncounted').select('id').limit(1));
    this.#setCounted = prepare(db.updateTable('records').set({ counted: 1 }).where('id', '=', ''));
    this.#dropUncounted = prepare(db.deleteFrom('records_uncounted').where('id', '=', ''));
    this.#insertElsewhere = prepare(
      db
        .insertInto('records_elsewhere')
        .values({ created_at: 0, id: '' })
        .onConflict((conflict) => conflict.doNothing()),
    );
  }

  /** Whether all records from a time on are in the sums. @param ms Unix milliseconds */
  reachesBackTo(ms: number): boolean {
    if (this.#uncounted.all(1).length > 0) return false;
    return [LEFT_RECORDS, LEFT_GENERATIONS].every((setting) => {
      const left = this.#leftOf(setting);
      if (left === null) return true;
      const id = storedId(left);
      return typeof id !== 'string' && timeOf(id) <= ms;
    });
  }

  /** @returns false when nothing was left to do */
  async step(): Promise<boolean> {
    if (this.reachesBackTo(-Infinity)) return false;
    await this.#commits.run(() => this.#step());
    return true;
  }

  #step(): void {
    const late = (this.#uncounted.all(STEP) as { id: Uint8Array | string }[]).map(({ id }) => id);
    // These first: what the walk meets afterwards and is not counted was never noted.
    if (late.length > 0) return this.#countNoted(late);
    const record = this.#leftOf(LEFT_RECORDS);
    if (record !== null)
      return this.#walk(LEFT_RECORDS, this.#scan.records('', storedId(record), 'desc', STEP));
    const generation = this.#leftOf(LEFT_GENERATIONS);
    if (generation !== null)
      this.#walk(LEFT_GENERATIONS, this.#scan.generations('', generation, 'desc', STEP));
  }

  #countNoted(ids: readonly (Uint8Array | string)[]): void {
    this.#count(ids.flatMap((id) => this.#scan.record(id) ?? []));
    for (const id of ids) {
      this.#setCounted.run(1, id);
      this.#dropUncounted.run(id);
    }
  }

  #walk(setting: string, found: readonly ScannedRecord[]): void {
    this.#count(found);
    const last = found.at(-1);
    if (last && found.length === STEP) this.#setLeft.run(textId(last.id), setting);
    else this.#done.run(setting);
  }

  #count(found: readonly ScannedRecord[]): void {
    const records = found.flatMap(({ isCounted, record }) => (record && !isCounted ? [record] : []));
    for (const { id, createdAt } of records)
      if (typeof id !== 'string' && !liesAtItsTime(id, createdAt)) this.#insertElsewhere.run(createdAt, id);
    this.#writer.write(records.map((record) => countedRecord(record, this.#names)));
  }

  #leftOf(setting: string): string | null {
    const value = this.#left.all(setting)[0]?.['value'];
    return typeof value === 'string' ? value : null;
  }
}
