// Reads what `record-writer.ts` wrote into a row: the whole record.
import type { JsonValue, Usage } from '../canonical/index.ts';
import { NO_USAGE, readRoute } from '../canonical/index.ts';
import type { AttemptRecord, Cost, ErrorSummary, GenerationRecord } from '../ledger/index.ts';
import type { CompactReader } from './compact/reader.ts';
import {
  CANCELLED,
  COUNTS,
  ESTIMATED,
  HAS_CONFLICTS,
  HAS_RAW,
  HAS_TOOLS,
  RECORD_FORM,
  STREAMED,
  usualAttemptId,
} from './record-writer.ts';

/** What a row has beside the rest of the record. */
export type RecordHead = Pick<
  GenerationRecord,
  'id' | 'keyId' | 'createdAt' | 'model' | 'provider' | 'status' | 'content'
> & { readonly costUsd: number | null };

export interface FoundRecord {
  readonly generation: GenerationRecord;
  /** In order. */
  readonly attempts: readonly AttemptRecord[];
}

/** The record of a row. @throws RangeError when the bytes are none of a record's */
export function readRecord(r: CompactReader, { costUsd, ...head }: RecordHead): FoundRecord {
  const form = r.value();
  if (form !== RECORD_FORM) throw new RangeError(`no record has the form ${String(form)}`);
  const bits = r.value() as number;
  // Members are read in the order in which they were written.
  const api = r.value() as string;
  const protocol = r.value() as GenerationRecord['protocol'];
  const requestedModel = orUsual(r, head.model ?? '');
  const endpoint = r.value() as string | null;
  const lane = r.value() as GenerationRecord['lane'];
  const firstContentAt = readTime(r, head.createdAt);
  const endedAt = readTime(r, head.createdAt) ?? head.createdAt;
  const finishReason = r.value() as string | null;
  const facts: Facts = {
    ...head,
    api,
    protocol,
    requestedModel,
    endpoint,
    lane,
    streamed: (bits & STREAMED) !== 0,
    firstContentAt,
    endedAt,
    finishReason,
    nativeFinishReason: orUsual(r, finishReason),
    cancelled: (bits & CANCELLED) !== 0,
    attempts: r.value() as number,
    usage: readUsage(r, r.value()),
    cost: readCost(r, r.value(), costUsd),
    report: readReport(r.value()),
    route: readRoute(r.value()),
    error: readError(r),
    metadata: r.value() as GenerationRecord['metadata'],
  };
  const attempts: AttemptRecord[] = [];
  for (let left = r.value() as number; left > 0; left--) attempts.push(readAttempt(r, facts));
  // Records of before there were projects end here, as do those of keys without one.
  const projectId = r.isAtEnd ? head.keyId : orUsual(r, head.keyId);
  const endUser = r.isAtEnd ? null : (r.value() as string | null);
  const turns = r.isAtEnd ? 1 : (r.value() as number);
  const replayOf = r.isAtEnd ? null : (r.value() as string | null);
  return { generation: { ...facts, projectId, endUser, turns, replayOf }, attempts };
}

/** All of a record that its attempts may share. */
type Facts = Omit<GenerationRecord, 'projectId' | 'endUser' | 'turns' | 'replayOf'>;

function readAttempt(r: CompactReader, g: Facts): AttemptRecord {
  const ordinal = r.value() as number;
  return {
    ordinal,
    generationId: g.id,
    id: orUsual(r, usualAttemptId(g.id, ordinal)),
    provider: orUsual(r, g.provider ?? ''),
    endpoint: orUsual(r, g.endpoint ?? ''),
    model: r.value() as string,
    protocol: orUsual(r, g.protocol),
    lane: orUsual(r, g.lane ?? 'translate'),
    startedAt: readTime(r, g.createdAt) ?? g.createdAt,
    firstContentAt: readTime(r, g.createdAt, g.firstContentAt),
    endedAt: readTime(r, g.createdAt) ?? g.endedAt,
    outcome: orUsual<AttemptRecord['outcome']>(r, 'completed'),
    status: r.value() as number | null,
    upstreamId: r.value() as string | null,
    error: readError(r),
    usage: readUsage(r, r.value(), g.usage),
    cost: readAttemptCost(r, g),
  };
}

/** The next value; `true` is the usual one. */
function orUsual<T extends JsonValue>(r: CompactReader, usual: T): T {
  const value = r.value();
  return value === true ? usual : (value as T);
}

export function readTime(r: CompactReader, since: number, usual: number | null = null): number | null {
  const value = r.value();
  if (value === true) return usual;
  if (value === null) return null;
  return Array.isArray(value) ? (value[0] as number) : since + (value as number);
}

function readReport(value: JsonValue): GenerationRecord['report'] {
  if (value === null) return [];
  return (value as readonly [string, string, string][]).map(
    ([path, action, reason]) => ({ path, action, reason }) as GenerationRecord['report'][number],
  );
}

function readError(r: CompactReader): ErrorSummary | null {
  const kind = r.value();
  if (kind === null) return null;
  return {
    kind: kind as ErrorSummary['kind'],
    message: r.value() as string,
    upstreamStatus: r.value() as number | null,
  };
}

/** @param first the value that was read first */
function readCost(r: CompactReader, first: JsonValue, usd: number | null): Cost | null {
  if (first === null) return null;
  const items: Record<string, number> = {};
  for (let item: JsonValue = first; typeof item === 'string'; item = r.value())
    items[item] = r.value() as number;
  return { usd, items, price: r.value() };
}

function readAttemptCost(r: CompactReader, g: Facts): Cost | null {
  const first = r.value();
  if (first === true) return g.cost;
  if (first === null) return null;
  const usd = r.value() as number | null;
  return readCost(r, r.value(), usd);
}

/**
 * @param first the value that was read first
 * @param keepsRaw false: without the upstream's own object, which takes longer than all the rest
 */
export function readUsage(
  r: CompactReader,
  first: JsonValue,
  usual: Usage | null = null,
  keepsRaw = true,
): Usage | null {
  if (first === true) return usual;
  if (first === null) return null;
  const bits = first as number;
  const count = (at: number): number => ((bits & (1 << at)) === 0 ? 0 : (r.value() as number));
  return {
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
    ...((bits & HAS_CONFLICTS) !== 0 && { inconsistent: readConflicts(r.value()) }),
    raw: (bits & HAS_RAW) === 0 ? null : keepsRaw ? r.value() : skipped(r),
  };
}

function readConflicts(value: JsonValue): Usage['inconsistent'] {
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
