// Records of the ledger: one generation per request, and one attempt per upstream try. Each is a table of members that
// defines type, stored form and view. A new member is one line at the end of its table.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../base/json/index.ts';
import type { ErrorKind, ProtocolName, ReportEntry, RouteTrace, Usage } from '../../canonical/index.ts';

export type Lane = 'relay' | 'translate';

/** A cost, with its rates. */
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
  /** HTTP status of the upstream; null: none. */
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
  /** Most frequent value, stored as one bit. Absent: none. */
  readonly usual?: T | Usual<T> | undefined;
  /** Name in the view, if the view shows the value unchanged. */
  readonly shown?: string | undefined;
}

/** Usual value that depends on earlier members, or for attempts on their generation. */
type Usual<T> = (own: Members, generation: Members) => T;

/** Known members of a record. */
export type Members = Readonly<Record<string, unknown>>;

/** A table of members. Part of the storage format: order and kinds of members never change. */
export type MemberTable = Readonly<Record<string, Member<unknown>>>;

function member<T>(kind: MemberKind, usual?: T | Usual<T>, shown?: string): Member<T> {
  return { kind, usual, shown };
}

/** Usual value: that of another member of the same record. */
function like<T>(name: string): Usual<T> {
  return (own) => own[name] as T;
}

/** Usual value of an attempt's member: that of its generation. */
function asGeneration<T>(name: string): Usual<T> {
  return (_, generation) => generation[name] as T;
}

/** Record of one request, without id and contents. Members that were added later have a usual value, for older records. */
export const GENERATION_MEMBERS = {
  /** Unix milliseconds. */
  createdAt: member<number>('number'),
  keyId: member<string>('name', undefined, 'key_id'),
  /** The project of the key; the key's own id where it had none. */
  projectId: member<string>('name', like('keyId'), 'project_id'),
  /** Hash of the project and the request's end user. `null`: none. */
  endUser: member<string | null>('hex', null, 'end_user'),
  /** `chat.completions`, `responses`, `messages`, … */
  api: member<string>('name', 'chat.completions', 'api'),
  protocol: member<ProtocolName>('name', undefined, 'protocol'),
  /** Model that answered. `null`: none. */
  model: member<string | null>('name', null),
  /** Model name as sent by the client. */
  requestedModel: member<string>('name', like('model'), 'requested_model'),
  provider: member<string | null>('name', null, 'provider'),
  endpoint: member<string | null>('name', like('provider'), 'endpoint'),
  lane: member<Lane | null>('name', 'translate', 'lane'),
  streamed: member<boolean>('flag', false, 'streamed'),
  /** Unix milliseconds of the first content. `null`: none, or not streamed. */
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
  /** Model turns in the answer, at least 1. More if tools of the gateway ran in between. */
  turns: member<number>('number', 1, 'turns'),
  usage: member<Usage | null>('usage', null),
  /** Sum over the charged attempts. `usd` is null if any of their prices is unknown. */
  cost: member<Cost | null>('cost', null),
  report: member<readonly ReportEntry[]>('report'),
  /** Routing decision: endpoints in order, with reasons. `null`: none was made. */
  route: member<RouteTrace | JsonObject | null>('names', null),
  error: member<ErrorSummary | null>('error', null),
  metadata: member<Readonly<Record<string, string>> | null>('json', null, 'metadata'),
  /** Id of the generation that was replayed. `null`: not a replay. */
  replayOf: member<string | null>('hex', null),
} as const satisfies MemberTable;

/** Record of one attempt. Times are Unix milliseconds, durations milliseconds. */
export const ATTEMPT_MEMBERS = {
  /** 0 for the first attempt. */
  ordinal: member<number>('number', undefined),
  /** Globally unique, so that settling an attempt twice has no effect. */
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
  /** Time of the first content. `null`: none. */
  firstContentAt: member<number | null>('time', asGeneration('firstContentAt')),
  endedAt: member<number>('time', asGeneration('endedAt')),
  outcome: member<'completed' | 'failed' | 'cancelled'>('name', 'completed', 'outcome'),
  /** HTTP status of the upstream. `null`: no response. */
  status: member<number | null>('number', 200, 'status'),
  /** The upstream's id of the answer or of the refused request. `null`: none sent. */
  upstreamId: member<string | null>('text', null, 'upstream_id'),
  error: member<ErrorSummary | null>('error', null),
  usage: member<Usage | null>('usage', asGeneration('usage')),
  cost: member<Cost | null>('cost', asGeneration('cost')),
  /** Time from the start of the attempt until a connection took its request. `null`: unknown. */
  queuedMs: member<number | null>('number', null, 'queued_ms'),
  /** Time for a new connection, including TLS. `null`: unknown, or an open connection was used. */
  connectMs: member<number | null>('number', null, 'connect_ms'),
  /** Time from the start of the attempt to the response headers. `null`: none. */
  headersMs: member<number | null>('number', null, 'headers_ms'),
} as const satisfies MemberTable;

/** Type of the records of a table. */
export type RecordOf<Table extends MemberTable> = {
  readonly [Name in keyof Table]: Table[Name] extends Member<infer T> ? T : never;
};

/** Optional members: phases may be unknown. */
type Phases = 'queuedMs' | 'connectMs' | 'headersMs';
type AttemptMembers = RecordOf<typeof ATTEMPT_MEMBERS>;

export type AttemptRecord = Omit<AttemptMembers, Phases> &
  Partial<Pick<AttemptMembers, Phases>> & { readonly generationId: string };

export type GenerationRecord = RecordOf<typeof GENERATION_MEMBERS> & {
  readonly id: string;
  /** Prompt and answer. `null`: content logging is disabled for the key. */
  readonly content: { readonly request: JsonValue; readonly answer: JsonValue } | null;
};

/** Values that the view shows unchanged. */
export function shownMembers(table: MemberTable, record: Members): JsonObject {
  const shown: MutableJsonObject = {};
  for (const name in table) {
    const as = table[name]?.shown;
    if (as !== undefined) shown[as] = (record[name] ?? null) as JsonValue;
  }
  return shown;
}

/** Provider and endpoint of a request: those that answered, or that were tried last. Null: no attempt was made. */
export function placeOf(
  g: Pick<GenerationRecord, 'provider' | 'endpoint'>,
  attempts: readonly Pick<AttemptRecord, 'provider' | 'endpoint'>[],
): { readonly provider: string | null; readonly endpoint: string | null } {
  const last = g.provider === null ? attempts.at(-1) : undefined;
  return { provider: g.provider ?? last?.provider ?? null, endpoint: g.endpoint ?? last?.endpoint ?? null };
}
