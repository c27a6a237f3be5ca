// Between the ledger's records and their rows. Members that hold their usual value (zero, null, empty) are left
// out of the JSON: most token classes of most requests are zero, and every byte is written twice (log, table).
import type { JsonValue, Usage } from '../canonical/index.ts';
import { inputTokens, NO_USAGE, outputTokens, readRoute } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../ledger/index.ts';
import type { AttemptTable, ContentTable, GenerationTable } from './schema.ts';

/** Columns in the order in which the ledger binds them. */
export const GENERATION_COLUMNS = [
  'id',
  'key_id',
  'created_at',
  'model',
  'provider',
  'status',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'record',
] as const satisfies readonly (keyof GenerationTable)[];
export const ATTEMPT_COLUMNS = [
  'id',
  'generation_id',
  'ordinal',
  'provider',
  'outcome',
  'record',
] as const satisfies readonly (keyof AttemptTable)[];
export const CONTENT_COLUMNS = [
  'generation_id',
  'created_at',
  'request',
  'answer',
] as const satisfies readonly (keyof ContentTable)[];

export type Row = readonly (string | number | null)[];

/**
 * The row of a generation, in the order of GENERATION_COLUMNS.
 * @param own the only attempt, which then has no row of its own: most requests have one, and a row costs more than what
 *   is in it
 */
export function encodeGeneration(g: GenerationRecord, own?: AttemptRecord): Row {
  const record = JSON.stringify({
    api: g.api,
    protocol: g.protocol,
    requestedModel: g.requestedModel,
    endpoint: g.endpoint ?? undefined,
    lane: g.lane ?? undefined,
    streamed: g.streamed || undefined,
    firstContentAt: g.firstContentAt ?? undefined,
    endedAt: g.endedAt,
    finishReason: g.finishReason ?? undefined,
    nativeFinishReason: g.nativeFinishReason ?? undefined,
    cancelled: g.cancelled || undefined,
    attempts: g.attempts,
    usage: encodeUsage(g.usage),
    cost: g.cost ?? undefined,
    report: g.report.length > 0 ? g.report : undefined,
    route: g.route ?? undefined,
    error: g.error ?? undefined,
    metadata: g.metadata ?? undefined,
    attempt: own && encodeOwnAttempt(own, g),
  });
  return [
    g.id,
    g.keyId,
    g.createdAt,
    g.model,
    g.provider,
    g.status,
    g.usage ? inputTokens(g.usage) : null,
    g.usage ? outputTokens(g.usage) : null,
    g.cost ? g.cost.usd : null,
    record,
  ];
}

/** What of the only attempt is not as in its generation, or not as usual; times in milliseconds after the generation's. */
function encodeOwnAttempt(a: AttemptRecord, g: GenerationRecord): object {
  return {
    id: a.id === ownId(g.id) ? undefined : a.id,
    ordinal: a.ordinal || undefined,
    provider: unless(a.provider, g.provider),
    endpoint: unless(a.endpoint, g.endpoint),
    model: a.model,
    protocol: unless(a.protocol, g.protocol),
    lane: unless(a.lane, g.lane),
    startedAfter: a.startedAt - g.createdAt || undefined,
    firstContentAt: unless(a.firstContentAt, g.firstContentAt),
    endedBefore: g.endedAt - a.endedAt || undefined,
    outcome: unless(a.outcome, 'completed'),
    status: unless(a.status, 200),
    upstreamId: a.upstreamId ?? undefined,
    error: a.error ?? undefined,
    usage: a.usage === g.usage ? undefined : (encodeUsage(a.usage) ?? null),
    cost: unless(a.cost, g.cost),
  };
}

/** The attempt that is kept with its generation; undefined where attempts have rows of their own. */
export function decodeOwnAttempt(row: GenerationTable, g: GenerationRecord): AttemptRecord | undefined {
  const { attempt: a } = JSON.parse(row.record) as { readonly attempt?: OwnAttempt };
  if (!a) return undefined;
  return {
    id: a.id ?? ownId(g.id),
    generationId: g.id,
    ordinal: a.ordinal ?? 0,
    provider: a.provider ?? g.provider ?? '',
    endpoint: a.endpoint ?? g.endpoint ?? '',
    model: a.model,
    protocol: a.protocol ?? g.protocol,
    lane: a.lane ?? g.lane ?? 'translate',
    startedAt: g.createdAt + (a.startedAfter ?? 0),
    firstContentAt: a.firstContentAt === undefined ? g.firstContentAt : a.firstContentAt,
    endedAt: g.endedAt - (a.endedBefore ?? 0),
    outcome: a.outcome ?? 'completed',
    status: a.status === undefined ? 200 : a.status,
    upstreamId: a.upstreamId ?? null,
    error: a.error ?? null,
    usage: a.usage === undefined ? g.usage : a.usage && decodeUsage(a.usage),
    cost: a.cost === undefined ? g.cost : a.cost,
  };
}

type OwnAttempt = Partial<Omit<AttemptRecord, 'usage' | 'model'>> & {
  readonly model: string;
  readonly startedAfter?: number;
  readonly endedBefore?: number;
  readonly usage?: StoredUsage | null;
};

/** The id that an only attempt has. */
function ownId(generationId: string): string {
  return `${generationId}-0`;
}

