// Call that the server hands to the engine: one authenticated request, the client that waits for its answer, what is kept for it,
// and what it is from its arrival on.
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
  /** The protocol the client speaks; it has a server side. */
  readonly protocol: Protocol & { readonly server: ServerCodec };
  /** Name of the operation in the records, e.g. `chat.completions`. */
  readonly api: string;
  /** Members that the address gives; absent where it gives nothing but the operation. */
  readonly route?: RequestRoute;
  readonly principal: Principal;
  /** How it was asked: the method, and the address as it was sent. */
  readonly request: { readonly method: string; readonly url: string };
  /** The body as it arrived: the relay lane edits and forwards it. Emptied when nobody needs it any more. */
  body: JsonBytes;
  /** The same, parsed; undefined when nobody needs it any more. Of a form: its fields, and what is known of its files. */
  json: unknown;
  /** Files of a form. Absent: the body is none. */
  files?: readonly FormFile[] | undefined;
  /** Reads a request header by lower-case name. */
  readonly header: (name: string) => string | null;
  /** All request headers by lower-case name. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly client: Client;
  /** Memory account of what is kept for this request besides its body. */
  readonly account: ByteAccount;
  /** Absent: turns are remembered only where the request has them stored. */
  readonly memory?: TurnMemory;
  /** Job that this call belongs to. Absent: a client waits for it. */
  readonly job?: JobCall;
  /** True: it is queued, and the stream of its job is kept as such. Absent: it is answered at once. */
  readonly isQueued?: boolean;
  /** Id of the generation that it repeats. Absent: it is no repetition. */
  readonly replayOf?: string;
  /** Notes what its sides send; absent: nobody keeps that. */
  readonly recorder?: PayloadRecorder;
}

/** Job whose work the request is. */
export interface JobCall {
  /** Id of the generation that its client knows. */
  readonly id: string;
  /** Id of its record: each try of a job that was interrupted has its own. */
  readonly recordId: string;
  /** Unix milliseconds, when its client asked. */
  readonly createdAt: UnixMs;
  /** Unix milliseconds, when what is kept of it expires; null: never. */
  readonly expiresAt: UnixMs | null;
  /** True: its answer is read from what is kept, whatever the request says of that. */
  readonly isKept: boolean;
  /** How much of its provider's limits may be used when it begins, from 0 to 1. */
  readonly providerShare: number;
  /** How long all attempts together may take, where that is more than usual. */
  readonly totalMs: DurationMs;
  /**
   * The request failed. @param wasAsked false: no upstream was
   * @returns true where it is tried again later: then nothing is recorded of a failure before anybody was asked
   */
  failed(failure: GatewayError, wasAsked: boolean): boolean;
  /**
   * Takes a request to an endpoint whose vendor has a batch API, in the place of asking it now. Absent: it is asked.
   * @throws GatewayError in any case: it was taken
   */
  readonly defer?: ((endpoint: Endpoint, request: () => DeferredRequest) => never) | undefined;
  /** An answer that is there already, and is read as if its endpoint were asked. Absent: endpoints are asked. */
  readonly answered?: ReadyAnswer | undefined;
  /** An upstream is about to be asked. Resolves once that is durable. @throws GatewayError where it must not be */
  asked(record: RunningRecord, price: Price | null): Promise<void>;
  /** A request to an upstream goes out now. */
  sent(): void;
  /**
   * Its answer could not be stored, though it is complete.
   * @param appendTo conversation to which it belongs; undefined: none
   */
  unkept(response: StoredResponse, appendTo: string | undefined, error: unknown): void;
  /** Its record is made. */
  recorded(record: GenerationRecord): void;
  /** A call of a tool begins that may have effects. Resolves once that is durable. */
  toolBegins(name: string): Promise<void>;
}

/** A request as its endpoint would get it. */
export interface DeferredRequest {
  /** Below the base URL. */
  readonly path: string;
  /** JSON. */
  readonly body: Buffer;
}

/** An answer that an endpoint gave before, among many others. It is paid for: no limit refuses it. It says nothing of the endpoint's health. */
export interface ReadyAnswer {
  /** The endpoint, at the price of the answer. */
  readonly endpoint: Endpoint;
  /** Gives the answer to whoever asks. */
  readonly upstream: Pick<UpstreamClient, 'send' | 'now' | 'wall'>;
}

/** Lets go of the client's body: a stream may live for minutes after the last endpoint that could need it. */
export function releaseBody(call: ApiCall): void {
  call.body = NO_JSON;
  if (call.files) call.files = undefined;
  if (!call.recorder) call.json = undefined;
}

