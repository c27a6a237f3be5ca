// The list of generations: finds the ids of those that pass, in the order of their requests, in both tables of records.
import { GatewayError } from '../../canonical/index.ts';
import type { SqliteNames } from './names.ts';
import type { GenerationFilters, GenerationQuery } from '../ports.ts';
import { firstIdAt, textId, timeOf } from '../record-ids.ts';
import type { SqliteBase } from './store.ts';
import type { CandidateHours } from './usage/candidate-hours.ts';
import { HOUR_MS, type HourSpan } from '../usage/hours.ts';
import { type ColumnFilters, indexedBy, PassingRecords } from './usage/passing-records.ts';
import { RecordScan, type ScannedRecord } from './usage/record-scan.ts';
import { othersRun } from '../others-run.ts';

/** Records of earlier versions that are read in one go: about a millisecond. */
const CHUNK = 200;

/** Places before and behind all ids, as text: those are hexadecimal digits. */
const BEFORE_ALL = '';
const BEHIND_ALL = 'g';

/** Places among the ids, as text: from the first on, and before the second. */
interface IdSpan {
  readonly from: string;
  readonly to: string;
}

interface CandidateSpan extends IdSpan {
  /** Numbers of the only keys whose records may pass; undefined: any. */
  readonly keys?: readonly number[] | undefined;
}

export class GenerationList {
  readonly #names: SqliteNames;
  readonly #scan: RecordScan;
  readonly #passing: PassingRecords;
  readonly #hours: CandidateHours;

  constructor(base: SqliteBase, hours: CandidateHours) {
    this.#names = base.names;
    this.#scan = new RecordScan(base);
    this.#passing = new PassingRecords(base);
    this.#hours = hours;
  }

  /** Ids of what passes, in order; at most one more than asked for. Lets others run meanwhile. */
  async ids(query: GenerationQuery): Promise<readonly string[]> {
    const { filters, order, limit } = query;
    const found: string[] = [];
    const columns = this.#columnsOf(filters);
    for await (const { keys, ...span } of this.#spans(query)) {
      const narrowed = keys && !columns.key ? { ...columns, key: keys } : columns;
      for await (const records of this.#records(span, order, narrowed)) {
        for (const record of records) if (this.#passes(record, filters)) found.push(textId(record.id));
        if (found.length > limit) return found.slice(0, limit + 1);
      }
    }
    return found;
  }

  /** Where to look. */
  async *#spans({ filters, order, after }: GenerationQuery): AsyncGenerator<CandidateSpan> {
    const bounds = boundsOf(filters, order, after);
    const columns = this.#columnsOf(filters);
    // What an index finds needs no hours.
    if (!isSelective(filters) || indexedBy(columns)) return yield bounds;
    const span = { from: Math.floor(hourAt(bounds.from)), to: Math.floor(hourAt(bounds.to)) + 1 };
    for await (const { keys, ...hours } of this.#hours.read(span, filters, order))
      yield { ...within(hours, bounds), keys };
  }

  /** What rows have columns for; names without a number are those of no record. */
  #columnsOf({ key, model, provider, status, minCostUsd }: GenerationFilters): ColumnFilters {
    const numbersOf = (texts: readonly string[] | undefined): readonly number[] | undefined =>
      // An empty text stands for rows that have none.
      texts?.includes('') ? undefined : texts?.map((text) => this.#names.knownNumber(text) ?? -1);
    return {
      key: numbersOf(key),
      model: numbersOf(model),
      provider: numbersOf(provider),
      status,
      minCostUsd,
    };
  }

  /** Records of both tables, in one order. */
  async *#records(
    span: IdSpan,
    order: 'asc' | 'desc',
    columns: ColumnFilters,
  ): AsyncGenerator<readonly ScannedRecord[]> {
    let { from, to } = span;
    const sign = order === 'asc' ? 1 : -1;
    while (from < to) {
      const look = this.#passing.look(columns, idBytes(from), idBytes(to), order);
      const earlier = this.#scan.generations(from, to, order, CHUNK);
      const all = [...look.rows.map((row) => this.#scan.scanned(row)), ...earlier].toSorted(
        (a, b) => sign * compare(textId(a.id), textId(b.id)),
      );
      // How far each has looked, as a place right before or right behind what was seen.
      const last = earlier.length === CHUNK ? textId(earlier.at(-1)?.id ?? '') : null;
      const ends = [look.end && placeOf(look.end), last && order === 'asc' ? behind(last) : last];
      const end = ends.filter((each) => each !== null).toSorted((a, b) => sign * compare(a, b))[0];
      if (end === undefined) return yield all;
      yield all.filter(({ id }) =>
        order === 'asc' ? compare(textId(id), end) < 0 : compare(textId(id), end) >= 0,
      );
      if (order === 'asc') from = end;
      else to = end;
      await othersRun();
    }
  }

  #passes(scanned: ScannedRecord, f: GenerationFilters): boolean {
    const { status, createdAt } = scanned;
    if (f.fromMs !== undefined && createdAt < f.fromMs) return false;
    if (f.toMs !== undefined && createdAt >= f.toMs) return false;
    if (f.status && !f.status.includes(status)) return false;
    // Behind what costs nothing: reading the rest of a record takes longer than finding it.
    const { record } = scanned;
    if (!record || record.facts.isLate) return false;
    const { facts } = record;
    const textOf = (name: number | string | null): string | null =>
      typeof name === 'number' ? this.#names.textOf(name) : name;
    const isIn = (list: readonly string[] | undefined, name: number | string | null): boolean =>
      !list || list.includes(textOf(name) ?? '');
    const outcome = facts.cancelled ? 'cancelled' : facts.errorKind === null ? 'answered' : 'failed';
    return (
      (!f.outcome || f.outcome.includes(outcome)) &&
      (f.minCostUsd === undefined || (facts.costUsd !== null && facts.costUsd >= f.minCostUsd)) &&
      (!f.endUser || f.endUser.includes(facts.endUser ?? '')) &&
      isIn(f.key, record.key) &&
      isIn(f.project, facts.project ?? record.key) &&
      isIn(f.model, record.model) &&
      isIn(f.provider, record.provider) &&
      isIn(f.endpoint, facts.endpoint) &&
      isIn(f.protocol, facts.protocol)
    );
  }
}

