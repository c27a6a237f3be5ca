// Writes records, and adds new ones to the sums in the same transaction. Each record counts once, however often and by
// whichever process its entry is written.
import {
  type AttemptRecord,
  countedRequests,
  type GenerationRecord,
  REQUEST_STATES,
  requestState,
} from '../../accounts/ledger/index.ts';
import { nanoUsdOf } from '../../accounts/limits/index.ts';
import { countedTokens, usageFactsOf, wholeCount } from '../../accounts/usage/index.ts';
import type { Database, Queries } from '../tables/database.ts';
import { newInserter, valuesInserter } from '../tables/insert.ts';
import { DayPartitions } from './day-partitions.ts';
import type { RecordEntry, StoredRecord } from './record-codec.ts';
import { APART, RECORD_CONTENTS, RECORDS } from './record-tables.ts';
import { timeOf } from '../record-ids.ts';
import { type CountedRecord, Sums } from './sums.ts';
import { groupOf, RequestNames, storable } from './usage-groups.ts';
import type { UsageWriter } from './usage-writer.ts';

interface RowOfEntry {
  readonly id: Buffer;
  readonly entry: RecordEntry;
  readonly counted: CountedRecord;
  readonly values: readonly unknown[];
}

export class RecordWriter {
  readonly #usage: UsageWriter;
  readonly #names = new RequestNames();
  readonly #insert: ReturnType<typeof newInserter<{ readonly id: Uint8Array }>>;
  readonly #insertContents: ReturnType<typeof valuesInserter>;
  /** Partitions of `records`, in PostgreSQL only. */
  readonly days = new DayPartitions('records');
  readonly contentDays = new DayPartitions('record_contents');
  readonly #hasDays: boolean;
  #isWriting = false;

  constructor({ kind }: Pick<Database, 'kind'>, usage: UsageWriter) {
    this.#usage = usage;
    this.#hasDays = kind === 'postgres';
    this.#insert = newInserter({ kind }, RECORDS, 'id');
    this.#insertContents = valuesInserter({ kind }, RECORD_CONTENTS, {
      conflict: { on: RECORD_CONTENTS.key },
    });
  }

  /**
   * Writes entries inside a transaction. After a failure it must be retried, because a partition may have been dropped.
   */
  *write(entries: readonly RecordEntry[]): Queries<void> {
    // All writers use the same order, so that two that write the same entries cannot deadlock.
    const rows = entries
      .map((entry) => this.#rowOf(entry))
      .toSorted((a, b) => Buffer.compare(a.id, b.id))
      .filter(({ id }, at, all) => all[at - 1]?.id.equals(id) !== true);
    if (rows.length === 0) return;
    // The previous write failed, so that the known partitions may be outdated.
    if (this.#isWriting) this.forgetDays();
    this.#isWriting = true;
    if (this.#hasDays) yield* this.days.ensure(rows.map(({ id }) => id));
    const inserted = yield* this.#insert(rows.map(({ values }) => values));
    const added = newOf(rows, inserted);
    const contents = added.flatMap(({ id, entry: { request, answer } }) =>
      request === null || answer === null ? [] : [{ id, row: [id, request, answer] }],
    );
    if (contents.length > 0) {
      if (this.#hasDays) yield* this.contentDays.ensure(contents.map(({ id }) => id));
      yield* this.#insertContents(contents.map(({ row }) => row));
    }
    const sums = new Sums();
    for (const { counted } of added) sums.count(counted);
    yield* this.#usage.write(sums);
    this.#isWriting = false;
  }

  forgetDays(): void {
    this.days.forget();
    this.contentDays.forget();
  }

  #rowOf(entry: RecordEntry): RowOfEntry {
    const { id, record, bytes } = entry;
    const { generation: g, attempts } = record;
    const apart = apartOf(id, g);
    const counted = countedRecord(record, this.#names, id);
    const { facts, group } = counted;
    const failed = g.error !== null;
    return {
      id,
      entry,
      counted,
      values: [
        id,
        g.createdAt,
        group.id,
        g.endUser,
        g.status,
        apart,
        facts.isLate ? 0 : countedRequests({ turns: g.turns, isCharged: facts.isCharged, failed }),
        g.usage ? countedTokens(g.usage) : 0,
        facts.costUsd === null ? null : wholeCount(nanoUsdOf(facts.costUsd)),
        wholeCount(facts.durationMs),
        facts.firstContentMs === null ? null : wholeCount(facts.firstContentMs),
        attempts.length,
        facts.errorKind,
        REQUEST_STATES.indexOf(requestState(g, attempts)),
        triedBy(attempts, group.names.provider),
        bytes,
      ],
    };
  }
}

/** A record as input for sums. @param id id of its row */
export function countedRecord(
  { generation, attempts }: StoredRecord,
  names: RequestNames,
  id: Uint8Array,
): CountedRecord {
  const facts = usageFactsOf(generation, attempts, apartOf(id, generation) === APART.late);
  return { generation, attempts, group: groupOf(names.of(generation, attempts, facts.outcome)), facts };
}

function apartOf(id: Uint8Array, { createdAt }: GenerationRecord): number {
  const time = timeOf(id);
  if (time === null) return APART.foreignId;
  return time === createdAt ? APART.none : APART.late;
}

/** Rows that did not exist before. */
function newOf(
  rows: readonly RowOfEntry[],
  inserted: readonly { readonly id: Uint8Array }[],
): readonly RowOfEntry[] {
  if (inserted.length === rows.length) return rows;
  const ids = new Set(inserted.map(({ id }) => Buffer.from(id).toString('latin1')));
  return rows.filter(({ id }) => ids.has(id.toString('latin1')));
}

const BETWEEN = '|';

/** Value of the column `tried`: providers of all attempts. Null: only `own`, or none. */
function triedBy(attempts: readonly AttemptRecord[], own: string): string | null {
  if (attempts.every(({ provider }) => provider === own)) return null;
  const names = new Set(attempts.map(({ provider }) => storable(provider)));
  return `${BETWEEN}${[...names].join(BETWEEN)}${BETWEEN}`;
}
