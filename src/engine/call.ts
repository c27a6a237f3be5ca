// What the server hands to the engine: one authenticated request, and the client that waits for its answer.
import type { Principal } from '../auth/index.ts';
import type { CanonicalRequest, JsonObject } from '../canonical/index.ts';
import type { Protocol, RequestRoute, ServerCodec } from '../protocols/index.ts';
import type { Tape } from './tape.ts';

export interface ApiCall {
  /** The protocol the client speaks; it has a server side. */
  readonly protocol: Protocol & { readonly server: ServerCodec };
  /** Name of the operation in the records, e.g. `chat.completions`. */
  readonly api: string;
  /** What the address says; absent where it says nothing but the operation. */
  readonly route?: RequestRoute;
  readonly principal: Principal;
  /** How it was asked: the method, and the address as it was sent. */
  readonly request: { readonly method: string; readonly url: string };
  /** The body as a byte string: the relay lane edits and forwards it. Emptied when nobody needs it any more. */
  body: string;
  /** The same, parsed; undefined when nobody needs it any more. */
  json: unknown;
  /** Reads a request header by lower-case name. */
  readonly header: (name: string) => string | null;
  /** All request headers by lower-case name. */
  readonly headers: Iterable<readonly [name: string, value: string]>;
  readonly client: Client;
  /** What is kept for this request besides its body counts here. */
  readonly account: ByteAccount;
  /** Absent: turns are remembered only where the request has them stored. */
  readonly memory?: TurnMemory;
  /** Id of the generation that it repeats. Absent: it is no repetition. */
  readonly replayOf?: string;
  /** Notes what its sides send; absent: nobody keeps that. */
  readonly tape?: Tape;
}

/** Lets go of the client's body: a stream may live for minutes after the last endpoint that could need it. */
export function releaseBody(call: ApiCall): void {
  call.body = '';
  if (!call.tape) call.json = undefined;
}

/** What the process holds for one request, until that has ended. Whoever handed the call over gives all of it back. */
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
  /** What the address of the request itself would say. */
  readonly route?: RequestRoute;
  /** What is asked for, where that is no text. */
  readonly task?: CanonicalRequest['task'];
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
  respond(status: number, headers: Readonly<Record<string, string>>, body: string, encoding: Encoding): void;
  /** Sends the head of an event stream. */
  openStream(headers: Readonly<Record<string, string>>): ClientStream;
  /** Calls `left` once if the client goes away before its answer is complete. */
  onLeave(left: () => void): void;
}

/** `bytes`: a byte string, one character per byte. `text`: to be encoded as UTF-8. */
export type Encoding = 'bytes' | 'text';

export interface ClientStream {
  /** One call is one write to the socket. False: the client reads slower than that; wait for `onDrain`. */
  write(data: string, encoding: Encoding): boolean;
  onDrain(drained: () => void): void;
  end(): void;
}
