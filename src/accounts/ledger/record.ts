// The records of the ledger: one generation per request, one attempt per upstream try. Each is a table of members: it gives the
// type, the stored form and what the view shows. A new member is one line at the end of its table.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import type { ErrorKind, ProtocolName, ReportEntry, RouteTrace, Usage } from '../../canonical/index.ts';

export type Lane = 'relay' | 'translate';

/** A cost, with the prices that it was computed from. */
export interface Cost {
  /** USD; null when a needed price is unknown. */
  readonly usd: number | null;
  /** USD by token class: `input`, `cache_read`, `cache_write_5m`, `cache_write_1h`, `output`, `tools`, `request`. */
  readonly items: Readonly<Record<string, number>>;
  /** The rates used, in USD per million tokens, and their origin; null when no price is known. */
  readonly price: JsonValue;
}

export interface ErrorSummary {
  readonly kind: ErrorKind;
  readonly message: string;
  /** HTTP status that the upstream sent; null when it sent none. */
  readonly upstreamStatus: number | null;
}

/** Form in which storage writes a value. `name`: text that repeats, within a record or between records. `time`: Unix milliseconds. */
export type MemberKind =
  | 'name'
  | 'text'
  | 'hex'
  | 'number'
  | 'flag'
  | 'time'
  | 'json'
  | 'names'
  | 'usage'
  | 'cost'
  | 'error'
  | 'report';

/** One member of a record. */
export interface Member<T> {
  readonly kind: MemberKind;
  /** The usual value, stored as one bit. Absent: no value is usual. */
  readonly usual?: T | Usual<T> | undefined;
  /** Name in the view, where the view shows the value as it is. */
  readonly shown?: string | undefined;
}

/** A usual value that follows from members before it, and for attempts from their generation. */
type Usual<T> = (own: Members, generation: Members) => T;

/** Members of a record, as far as they are known. */
export type Members = Readonly<Record<string, unknown>>;

/** A table of members. Stored: members keep their order and kind for ever. */
export type MemberTable = Readonly<Record<string, Member<unknown>>>;

function member<T>(kind: MemberKind, usual?: T | Usual<T>, shown?: string): Member<T> {
  return { kind, usual, shown };
}

/** A member that is usually as another one of the same record. */
function like<T>(name: string): Usual<T> {
  return (own) => own[name] as T;
}

/** A member of an attempt that is usually as in its generation. */
function asGeneration<T>(name: string): Usual<T> {
  return (_, generation) => generation[name] as T;
}

/** Record of one request, its id and contents apart. Later members have a usual value: records of before have that one. */
export const GENERATION_MEMBERS = {
  /** Unix milliseconds. */
  createdAt: member<number>('number'),
  keyId: member<string>('name', undefined, 'key_id'),
  /** The project of the key; the key's own id where it had none. */
  projectId: member<string>('name', like('keyId'), 'project_id'),
  /** Hash of the project and of the name by which the request called its end user. `null`: it named none. */
  endUser: member<string | null>('hex', null, 'end_user'),
  /** `chat.completions`, `responses`, `messages`, … */
  api: member<string>('name', 'chat.completions', 'api'),
  protocol: member<ProtocolName>('name', undefined, 'protocol'),
  /** The model that ran. `null`: none did. */
  model: member<string | null>('name', null),
  /** The model as the client wrote it. */
  requestedModel: member<string>('name', like('model'), 'requested_model'),
  provider: member<string | null>('name', null, 'provider'),
  endpoint: member<string | null>('name', like('provider'), 'endpoint'),
  lane: member<Lane | null>('name', 'translate', 'lane'),
  streamed: member<boolean>('flag', false, 'streamed'),
  /** Unix milliseconds of the first content. `null`: there was none, or the answer was not streamed. */
  firstContentAt: member<number | null>('time', null),
  /** Unix milliseconds. */
  endedAt: member<number>('time'),
  /** HTTP status sent to the client. */
  status: member<number>('number', 200, 'status'),
  finishReason: member<string | null>('name', 'stop'),
  /** The upstream's own word. */
  nativeFinishReason: member<string | null>('name', like('finishReason'), 'native_finish_reason'),
  cancelled: member<boolean>('flag', false, 'cancelled'),
  attempts: member<number>('number', 1),
  /** Turns of models in its answer, at least 1: more where tools of the gateway ran between them. */
  turns: member<number>('number', 1, 'turns'),
  usage: member<Usage | null>('usage', null),
  /** Sum over the attempts that were charged; its `usd` is null when any of them has an unknown price. */
  cost: member<Cost | null>('cost', null),
  report: member<readonly ReportEntry[]>('report'),
  /** Endpoints in the order in which they were asked, with reasons. `null`: there was no decision. */
  route: member<RouteTrace | JsonObject | null>('names', null),
  error: member<ErrorSummary | null>('error', null),
  metadata: member<Readonly<Record<string, string>> | null>('json', null, 'metadata'),
  /** Id of the generation whose request was sent again. `null`: it was its client's own. */
  replayOf: member<string | null>('hex', null),
} as const satisfies MemberTable;

