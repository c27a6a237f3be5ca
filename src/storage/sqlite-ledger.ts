// Keeps the ledger's records: an append is durable with one write to the journal, and a row in SQLite soon after. Knows
// nothing of prices, requests or HTTP.
import type { Kysely } from 'kysely';
import { GatewayError } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { SqlStatement, SqlValue } from '../runtime/sqlite.ts';
import { CompactReader } from './compact/reader.ts';
import type { SqliteNames } from './compact/sqlite-names.ts';
import { CompactWriter } from './compact/writer.ts';
import { EarlierLedger, readContent } from './earlier-ledger.ts';
import type { Indexer } from './journal/indexer.ts';
import type { LedgerBacklog, LedgerStore } from './ports.ts';
import { type FoundRecord, readColumns, readRecord, type RecordColumns } from './record-reader.ts';
import { writeRecord } from './record-writer.ts';
import type { RecordTable, Schema } from './schema.ts';
import type { SqliteBase } from './sqlite-store.ts';

/** The kind of a record's entries in journals. */
const RECORD_ENTRY = 1;

/** Columns of a record's row, and rows of one statement: each row then costs about half of what it costs alone. */
const COLUMNS = 10;
const ROWS = 16;

export class SqliteLedger implements LedgerStore {
  readonly #db: Kysely<Schema>;
  readonly #indexer: Indexer;
  readonly #names: SqliteNames;
  readonly #earlier: EarlierLedger;
  readonly #writer: CompactWriter;
  /** Binds the columns in their order. */
  readonly #insertRecord: SqlStatement;
  /** The same for ROWS records. */
  readonly #insertRecords: SqlStatement;
  readonly #insertContent: SqlStatement;

  constructor({ connection, db, indexer, names }: SqliteBase) {
    this.#db = db;
    this.#indexer = indexer;
    this.#names = names;
    this.#earlier = new EarlierLedger(db);
    this.#writer = new CompactWriter(names);
    this.#insertRecord = connection.prepare(insertRecords(db, 1));
    this.#insertRecords = connection.prepare(insertRecords(db, ROWS));
    const content = db
      .insertInto('generation_contents')
      .values({ generation_id: '', created_at: 0, request: '', answer: '' })
      .onConflict((conflict) => conflict.column('generation_id').doNothing());
    this.#insertContent = connection.prepare(content.compile().sql);
    indexer.register(RECORD_ENTRY, {
      read: (entry) => readColumns(new CompactReader(entry, (number) => names.textOf(number))),
      write: (records) => this.#write(records),
    });
  }

  backlog(): LedgerBacklog {
    const { waitingBytes, isStuck } = this.#indexer;
    return { bytes: waitingBytes, isStuck };
  }

  append(generation: GenerationRecord, attempts: readonly AttemptRecord[]): void {
    const writer = this.#writer;
    writer.reset();
    try {
      writeRecord(writer, generation, attempts);
    } catch (cause) {
      throw new GatewayError('internal', `the record ${generation.id} cannot be written`, { cause });
    }
    this.#indexer.append(RECORD_ENTRY, writer.written());
  }

  async find(id: string, projectId: string): Promise<FoundRecord | null> {
    await this.#indexer.caughtUp();
    const found = await this.#find(id, projectId);
    if (found) return found;
    const earlier = await this.#earlier.find(id, projectId);
    if (earlier) return earlier;
    return (await this.#indexer.caughtUpWithOthers()) ? this.#find(id, projectId) : null;
  }

  async #find(id: string, projectId: string): Promise<FoundRecord | null> {
    const row = await this.#db
      .selectFrom('records as r')
      .innerJoin('names as k', 'k.number', 'r.key')
      .select(['k.text', 'r.created_at', 'r.model', 'r.provider', 'r.status', 'r.cost_usd', 'r.record'])
      .where('r.id', '=', storedId(id))
      .executeTakeFirst();
    if (!row) return null;
    const textOf = (number: number): string => this.#names.textOf(number);
    const found = readRecord(new CompactReader(row.record, textOf), {
      id,
      keyId: row.text,
      createdAt: row.created_at,
      model: row.model === null ? null : textOf(row.model),
      provider: row.provider === null ? null : textOf(row.provider),
      status: row.status,
      costUsd: row.cost_usd,
      content: await readContent(this.#db, id),
    });
    return found.generation.projectId === projectId ? found : null;
  }

  #write(records: readonly RecordColumns[]): void {
    let values: SqlValue[] = [];
    for (const c of records) {
      values.push(
        c.id,
        this.#numberOf(c.key),
        c.createdAt,
        this.#numberOf(c.model),
        this.#numberOf(c.provider),
      );
      values.push(c.status, c.inputTokens, c.outputTokens, c.costUsd, c.rest);
      if (c.request !== null && c.answer !== null)
        this.#insertContent.run(textId(c.id), c.createdAt, c.request, c.answer);
      if (values.length < ROWS * COLUMNS) continue;
      this.#insertRecords.run(...values);
      values = [];
    }
    for (let at = 0; at < values.length; at += COLUMNS)
      this.#insertRecord.run(...values.slice(at, at + COLUMNS));
  }

  #numberOf(name: number | string | null): number | null {
    return typeof name === 'string' ? this.#names.numberFor(name) : name;
  }
}

/** An INSERT of several rows. An id that is known changes nothing; any other violation is an error. */
function insertRecords(db: Kysely<Schema>, rows: number): string {
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
  };
  return db
    .insertInto('records')
    .values(Array.from({ length: rows }, () => row))
    .onConflict((conflict) => conflict.column('id').doNothing())
    .compile().sql;
}

/** As `CompactReader.id` gives it: the gateway's own ids as 16 bytes, others as they are. */
function storedId(id: string): Uint8Array | string {
  return /^[0-9a-f]{32}$/.test(id) ? Buffer.from(id, 'hex') : id;
}

function textId(id: Uint8Array | string): string {
  return typeof id === 'string' ? id : Buffer.from(id).toString('hex');
}
