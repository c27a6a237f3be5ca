// Keeps the ledger's records: an append is durable with one write to the journal, and a row in SQLite soon after. Knows
// nothing of prices, requests or HTTP.
import type { Kysely } from 'kysely';
import { GatewayError } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import { CompactReader } from './compact/reader.ts';
import type { SqliteNames } from './compact/sqlite-names.ts';
import { CompactWriter } from './compact/writer.ts';
import { EarlierLedger, readContent } from './earlier-ledger.ts';
import type { Indexer } from './journal/indexer.ts';
import type { LedgerBacklog, LedgerStore } from './ports.ts';
import { readColumns } from './record-columns.ts';
import { storedId } from './record-ids.ts';
import { type FoundRecord, readRecord } from './record-reader.ts';
import { RecordRows } from './record-rows.ts';
import { writeRecord } from './record-writer.ts';
import type { Schema } from './schema.ts';
import type { SqliteBase } from './sqlite-store.ts';
import { UsageWriter } from './usage/usage-writer.ts';

/** The kind of a record's entries in journals. */
const RECORD_ENTRY = 1;

export class SqliteLedger implements LedgerStore {
  readonly #db: Kysely<Schema>;
  readonly #indexer: Indexer;
  readonly #names: SqliteNames;
  readonly #earlier: EarlierLedger;
  readonly #writer: CompactWriter;
  readonly #rows: RecordRows;

  constructor(base: SqliteBase) {
    const { db, indexer, names } = base;
    this.#db = db;
    this.#indexer = indexer;
    this.#names = names;
    this.#earlier = new EarlierLedger(db);
    this.#writer = new CompactWriter(names);
    this.#rows = new RecordRows(base, new UsageWriter(base));
    indexer.register(RECORD_ENTRY, {
      read: (entry) => readColumns(new CompactReader(entry, (number) => names.textOf(number))),
      write: (records) => this.#rows.write(records),
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
}
