// Writes sums inside the transaction of their records. 5-minute rows are later folded: added to their hours, days and
// totals, many at a time. Records that arrive after that are added to all of them directly.
import { sql } from 'kysely';
import { USAGE_COUNTS, type UsageCounts } from '../../accounts/usage/index.ts';
import { type Database, firstOf, type Queries, rowsOf } from '../tables/database.ts';
import { valuesInserter } from '../tables/insert.ts';
import { statement } from '../tables/statement.ts';
import { USAGE_DIMENSIONS } from '../../accounts/ports/index.ts';
import { endUserWriter } from './end-users.ts';
import { shortest } from './packed-details.ts';
import { edgeOf, type FoldedUpTo, NOTHING_FOLDED } from './report-queries.ts';
import { addSetting } from '../tables/installation/settings.ts';
import { LONG_DETAILS, Sums, type SumsRow } from './sums.ts';
import { type Group, groupOf, type GroupNames } from './usage-groups.ts';
import {
  DAY_SPANS,
  FIVE,
  FIVE_MINUTES_PER_HOUR,
  FOLDED,
  GROUP_NUMBERS,
  HOUR_MS,
  HOUR_SPANS,
  HOURS,
  MINUTES_5_MS,
  USAGE,
  USAGE_GROUPS,
} from './usage-tables.ts';
import type { UnixMs } from '../../base/units.ts';

/** 5-minute rows per folding step: a few milliseconds. */
const FOLDED_ROWS = 60;
/** Day rows moved per step. */
const MOVED_ROWS = 100;
/** Rows deleted per step. */
const DELETED_ROWS = 500;
/** The details of a 5-minute row grow with each batch. They are compacted once in this many batches. */
const SHORTENED_EVERY = 32;
/** Maximum number of cached group ids. */
const MOST_KNOWN = 100_000;

/**
 * Delay before an hour is folded. Requests can end long after their period; records that arrive later still cost a
 * little more.
 */
const FOLD_AFTER_MS = 600_000;
/** Retention of 5-minute rows: 2 days. */
const FIVES_KEPT_MS = 2 * 86_400_000;

type StoredRow = UsageCounts &
  GroupNames & {
    readonly span: number;
    readonly period: number;
    readonly grp: number;
    readonly details: string;
  };

export class UsageWriter {
  readonly #database: Database;
  readonly #insertGroups: ReturnType<typeof valuesInserter<{ readonly id: number }>>;
  readonly #addRows: ReturnType<typeof valuesInserter>;
  readonly #writeEndUsers: ReturnType<typeof endUserWriter>;
  #batches = 0;
  /** Ids of groups that exist in the database. */
  readonly #known = new Set<number>();
  /** Groups of the last batch. They exist if `probe`, the first new one, does. */
  #written: { readonly ids: readonly number[]; readonly probe: number } | null = null;