/** Record of one try. Times are Unix milliseconds, durations milliseconds. */
export const ATTEMPT_MEMBERS = {
  /** 0 for the first try. */
  ordinal: member<number>('number', undefined),
  /** Unique for ever: settling the same attempt twice changes nothing. */
  id: member<string>(
    'text',
    (own, generation) => `${String(generation['id'])}-${String(own['ordinal'])}`,
    'id',
  ),
  provider: member<string>('name', asGeneration('provider'), 'provider'),
  endpoint: member<string>('name', asGeneration('endpoint'), 'endpoint'),
  /** The upstream's name of the model. */
  model: member<string>('name', undefined, 'model'),
  protocol: member<ProtocolName>('name', asGeneration('protocol'), 'protocol'),
  lane: member<Lane>('name', asGeneration('lane'), 'lane'),
  startedAt: member<number>('time'),
  /** First content. `null`: there was none. */
  firstContentAt: member<number | null>('time', asGeneration('firstContentAt')),
  endedAt: member<number>('time', asGeneration('endedAt')),
  outcome: member<'completed' | 'failed' | 'cancelled'>('name', 'completed', 'outcome'),
  /** HTTP status of the upstream. `null`: it never answered. */
  status: member<number | null>('number', 200, 'status'),
  /** The upstream's id of its answer, or of the request that it refused. `null`: it told none. */
  upstreamId: member<string | null>('text', null, 'upstream_id'),
  error: member<ErrorSummary | null>('error', null),
  usage: member<Usage | null>('usage', asGeneration('usage')),
  cost: member<Cost | null>('cost', asGeneration('cost')),
  /** Time from the attempt's start until its request was handed to a connection. `null`: unknown. */
  queuedMs: member<number | null>('number', null, 'queued_ms'),
  /** Time for a new connection, TLS included. `null`: unknown, or an open one was used. */
  connectMs: member<number | null>('number', null, 'connect_ms'),
  /** Time from the attempt's start to the head of the answer. `null`: there was none. */
  headersMs: member<number | null>('number', null, 'headers_ms'),
} as const satisfies MemberTable;

/** Members of a table, by name. */
export type RecordOf<Table extends MemberTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Member<infer T> ? T : never;
};

/** Members that a maker may leave out: phases that it does not know. */
type Phases = 'queuedMs' | 'connectMs' | 'headersMs';
type AttemptMembers = RecordOf<typeof ATTEMPT_MEMBERS>;

export type AttemptRecord = Omit<AttemptMembers, Phases> &
  Partial<Pick<AttemptMembers, Phases>> & { readonly generationId: string };

export type GenerationRecord = RecordOf<typeof GENERATION_MEMBERS> & {
  readonly id: string;
  /** Prompt and answer. `null`: content logging is off for the key. */
  readonly content: { readonly request: JsonValue; readonly answer: JsonValue } | null;
};

