// The days of a partitioned table: made by whoever needs one first, dropped as a whole when they are too old. Never locks
// out those who read or write the other days.
import { type Kysely, sql, type Transaction } from 'kysely';
import { firstIdAt } from '../../record-ids.ts';
import type { PostgresSchema } from '../store.ts';
import type { DayTable } from './record-tables.ts';
import { startOfDay } from './row-ids.ts';

/** Names the lock under which days are made and dropped: any number that nobody else takes in this database. */
const PARTITION_LOCK = 7_283_641_095_518_338;

interface Partition {
  readonly name: string;
  readonly day: number;
  /** True when somebody has begun to take it away, and did not come to the end. */
  readonly isLeaving: boolean;
}

export class DayPartitions {
  readonly #table: DayTable;
  /** Days that are there, as far as this process knows. */
  readonly #known = new Set<number>();

  constructor(table: DayTable) {
    this.#table = table;
  }

  /** Makes the days that are missing, in the caller's transaction. When that fails, call `forget`. */
  async ensure(tx: Transaction<PostgresSchema>, days: Iterable<number>): Promise<void> {
    const missing = [...new Set(days)].filter((day) => !this.#known.has(day)).toSorted((a, b) => a - b);
    if (missing.length === 0) return;
    await sql`select pg_advisory_xact_lock(${PARTITION_LOCK})`.execute(tx);
    const there = new Set((await this.#partitions(tx)).map(({ day }) => day));
    for (const day of missing) {
      if (!there.has(day)) await this.#make(tx, day);
      this.#known.add(day);
    }
  }

  /** What is there is looked for anew: a transaction has failed, maybe because a day was dropped. */
  forget(): void {
    this.#known.clear();
  }

  /** Drops the oldest of the days before one. @returns false when there is none */
  async dropBefore(db: Kysely<PostgresSchema>, day: number): Promise<boolean> {
    const [oldest] = await this.#partitions(db);
    if (!oldest || oldest.day >= day) return false;
    const [table, partition] = [sql.table(this.#table), sql.table(oldest.name)];
    this.#known.delete(oldest.day);
    // Dropped at once it would wait for everybody who reads any day, and everybody would wait for it.
    const how = sql.raw(oldest.isLeaving ? 'finalize' : 'concurrently');
    await sql`alter table ${table} detach partition ${partition} ${how}`.execute(db);
    await sql`drop table if exists ${partition}`.execute(db);
    return true;
  }

  async #make(tx: Transaction<PostgresSchema>, day: number): Promise<void> {
    const [table, partition] = [sql.table(this.#table), sql.table(this.#nameOf(day))];
    const bound = (of: number) => sql.lit(`\\x${Buffer.from(firstIdAt(startOfDay(of))).toString('hex')}`);
    // One that was taken away and not dropped, because its process died in between.
    await sql`drop table if exists ${partition}`.execute(tx);
    // Attached, because a table that is made as a partition locks out everybody who reads the others.
    await sql`create table ${partition} (like ${table} including all)`.execute(tx);
    await sql`alter table ${table} attach partition ${partition} for values from (${bound(day)}) to (${bound(day + 1)})`.execute(
      tx,
    );
  }

  /** Those that have a day, the oldest first. */
  async #partitions(db: Kysely<PostgresSchema>): Promise<readonly Partition[]> {
    const { rows } = await sql<{ name: string; leaving: boolean }>`
      select c.relname as name, i.inhdetachpending as leaving
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = to_regclass(${this.#table})`.execute(db);
    return rows
      .flatMap(({ name, leaving }) => {
        const day = this.#dayOf(name);
        return day === null ? [] : [{ name, day, isLeaving: leaving }];
      })
      .toSorted((a, b) => a.day - b.day);
  }

  /** `records_20261123`. */
  #nameOf(day: number): string {
    return `${this.#table}_${new Date(startOfDay(day)).toISOString().slice(0, -14).replaceAll('-', '')}`;
  }

  #dayOf(name: string): number | null {
    const date = /_([+]?\d{4,6})(\d\d)(\d\d)$/.exec(name);
    if (!date) return null;
    return Date.UTC(Number(date[1]), Number(date[2]) - 1, Number(date[3])) / startOfDay(1);
  }
}
