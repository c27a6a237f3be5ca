// Deletes old records and contents, the oldest first and a millisecond's worth at a time: nobody who writes waits for
// much longer. What is not in the sums yet stays until it is.
import { sql } from 'kysely';
import type { SqlStatement } from '../../runtime/sqlite.ts';
import { firstIdAt, textId } from '../record-ids.ts';
import type { ShortSteps } from './short-steps.ts';
import type { SqliteBase } from './store.ts';
import type { Backfill } from './usage/backfill.ts';
import type { PendingSums } from './usage/pending-sums.ts';
import { PURGED_BEFORE } from './usage/usage-tables.ts';

/** Records that are deleted with one statement. Contents go one by one: each page of a large one has to be read. */
const ROWS = 10;

export class LedgerPurge {
  readonly #steps: ShortSteps;
  readonly #backfill: Backfill;
  readonly #sums: PendingSums;
  /** Bind what comes behind the last id, the time, and how many. */
  readonly #oldRecords: SqlStatement;
  readonly #oldGenerations: SqlStatement;
  readonly #oldContents: SqlStatement;
  /** Bind ids as a JSON array, which is of hexadecimal digits. */
  readonly #deleteRecords: SqlStatement;
  readonly #deleteElsewhere: SqlStatement;
  readonly #deleteGenerations: SqlStatement;
  readonly #deleteAttempts: SqlStatement;
  readonly #deleteContents: SqlStatement;
  /** Binds the name of the setting, and its value. */
  readonly #setPurged: SqlStatement;

  constructor({ connection, db, steps }: SqliteBase, backfill: Backfill, sums: PendingSums) {
    this.#steps = steps;
    this.#backfill = backfill;
    this.#sums = sums;
    const prepare = (query: { compile(): { sql: string } }): SqlStatement =>
      connection.prepare(query.compile().sql);
    const texts = sql<string>`(select value from json_each(${''}))`;
    const ids = sql<Uint8Array>`(select unhex(value) from json_each(${''}))`;
    this.#oldRecords = connection.prepare(
      oldest('records', 'id', 'lower(hex(id)) as id', "typeof(id) = 'blob'"),
    );
    this.#oldGenerations = connection.prepare(oldest('generations', 'id', 'id'));
    this.#oldContents = connection.prepare(
      oldest('generation_contents', 'generation_id', 'generation_id as id'),
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
    if (this.#sums.hasBefore(beforeMs)) await this.#sums.settle();
    return this.#steps.run(() => this.#records(beforeMs));
  }

  /** Deletes some prompts and answers of before a time. @returns how many; 0 when none is left */
  contents(beforeMs: number): Promise<number> {
    return this.#steps.run(() => this.#contents(beforeMs));
  }

  *#records(beforeMs: number): Generator<number> {
    // What came since then waits for the next time.
    if (this.#sums.hasBefore(beforeMs)) return;
    yield* this.#contents(beforeMs);
    const end = firstIdAt(beforeMs);
    const purged = (): void => void this.#setPurged.run(PURGED_BEFORE, String(beforeMs));
    yield* inPortions(
      () => this.#oldRecords.all(end, beforeMs, ROWS),
      (ids) => {
        purged();
        this.#deleteRecords.run(JSON.stringify(ids));
        this.#deleteElsewhere.run(beforeMs, JSON.stringify(ids));
      },
    );
    yield* inPortions(
      () => this.#oldGenerations.all(textId(end), beforeMs, ROWS),
      (ids) => {
        purged();
        this.#deleteAttempts.run(JSON.stringify(ids));
        this.#deleteGenerations.run(JSON.stringify(ids));
      },
    );
  }

  #contents(beforeMs: number): Generator<number> {
    const end = textId(firstIdAt(beforeMs));
    return inPortions(
      () => this.#oldContents.all(end, beforeMs, 1),
      (ids) => void this.#deleteContents.run(JSON.stringify(ids)),
    );
  }
}

/** Looks for some and removes them, until there are none. Gives how many each time. */
function* inPortions(
  find: () => readonly object[],
  remove: (ids: readonly string[]) => void,
): Generator<number> {
  for (;;) {
    const ids = find().map((row) => String((row as { id: unknown }).id));
    if (ids.length === 0) return;
    remove(ids);
    yield ids.length;
  }
}

/** The oldest rows. Counts that came late lie among older ones, and have their own time. */
function oldest(table: string, id: string, columns: string, condition = 'true'): string {
  return `select ${columns} from ${table}
    where ${table}.${id} < ? and created_at < ? and ${condition} order by ${table}.${id} limit ?`;
}