/** The values that a view shows as they are. */
export function shownMembers(table: MemberTable, record: Members): JsonObject {
  const shown: MutableJsonObject = {};
  for (const name in table) {
    const as = table[name]?.shown;
    if (as !== undefined) shown[as] = (record[name] ?? null) as JsonValue;
  }
  return shown;
}

// Ends of requests: the four outcomes that sums are kept by, and the seven states that operators see.

/**
 * `ok`: a whole answer. `failed`: a provider or the gateway is at fault. `refused`: a limit, a permission or the request itself
 * stood against it. `cancelled`: the client closed the connection.
 */
export const OUTCOMES = ['ok', 'failed', 'refused', 'cancelled'] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Kinds that are the request's own fault, whoever says so. */
const OF_REQUEST: ReadonlySet<ErrorSummary['kind']> = new Set([
  'invalid_request',
  'unsupported',
  'conflict',
  'too_large',
  'context_overflow',
  'content_filter',
]);
/** Kinds that refuse where the gateway says so, and fail where a provider does. */
const OF_GATEWAY: ReadonlySet<ErrorSummary['kind']> = new Set([
  'authentication',
  'permission',
  'not_found',
  'rate_limited',
  'quota',
]);

/** @param attempts those that were made for it: a refusal after one is the provider's */
export function outcomeOf(
  { error, cancelled }: Pick<GenerationRecord, 'error' | 'cancelled'>,
  attempts: readonly Pick<AttemptRecord, 'outcome'>[],
): Outcome {
  if (cancelled || error?.kind === 'cancelled') return 'cancelled';
  if (error === null) return 'ok';
  if (OF_REQUEST.has(error.kind)) return 'refused';
  const isOwn = error.upstreamStatus === null && attempts.every(({ outcome }) => outcome === 'completed');
  return isOwn && OF_GATEWAY.has(error.kind) ? 'refused' : 'failed';
}

/** The outcome of an attempt, in the same words. `refused`: the request itself was at fault, not the provider. */
export function attemptOutcome({ outcome, error }: Pick<AttemptRecord, 'outcome' | 'error'>): Outcome {
  if (outcome === 'completed') return 'ok';
  return outcome === 'failed' && error !== null && OF_REQUEST.has(error.kind) ? 'refused' : outcome;
}

/**
 * States of a request that is over, as lists show them. `recovered`: a whole answer after a failed attempt. `broken_stream`: it failed
 * after its first content. `limit_reached`: a limit or budget of the gateway refused it. `rejected`: the request or its
 * permissions stood against it. Stored by position: states keep their order.
 */
export const REQUEST_STATES = [
  'ok',
  'recovered',
  'broken_stream',
  'failed',
  'limit_reached',
  'rejected',
  'cancelled',
] as const;
export type RequestState = (typeof REQUEST_STATES)[number];

/** @param attempts those that were made for it */
export function requestState(
  g: Pick<GenerationRecord, 'error' | 'cancelled' | 'firstContentAt' | 'status'>,
  attempts: readonly Pick<AttemptRecord, 'outcome'>[],
): RequestState {
  switch (outcomeOf(g, attempts)) {
    case 'cancelled':
      return 'cancelled';
    case 'ok':
      return attempts.some(({ outcome }) => outcome === 'failed') ? 'recovered' : 'ok';
    case 'failed':
      return g.firstContentAt !== null || g.status < 400 ? 'broken_stream' : 'failed';
    case 'refused':
      return g.error?.kind === 'rate_limited' || g.error?.kind === 'quota' ? 'limit_reached' : 'rejected';
  }
}

/** The provider and endpoint that a request belongs to: those that answered, or that were tried last. Null: nobody was asked. */
export function placeOf(
  g: Pick<GenerationRecord, 'provider' | 'endpoint'>,
  attempts: readonly Pick<AttemptRecord, 'provider' | 'endpoint'>[],
): { readonly provider: string | null; readonly endpoint: string | null } {
  const last = g.provider === null ? attempts.at(-1) : undefined;
  return { provider: g.provider ?? last?.provider ?? null, endpoint: g.endpoint ?? last?.endpoint ?? null };
}
