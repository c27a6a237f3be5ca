// Deletes old records and contents: oldest first and about a millisecond at a time in SQLite, whole days in PostgreSQL.
// Their sums remain.
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../tables/database.ts';
import { APART } from './record-tables.ts';
import type { RecordWriter } from './record-writer.ts';
import { firstIdAt } from '../record-ids.ts';
import { DAY_MS, PURGED_BEFORE } from './usage-tables.ts';
import type { UnixMs } from '../../base/units.ts';

interface IdRow {
  readonly id: Uint8Array;
}

export class RecordPurge {
  readonly #database: Database;
  readonly #writer: RecordWriter;

  constructor(database: Database, writer: RecordWriter) {
    this.#database = database;
    this.#writer = writer;
  }

  /** Deletes some records from before a time, with their contents. @returns number of rows or days; 0: none are left */
  async records(beforeMs: UnixMs): Promise<number> {
    const contents = await this.contents(beforeMs);
    if (contents > 0) return contents;
    const hasDays = this.#database.kind === 'postgres';
    const day = Math.floor(beforeMs / DAY_MS);
    // Noted before the deletion, so that readers do not rely on these records even if it is interrupted.
    await this.#notePurged(hasDays ? day * DAY_MS : beforeMs);
    if (hasDays && (await this.#writer.days.dropBefore(this.#database, day))) return 1;
    const foreign = sql`apart = ${sql.lit(APART.foreignId)} and created_at < ${beforeMs}`;
    if (hasDays) return this.#delete('records', foreign);
    const own = await this.#delete('records', sql`id < ${firstIdAt(beforeMs)} and created_at < ${beforeMs}`);
    return own > 0 ? own : this.#delete('records', foreign);
  }

  /** Same as `records`, for prompts and answers only. */
  async contents(beforeMs: UnixMs): Promise<number> {
    const foreign = sql`id in (
      select id from records where apart = ${sql.lit(APART.foreignId)} and created_at < ${beforeMs})`;
    if (this.#database.kind === 'postgres') {
      const day = Math.floor(beforeMs / DAY_MS);
      if (await this.#writer.contentDays.dropBefore(this.#database, day)) return 1;
      return this.#delete('record_contents', foreign);
    }
    const own = await this.#delete('record_contents', sql`id < ${firstIdAt(beforeMs)}`);
    return own > 0 ? own : this.#delete('record_contents', foreign);
  }

  async #delete(table: 'records' | 'record_contents', where: RawBuilder<unknown>): Promise<number> {
    const deleted = await this.#database.sweep<IdRow>(
      (limit) => sql<IdRow>`select id from ${sql.table(table)} where ${where} order by id limit ${limit}`,
      function* (rows) {
        for (const { id } of rows) yield sql`delete from ${sql.table(table)} where id = ${id}`;
      },
    );
    return deleted.length;
  }

  async #notePurged(ms: number): Promise<void> {
    await this.#database.ask(function* () {
      yield sql`
        insert into settings (name, value) values (${PURGED_BEFORE}, ${String(ms)})
        on conflict (name) do update set value = excluded.value
        where cast(settings.value as double precision) < cast(excluded.value as double precision)`;
    });
  }
}