  constructor(database: Database) {
    this.#database = database;
    this.#insertGroups = valuesInserter(database, USAGE_GROUPS, {
      conflict: { on: USAGE_GROUPS.key },
      returning: ['id'],
    });
    this.#addRows = valuesInserter(database, USAGE, { conflict: { on: USAGE.key, update: 'grow' } });
    this.#writeEndUsers = endUserWriter(database);
  }

  /** Adds sums, inside the transaction that writes their records, so that each record counts once. */
  *write(sums: Sums): Queries<void> {
    const rows = sums.rows();
    if (rows.length === 0) return;
    const folded = yield* this.folded('share');
    const late = new Sums();
    for (const row of rows)
      if (isFolded(row, folded)) late.fold(Math.floor(row.period / FIVE_MINUTES_PER_HOUR), row.group, row);
    yield* this.#add(rows);
    this.#batches += 1;
    yield* this.#shorten(rows.filter(({ group }) => (group.id + this.#batches) % SHORTENED_EVERY === 0));
    yield* this.add(late);
    yield* this.#writeEndUsers(sums.endUsers());
  }

  /**
   * Replaces the sums of a day, inside an exclusive transaction.
   * @param day days since 1970; must be completely folded
   * @param fives 5-minute rows, from which the others are computed
   */
  *replaceDay(day: number, fives: Sums): Queries<void> {
    const hours = sql`period >= ${day * HOURS} and period < ${(day + 1) * HOURS}`;
    const kept = yield sql`select period from usage
      where span = ${sql.lit(FIVE)} and period >= ${day * HOURS * FIVE_MINUTES_PER_HOUR} and period < ${(day + 1) * HOURS * FIVE_MINUTES_PER_HOUR}
      limit 1`;
    const from = sql`delete from usage where`;
    yield sql`${from} span in (${sql.join(HOUR_SPANS)}) and ${hours}`;
    yield sql`${from} span in (${sql.join(DAY_SPANS)}) and period = ${day}`;
    yield sql`${from} span = ${sql.lit(FIVE)} and period >= ${day * HOURS * FIVE_MINUTES_PER_HOUR}
      and period < ${(day + 1) * HOURS * FIVE_MINUTES_PER_HOUR}`;
    yield sql`delete from usage_end_users where ${hours}`;
    const sums = new Sums();
    for (const row of fives.rows()) sums.fold(Math.floor(row.period / FIVE_MINUTES_PER_HOUR), row.group, row);
    yield* this.#add([...(kept.length > 0 ? fives.rows() : []), ...sums.rows()]);
    yield* this.#writeEndUsers(fives.endUsers());
  }

  /**
   * Folding progress, locked until the end of the transaction.
   * @param lock `share` blocks folding, and `update` also blocks writes
   */
  *folded(lock: 'share' | 'update'): Queries<FoldedUpTo> {
    const how = this.#database.kind === 'sqlite' ? sql`` : sql.raw(`for ${lock}`);
    const row = yield* firstOf(
      sql<{ value: string }>`select value from settings where name = ${FOLDED} ${how}`,
    );
    if (row) return JSON.parse(row.value) as FoldedUpTo;
    // A row must exist, so that it can be locked.
    yield* addSetting(FOLDED, JSON.stringify(NOTHING_FOLDED));
    return NOTHING_FOLDED;
  }

  /**
   * Runs a small step of the pending work: folds 5-minute rows, then deletes old ones.
   * @returns false if no work is left
   */
  *maintain(nowMs: UnixMs): Queries<boolean> {
    const end = Math.floor((nowMs - FOLD_AFTER_MS) / HOUR_MS);
    const folded = yield* this.folded('update');
    const next = folded.group > 0 ? folded.hour : yield* this.#hourFrom(folded.hour);
    if (next < end) {
      yield noteFolded(yield* this.#fold(next === folded.hour ? folded : { hour: next, group: 0 }));
      return true;
    }
    if (folded.hour < end) yield noteFolded({ hour: end, group: 0 });
    const oldest = Math.min(
      folded.hour * FIVE_MINUTES_PER_HOUR,
      Math.floor((nowMs - FIVES_KEPT_MS) / MINUTES_5_MS),
    );
    return (yield* this.#deleteBefore([FIVE], oldest)) === DELETED_ROWS;
  }

  /**
   * Deletes some sums of hours and end users from before a day. Sums of days are moved to day 0.
   * @param day days since 1970
   * @returns number of rows; 0: none are left
   */
  *purge(day: number): Queries<number> {
    const deleted = yield* this.#deleteBefore(HOUR_SPANS, day * 24);
    if (deleted > 0) return deleted;
    const users = yield sql`
      delete from usage_end_users where (period, project, end_user, key, model) in (
        select period, project, end_user, key, model from usage_end_users
        where period < ${day * 24} order by period, project, end_user, key, model limit ${DELETED_ROWS})
      returning period`;
    if (users.length > 0) return users.length;
    const rows = yield* rowsOf(sql<StoredRow>`
      select u.*, ${names()} from usage u join usage_groups g on g.id = u.grp
      where u.span in (${sql.join(DAY_SPANS)}) and u.period > 0 and u.period < ${day}
      order by u.span, u.period, u.grp limit ${MOVED_ROWS}`);
    const sums = new Sums();
    for (const row of rows) sums.add(row.span, 0, groupOfRow(row), { counts: row, details: row.details });
    yield* this.add(sums);
    for (const { span, period, grp } of rows)
      yield sql`delete from usage where span = ${span} and period = ${period} and grp = ${grp}`;
    return rows.length;
  }

  /** First hour, from one on, that has 5-minute rows; `Infinity` if there is none. */
  *#hourFrom(hour: number): Queries<number> {
    const first = yield* edgeOf(FIVE, 'asc', hour * FIVE_MINUTES_PER_HOUR);
    return first === undefined ? Infinity : Math.floor(first / FIVE_MINUTES_PER_HOUR);
  }

  /**
   * Folds some groups of an hour. Ids are hashes and evenly distributed, so that a share of the id range is a share of
   * the rows.
   */
  *#fold({ hour, group, step }: FoldedUpTo): Queries<FoldedUpTo> {
    const periods = Array.from(
      { length: FIVE_MINUTES_PER_HOUR },
      (_, at) => hour * FIVE_MINUTES_PER_HOUR + at,
    );
    const size = step ?? Math.ceil(GROUP_NUMBERS / (yield* this.#stepsOf(periods)));
    const to = Math.min(group + size, GROUP_NUMBERS);
    const folded = new Sums();
    for (const row of yield* rowsOf(this.#groupsOfHour({ periods, from: group, to })))
      folded.fold(hour, groupOfRow(row), { counts: row, details: row.details });
    yield* this.add(folded);
    return to === GROUP_NUMBERS ? { hour: hour + 1, group: 0 } : { hour, group: to, step: size };
  }

  *#stepsOf(periods: readonly number[]): Queries<number> {
    const counted = yield* firstOf(
      sql<{ readonly many: number }>`
        select count(*) as many from usage where span = ${sql.lit(FIVE)} and period in (${sql.join(periods)})`,
    );
    return Math.max(1, Math.ceil((counted?.many ?? 0) / FOLDED_ROWS));
  }

  *#deleteBefore(spans: readonly number[], period: number): Queries<number> {
    for (const span of spans) {
      const rows = yield sql`
        delete from usage where span = ${span} and (period, grp) in (
          select period, grp from usage where span = ${span} and period < ${period}
          order by period, grp limit ${DELETED_ROWS})
        returning period`;
      if (rows.length > 0) return rows.length;
    }
    return 0;
  }

  /** Adds rows of any span, inside a transaction. */
  *add(sums: Sums): Queries<void> {
    const rows = sums.rows();
    yield* this.#add(rows);
    yield* this.#shorten(rows);
  }

  *#add(rows: readonly SumsRow[]): Queries<void> {
    yield* this.#writeGroups(rows.map(({ group }) => group));
    yield* this.#addRows(
      rows.map(({ span, period, group, counts, details }) => [
        span,
        period,
        group.id,
        ...USAGE_COUNTS.map((name) => counts[name]),
        details,
      ]),
    );
  }

  /** Compacts details of rows. This transaction has just changed them and therefore holds their locks. */
  *#shorten(rows: readonly SumsRow[]): Queries<void> {
    const groups = new Map<string, { span: number; period: number; ids: number[] }>();
    for (const { span, period, group } of rows) {
      const name = `${span} ${period}`;
      const known = groups.get(name);
      if (known) known.ids.push(group.id);
      else groups.set(name, { span, period, ids: [group.id] });
    }
    for (const { span, period, ids } of groups.values())
      for (const { grp, details } of yield* rowsOf(this.#long({ span, period, ids }))) {
        const short = shortest(details);
        if (short.length < details.length) yield this.#setDetails({ span, period, grp, details: short });
      }
  }

  *#writeGroups(all: readonly Group[]): Queries<void> {
    if (this.#written) {
      const { ids, probe } = this.#written;
      const there = yield sql`select id from usage_groups where id = ${probe}`;
      if (there.length > 0) this.#knows(ids);
      this.#written = null;
    }
    const fresh = new Map(all.filter(({ id }) => !this.#known.has(id)).map((group) => [group.id, group]));
    if (fresh.size === 0) return;
    const rows = [...fresh.values()]
      .toSorted((a, b) => a.id - b.id)
      .map(({ id, names: of }) => [id, ...USAGE_DIMENSIONS.map((name) => of[name])]);
    const [first] = yield* this.#insertGroups(rows);
    // If no group is new, all existed before this transaction.
    if (first) this.#written = { ids: [...fresh.keys()], probe: first.id };
    else this.#knows([...fresh.keys()]);
  }

  #knows(ids: readonly number[]): void {
    if (this.#known.size > MOST_KNOWN) this.#known.clear();
    for (const id of ids) this.#known.add(id);
  }

  /** 5-minute rows, added up by group. */
  readonly #groupsOfHour = statement((v: { periods: readonly number[]; from: number; to: number }) => {
    const { dialect } = this.#database;
    const sums = USAGE_COUNTS.map((name) => sql`cast(sum(${sql.ref(name)}) as bigint) as ${sql.ref(name)}`);
    return sql<StoredRow>`
      select u.*, ${names()} from (
        select grp, ${sql.join(sums)}, ${dialect.joined('details')} as details
        from usage where span = ${sql.lit(FIVE)} and ${dialect.among('period', v.periods)}
          and grp >= ${v.from} and grp < ${v.to}
        group by grp) u
      join usage_groups g on g.id = u.grp`;
  });

  /** Rows of some groups with long details. */
  readonly #long = statement(
    (v: { span: number; period: number; ids: readonly number[] }) =>
      sql<Pick<StoredRow, 'grp' | 'details'>>`
      select grp, details from usage where span = ${v.span} and period = ${v.period}
        and ${this.#database.dialect.among('grp', v.ids)} and octet_length(details) > ${sql.lit(LONG_DETAILS)}`,
  );

  readonly #setDetails = statement(
    (v: Pick<StoredRow, 'span' | 'period' | 'grp' | 'details'>) =>
      sql`update usage set details = ${v.details} where span = ${v.span} and period = ${v.period} and grp = ${v.grp}`,
  );
}

function noteFolded(upTo: FoldedUpTo) {
  return sql`update settings set value = ${JSON.stringify(upTo)} where name = ${FOLDED}`;
}

function isFolded({ period, group }: SumsRow, folded: FoldedUpTo): boolean {
  const hour = Math.floor(period / FIVE_MINUTES_PER_HOUR);
  return hour < folded.hour || (hour === folded.hour && group.id < folded.group);
}

function groupOfRow(row: GroupNames): Group {
  return groupOf(Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, row[name]])) as GroupNames);
}

function names() {
  return sql.join(USAGE_DIMENSIONS.map((name) => sql`g.${sql.ref(name)}`));
}
