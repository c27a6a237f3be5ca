// Call that the server hands to the engine: one authenticated request, and the client that waits for its answer.
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
  files?: readonly FormFile[];
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
  readonly createdAt: number;
  /** Unix milliseconds, when what is kept of it expires; null: never. */
  readonly expiresAt: number | null;
  /** True: its answer is read from what is kept, whatever the request says of that. */
  readonly isKept: boolean;
  /** How much of its provider's limits may be used when it begins, from 0 to 1. */
  readonly providerShare: number;
  /** How long all attempts together may take, in milliseconds, where that is more than usual. */
  readonly totalMs: number;
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
  delete call.files;
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
