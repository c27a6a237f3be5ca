// Adds up, in small steps and once, what was written before there were sums, from the newest record back to the oldest; and
// what an older program writes beside this one, or instead of it.
//
// A row says whether it is counted. How far the steps have come is in the settings, changed by the transaction that writes the
// sums: whoever goes on goes on there, after a crash or in another process. Without an entry there, all is done.
//
// Records are read without a transaction, and added up in memory until there are many: to write rows of sums costs more than
// all else. What changed meanwhile is not written, but read once more.
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { GroupCommit } from '../group-commit.ts';
import type { SqliteNames } from '../names.ts';
import { liesAtItsTime, storedId, textId, timeOf } from '../../record-ids.ts';
import type { SqliteBase } from '../store.ts';
import { countedRecord } from './counted-record.ts';
import { CountedSums } from './counted-sums.ts';
import { RecordScan, type ScannedRecord } from './record-scan.ts';
import { LEFT_GENERATIONS, LEFT_RECORDS } from './usage-tables.ts';
import type { UsageWriter } from './usage-writer.ts';

/** Records of one step: a millisecond or two. */
const STEP = 64;
/** Records, and rows of sums, that are written with one transaction. */
const MOST_RECORDS = 4_096;
const MOST_ROWS = 300;

/** Records that were read, and not written yet. */
interface Walk {
  /** As the settings had it when it began: what is before this id is left. */
  readonly from: string;
  /** The same once it is written; null: nothing is left. */
  to: string | null;
  readonly sums: CountedSums;
  readonly elsewhere: { readonly id: Uint8Array; readonly createdAt: number }[];
  records: number;
  uncounted: number;
}

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
  /** Binds two ids; gives how many between them are not counted. */
  readonly #uncountedBetween: SqlStatement;
  #walked: Walk | null = null;

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
    this.#uncountedBetween = prepare(
      db
        .selectFrom('records')
        .select((eb) => eb.fn.countAll().as('records'))
        .where('id', '>=', '')
        .where('id', '<', '')
        .where('counted', 'is', null),
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
    const record = this.#leftOf(LEFT_RECORDS);
    // Noted ones first: what the walk meets afterwards and is not counted was never noted.
    if (record === null || this.#uncounted.all(1).length > 0) await this.#commits.run(() => this.#step());
    else await this.#walkOn(record);
    return true;
  }

  async #walkOn(left: string): Promise<void> {
    if (this.#walked?.from !== left) this.#walked = newWalk(left);
    const walk = this.#walked;
    const found = this.#scan.records('', storedId(walk.to ?? left), 'desc', STEP);
    for (const { id, isCounted, record } of found) {
      if (!isCounted) walk.uncounted += 1;
      if (isCounted || !record) continue;
      walk.sums.add([countedRecord(record, this.#names)]);
      if (typeof id !== 'string' && !liesAtItsTime(id, record.createdAt))
        walk.elsewhere.push({ id, createdAt: record.createdAt });
    }
    walk.records += found.length;
    const last = found.at(-1);
    walk.to = last && found.length === STEP ? textId(last.id) : null;
    if (walk.to !== null && walk.records < MOST_RECORDS && walk.sums.size < MOST_ROWS) return;
    this.#walked = null;
    await this.#commits.run(() => this.#write(walk));
  }

  #write({ from, to, sums, elsewhere, uncounted }: Walk): void {
    // Another process has come further, or an older program has written between them.
    if (this.#leftOf(LEFT_RECORDS) !== from) return;
    const found = this.#uncountedBetween.all(to === null ? '' : storedId(to), storedId(from));
    if (found[0]?.['records'] !== uncounted) return;
    for (const { id, createdAt } of elsewhere) this.#insertElsewhere.run(createdAt, id);
    for (const part of sums.parts(1)) this.#writer.add(part);
    if (to === null) this.#done.run(LEFT_RECORDS);
    else this.#setLeft.run(to, LEFT_RECORDS);
  }

  #step(): void {
    const late = (this.#uncounted.all(STEP) as { id: Uint8Array | string }[]).map(({ id }) => id);
    if (late.length > 0) return this.#countNoted(late);
    const generation = this.#leftOf(LEFT_GENERATIONS);
    if (generation !== null) this.#walkGenerations(this.#scan.generations('', generation, 'desc', STEP));
  }

  #countNoted(ids: readonly (Uint8Array | string)[]): void {
    this.#count(ids.flatMap((id) => this.#scan.record(id) ?? []));
    for (const id of ids) {
      this.#setCounted.run(1, id);
      this.#dropUncounted.run(id);
    }
  }

  #walkGenerations(found: readonly ScannedRecord[]): void {
    this.#count(found);
    const last = found.at(-1);
    if (last && found.length === STEP) this.#setLeft.run(textId(last.id), LEFT_GENERATIONS);
    else this.#done.run(LEFT_GENERATIONS);
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

function newWalk(from: string): Walk {
  return { from, to: from, sums: new CountedSums(), elsewhere: [], records: 0, uncounted: 0 };
}
