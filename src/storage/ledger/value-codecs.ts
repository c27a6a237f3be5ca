// Codecs for each kind of member. Each value is one value of the compact form, so that it can be skipped.
import type { JsonValue } from '../../base/json/index.ts';
import type { Usage } from '../../canonical/index.ts';
import { NO_USAGE, readRoute } from '../../canonical/index.ts';
import type { Cost, ErrorSummary, GenerationRecord, MemberKind } from '../../accounts/ledger/index.ts';
import type { CompactReader } from '../compact/reader.ts';
import type { CompactWriter } from '../compact/writer.ts';
import type { Depth } from './record-codec.ts';
import type { UnixMs } from '../../base/units.ts';

export interface ValueCodec<T = unknown> {
  /** @param sinceMs base of stored times (Unix milliseconds) */
  readonly write: (w: CompactWriter, value: T, sinceMs: UnixMs) => void;
  readonly read: (r: CompactReader, sinceMs: UnixMs, depth: Depth) => T;
  /** Value of a member that was not stored or not read. */
  readonly none: T;
}

/** Bits of a usage. The bits of its counts come first, in the order of writing. */
const COUNTS = 11;
const ESTIMATED = 1 << COUNTS;
const HAS_TOOLS = 1 << (COUNTS + 1);
const HAS_CONFLICTS = 1 << (COUNTS + 2);
const HAS_RAW = 1 << (COUNTS + 3);

/** Shared by kinds, because calls of few functions are faster. */
const VALUE = (r: CompactReader): never => r.value() as never;

/** Codecs by kind. Values are written and read only by the codec of their own kind, so that the type of each is left out. */
export const CODECS: Readonly<Record<MemberKind, ValueCodec<never>>> = {
  name: codec<string | null>(null, (w, value) => w.name(value)),
  text: codec<string | null>(null, (w, value) => w.text(value)),
  hex: codec<string | null>(null, (w, value) => (value === null ? w.null() : w.id(value))),
  number: codec<number | null>(0, (w, value) => w.number(value)),
  flag: codec<boolean>(false, (w, value) => w.flag(value)),
  time: codec<number | null>(null, writeTime, readTime),
  json: codec<JsonValue>(null, (w, value) => w.json(value, false)),
  names: codec<JsonValue>(
    null,
    (w, value) => w.json(value),
    (r) => readRoute(r.value()) as JsonValue,
  ),
  usage: codec<Usage | null>(null, writeUsage, readUsage),
  cost: codec<Cost | null>(null, writeCost, readCost),
  error: codec<ErrorSummary | null>(null, writeError, readError),
  report: codec<GenerationRecord['report']>([], writeReport, readReport),
};

/** @param read absent: the value itself */
function codec<T>(
  none: T,
  write: ValueCodec<T>['write'],
  read: ValueCodec<T>['read'] = VALUE,
): ValueCodec<never> {
  return { none, write, read } as ValueCodec as never;
}

/**
 * Writes the difference to a base time. If adding it back would not be exact, the time itself is written, in a list.
 */
function writeTime(w: CompactWriter, time: number | null, sinceMs: UnixMs): void {
  if (time === null) return w.null();
  const passed = time - sinceMs;
  if (sinceMs + passed === time) w.number(passed);
  else w.json([time]);
}

function readTime(r: CompactReader, sinceMs: UnixMs): UnixMs | null {
  const value = r.value();
  if (value === null) return null;
  return Array.isArray(value) ? (value[0] as number) : sinceMs + (value as number);
}

function writeReport(w: CompactWriter, report: GenerationRecord['report']): void {
  w.json(report.map(({ path, action, reason }) => [path, action, reason]));
}

function readReport(r: CompactReader): GenerationRecord['report'] {
  return (r.value() as readonly [string, string, string][]).map(
    ([path, action, reason]) => ({ path, action, reason }) as GenerationRecord['report'][number],
  );
}

