// The store of sums: reports by time, by whatever records are of, and by end user; what limits are set from; and what has
// to be done in the background.
import { addUsageDetails, ALL_SUMS, noUsageSums, type UsageSums } from '../../../usage/index.ts';
import type { LedgerSum, SumQuery } from '../../../limits/index.ts';
import type { GroupCommit } from '../group-commit.ts';
import type { SqliteNames } from '../names.ts';
import type { Indexer } from '../../journal/indexer.ts';
import type {
  EndUserQuery,
  EndUserUsage,
  UsageDimension,
  UsageQuery,
  UsageReport,
  UsageRow,
  UsageStore,
} from '../../ports.ts';
import type { ShortSteps } from '../short-steps.ts';
import type { SqliteBase } from '../store.ts';
import { Backfill } from './backfill.ts';
import { EndUserReader } from './end-user-reader.ts';
import { SqliteHourTotals } from './hour-totals.ts';
import { SqliteLedgerSums } from './ledger-sums.ts';
import { type PendingSums, pendingSumsOf } from './pending-sums.ts';
import { othersRun } from '../../others-run.ts';
import { DAY_HOURS, HOUR_MS, type HourSpan, hoursOf } from '../../usage/hours.ts';
import { type TotalsBy, totalsFor } from '../../usage/hour-totals.ts';
import { byTimeAndCost, DAY_MS, intervalOf, MOST_REPORT_ROWS, tooManyRows } from '../../usage/report-rows.ts';
import type { GroupedRows, GroupsQuery } from './usage-groups.ts';
import { UsagePurge } from './usage-purge.ts';
import { numberFilters, UsageReader } from './usage-reader.ts';
import { UsageWriter } from './usage-writer.ts';

/** Rows of hours that become part of their day in one step: about two milliseconds. */
const FOLD_ROWS = 100;
/** Rows of totals, and hours, that are read in one go: about two milliseconds. */
const TOTALS_ROWS = 500;
const TOTALS_HOURS = 100;

export class SqliteUsage implements UsageStore {
  readonly #commits: GroupCommit;
  readonly #steps: ShortSteps;
  readonly #indexer: Indexer;
  readonly #names: SqliteNames;
  readonly #pending: PendingSums;
  readonly #writer: UsageWriter;
  readonly #reader: UsageReader;
  readonly #endUsers: EndUserReader;
  readonly #backfill: Backfill;
  readonly #totals: SqliteHourTotals;
  readonly #sums: SqliteLedgerSums;
  readonly #purge: UsagePurge;

  constructor(base: SqliteBase) {
    this.#commits = base.commits;
    this.#steps = base.steps;
    this.#indexer = base.indexer;
    this.#names = base.names;
    this.#pending = pendingSumsOf(base);
    this.#writer = new UsageWriter(base);
    this.#totals = new SqliteHourTotals(base, this.#writer);
    this.#reader = new UsageReader(base, this.#writer);
    this.#endUsers = new EndUserReader(base);
    this.#backfill = new Backfill(base, this.#writer);
    this.#purge = new UsagePurge(base, this.#writer);
    this.#sums = new SqliteLedgerSums(base, this.#reader, this.#endUsers, this.#backfill);
  }

