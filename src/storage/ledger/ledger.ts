// The ledger's records. An appended record is durable after one write to the journal, and is in the database soon
// after.
import { sql } from 'kysely';
import { GatewayError } from '../../canonical/index.ts';
import type { GenerationRecord } from '../../accounts/ledger/index.ts';
import { CompactReader } from '../compact/reader.ts';
import { CompactWriter } from '../compact/writer.ts';
import type { LedgerStore, ListedGeneration } from '../../accounts/ports/index.ts';
import { type Database, firstOf, type Queries, type Store } from '../tables/database.ts';
import { readEntry, readRecord, writeEntry } from './record-codec.ts';
import { RecordCounts } from './record-counts.ts';
import { RecordList, type RecordRow } from './record-list.ts';
import { RecordPurge } from './record-purge.ts';
import { RecordSpans } from './record-spans.ts';
import { RECORD_CHANGES, RECORD_CONTENTS, RECORDS } from './record-tables.ts';
import { RecordWriter } from './record-writer.ts';
import { idOfRow, rowId } from '../record-ids.ts';
import { UsageReader } from './usage-reader.ts';
import { UsageWriter } from './usage-writer.ts';

/** Kind of records among journal entries. */
const RECORD_ENTRY = 1;

export const ledger: Store<LedgerStore> = {
  tables: [RECORDS, RECORD_CONTENTS],
  changes: RECORD_CHANGES,
  open,
};

function open(database: Database): LedgerStore {
  const { indexer, ask } = database;
  const usage = new UsageWriter(database);
  const writer = new RecordWriter(database, usage);
  const sums = new UsageReader(database);
  const spans = new RecordSpans(database, sums);
  const list = new RecordList(database, spans);
  const counts = new RecordCounts(database, spans, sums);
  const purge = new RecordPurge(database, writer);
  const compact = new CompactWriter();
  database.onEntries(RECORD_ENTRY, {
    read: (entry) => readEntry(new CompactReader(entry)),
    write: (entries) => writer.write(entries),
  });

  function* rowOf(id: string): Queries<ListedGeneration | null> {
    const row = yield* firstOf(sql<RecordRow>`select id, record from records where id = ${rowId(id)}`);
    if (!row) return null;
    const content = yield* firstOf(sql<{ request: string; answer: string }>`
      select request, answer from record_contents where id = ${rowId(id)}`);
    return recordOf(
      row,
      content ? { request: JSON.parse(content.request), answer: JSON.parse(content.answer) } : null,
    );
  }

  async function findOfAnybody(id: string): Promise<ListedGeneration | null> {
    await indexer.caughtUp();
    const found = await ask(() => rowOf(id));
    if (found) return found;
    return (await indexer.caughtUpWithOthers()) ? ask(() => rowOf(id)) : null;
  }

  return {
    backlog() {
      const { waitingBytes, isStuck } = indexer;
      return { bytes: waitingBytes, isStuck, isFull: indexer.isFull() };
    },
    append(generation, attempts) {
      compact.reset();
      try {
        writeEntry(compact, generation, attempts);
      } catch (cause) {
        throw new GatewayError('internal', `The record ${generation.id} cannot be written.`, { cause });
      }
      indexer.append(RECORD_ENTRY, compact.written());
    },
    confirmed: () => indexer.confirmed(),
    async find(id, projectId) {
      const found = await findOfAnybody(id);
      return found?.generation.projectId === projectId ? found : null;
    },
    findOfAnybody,
    async list(query) {
      await indexer.caughtUpWithAll();
      const rows = await list.rows(query);
      const generations = rows.slice(0, query.limit).map((row) => recordOf(row, null));
      return { generations, hasMore: rows.length > query.limit };
    },
    async count(query) {
      await indexer.caughtUpWithAll();
      return counts.count(query);
    },
    async facet(filters, by) {
      await indexer.caughtUpWithAll();
      return counts.facet(filters, by);
    },
    async times(model, endpoint, fromMs) {
      await indexer.caughtUpWithAll();
      return list.times(model, endpoint, fromMs);
    },
    purge: (beforeMs) => purge.records(beforeMs),
    purgeContents: (beforeMs) => purge.contents(beforeMs),
  };
}

function recordOf({ id, record }: RecordRow, content: GenerationRecord['content']): ListedGeneration {
  return readRecord(new CompactReader(record), idOfRow(id), content);
}
