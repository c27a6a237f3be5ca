// Daily partitions of a PostgreSQL table. The first writer of a day creates its partition; old days are dropped as a
// whole. Neither step blocks readers and writers of other days.
import { sql } from 'kysely';
import { type Database, type Queries, rowsOf } from '../tables/database.ts';
import type { DayTable } from './record-tables.ts';
import { firstIdAt, timeOf } from '../record-ids.ts';
import { DAY_MS } from './usage-tables.ts';

/** Advisory lock for creating partitions. Any number that is otherwise unused in the database. */
const PARTITION_LOCK = '7283641095518339';

interface Partition {
  readonly name: string;
  /** Days since 1970. */
  readonly day: number;
  /** A process began to detach it and did not finish. */
  readonly isLeaving: boolean;
}

export class DayPartitions {
  readonly #table: DayTable;
  /** Partitions that exist, as far as this process knows. */
  readonly #known = new Set<number>();

  constructor(table: DayTable) {
    this.#table = table;
  }

  /** Creates missing partitions for rows, inside a transaction. If the transaction fails, call `forget`. */
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

  /** Forgets known partitions, after a failed transaction. One of them may have been dropped. */
  forget(): void {
    this.#known.clear();
  }

  /** Drops the oldest partition before a day. Must run outside a transaction. @returns false if there is none */
  async dropBefore({ ask }: Pick<Database, 'ask'>, day: number): Promise<boolean> {
    const [oldest] = await ask(() => this.#partitions());
    if (!oldest || oldest.day >= day) return false;
    this.#known.delete(oldest.day);
    // A plain `drop` would wait for all queries on the table, and new queries would wait for it.
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
    // Left over from a process that died after detaching it.
    yield sql.raw(`drop table if exists "${name}"`);
    // Created separately and then attached, because creating it as a partition locks the whole table.
    yield sql.raw(`create table "${name}" (like ${this.#table} including all)`);
    yield sql.raw(
      `alter table ${this.#table} attach partition "${name}" for values from (${bound(day)}) to (${bound(day + 1)})`,
    );
  }

  /** Partitions, oldest first. */
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
