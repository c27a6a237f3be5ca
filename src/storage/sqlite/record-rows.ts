// Writes the rows of records, and notes for the sums what was not there before: once for each record, however often its entry
// is brought in.
import type { Kysely } from 'kysely';
import type { SqlStatement, SqlValue } from '../../runtime/sqlite.ts';
import type { SqliteNames } from './names.ts';
import { liesAtItsTime, textId } from '../record-ids.ts';
import type { RecordColumns } from '../record-columns.ts';
import type { RecordTable, Schema } from './schema.ts';
import type { SqliteBase } from './store.ts';
import { countedRecord } from './usage/counted-record.ts';
import type { NotedRecord, PendingSums } from './usage/pending-sums.ts';

/** Rows of one statement: each row then costs about half of what it costs alone. */
const ROWS = 16;

/** A record with its names as numbers. */
interface Numbered extends NotedRecord {
  readonly columns: RecordColumns;
}

export class RecordRows {
  readonly #names: SqliteNames;
  readonly #sums: PendingSums;
  /** Binds the columns in their order; an id that is known changes nothing. */
  readonly #insertOne: SqlStatement;
  /** The same for ROWS records; an id that is known is an error, and then nothing has changed. */
  readonly #insertMany: SqlStatement;
  readonly #insertContent: SqlStatement;
  /** Binds time and id. */
  readonly #insertElsewhere: SqlStatement;

  constructor({ connection, db, names }: SqliteBase, sums: PendingSums) {
    this.#names = names;
    this.#sums = sums;
    const one = insertRecords(db, 1).onConflict((conflict) => conflict.column('id').doNothing());
    const content = db
      .insertInto('generation_contents')
      .values({ generation_id: '', created_at: 0, request: '', answer: '' })
      .onConflict((conflict) => conflict.column('generation_id').doNothing());
    const elsewhere = db
      .insertInto('records_elsewhere')
      .values({ created_at: 0, id: '' })
      .onConflict((conflict) => conflict.doNothing());
    this.#insertOne = connection.prepare(one.compile().sql);
    this.#insertMany = connection.prepare(insertRecords(db, ROWS).compile().sql);
    this.#insertContent = connection.prepare(content.compile().sql);
    this.#insertElsewhere = connection.prepare(elsewhere.compile().sql);
  }

  /** Inside a transaction. */
  write(records: readonly RecordColumns[]): void {
    const added: Numbered[] = [];
    for (let from = 0; from < records.length; from += ROWS)
      added.push(
        ...this.#insert(
          records
            .slice(from, from + ROWS)
            .map((columns) => ({ ...countedRecord(columns, this.#names), id: columns.id, columns })),
        ),
      );
    for (const { columns } of added) {
      const { id, createdAt, request, answer } = columns;
      if (!liesAtItsTime(id, createdAt)) this.#insertElsewhere.run(createdAt, id);
      if (request !== null && answer !== null)
        this.#insertContent.run(textId(id), createdAt, request, answer);
    }
    if (added.length > 0) this.#sums.note(added);
  }

  /** @returns those that were not there */
  #insert(records: readonly Numbered[]): readonly Numbered[] {
    if (records.length === ROWS)
      try {
        this.#insertMany.run(...records.flatMap(valuesOf));
        return records;
      } catch (error) {
        if (!isConstraint(error)) throw error;
      }
    return records.filter((record) => this.#insertOne.run(...valuesOf(record)).changes > 0);
  }
}

function valuesOf({ columns: c, key, model, provider }: Numbered): SqlValue[] {
  const known = (number: number): number | null => (number === 0 ? null : number);
  const totals = [c.status, c.inputTokens, c.outputTokens, c.costUsd];
  return [c.id, key, c.createdAt, known(model), known(provider), ...totals, c.rest, 1];
}

/** An INSERT of several rows. */
function insertRecords(db: Kysely<Schema>, rows: number) {
  const row: RecordTable = {
    id: '',
    key: 0,
    created_at: 0,
    model: 0,
    provider: 0,
    status: 0,
    input_tokens: 0,
    output_tokens: 0,
    cost_usd: 0,
    record: new Uint8Array(),
    counted: 1,
  };
  return db.insertInto('records').values(Array.from({ length: rows }, () => row));
}

function isConstraint(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return typeof code === 'string' && code.startsWith('SQLITE_CONSTRAINT');
}
