// Reads the rows that earlier versions wrote of records: one JSON text each, without members that hold their usual value
// (zero, null, empty).
import type { JsonValue, Usage } from '../../canonical/index.ts';
import { NO_USAGE, readRoute } from '../../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../../ledger/index.ts';
import type { FoundRecord } from '../record-reader.ts';
import type { AttemptTable, GenerationTable } from './schema.ts';

type Stored<T> = { readonly [K in keyof T]?: T[K] | undefined };
type StoredUsage = Omit<Stored<Usage>, 'input' | 'output'> & {
  readonly input?: Partial<Usage['input']>;
  readonly output?: Partial<Usage['output']>;
};

/** The only attempt of a generation: what is not as in the generation, or not as usual. */
type OwnAttempt = Partial<Omit<AttemptRecord, 'usage' | 'model'>> & {
  readonly model: string;
  /** Milliseconds after the generation's beginning, and before its end. */
  readonly startedAfter?: number;
  readonly endedBefore?: number;
  readonly usage?: StoredUsage | null;
};

type StoredGeneration = Omit<GenerationRecord, 'usage'> & {
  readonly usage?: StoredUsage;
  readonly attempt?: OwnAttempt;
};

/** The record of a row; `attempts` is empty where they have rows of their own. @param content prompt and answer, if kept */
export function decodeGeneration(row: GenerationTable, content: GenerationRecord['content']): FoundRecord {
  const r = JSON.parse(row.record) as StoredGeneration;
  const generation: GenerationRecord = {
    id: row.id,
    keyId: row.key_id,
    projectId: row.key_id,
    endUser: null,
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
    turns: 1,
    replayOf: null,
    usage: decodeUsage(r.usage),
    cost: r.cost ?? null,
    report: r.report ?? [],
    route: readRoute(r.route as JsonValue | undefined),
    error: r.error ?? null,
    metadata: r.metadata ?? null,
    content,
  };
  return { generation, attempts: r.attempt ? [decodeOwnAttempt(r.attempt, generation)] : [] };
}

function decodeOwnAttempt(a: OwnAttempt, g: GenerationRecord): AttemptRecord {
  return {
    id: a.id ?? `${g.id}-0`,
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

function decodeUsage(usage: StoredUsage | undefined): Usage | null {
  if (!usage) return null;
  return {
    ...NO_USAGE,
    ...usage,
    input: { ...NO_USAGE.input, ...usage.input },
    output: { ...NO_USAGE.output, ...usage.output },
  } as Usage;
}
