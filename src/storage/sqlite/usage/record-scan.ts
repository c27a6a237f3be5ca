// Reads records one after another for sums: those of this version and of earlier ones, by their ids, which begin with the
// time of their requests.
import type { Kysely } from 'kysely';
import { usageFactsOf } from '../../../usage/index.ts';
import type { SqlStatement } from '../../../runtime/sqlite.ts';
import { CompactReader } from '../../compact/reader.ts';
import type { SqliteNames } from '../names.ts';
import { decodeGeneration } from '../earlier-ledger-rows.ts';
import type { GenerationTable, RecordTable, Schema } from '../schema.ts';
import type { SqliteBase } from '../store.ts';
import type { NamedRecord } from './counted-record.ts';
import { readRecordFacts } from '../../usage/record-facts.ts';

/** A record as it was found. */
export interface ScannedRecord {
  readonly id: Uint8Array | string;
  /** Whether it is in the sums; those of earlier versions never are by themselves. */
  readonly isCounted: boolean;
  /** HTTP status sent to the client. */
  readonly status: number;
  readonly createdAt: number;
  /** Null for one that cannot be read, which no sum has room for. Read when it is asked for, each time. */
  readonly record: NamedRecord | null;
}

export class RecordScan {
  readonly #names: SqliteNames;
  /** Bind two ids and how many rows. */
  readonly #records: Directions;
  readonly #generations: Directions;
  /** Binds an id. */
  readonly #record: SqlStatement;
  /** Binds two times. */
  readonly #elsewhere: SqlStatement;

  constructor({ connection, db, names }: Pick<SqliteBase, 'connection' | 'db' | 'names'>) {
    this.#names = names;
    const prepare = (table: 'records' | 'generations', order: 'asc' | 'desc'): SqlStatement =>
      connection.prepare(between(db, table, order));
    const both = (table: 'records' | 'generations'): Directions => ({
      asc: prepare(table, 'asc'),
      desc: prepare(table, 'desc'),
    });
    this.#records = both('records');
    this.#generations = both('generations');
    const record = db.selectFrom('records').selectAll().where('id', '=', '');
    const elsewhere = db
      .selectFrom('records_elsewhere')
      .select('id')
      .where('created_at', '>=', 0)
      .where('created_at', '<', 0);
    this.#record = connection.prepare(record.compile().sql);
    this.#elsewhere = connection.prepare(elsewhere.compile().sql);
  }

  /** Records with ids from the first on and before the second. */
  records(
    from: Uint8Array | string,
    to: Uint8Array | string,
    order: 'asc' | 'desc',
    most: number,
  ): readonly ScannedRecord[] {
    return (this.#records[order].all(from, to, most) as object[] as RecordTable[]).map((row) =>
      this.scanned(row),
    );
  }

  /** The same of earlier versions. */
  generations(from: string, to: string, order: 'asc' | 'desc', most: number): readonly ScannedRecord[] {
    return (this.#generations[order].all(from, to, most) as object[] as GenerationTable[]).map(
      scannedGeneration,
    );
  }

  /** Null when there is none. */
  record(id: Uint8Array | string): ScannedRecord | null {
    const row = this.#record.all(id)[0] as object as RecordTable | undefined;
    return row ? this.scanned(row) : null;
  }

  /** Records of a time that do not lie where it is. */
  elsewhere(fromMs: number, toMs: number): readonly ScannedRecord[] {
    return (this.#elsewhere.all(fromMs, toMs) as { id: Uint8Array | string }[]).flatMap(
      ({ id }) => this.record(id) ?? [],
    );
  }

  /** A row of records, of which the rest is read when it is asked for. */
  scanned(row: RecordTable): ScannedRecord {
    const { id, status, counted, created_at: createdAt } = row;
    const recordOf = (): NamedRecord => this.#recordOf(row);
    return {
      id,
      status,
      createdAt,
      isCounted: counted !== null,
      get record() {
        return readable(recordOf);
      },
    };
  }

  #recordOf(row: RecordTable): NamedRecord {
    const { id, key, model, provider, created_at: createdAt, cost_usd: costUsd } = row;
    const reader = new CompactReader(row.record, (number) => this.#names.textOf(number));
    return {
      id,
      key,
      model,
      provider,
      createdAt,
      facts: readRecordFacts(reader, { id, createdAt, costUsd }),
    };
  }
}

interface Directions {
  readonly asc: SqlStatement;
  readonly desc: SqlStatement;
}

function between(db: Kysely<Schema>, table: 'records' | 'generations', order: 'asc' | 'desc'): string {
  return db
    .selectFrom(table)
    .selectAll()
    .where('id', '>=', '')
    .where('id', '<', '')
    .orderBy('id', order)
    .limit(1)
    .compile().sql;
}

function scannedGeneration(row: GenerationTable): ScannedRecord {
  const { id, status, created_at: createdAt } = row;
  return {
    id,
    status,
    createdAt,
    isCounted: false,
    get record() {
      return readable(() => recordOfGeneration(row));
    },
  };
}

function recordOfGeneration(row: GenerationTable): NamedRecord {
  const { generation: g } = decodeGeneration(row, null);
  const { endpoint, protocol, endUser } = g;
  const project = g.projectId === g.keyId ? null : g.projectId;
  const facts = { ...usageFactsOf(g, false), endpoint, protocol, project, endUser };
  return { id: g.id, createdAt: g.createdAt, key: g.keyId, model: g.model, provider: g.provider, facts };
}

function readable<T>(read: () => T): T | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof RangeError || error instanceof SyntaxError) return null;
    throw error;
  }
}
