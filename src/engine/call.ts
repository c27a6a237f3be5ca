// Call passed from the server to the engine: one authenticated request, its client, its memory accounting, and its
// identity from arrival on.
import type { Principal } from '../accounts/auth/index.ts';
import { type JsonBytes, type JsonObject, NO_JSON } from '../base/json/index.ts';
import type { FormFile } from '../base/lib/form.ts';
import type { GenerationRecord } from '../accounts/ledger/index.ts';
import type { RunningRecord, StoredResponse } from '../accounts/ports/index.ts';
import type { GatewayError } from '../canonical/index.ts';
import type { Endpoint, Price } from '../catalog/index.ts';
import type { UpstreamClient } from '../upstream/client.ts';
import type { Protocol, RequestRoute, ServerCodec } from '../protocols/index.ts';
import type { PayloadRecorder } from './payload-recorder.ts';
import { RequestQuota } from './request-quota.ts';
import { newGenerationId } from '../base/runtime/ids.ts';
import { stepOf } from '../base/runtime/clock.ts';
import type { GatewayDependencies } from './dependencies.ts';
import { jobTraceOf, type TraceContext, traceOf } from '../base/telemetry/trace-context.ts';
import type { EngineSettings } from './settings.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface ApiCall {
  /** Protocol of the client. It has a server side. */
  readonly protocol: Protocol & { readonly server: ServerCodec };
  /** Name of the operation in the records, e.g. `chat.completions`. */
  readonly api: string;
  /** Members given by the address. Absent: it gives only the operation. */
  readonly route?: RequestRoute;
  readonly principal: Principal;
  /** HTTP method, and the address as it was sent. */
  readonly request: { readonly method: string; readonly url: string };
  /** The body as it arrived; the relay lane edits and forwards it. Emptied once it is no longer needed. */
  body: JsonBytes;
  /** The parsed body. Undefined once it is no longer needed. Contains the fields of a form and metadata of its files. */
  json: unknown;
  /** Files of a form. Absent: the body is not a form. */
  files?: readonly FormFile[] | undefined;
  /** Reads a request header by lower-case name. */
  readonly header: (name: string) => string | null;
  /** All request headers by lower-case name. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly client: Client;
  /** Memory account of what is kept for this request in addition to its body. */
  readonly account: ByteAccount;
  /** Absent: turns are remembered only if they are stored. */
  readonly memory?: TurnMemory;
  /** Job that this call belongs to. Absent: a client waits for it. */
  readonly job?: JobCall;
  /** True: the call is queued, and the stream of its job is stored. Absent: it is answered immediately. */
  readonly isQueued?: boolean;
  /** Id of the generation that this call replays. Absent: it is not a replay. */
  readonly replayOf?: string;
  /** Records the payloads of both sides. Absent: they are not logged. */
  readonly recorder?: PayloadRecorder;
}

/** The job that a request belongs to. */
export interface JobCall {
  /** Generation id known to the client. */
  readonly id: string;
  /** Id of the record. Each try of an interrupted job has its own. */
  readonly recordId: string;
  /** Unix milliseconds of the client's request. */
  readonly createdAt: UnixMs;
  /** Unix milliseconds when the stored data expires. Null: never. */
  readonly expiresAt: UnixMs | null;
  /** True: the answer is read from storage, whatever the request says about storing. */
  readonly isKept: boolean;
  /** Share of a provider's limits that may be in use when the call begins, from 0 to 1. */
  readonly providerShare: number;
  /** Timeout for all attempts together, if longer than the default. */
  readonly totalMs: DurationMs;
  /**
   * Reports a failed request.
   * @param wasAsked false: no upstream request was made
   * @returns true when it is retried later; then a failure before any upstream request is not recorded
   */
  failed(failure: GatewayError, wasAsked: boolean): boolean;
  /**
   * Takes a request for the vendor's batch API instead of sending it now. Absent: it is sent.
   * @throws GatewayError always: the request was taken
   */
  readonly defer?: ((endpoint: Endpoint, request: () => DeferredRequest) => never) | undefined;
  /** An existing answer, read as if it came from its endpoint. Absent: endpoints are called. */
  readonly answered?: ReadyAnswer | undefined;
  /**
   * Called before an upstream request. Resolves once durable.
   * @throws GatewayError when the request must not be sent
   */
  asked(record: RunningRecord, price: Price | null): Promise<void>;
  /** Called when a request to an upstream is sent. */
  sent(): void;
  /** The complete answer could not be stored. @param appendTo conversation that it belongs to; undefined: none */
  notStored(response: StoredResponse, appendTo: string | undefined, error: unknown): void;
  /** Called when the record exists. */
  recorded(record: GenerationRecord): void;
  /** Called before a tool call that may have side effects. Resolves once durable. */
  toolBegins(name: string): Promise<void>;
}

/** A request as its endpoint would receive it. */
export interface DeferredRequest {
  /** Path below the base URL. */
  readonly path: string;
  /** JSON. */
  readonly body: Buffer;
}

/**
 * An existing answer of an endpoint, from a batch. It is already paid for, so limits do not apply. It says nothing
 * about the endpoint's health.
 */
