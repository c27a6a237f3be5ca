// What records come to is added up in memory, and its rows are written later, once for very many records: a row of sums costs
// several times as much as a record. So that no crash takes anything away, the transaction of the records notes their ids; the
// notes go with the rows. Whoever finds notes whose sums nobody has in memory adds up their records once more. Who reads sums
// settles first, and so reads what all records come to, those of other processes as well.
//
// Rows are written in parts, a few milliseconds each. Which part comes next is noted by the transaction of the one before:
// whoever goes on after a crash, or instead of another process, goes on there.
import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import type { SqliteBase } from '../store.ts';
import { type CountedRecord, countedRecord } from './counted-record.ts';
import { CountedSums, type SumsPart } from './counted-sums.ts';
import { RecordScan } from './record-scan.ts';
import { othersRun } from '../../others-run.ts';
import { UsageWriter } from './usage-writer.ts';

/** Rows, and records, that are added up in memory: ten megabytes at most, and half a second to do it once more. */
const MOST_ROWS = 8_192;
const MOST_RECORDS = 32_768;
/** Rows of a part: about two milliseconds. */
const PART_ROWS = 100;
/** Records that are read once more in one go. */
const CHUNK = 64;

const ID_BYTES = 16;

/** Noted records of one process whose rows are being written. */
interface Settlement {
  readonly writer: string;
  /** Its notes up to this number. */
  readonly last: number;
  readonly parts: readonly SumsPart[];
}

type Base = Pick<SqliteBase, 'connection' | 'db' | 'names' | 'commits' | 'beforeClose'>;

const opened = new WeakMap<object, PendingSums>();

/** The one of a database. */
export function pendingSumsOf(base: Base): PendingSums {
  let sums = opened.get(base.connection);
  if (!sums) opened.set(base.connection, (sums = new PendingSums(base)));
  return sums;
}

export class PendingSums {
  readonly #commits: SqliteBase['commits'];
  readonly #names: SqliteBase['names'];
  readonly #usage: UsageWriter;
  readonly #scan: RecordScan;
  /** This process, in this opening of the database. */
  readonly #writer = randomBytes(8).toString('hex');
  /** Binds writer, number, the time of the oldest, and ids. */
  readonly #note: SqlStatement;
  /** Gives who has notes. */
  readonly #writers: SqlStatement;
  /** Binds a writer and the last number; gives ids. */
  readonly #notes: SqlStatement;
  readonly #deleteNotes: SqlStatement;
  /** Binds a time; gives a row where a note is of older records. */
  readonly #olderThan: SqlStatement;
  /** Binds a writer; gives its settlement. */
  readonly #settlement: SqlStatement;
  /** Binds writer, last number and parts; changes nothing where there is one. */
  readonly #begin: SqlStatement;
  /** Binds a writer and the part that is done now. */
  readonly #advance: SqlStatement;
  readonly #end: SqlStatement;
  #sums = new CountedSums();
  /** Numbers of the notes whose records are in memory, and how many these are. */
  #numbers: number[] = [];
  #records = 0;
  #next = 1;
  #running: Promise<void> = Promise.resolve();
  #isRunning = false;
  #queued: Promise<void> | undefined;
  #isClosing = false;