  async query(query: UsageQuery): Promise<UsageReport> {
    await this.#caughtUp();
    const { interval, groupBy, wanted = ALL_SUMS } = query;
    const span = hoursOf(interval === null ? query.fromMs : intervalOf(query.fromMs, interval), query.toMs);
    const groups = new Map<string, { startMs: number | null; row: readonly number[]; sums: UsageSums }>();
    const filters = numberFilters(query.filters, this.#names);
    const asked = { filters, groupBy, wanted, byPeriod: interval !== null };
    const totals = interval === 'hour' ? totalsFor(query) : null;
    const found = totals
      ? this.#ofHours(span, asked, totals)
      : this.#reader.groups(span, asked, interval === 'hour');
    for await (const { rows, hours } of found)
      for (const { period, group: numbers, counts, details } of rows) {
        const startMs =
          interval === null || period === null ? null : intervalOf(period * hours * HOUR_MS, interval);
        const name = `${startMs} ${numbers.join(' ')}`;
        let group = groups.get(name);
        if (!group) {
          if (groups.size === MOST_REPORT_ROWS) throw tooManyRows();
          groups.set(name, (group = { startMs, row: numbers, sums: noUsageSums() }));
        }
        for (const name of wanted.counts) group.sums.counts[name] += counts[name] ?? 0;
        addUsageDetails(group.sums.details, details);
      }
    const rows = [...groups.values()].map(({ startMs, row, sums }): UsageRow => {
      const group: { [name in UsageDimension]?: string | null } = {};
      groupBy.forEach((dimension, at) => {
        const number = row[at] ?? 0;
        group[dimension] = number === 0 ? null : this.#names.textOf(number);
      });
      return { startMs, group, sums };
    });
    const known = this.#reader.hours()?.from ?? span.from;
    return {
      fromMs: Math.min(Math.max(known, span.from), span.to) * HOUR_MS,
      toMs: span.to * HOUR_MS,
      rows: rows.toSorted(byTimeAndCost),
      complete: this.#backfill.reachesBackTo(query.fromMs),
    };
  }

  /** What hours came to, each from its totals where they are there. */
  async *#ofHours(
    span: HourSpan,
    query: Omit<GroupsQuery, 'table' | 'from' | 'to'>,
    { dimension }: TotalsBy,
  ) {
    const [names] = query.filters.values();
    const asked = {
      dimension,
      names: names && [...names],
      groupBy: query.groupBy,
      details: query.wanted.details,
    };
    const left: { readonly from: number; to: number }[] = [];
    let unread: GroupedRows[] = [];
    let hour = this.#totals.hourFrom(span.from);
    for (let read = 1; hour < span.to; read += 1) {
      const rows = this.#totals.read(hour, asked);
      const last = left.at(-1);
      if (rows) unread.push(...rows);
      else if (last?.to === hour) last.to += 1;
      else left.push({ from: hour, to: hour + 1 });
      hour = this.#totals.hourFrom(hour + 1);
      if (unread.length < TOTALS_ROWS && read % TOTALS_HOURS > 0) continue;
      yield { rows: unread, hours: 1 };
      unread = [];
      await othersRun();
    }
    yield { rows: unread, hours: 1 };
    for (const hours of left) yield* this.#reader.groups(hours, query, true);
  }

  async endUsers(
    query: EndUserQuery,
  ): Promise<{ readonly rows: readonly EndUserUsage[]; readonly complete: boolean }> {
    await this.#caughtUp();
    const span = hoursOf(query.fromMs, query.toMs);
    const users = new Map<string, EndUserUsage>();
    for await (const rows of this.#endUsers.read(span, numberFilters(query.filters, this.#names)))
      for (const row of rows) {
        const hash = row.end_user.length === 0 ? null : Buffer.from(row.end_user).toString('hex');
        const name = `${row.project} ${hash}`;
        const known = users.get(name);
        if (!known && users.size === MOST_REPORT_ROWS) throw tooManyRows();
        users.set(name, {
          project: this.#names.textOf(row.project),
          endUser: hash,
          requests: (known?.requests ?? 0) + row.requests,
          errors: (known?.errors ?? 0) + row.errors,
          inputTokens: (known?.inputTokens ?? 0) + row.input_tokens,
          outputTokens: (known?.outputTokens ?? 0) + row.output_tokens,
          nanoUsd: (known?.nanoUsd ?? 0) + row.nano_usd,
          unpriced: (known?.unpriced ?? 0) + row.unpriced,
        });
      }
    const rows = [...users.values()].toSorted((a, b) => b.nanoUsd - a.nanoUsd || b.requests - a.requests);
    return { rows, complete: this.#backfill.reachesBackTo(query.fromMs) };
  }

  async #caughtUp(): Promise<void> {
    await this.#indexer.caughtUp();
    await this.#indexer.caughtUpWithOthers();
    await this.#pending.settle();
  }

  read(query: SumQuery): AsyncIterable<readonly LedgerSum[]> {
    return this.#sums.read(query);
  }

  async maintain(nowMs: number): Promise<boolean> {
    const today = Math.floor(nowMs / DAY_MS) * DAY_HOURS;
    const isMore =
      (await this.#backfill.step()) ||
      (await this.#commits.run(() => this.#writer.fold(today, FOLD_ROWS))) ||
      (await this.#totals.step(nowMs));
    // What killed processes left, too.
    if (!isMore) await this.#pending.settle();
    return isMore;
  }

  purge(beforeMs: number): Promise<number> {
    return this.#steps.run(() => this.#purge.pieces(beforeMs));
  }
}