function unless<T>(value: T, usual: T | null): T | undefined {
  return value === usual ? undefined : value;
}

/** `usage` and `cost` are not repeated when they are the very objects of the generation. */
export function encodeAttempt(a: AttemptRecord, g: GenerationRecord): Row {
  const sameUsage = a.usage !== null && a.usage === g.usage;
  const sameCost = a.cost !== null && a.cost === g.cost;
  const record = JSON.stringify({
    endpoint: a.endpoint,
    model: a.model,
    protocol: a.protocol,
    lane: a.lane,
    startedAt: a.startedAt,
    firstContentAt: a.firstContentAt ?? undefined,
    endedAt: a.endedAt,
    status: a.status ?? undefined,
    upstreamId: a.upstreamId ?? undefined,
    error: a.error ?? undefined,
    usage: sameUsage ? 'generation' : encodeUsage(a.usage),
    cost: sameCost ? 'generation' : (a.cost ?? undefined),
  });
  return [a.id, a.generationId, a.ordinal, a.provider, a.outcome, record];
}

/** The row of a generation's prompt and answer, in the order of CONTENT_COLUMNS; null when they are not kept. */
export function encodeContent(g: GenerationRecord): Row | null {
  return (
    g.content && [g.id, g.createdAt, JSON.stringify(g.content.request), JSON.stringify(g.content.answer)]
  );
}

type Stored<T> = { readonly [K in keyof T]?: T[K] | undefined };
type StoredUsage = Omit<Stored<Usage>, 'input' | 'output'> & {
  readonly input?: Partial<Usage['input']>;
  readonly output?: Partial<Usage['output']>;
};

/** The record of a row. @param content undefined when prompt and answer were not kept */
export function decodeGeneration(row: GenerationTable, content: ContentTable | undefined): GenerationRecord {
  const r = JSON.parse(row.record) as Omit<GenerationRecord, 'usage'> & { usage?: StoredUsage };
  return {
    id: row.id,
    keyId: row.key_id,
    api: r.api,
    protocol: r.protocol,
    requestedModel: r.requestedModel,
    model: row.model,
    provider: row.provider,
    endpoint: r.endpoint ?? null,
    lane: r.lane ?? null,
    streamed: r.streamed ?? false,
    createdAt: row.created_at,
    firstContentAt: r.firstContentAt ?? null,
    endedAt: r.endedAt,
    status: row.status,
    finishReason: r.finishReason ?? null,
    nativeFinishReason: r.nativeFinishReason ?? null,
    cancelled: r.cancelled ?? false,
    attempts: r.attempts,
    usage: decodeUsage(r.usage),
    cost: r.cost ?? null,
    report: r.report ?? [],
    route: readRoute(r.route as JsonValue | undefined),
    error: r.error ?? null,
    metadata: r.metadata ?? null,
    content: content ? { request: JSON.parse(content.request), answer: JSON.parse(content.answer) } : null,
  };
}

/** The record of an attempt's row. @param generation its own, with which it may share usage and cost */
export function decodeAttempt(row: AttemptTable, generation: GenerationRecord): AttemptRecord {
  const r = JSON.parse(row.record) as Omit<AttemptRecord, 'usage' | 'cost'> & {
    usage?: StoredUsage | 'generation';
    cost?: AttemptRecord['cost'] | 'generation';
  };
  return {
    id: row.id,
    generationId: row.generation_id,
    ordinal: row.ordinal,
    provider: row.provider,
    endpoint: r.endpoint,
    model: r.model,
    protocol: r.protocol,
    lane: r.lane,
    startedAt: r.startedAt,
    firstContentAt: r.firstContentAt ?? null,
    endedAt: r.endedAt,
    outcome: row.outcome as AttemptRecord['outcome'],
    status: r.status ?? null,
    upstreamId: r.upstreamId ?? null,
    error: r.error ?? null,
    usage: r.usage === 'generation' ? generation.usage : decodeUsage(r.usage),
    cost: r.cost === 'generation' ? generation.cost : (r.cost ?? null),
  };
}

function encodeUsage(usage: Usage | null): object | undefined {
  if (!usage) return undefined;
  const { input: i, output: o } = usage;
  return {
    input: {
      uncached: i.uncached || undefined,
      cacheRead: i.cacheRead || undefined,
      cacheWrite5m: i.cacheWrite5m || undefined,
      cacheWrite1h: i.cacheWrite1h || undefined,
      audio: i.audio || undefined,
      image: i.image || undefined,
    },
    output: { text: o.text || undefined, reasoning: o.reasoning || undefined, audio: o.audio || undefined },
    tools: hasMembers(usage.tools) ? usage.tools : undefined,
    acceptedPrediction: usage.acceptedPrediction || undefined,
    rejectedPrediction: usage.rejectedPrediction || undefined,
    estimated: usage.estimated || undefined,
    inconsistent: usage.inconsistent,
    raw: usage.raw ?? undefined,
  };
}

function decodeUsage(usage: StoredUsage | undefined): Usage | null {
  if (!usage) return null;
  return {
    ...NO_USAGE,
    ...usage,
    input: { ...NO_USAGE.input, ...usage.input },
    output: { ...NO_USAGE.output, ...usage.output },
  } as Usage;
}

function hasMembers(object: object): boolean {
  for (const _ in object) return true;
  return false;
}
