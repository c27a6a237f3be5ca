// Sums of a batch of records, added up in memory row by row. Counts are integers, so that the order of additions does
// not matter.
import type { AttemptRecord, GenerationRecord } from '../../accounts/ledger/index.ts';
import {
  addCounts,
  countAttempt,
  countNumbers,
  noUsageCounts,
  type UsageCounts,
  type UsageFacts,
} from '../../accounts/usage/index.ts';
import { packedFacts, shortest } from './packed-details.ts';
import { attemptGroup, type Group, type GroupNames, totalsOf } from './usage-groups.ts';
import { DAY, FIVE, HOUR, HOUR_MS, HOURS, MINUTES_5_MS, TOTALS_BY, totalsSpan } from './usage-tables.ts';
import type { UnixMs } from '../../base/units.ts';

/** Sums as stored in a row. */
export interface PackedSums {
  readonly counts: UsageCounts;
  /** In the form of `packed-details.ts`. */
  readonly details: string;
}

export interface SumsRow extends PackedSums {
  readonly span: number;
  readonly period: number;
  readonly group: Group;
}

/** Length from which details are compacted before they are written. */
export const LONG_DETAILS = 200;

type GrowingRow = Omit<SumsRow, 'details'> & { details: string };

/** Sums by hour, end user, key and model. */
export interface EndUserRow {
  readonly period: number;
  readonly project: string;
  readonly endUser: string;
  readonly key: string;
  readonly model: string;
  readonly counts: UsageCounts;
}

/** A record as input for sums. */
export interface CountedRecord {
  readonly generation: GenerationRecord;
  readonly attempts: readonly AttemptRecord[];
  readonly group: Group;
  readonly facts: UsageFacts;
}

/** Spans of totals, in the order of `totalsOf`. */
const TOTALS = TOTALS_BY.map((by) => ({
  hour: totalsSpan(HOUR, by),
  day: totalsSpan(DAY, by),
}));

export class Sums {
  readonly #rows = new Map<number, Map<number, GrowingRow>>();
  readonly #endUsers = new Map<string, EndUserRow>();

  /** Adds a record to its 5-minute period, each attempt to its own group, and the end user. */
  count({ generation, attempts, group, facts }: CountedRecord): void {
    const period = Math.floor(generation.createdAt / MINUTES_5_MS);
    const row = this.#row(FIVE, period, group);
    countNumbers(row.counts, facts);
    row.details += packedFacts(facts);
    if (!facts.isLate)
      for (const attempt of attempts) {
        const at = attemptGroup(group, attempt);
        countAttempt((at === group ? row : this.#row(FIVE, period, at)).counts, attempt);
      }
    if (generation.endUser !== null)
      this.#countEndUser(generation.endUser, generation.createdAt, group.names, facts);
  }

  /** Adds sums to an hour, its day, and their totals. @param hour hours since 1970 */
  fold(hour: number, group: Group, sums: PackedSums): void {
    const day = Math.floor(hour / HOURS);
    this.add(HOUR, hour, group, sums);
    this.add(DAY, day, group, sums);
    totalsOf(group).forEach((total, at) => {
      const spans = TOTALS[at];
      if (!spans) return;
      this.add(spans.hour, hour, total, sums);
      this.add(spans.day, day, total, sums);
    });
  }

  add(span: number, period: number, group: Group, { counts, details }: PackedSums): void {
    const row = this.#row(span, period, group);
    addCounts(row.counts, counts);
    row.details += details;
  }

  /** Rows in key order, so that processes that write the same rows cannot deadlock. */
  rows(): readonly SumsRow[] {
    const rows = [...this.#rows.values()].flatMap((of) => [...of.values()]);
    for (const row of rows) if (row.details.length > LONG_DETAILS) row.details = shortest(row.details);
    return rows.toSorted((a, b) => a.span - b.span || a.period - b.period || a.group.id - b.group.id);
  }

  endUsers(): readonly EndUserRow[] {
    return [...this.#endUsers].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row);
  }

  #row(span: number, period: number, group: Group): GrowingRow {
    // Periods are below 2^32.
    const place = span * 2 ** 32 + period;
    let rows = this.#rows.get(place);
    if (!rows) this.#rows.set(place, (rows = new Map()));
    let row = rows.get(group.id);
    if (!row) rows.set(group.id, (row = { span, period, group, counts: noUsageCounts(), details: '' }));
    return row;
  }

  #countEndUser(
    endUser: string,
    createdAt: UnixMs,
    { project, key, model }: GroupNames,
    facts: UsageFacts,
  ): void {
    const period = Math.floor(createdAt / HOUR_MS);
    const name = [String(period).padStart(9, '0'), project, endUser, key, model].join('\0');
    let row = this.#endUsers.get(name);
    if (!row)
      this.#endUsers.set(name, (row = { period, project, endUser, key, model, counts: noUsageCounts() }));
    countNumbers(row.counts, facts);
  }
}