/** Whether the sums of an hour can say that nothing in it passes. */
function isSelective({
  project,
  key,
  model,
  provider,
  endpoint,
  protocol,
  ...f
}: GenerationFilters): boolean {
  const names = [project, key, model, provider, endpoint, protocol, f.endUser, f.outcome, f.minCostUsd];
  return names.some((filter) => filter !== undefined);
}

function boundsOf(
  { fromMs, toMs }: GenerationFilters,
  order: 'asc' | 'desc',
  after: string | undefined,
): IdSpan {
  const from = fromMs === undefined ? BEFORE_ALL : textId(firstIdAt(fromMs));
  const to = toMs === undefined ? BEHIND_ALL : textId(firstIdAt(toMs));
  if (after === undefined) return { from, to };
  if (!/^[0-9a-f]{32}$/.test(after))
    throw new GatewayError('invalid_request', 'after: this is not the id of a generation', {
      param: 'after',
    });
  if (order === 'asc') return { from: compare(after, from) < 0 ? from : behind(after), to };
  return { from, to: compare(after, to) < 0 ? after : to };
}

/** Right behind an id. */
function behind(id: string): string {
  return `${id}\0`;
}

/** The text that has the place of these bytes: those of an id, or what is right behind one. */
function placeOf(bytes: Uint8Array): string {
  const text = textId(bytes);
  return text.length > 32 ? behind(text.slice(0, 32)) : text;
}

/** What has the place of this text among the ids of rows. */
function idBytes(text: string): Uint8Array {
  if (text === BEHIND_ALL) return Buffer.alloc(1, 255);
  const id = Buffer.from(text.slice(0, 32), 'hex');
  return text.endsWith('\0') ? Buffer.concat([id, new Uint8Array(1)]) : id;
}

/** Hours since 1970 of what is right at a place. */
function hourAt(text: string): number {
  if (text === BEFORE_ALL) return 0;
  return text === BEHIND_ALL ? Number.MAX_SAFE_INTEGER : timeOf(idBytes(text)) / HOUR_MS;
}

/** Hours as ids, and no more than the bounds. */
function within({ from, to }: HourSpan, bounds: IdSpan): IdSpan {
  const first = textId(firstIdAt(from * HOUR_MS));
  const end = textId(firstIdAt(to * HOUR_MS));
  return {
    from: compare(first, bounds.from) > 0 ? first : bounds.from,
    to: compare(end, bounds.to) < 0 ? end : bounds.to,
  };
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
