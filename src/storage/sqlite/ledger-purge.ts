// Deletes old records and contents, the oldest first and a few milliseconds' worth at a time: nobody who writes waits for
// longer. What is not in the sums yet stays until it is.
import { sql } from 'kysely';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import type { GroupCommit } from './group-commit.ts';
import { firstIdAt, textId } from '../record-ids.ts';
import type { SqliteBase } from './store.ts';
import type { Backfill } from './usage/backfill.ts';
import { PURGED_BEFORE } from './usage/usage-tables.ts';

/** Rows that are deleted in one go: about a millisecond. */
const ROWS = 50;
/** Contents that are deleted in one go, in bytes: each page of a large one has to be read. */
const CONTENT_BYTES = 500_000;

export class LedgerPurge {
  readonly #commits: GroupCommit;
  readonly #backfill: Backfill;
  /** Bind what comes behind the last id, the time, and how many. */
  readonly #records: SqlStatement;
  readonly #generations: SqlStatement;
  readonly #contents: SqlStatement;
  /** Bind ids as a JSON array, which is of hexadecimal digits. */
  readonly #deleteRecords: SqlStatement;
  readonly #deleteElsewhere: SqlStatement;
  readonly #deleteGenerations: SqlStatement;
  readonly #deleteAttempts: SqlStatement;
  readonly #deleteContents: SqlStatement;
  /** Binds the name of the setting, and its value. */
  readonly #setPurged: SqlStatement;

  constructor({ connection, db, commits }: SqliteBase, backfill: Backfill) {
    this.#commits = commits;
    this.#backfill = backfill;
    const prepare = (query: { compile(): { sql: string } }): SqlStatement =>
      connection.prepare(query.compile().sql);
    const texts = sql<string>`(select value from json_each(${''}))`;
    const ids = sql<Uint8Array>`(select unhex(value) from json_each(${''}))`;
    this.#records = connection.prepare(
      oldest('records', 'id', 'lower(hex(id)) as id', "typeof(id) = 'blob'"),
    );
    this.#generations = connection.prepare(oldest('generations', 'id', 'id'));
    this.#contents = connection.prepare(
      oldest(
        'generation_contents',
        'generation_id',
        'generation_id as id, octet_length(request) + octet_length(answer) as bytes',
      ),
    );
    this.#deleteRecords = prepare(db.deleteFrom('records').where('id', 'in', ids));
    this.#deleteElsewhere = prepare(
      db.deleteFrom('records_elsewhere').where('created_at', '<', 0).where('id', 'in', ids),
    );
    this.#deleteGenerations = prepare(db.deleteFrom('generations').where('id', 'in', texts));
    this.#deleteAttempts = prepare(db.deleteFrom('attempts').where('generation_id', 'in', texts));
    this.#deleteContents = prepare(db.deleteFrom('generation_contents').where('generation_id', 'in', texts));
    this.#setPurged = prepare(
      db
        .insertInto('settings')
        .values({ name: '', value: '' })
        .onConflict((conflict) =>
          conflict.column('name').doUpdateSet((eb) => ({ value: eb.ref('excluded.value') })),
        ),
    );
  }

  /** Deletes some records of before a time, with their contents. @returns how many; 0 when none is left */
  async records(beforeMs: number): Promise<number> {
    if (!this.#backfill.reachesBackTo(-Infinity)) return 0;
    return this.#commits.run(() => this.#purgeRecords(beforeMs));
  }

  /** Deletes some prompts and answers of before a time. @returns how many; 0 when none is left */
  contents(beforeMs: number): Promise<number> {
    return this.#commits.run(() => this.#purgeContents(beforeMs));
  }

  #purgeRecords(beforeMs: number): number {
    const contents = this.#purgeContents(beforeMs);
    if (contents > 0) return contents;
    const end = firstIdAt(beforeMs);
    const records = idsIn(this.#records.all(end, beforeMs, ROWS));
    if (records.length > 0) {
      this.#setPurged.run(PURGED_BEFORE, String(beforeMs));
      this.#deleteRecords.run(JSON.stringify(records));
      this.#deleteElsewhere.run(beforeMs, JSON.stringify(records));
      return records.length;
    }
    const generations = idsIn(this.#generations.all(textId(end), beforeMs, ROWS));
    if (generations.length === 0) return 0;
    this.#setPurged.run(PURGED_BEFORE, String(beforeMs));
    this.#deleteAttempts.run(JSON.stringify(generations));
    this.#deleteGenerations.run(JSON.stringify(generations));
    return generations.length;
  }

  #purgeContents(beforeMs: number): number {
    const found = this.#contents.all(textId(firstIdAt(beforeMs)), beforeMs, ROWS) as {
      id: string;
      bytes: number;
    }[];
    let bytes = 0;
    // At least one, however large.
    const some = found.filter((row, at) => (bytes += row.bytes) <= CONTENT_BYTES || at === 0);
    if (some.length > 0) this.#deleteContents.run(JSON.stringify(idsIn(some)));
    return some.length;
  }
}

/** The oldest rows. Counts that came late lie among older ones, and have their own time. */
function oldest(table: string, id: string, columns: string, condition = 'true'): string {
  return `select ${columns} from ${table}
    where ${table}.${id} < ? and created_at < ? and ${condition} order by ${table}.${id} limit ?`;
}

function idsIn(rows: readonly object[]): readonly string[] {
  return rows.map((row) => String((row as { id: unknown }).id));
}