  constructor(base: Base) {
    const { connection, db, commits, names } = base;
    this.#commits = commits;
    this.#names = names;
    this.#usage = new UsageWriter(base);
    this.#scan = new RecordScan(base);
    const prepare = (query: { compile(): { sql: string } }): SqlStatement =>
      connection.prepare(query.compile().sql);
    this.#note = prepare(
      db.insertInto('usage_notes').values({ writer: '', number: 0, oldest: 0, ids: new Uint8Array() }),
    );
    this.#writers = prepare(
      db
        .selectFrom('usage_notes')
        .select('writer')
        .union(db.selectFrom('usage_settlements').select('writer')),
    );
    this.#notes = prepare(
      db
        .selectFrom('usage_notes')
        .select(['number', 'ids'])
        .where('writer', '=', '')
        .where('number', '<=', 0)
        .orderBy('number'),
    );
    this.#deleteNotes = prepare(
      db.deleteFrom('usage_notes').where('writer', '=', '').where('number', '<=', 0),
    );
    this.#olderThan = prepare(
      db.selectFrom('usage_notes').select('number').where('oldest', '<', 0).limit(sql.lit(1)),
    );
    this.#settlement = prepare(
      db.selectFrom('usage_settlements').select(['last', 'parts', 'done']).where('writer', '=', ''),
    );
    this.#begin = prepare(
      db
        .insertInto('usage_settlements')
        .values({ writer: '', last: 0, parts: 0, done: sql.lit(0) })
        .onConflict((conflict) => conflict.doNothing()),
    );
    this.#advance = prepare(
      db
        .updateTable('usage_settlements')
        .set((eb) => ({ done: eb('done', '+', sql.lit(1)) }))
        .where('writer', '=', '')
        .where('done', '=', 0),
    );
    this.#end = prepare(db.deleteFrom('usage_settlements').where('writer', '=', ''));
    base.beforeClose(async () => {
      this.#isClosing = true;
      // What cannot be written now is noted.
      await this.#settleOwn().catch(() => {});
    });
  }

  /** Inside the transaction that writes the records, once for each. */
  note(records: readonly CountedRecord[]): void {
    const usual = records.filter(({ id }) => typeof id !== 'string');
    // Ids of another form are those of programs that are long gone.
    if (usual.length < records.length) this.#usage.write(records.filter(({ id }) => typeof id === 'string'));
    if (usual.length === 0) return;
    const ids = Buffer.allocUnsafe(usual.length * ID_BYTES);
    let oldest = Infinity;
    usual.forEach(({ id, createdAt }, at) => {
      ids.set(id as Uint8Array, at * ID_BYTES);
      oldest = Math.min(oldest, createdAt);
    });
    const number = this.#next;
    this.#next += 1;
    this.#note.run(this.#writer, number, oldest, ids);
    this.#commits.afterCommit(() => {
      this.#numbers.push(number);
      this.#records += usual.length;
      this.#sums.add(usual);
      const isMuch = this.#sums.size >= MOST_ROWS || this.#records >= MOST_RECORDS;
      // A database that takes nothing now is asked again with the next records.
      if (isMuch && !this.#isRunning) this.#settleOwn().catch(() => {});
    });
  }

  /** Resolves when all records that were in the database before are in the rows of sums. */
  async settle(): Promise<void> {
    if (!this.#isRunning && this.#writers.all().length === 0) return;
    // One that runs already may have begun before the latest records.
    await (this.#queued ??= this.#enqueue(async () => {
      this.#queued = undefined;
      for (const { writer } of this.#writers.all()) await this.#settle(String(writer));
    }));
  }

  /** Whether records of before a time (Unix milliseconds) are noted: they may not be deleted before that is settled. */
  hasBefore(ms: number): boolean {
    return this.#olderThan.all(ms).length > 0;
  }

  #settleOwn(): Promise<void> {
    return this.#enqueue(() => this.#settle(this.#writer));
  }

  #enqueue(task: () => Promise<void>): Promise<void> {
    const before = this.#running;
    this.#isRunning = true;
    const running = before
      .catch(() => {})
      .then(task)
      .finally(() => {
        if (this.#running === running) this.#isRunning = false;
      });
    this.#running = running;
    return running;
  }

  async #settle(writer: string): Promise<void> {
    const target = Number(this.#notes.all(writer, Number.MAX_SAFE_INTEGER).at(-1)?.['number'] ?? 0);
    // Other processes may settle the same, or have begun to.
    while (this.#settlement.all(writer).length > 0 || this.#notes.all(writer, target).length > 0) {
      const settlement =
        (writer === this.#writer ? await this.#beginOwn() : null) ?? (await this.#goOnOrBegin(writer));
      if (settlement) await this.#write(settlement);
    }
  }

  /** Begins with what is in memory. @returns null where that is not what the notes say */
  async #beginOwn(): Promise<Settlement | null> {
    let taken: { readonly numbers: readonly number[]; readonly sums: CountedSums } | undefined;
    if (this.#numbers.length === 0 || this.#settlement.all(this.#writer).length > 0) return null;
    return this.#transaction(() => {
      taken ??= this.#take();
      const { numbers, sums } = taken;
      const last = numbers.at(-1) ?? 0;
      const notes = this.#notes.all(this.#writer, last);
      const isSame = notes.length === numbers.length && notes[0]?.['number'] === numbers[0];
      const parts = sums.parts(Math.ceil(sums.size / PART_ROWS));
      const hasBegun = isSame && this.#begin.run(this.#writer, last, parts.length).changes > 0;
      return hasBegun ? { writer: this.#writer, last, parts } : null;
    });
  }

  /** Adds up noted records once more. @returns null where there are none, or another process was faster */
  async #goOnOrBegin(writer: string): Promise<Settlement | null> {
    const begun = this.#settlement.all(writer)[0];
    const notes = this.#notes.all(writer, Number(begun?.['last'] ?? Number.MAX_SAFE_INTEGER));
    const last = Number(notes.at(-1)?.['number'] ?? 0);
    const sums = new CountedSums();
    for (const { ids } of notes)
      for (const some of inChunks(ids as Uint8Array)) {
        const records = some.flatMap((id) => this.#scan.record(id)?.record ?? []);
        // Their names were given numbers when they were noted.
        sums.add(records.map((record) => countedRecord(record, this.#names)));
        await othersRun();
      }
    if (begun) return { writer, last: Number(begun['last']), parts: sums.parts(Number(begun['parts'])) };
    const parts = sums.parts(Math.max(1, Math.ceil(sums.size / PART_ROWS)));
    const hasBegun = await this.#transaction(
      () =>
        this.#notes.all(writer, last).length === notes.length &&
        notes.length > 0 &&
        this.#begin.run(writer, last, parts.length).changes > 0,
    );
    return hasBegun ? { writer, last, parts } : null;
  }

  #take(): { readonly numbers: readonly number[]; readonly sums: CountedSums } {
    const taken = { numbers: this.#numbers, sums: this.#sums };
    this.#numbers = [];
    this.#sums = new CountedSums();
    this.#records = 0;
    return taken;
  }

  /** Writes the parts that are left. */
  async #write({ writer, last, parts }: Settlement): Promise<void> {
    const isBegun = (): boolean => this.#settlement.all(writer)[0]?.['last'] === last;
    if (!isBegun()) return;
    for (let done = Number(this.#settlement.all(writer)[0]?.['done']); done < parts.length; done += 1) {
      const isOurs = await this.#transaction(() => {
        if (!isBegun() || this.#advance.run(writer, done).changes === 0) return false;
        const part = parts[done];
        if (part) this.#usage.add(part);
        if (done === parts.length - 1) {
          this.#deleteNotes.run(writer, last);
          this.#end.run(writer);
        }
        return true;
      });
      // Another process does the same, and has come further.
      if (!isOurs) return;
    }
  }

  async #transaction<T>(work: () => T): Promise<T> {
    const done = this.#commits.run(work);
    if (this.#isClosing) await this.#commits.flush();
    return done;
  }
}

function* inChunks(ids: Uint8Array): Generator<readonly Uint8Array[]> {
  for (let from = 0; from < ids.length; from += CHUNK * ID_BYTES) {
    const some: Uint8Array[] = [];
    const end = Math.min(ids.length, from + CHUNK * ID_BYTES);
    for (let at = from; at < end; at += ID_BYTES) some.push(ids.subarray(at, at + ID_BYTES));
    yield some;
  }
}
