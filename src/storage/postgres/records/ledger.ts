// Keeps the ledger's records: an append is durable with one write to the journal, and a row in PostgreSQL soon after. Knows
// nothing of prices, requests or HTTP.
import { type Kysely, sql } from 'kysely';
import { GatewayError } from '../../../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../../../ledger/index.ts';
import { CompactReader } from '../../compact/reader.ts';
import { CompactWriter, NO_NAMES } from '../../compact/writer.ts';
import type { Indexer } from '../../journal/indexer.ts';
import type {
  GenerationPage,
  GenerationQuery,
  LedgerBacklog,
  LedgerStore,
  ListedGeneration,
} from '../../ports.ts';
import { readColumns } from '../../record-columns.ts';
import { writeRecord } from '../../record-writer.ts';
import type { PostgresBase, PostgresSchema } from '../store.ts';
import { UsageRows } from '../usage/usage-rows.ts';
import { countedRecord } from './counted-record.ts';
import { DayPartitions } from './day-partitions.ts';
import { foundRecord, recordOf, noName, RECORD_COLUMNS, type RecordRow } from './found-records.ts';
import { listedRows } from './record-list.ts';
import { RecordPurge } from './record-purge.ts';
import { RecordRows } from './record-rows.ts';
import { rowId } from './row-ids.ts';

/** The kind of a record's entries in journals. */
const RECORD_ENTRY = 1;

export class PostgresLedger implements LedgerStore {
  readonly #db: Kysely<PostgresSchema>;
  readonly #indexer: Indexer;
  readonly #breaker: PostgresBase['breaker'];
  /** Names are written out: what they mean must not depend on a database that may be out of reach. */
  readonly #writer = new CompactWriter(NO_NAMES);
  readonly #purge: RecordPurge;

  constructor({ db, transaction, breaker, indexer, entries }: PostgresBase) {
    this.#db = db;
    this.#breaker = breaker;
    this.#indexer = indexer;
    const days = new DayPartitions('records');
    const contentDays = new DayPartitions('record_contents');
    this.#purge = new RecordPurge({ db, transaction, days, contentDays });
    const rows = new RecordRows(new UsageRows(), days, contentDays);
    entries.register(RECORD_ENTRY, {
      read: (entry) => countedRecord(readColumns(new CompactReader(entry, noName))),
      write: (records, tx) => rows.write(records, tx),
    });
  }

  backlog(): LedgerBacklog {
    const { waitingBytes, isStuck } = this.#indexer;
    return { bytes: waitingBytes, isStuck: isStuck || this.#breaker.isOpen, isFull: this.#indexer.isFull() };
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

  confirmed(): Promise<void> | undefined {
    return this.#indexer.confirmed();
  }

  async find(id: string, projectId: string): Promise<ListedGeneration | null> {
    const found = await this.findOfAnybody(id);
    return found?.generation.projectId === projectId ? found : null;
  }

  async findOfAnybody(id: string): Promise<ListedGeneration | null> {
    await this.#indexer.caughtUp();
    const found = await this.#find(id);
    if (found) return found;
    return (await this.#indexer.caughtUpWithOthers()) ? this.#find(id) : null;
  }

  async list(query: GenerationQuery): Promise<GenerationPage> {
    await this.#indexer.caughtUp();
    await this.#indexer.caughtUpWithOthers();
    const rows = await listedRows(this.#db, query);
    const generations = rows.slice(0, query.limit).map((row) => recordOf(row, null));
    return { generations, hasMore: rows.length > query.limit };
  }

  purge(beforeMs: number): Promise<number> {
    return this.#purge.records(beforeMs);
  }

  purgeContents(beforeMs: number): Promise<number> {
    return this.#purge.contents(beforeMs);
  }

  async #find(id: string): Promise<ListedGeneration | null> {
    const { rows } =
      await sql<RecordRow>`select ${RECORD_COLUMNS} from records where id = ${rowId(id)}`.execute(this.#db);
    const [row] = rows;
    return row ? foundRecord(this.#db, row) : null;
  }
}