/** Resources that the process holds for one request, until that has ended. The caller releases all of them. */
export interface ByteAccount {
  /** Holds so many bytes more; fewer, where it is negative. @throws GatewayError 503 with `retry-after`; nothing changed */
  add(bytes: number): void;
}

/** Turns that are remembered though they are not stored, as long as the client's connection lives. */
export interface TurnMemory {
  /** Everything that was said up to and with a response, as raw items; undefined when it is not remembered. */
  recall(responseId: string): readonly JsonObject[] | undefined;
  remember(responseId: string, items: readonly JsonObject[]): void;
}

/** A request that is only to be explained: nobody waits for an answer of a model. */
export interface ExplainCall {
  readonly protocol: Protocol & { readonly server: ServerCodec };
  /** Members that the address of the request itself would give. */
  readonly route?: RequestRoute;
  readonly principal: Principal;
  /** The body, parsed. */
  readonly json: unknown;
  /** Characters of the body. */
  readonly bodyChars: number;
  /** Reads a request header by lower-case name. */
  readonly header: (name: string) => string | null;
}

/** The client's side of the connection. Exactly one of `respond` and `openStream` is called, once. */
export interface Client {
  /** Sends a whole answer. */
  respond(status: number, headers: Readonly<Record<string, string>>, body: Body): void;
  /** Sends the head of an event stream. */
  openStream(headers: Readonly<Record<string, string>>): ClientStream;
  /** Calls `left` once if the client goes away before its answer is complete. */
  onLeave(left: () => void): void;
}

/** A whole body: text, or its UTF-8. `String` makes a text of either. */
export type Body = string | Buffer;

/** Encoding of a piece of a stream. `bytes`: a byte string, one character per byte. `text`: to be encoded as UTF-8. */
export type Encoding = 'bytes' | 'text';

export interface ClientStream {
  /** One call is one write to the socket. False: the client reads slower than that; wait for `onDrain`. */
  write(data: string, encoding: Encoding): boolean;
  onDrain(drained: () => void): void;
  end(): void;
}

// Counts what one part of the work on a request keeps, and tells the request's account in steps: an answer of the usual
// size is never told at all. Holds nothing itself.

/** Change that is too small to count, in bytes. */
export const STEP_BYTES = 64 * 1024;

export class HeldBytes {
  readonly #account: ByteAccount;
  #bytes = 0;
  #reported = 0;

  constructor(account: ByteAccount) {
    this.#account = account;
  }

  /** So many bytes more. @throws GatewayError 503 where there is no room for them */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes - this.#reported >= STEP_BYTES) this.#report();
  }

  /** So many bytes in all: for what comes and goes. @throws like `add` */
  set(bytes: number): void {
    this.#bytes = bytes;
    if (Math.abs(bytes - this.#reported) >= STEP_BYTES) this.#report();
  }

  /** None any more. */
  release(): void {
    this.#bytes = 0;
    if (this.#reported > 0) this.#report();
  }

  #report(): void {
    this.#account.add(this.#bytes - this.#reported);
    this.#reported = this.#bytes;
  }
}

// A call that has its id, and the settings that hold for it from now on, whatever is configured meanwhile.

export interface Arrival {
  /** Id of the generation, as its client knows it. */
  readonly id: string;
  /** The same as the ledger knows it. */
  readonly recordId: string;
  readonly call: ApiCall;
  readonly settings: EngineSettings;
  /** Unix milliseconds by the machine's clock, as it is shown and stored. Of a job: when its client asked. */
  readonly createdAt: UnixMs;
  /** Its begin in milliseconds that only go forward, as all that runs for it is measured. */
  readonly arrivedAt: UnixMs;
  /** From those milliseconds to the machine's clock. */
  readonly stepMs: DurationMs;
  /** Bytes of the body: how large the request is, where routing asks before anybody reads it. */
  readonly inputChars: number;
  /** Use that limits grant it; null where none holds for it. */
  readonly quota: RequestQuota | null;
  /** Place among traces; null where none are made. */
  readonly trace: TraceContext | null;
}

/** The call with an id of its own, at this moment. @param settings those that hold for it from now on */
export function arrive(
  call: ApiCall,
  settings: EngineSettings,
  { clock, limits }: Pick<GatewayDependencies, 'clock' | 'limits'>,
): Arrival {
  // The ledger takes a record whose id says another time for counts that came late.
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