export interface ReadyAnswer {
  /** The endpoint with the price of the answer. */
  readonly endpoint: Endpoint;
  /** Delivers the answer like an upstream. */
  readonly upstream: Pick<UpstreamClient, 'send' | 'now' | 'wall'>;
}

/** Releases the client's body, because a stream may run for minutes after the last endpoint that could need it. */
export function releaseBody(call: ApiCall): void {
  call.body = NO_JSON;
  if (call.files) call.files = undefined;
  if (!call.recorder) call.json = undefined;
}

/** Memory that the process holds for one request until its end. The caller releases all of it. */
export interface ByteAccount {
  /** Adds bytes; negative: releases them. @throws GatewayError 503 with `retry-after`; nothing changed */
  add(bytes: number): void;
}

/** Unstored turns that are remembered while the client's connection is open. */
export interface TurnMemory {
  /** Raw items up to and including a response. Undefined: not remembered. */
  recall(responseId: string): readonly JsonObject[] | undefined;
  remember(responseId: string, items: readonly JsonObject[]): void;
}

/** A request whose routing is only explained. No answer is produced. */
export interface ExplainCall {
  readonly protocol: Protocol & { readonly server: ServerCodec };
  /** Members that the address of the actual request would give. */
  readonly route?: RequestRoute;
  readonly principal: Principal;
  /** The parsed body. */
  readonly json: unknown;
  /** Characters of the body. */
  readonly bodyChars: number;
  /** Reads a request header by lower-case name. */
  readonly header: (name: string) => string | null;
}

/** Client side of the connection. Exactly one of `respond` and `openStream` is called, once. */
export interface Client {
  /** Sends a whole answer. */
  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void;
  /** Sends the head of an event stream. */
  openStream(headers: Readonly<Record<string, string>>): ClientStream;
  /** Calls `left` once if the client disconnects before its answer is complete. */
  onLeave(left: () => void): void;
}

/** A whole body: text, or its UTF-8 bytes. `String` converts either to text. */
export type Body = string | Buffer;

/** Encoding of stream data. `bytes`: a byte string, one character per byte. `text`: encoded as UTF-8. */
export type Encoding = 'bytes' | 'text';

export interface ClientStream {
  /** Each call is one write to the socket. False: the client reads too slowly; wait for `onDrain`. */
  write(data: string, encoding: Encoding): boolean;
  onDrain(drained: () => void): void;
  end(): void;
}

// Memory accounting for one part of a request. Reports to the request's account in steps, so that small answers are
// never reported.

/** Smallest change that is reported, in bytes. */
export const STEP_BYTES = 64 * 1024;

export class HeldBytes {
  readonly #account: ByteAccount;
  #bytes = 0;
  #reported = 0;

  constructor(account: ByteAccount) {
    this.#account = account;
  }

  /** Adds bytes. @throws GatewayError 503 when no memory is available */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes - this.#reported >= STEP_BYTES) this.#report();
  }

  /** Sets the total bytes, for buffers that grow and shrink. @throws like `add` */
  set(bytes: number): void {
    this.#bytes = bytes;
    if (Math.abs(bytes - this.#reported) >= STEP_BYTES) this.#report();
  }

  /** Releases all bytes. */
  release(): void {
    this.#bytes = 0;
    if (this.#reported > 0) this.#report();
  }

  #report(): void {
    this.#account.add(this.#bytes - this.#reported);
    this.#reported = this.#bytes;
  }
}

// Arrival: a call with its id and the settings it keeps, even if the configuration changes.

export interface Arrival {
  /** Id of the generation, as the client knows it. */
  readonly id: string;
  /** Id of the generation in the ledger. */
  readonly recordId: string;
  readonly call: ApiCall;
  readonly settings: EngineSettings;
  /** Unix milliseconds on the wall clock, for display and storage. Of a job: when the client requested it. */
  readonly createdAt: UnixMs;
  /** Start on the monotonic clock, in milliseconds. All durations of the request are measured on it. */
  readonly arrivedAt: UnixMs;
  /** Difference from the monotonic clock to the wall clock. */
  readonly stepMs: DurationMs;
  /** Bytes of the body, as an estimate of its size for routing. */
  readonly inputChars: number;
  /** Usage allowed by limits. Null: no limits apply. */
  readonly quota: RequestQuota | null;
  /** Position in a trace. Null: tracing is off. */
  readonly trace: TraceContext | null;
}

/** Gives a call its id and the current time. @param settings settings of the call from now on */
export function arrive(
  call: ApiCall,
  settings: EngineSettings,
  { clock, limits }: Pick<GatewayDependencies, 'clock' | 'limits'>,
): Arrival {
  // The ledger takes a record whose id contains another time for deferred usage.
  const createdAt = call.job?.createdAt ?? clock.wall();
  const id = call.job?.id ?? newGenerationId(createdAt);
  const recordId = call.job?.recordId ?? id;
  const { otlp } = settings.config.telemetry;
  return {
    id,
    recordId,
    call,
    settings,
    createdAt,
    arrivedAt: clock.now(),
    stepMs: stepOf(clock),
    inputChars: call.body.bytes.length,
    quota: RequestQuota.of(limits, call.principal, clock.wall),
    trace: otlp && (call.job ? jobTraceOf : traceOf)(call.header, recordId, otlp.sample),
  };
}
