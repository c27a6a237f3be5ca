// Writes the rows of records, and notes for the sums what was not there before: once for each record, however often its entry
// is brought in.
import type { Kysely } from 'kysely';
import type { SqlStatement, SqlValue } from '../../runtime/sqlite.ts';
import type { SqliteNames } from './names.ts';
import { liesAtItsTime, textId } from '../record-ids.ts';
import type { RecordColumns } from '../record-columns.ts';
import type { RecordTable, Schema } from './schema.ts';
import type { SqliteBase } from './store.ts';
import { type CountedRecord, countedRecord } from './usage/counted-record.ts';
import type { PendingSums } from './usage/pending-sums.ts';

/** Rows of one statement: each row then costs about half of what it costs alone. */
const ROWS = 16;

/** A record with its names as numbers. */
interface Numbered {
  readonly columns: RecordColumns;
  readonly counted: CountedRecord;
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
            .map((columns) => ({ columns, counted: countedRecord(columns, this.#names) })),
        ),
      );
    for (const { columns } of added) {
      const { id, createdAt, request, answer } = columns;
      if (!liesAtItsTime(id, createdAt)) this.#insertElsewhere.run(createdAt, id);
      if (request !== null && answer !== null)
        this.#insertContent.run(textId(id), createdAt, request, answer);
    }
    if (added.length > 0) this.#sums.note(added.map(({ counted }) => counted));
  }

  /** @returns those that were not there */
  #insert(records: readonly Numbered[]): readonly Numbered[] {
    if (records.length === ROWS)
      try {
        const values: SqlValue[] = [];
        for (const record of records) addValues(values, record);
        this.#insertMany.run(...values);
        return records;
      } catch (error) {
        if (!isConstraint(error)) throw error;
      }
    return records.filter((record) => {
      const values: SqlValue[] = [];
      addValues(values, record);
      return this.#insertOne.run(...values).changes > 0;
    });
  }
}

/** Adds the values of a row, in the order of its columns. */
function addValues(values: SqlValue[], { columns: c, counted: { key, model, provider } }: Numbered): void {
  values.push(
    c.id,
    key,
    c.createdAt,
    orNull(model),
    orNull(provider),
    c.status,
    c.inputTokens,
    c.outputTokens,
    c.costUsd,
    c.rest,
    1,
  );
}

/** A name of a row: 0 is none. */
function orNull(number: number): number | null {
  return number === 0 ? null : number;
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
