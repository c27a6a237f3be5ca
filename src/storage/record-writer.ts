// Writes a generation with its attempts in the compact form: first what the columns of its row hold, then prompt and
// answer, then the rest, which a row keeps as it is. What is as usual costs one byte or a bit. `record-reader.ts` reads it.
import type { Usage } from '../canonical/index.ts';
import { inputTokens, outputTokens } from '../canonical/index.ts';
import type { AttemptRecord, Cost, ErrorSummary, GenerationRecord } from '../ledger/index.ts';
import type { CompactWriter } from './compact/writer.ts';

/** The only form so far. A member may be added at the end of the rest without a new one: old rows end before it. */
export const RECORD_FORM = 1;

/** Bits of a generation. */
export const STREAMED = 1;
export const CANCELLED = 2;

/** Bits of a usage: those of its counts come first, in the order in which they are written. */
export const COUNTS = 11;
export const ESTIMATED = 1 << COUNTS;
export const HAS_TOOLS = 1 << (COUNTS + 1);
export const HAS_CONFLICTS = 1 << (COUNTS + 2);
export const HAS_RAW = 1 << (COUNTS + 3);

/** @param w has been reset */
export function writeRecord(w: CompactWriter, g: GenerationRecord, attempts: readonly AttemptRecord[]): void {
  writeColumns(w, g);
  w.text(g.content && JSON.stringify(g.content.request));
  w.text(g.content && JSON.stringify(g.content.answer));

  w.number(RECORD_FORM);
  w.number((g.streamed ? STREAMED : 0) | (g.cancelled ? CANCELLED : 0));
  w.name(g.api);
  w.name(g.protocol);
  if (g.requestedModel === g.model) w.flag(true);
  // Of a request that nobody served it may be any text.
  else if (g.model === null) w.text(g.requestedModel);
  else w.name(g.requestedModel);
  w.name(g.endpoint);
  w.name(g.lane);
  writeTime(w, g.firstContentAt, g.createdAt);
  writeTime(w, g.endedAt, g.createdAt);
  w.name(g.finishReason);
  if (g.nativeFinishReason === g.finishReason) w.flag(true);
  else w.name(g.nativeFinishReason);
  w.number(g.attempts);
  writeUsage(w, g.usage);
  writeCost(w, g.cost);
  writeReport(w, g.report);
  w.json(g.route as Parameters<CompactWriter['json']>[0]);
  writeError(w, g.error);
  w.json(g.metadata, false);
  w.number(attempts.length);
  for (const attempt of attempts) writeAttempt(w, attempt, g);
  // Nothing for a key that is its own project, and a request that named nobody and was answered in one turn, its client's own.
  const hasProject = g.projectId !== g.keyId;
  const hasTurns = g.turns > 1;
  const hasReplay = g.replayOf !== null;
  if (!hasProject && g.endUser === null && !hasTurns && !hasReplay) return;
  if (hasProject) w.name(g.projectId);
  else w.flag(true);
  if (g.endUser !== null) w.id(g.endUser);
  else if (hasTurns || hasReplay) w.null();
  if (hasTurns || hasReplay) w.number(g.turns);
  if (g.replayOf !== null) w.id(g.replayOf);
}

/** In the order in which the rows have them. */
function writeColumns(w: CompactWriter, g: GenerationRecord): void {
  w.id(g.id);
  w.name(g.keyId);
  w.number(g.createdAt);
  w.name(g.model);
  w.name(g.provider);
  w.number(g.status);
  w.number(g.usage && inputTokens(g.usage));
  w.number(g.usage && outputTokens(g.usage));
  w.usd(g.cost && g.cost.usd);
}

/** `true` stands for what the generation has. */
function writeAttempt(w: CompactWriter, a: AttemptRecord, g: GenerationRecord): void {
  w.number(a.ordinal);
  if (hasUsualId(a, g.id)) w.flag(true);
  else w.text(a.id);
  writeUnless(w, a.provider, g.provider);
  writeUnless(w, a.endpoint, g.endpoint);
  w.name(a.model);
  writeUnless(w, a.protocol, g.protocol);
  writeUnless(w, a.lane, g.lane);
  writeTime(w, a.startedAt, g.createdAt);
  if (a.firstContentAt === g.firstContentAt) w.flag(true);
  else writeTime(w, a.firstContentAt, g.createdAt);
  writeTime(w, a.endedAt, g.createdAt);
  writeUnless(w, a.outcome, 'completed');
  w.number(a.status);
  w.text(a.upstreamId);
  writeError(w, a.error);
  if (a.usage === g.usage) w.flag(true);
  else writeUsage(w, a.usage);
  if (a.cost === g.cost) w.flag(true);
  else if (a.cost === null) w.null();
  else {
    w.flag(false);
    w.usd(a.cost.usd);
    writeCost(w, a.cost);
  }
}

/** The id that attempts have. */
export function usualAttemptId(generationId: string, ordinal: number): string {
  return `${generationId}-${ordinal}`;
}

/** Without making that id, for most have it. */
function hasUsualId({ id, ordinal }: AttemptRecord, generationId: string): boolean {
  return ordinal < 10
    ? id.length === generationId.length + 2 &&
        id.charCodeAt(id.length - 1) === 48 + ordinal &&
        id.charCodeAt(id.length - 2) === 45 &&
        id.startsWith(generationId)
    : id === usualAttemptId(generationId, ordinal);
}

function writeUnless(w: CompactWriter, value: string, usual: string | null): void {
  if (value === usual) w.flag(true);
  else w.name(value);
}

/** As the time since another; in a list by itself where a difference would not lead back to it. */
function writeTime(w: CompactWriter, time: number | null, since: number): void {
  if (time === null) return w.null();
  const passed = time - since;
  if (since + passed === time) w.number(passed);
  else w.json([time]);
}

function writeReport(w: CompactWriter, report: GenerationRecord['report']): void {
  if (report.length === 0) return w.null();
  w.array();
  for (const { path, action, reason } of report) {
    w.array();
    w.name(path);
    w.name(action);
    w.name(reason);
    w.end();
  }
  w.end();
}

function writeError(w: CompactWriter, error: ErrorSummary | null): void {
  if (error === null) return w.null();
  w.name(error.kind);
  w.text(error.message);
  w.number(error.upstreamStatus);
}

/** Without `usd`. */
function writeCost(w: CompactWriter, cost: Cost | null): void {
  if (cost === null) return w.null();
  for (const item in cost.items) {
    w.name(item);
    w.usd(cost.items[item] ?? null);
  }
  w.flag(false);
  w.repeated(cost.price);
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
  w.number(bits);
  for (const count of counts) if (count !== 0) w.number(count);
  if (hasTools) w.json(usage.tools);
  if (usage.inconsistent)
    w.json(usage.inconsistent.map(({ count, said, counted }) => [count, said, counted]));
  if (raw !== null) w.json(raw);
}

function hasMembers(object: object): boolean {
  for (const _ in object) return true;
  return false;
}
