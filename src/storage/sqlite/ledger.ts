// Keeps the ledger's records: an append is durable with one write to the journal, and a row in SQLite soon after. Knows
// nothing of prices, requests or HTTP.
import { GatewayError } from '../../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../../ledger/index.ts';
import { CompactReader } from '../compact/reader.ts';
import { CompactWriter } from '../compact/writer.ts';
import { FoundRecords } from './found-records.ts';
import { GenerationList } from './generation-list.ts';
import type { Indexer } from '../journal/indexer.ts';
import { LedgerPurge } from './ledger-purge.ts';
import type { GenerationPage, GenerationQuery, LedgerBacklog, LedgerStore } from '../ports.ts';
import { readColumns } from '../record-columns.ts';
import type { FoundRecord } from '../record-reader.ts';
import { RecordRows } from './record-rows.ts';
import { writeRecord } from '../record-writer.ts';
import type { SqliteBase } from './store.ts';
import { Backfill } from './usage/backfill.ts';
import { CandidateHours } from './usage/candidate-hours.ts';
import { EndUserReader } from './usage/end-user-reader.ts';
import { type PendingSums, pendingSumsOf } from './usage/pending-sums.ts';
import { UsageReader } from './usage/usage-reader.ts';
import { UsageWriter } from './usage/usage-writer.ts';

/** The kind of a record's entries in journals. */
const RECORD_ENTRY = 1;

export class SqliteLedger implements LedgerStore {
  readonly #indexer: Indexer;
  readonly #found: FoundRecords;
  readonly #writer: CompactWriter;
  readonly #rows: RecordRows;
  readonly #list: GenerationList;
  readonly #purge: LedgerPurge;
  readonly #sums: PendingSums;

  constructor(base: SqliteBase) {
    const { indexer, entries, names } = base;
    this.#indexer = indexer;
    this.#found = new FoundRecords(base);
    this.#writer = new CompactWriter(names);
    const usage = new UsageWriter(base);
    this.#sums = pendingSumsOf(base);
    this.#rows = new RecordRows(base, this.#sums);
    const backfill = new Backfill(base, usage);
    this.#purge = new LedgerPurge(base, backfill, this.#sums);
    const hours = new CandidateHours(new UsageReader(base, usage), new EndUserReader(base), backfill, names);
    this.#list = new GenerationList(base, hours);
    entries.register(RECORD_ENTRY, {
      read: (entry) => readColumns(new CompactReader(entry, (number) => names.textOf(number))),
      write: (records) => this.#rows.write(records),
    });
  }

  backlog(): LedgerBacklog {
    const { waitingBytes, isStuck } = this.#indexer;
    return { bytes: waitingBytes, isStuck, isFull: this.#indexer.isFull() };
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

  async find(id: string, projectId: string): Promise<FoundRecord | null> {
    const found = await this.findOfAnybody(id);
    return found?.generation.projectId === projectId ? found : null;
  }

  async findOfAnybody(id: string): Promise<FoundRecord | null> {
    await this.#indexer.caughtUp();
    const found = await this.#found.find(id);
    if (found) return found;
    return (await this.#indexer.caughtUpWithOthers()) ? this.#found.find(id) : null;
  }

  async list(query: GenerationQuery): Promise<GenerationPage> {
    await this.#indexer.caughtUp();
    await this.#indexer.caughtUpWithOthers();
    // They say where to look.
    await this.#sums.settle();
    const ids = await this.#list.ids(query);
    const generations = await this.#found.several(ids.slice(0, query.limit));
    return { generations, hasMore: ids.length > query.limit };
  }

  purge(beforeMs: number): Promise<number> {
    return this.#purge.records(beforeMs);
  }

  purgeContents(beforeMs: number): Promise<number> {
    return this.#purge.contents(beforeMs);
  }
}
