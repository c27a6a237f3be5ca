// The days of a partitioned table of PostgreSQL: made by whoever needs one first, dropped as a whole when they are too old.
// Nobody who reads or writes other days is locked out.
import { sql } from 'kysely';
import { type Database, type Queries, rowsOf } from '../tables/database.ts';
import type { DayTable } from './record-tables.ts';
import { firstIdAt, timeOf } from '../record-ids.ts';
import { DAY_MS } from './usage-tables.ts';

/** Names the lock under which days are made: any number that nobody else takes in this database. */
const PARTITION_LOCK = '7283641095518339';

interface Partition {
  readonly name: string;
  /** Days since 1970. */
  readonly day: number;
  /** True: somebody began to take it away, and did not come to the end. */
  readonly isLeaving: boolean;
}

export class DayPartitions {
  readonly #table: DayTable;
  /** Days that are there, as far as this process knows. */
  readonly #known = new Set<number>();

  constructor(table: DayTable) {
    this.#table = table;
  }

  /** Makes the days of rows that are missing, inside a transaction. Where that fails, call `forget`. */
  *ensure(ids: readonly Uint8Array[]): Queries<void> {
    const days = new Set(ids.flatMap((id) => dayOf(id) ?? []));
    const missing = [...days].filter((day) => !this.#known.has(day)).toSorted((a, b) => a - b);
    if (missing.length === 0) return;
    yield sql.raw(`select pg_advisory_xact_lock(${PARTITION_LOCK})`);
    const there = new Set((yield* this.#partitions()).map(({ day }) => day));
    for (const day of missing) {
      if (!there.has(day)) yield* this.#make(day);
      this.#known.add(day);
    }
  }

  /** Partitions are looked for anew: a transaction failed, maybe because a day was dropped. */
  forget(): void {
    this.#known.clear();
  }

  /** Drops the oldest of the days before one, outside of a transaction. @returns false when there is none */
  async dropBefore({ ask }: Pick<Database, 'ask'>, day: number): Promise<boolean> {
    const [oldest] = await ask(() => this.#partitions());
    if (!oldest || oldest.day >= day) return false;
    this.#known.delete(oldest.day);
    // Dropped at once it would wait for everybody who reads any day, and everybody would wait for it.
    const how = oldest.isLeaving ? 'finalize' : 'concurrently';
    const table = this.#table;
    await ask(function* () {
      yield sql.raw(`alter table ${table} detach partition "${oldest.name}" ${how}`);
    });
    await ask(function* () {
      yield sql.raw(`drop table if exists "${oldest.name}"`);
    });
    return true;
  }

  *#make(day: number): Queries<void> {
    const name = this.#nameOf(day);
    const bound = (of: number): string => `'\\x${firstIdAt(of * DAY_MS).toString('hex')}'`;
    // One that was taken away and not dropped, because its process died in between.
    yield sql.raw(`drop table if exists "${name}"`);
    // Attached, because a table that is made as a partition locks out everybody who reads the others.
    yield sql.raw(`create table "${name}" (like ${this.#table} including all)`);
    yield sql.raw(
      `alter table ${this.#table} attach partition "${name}" for values from (${bound(day)}) to (${bound(day + 1)})`,
    );
  }

  /** Partitions that have a day, the oldest first. */
  *#partitions(): Queries<readonly Partition[]> {
    const rows = yield* rowsOf(sql<{ name: string; leaving: boolean }>`
      select c.relname as name, i.inhdetachpending as leaving
      from pg_inherits i join pg_class c on c.oid = i.inhrelid
      where i.inhparent = to_regclass(${this.#table})`);
    return rows
      .flatMap(({ name, leaving }) => {
        const day = dayIn(name);
        return day === null ? [] : [{ name, day, isLeaving: leaving }];
      })
      .toSorted((a, b) => a.day - b.day);
  }

  /** `records_20261123`. */
  #nameOf(day: number): string {
    return `${this.#table}_${new Date(day * DAY_MS).toISOString().slice(0, -14).replaceAll('-', '')}`;
  }
}

function dayOf(id: Uint8Array): number | null {
  const time = timeOf(id);
  return time === null ? null : Math.floor(time / DAY_MS);
}

function dayIn(name: string): number | null {
  const date = /_([+]?\d{4,6})(\d\d)(\d\d)$/.exec(name);
  if (!date) return null;
  return Date.UTC(Number(date[1]), Number(date[2]) - 1, Number(date[3])) / DAY_MS;
}