function writeError(w: CompactWriter, error: ErrorSummary | null): void {
  if (error === null) return w.null();
  w.array();
  w.name(error.kind);
  w.text(error.message);
  w.number(error.upstreamStatus);
  w.end();
}

function readError(r: CompactReader): ErrorSummary | null {
  const value = r.value() as readonly [ErrorSummary['kind'], string, number | null] | null;
  return value && { kind: value[0], message: value[1], upstreamStatus: value[2] };
}

/** Cost, price, then items as pairs. */
function writeCost(w: CompactWriter, cost: Cost | null): void {
  if (cost === null) return w.null();
  w.array();
  w.usd(cost.usd);
  w.json(cost.price);
  for (const item in cost.items) {
    w.name(item);
    w.usd(cost.items[item] ?? null);
  }
  w.end();
}

function readCost(r: CompactReader): Cost | null {
  const value = r.value() as readonly JsonValue[] | null;
  if (value === null) return null;
  const [usd, price = null, ...pairs] = value;
  const items: Record<string, number> = {};
  for (let at = 0; at < pairs.length; at += 2) items[String(pairs[at])] = pairs[at + 1] as number;
  return { usd: usd as number | null, items, price };
}

function writeUsage(w: CompactWriter, usage: Usage | null): void {
  if (usage === null) return w.null();
  const { input: i, output: o, raw } = usage;
  const counts = [
    i.uncached,
    i.cacheRead,
    i.cacheWrite5m,
    i.cacheWrite1h,
    i.audio,
    i.image,
    o.text,
    o.reasoning,
    o.audio,
    usage.acceptedPrediction,
    usage.rejectedPrediction,
  ];
  const hasTools = hasMembers(usage.tools);
  let bits =
    (usage.estimated ? ESTIMATED : 0) |
    (hasTools ? HAS_TOOLS : 0) |
    (usage.inconsistent ? HAS_CONFLICTS : 0) |
    (raw === null ? 0 : HAS_RAW);
  for (let at = 0; at < COUNTS; at += 1) if (counts[at] !== 0) bits |= 1 << at;
  w.array();
  w.number(bits);
  for (const count of counts) if (count !== 0) w.number(count);
  if (hasTools) w.json(usage.tools);
  if (usage.inconsistent)
    w.json(usage.inconsistent.map(({ count, said, counted }) => [count, said, counted]));
  if (raw !== null) w.json(raw);
  w.end();
}

function readUsage(r: CompactReader, _sinceMs: number, depth: Depth): Usage | null {
  if (!r.enter()) return null;
  const bits = r.value() as number;
  const count = (at: number): number => ((bits & (1 << at)) === 0 ? 0 : (r.value() as number));
  const usage: { -readonly [Name in keyof Usage]: Usage[Name] } = {
    input: {
      uncached: count(0),
      cacheRead: count(1),
      cacheWrite5m: count(2),
      cacheWrite1h: count(3),
      audio: count(4),
      image: count(5),
    },
    output: { text: count(6), reasoning: count(7), audio: count(8) },
    acceptedPrediction: count(9),
    rejectedPrediction: count(COUNTS - 1),
    estimated: (bits & ESTIMATED) !== 0,
    tools: (bits & HAS_TOOLS) === 0 ? NO_USAGE.tools : (r.value() as Usage['tools']),
    raw: null,
  };
  if ((bits & HAS_CONFLICTS) !== 0) usage.inconsistent = conflictsIn(r.value());
  if ((bits & HAS_RAW) !== 0) usage.raw = depth === 'whole' ? r.value() : skipped(r);
  r.leave();
  return usage;
}

function conflictsIn(value: JsonValue): Usage['inconsistent'] {
  return (value as readonly (readonly [string, number, number])[]).map(([count, said, counted]) => ({
    count,
    said,
    counted,
  }));
}

function skipped(r: CompactReader): null {
  r.skip();
  return null;
}

function hasMembers(object: object): boolean {
  for (const _ in object) return true;
  return false;
}
