// Demands of the simulated service on a wire format. One implementation per protocol; none of them knows of sockets
// or time.
import type { JsonObject } from '../src/base/json/index.ts';
import type { ProtocolName } from '../src/canonical/index.ts';
import type { Complaint, Complaints } from './complaints.ts';
import type { FailureKind } from './misbehaviour.ts';
import type { SimTraits } from './models.ts';
import type { Question, SimAnswer } from './question.ts';

/** One piece of a stream: complete events, ready for the socket. */
export interface Frame {
  readonly text: string;
  /** Characters of text or tool arguments in it, which misbehaviours count. */
  readonly chars: number;
  /** `head`: before any content. `content`: reasoning, text, calls. `end`: from the finish reason on. `done`: the last one. */
  readonly phase: 'head' | 'content' | 'end' | 'done';
}

/** Everything an encoder needs. */
export interface Answering {
  readonly body: JsonObject;
  readonly traits: SimTraits;
  readonly question: Question;
  readonly answer: SimAnswer;
  /** Unix time in seconds. */
  readonly createdSeconds: number;
  /** Exact place at which the text must be cut, in characters. */
  readonly cutAt: number;
}

export interface Dialect {
  readonly protocol: ProtocolName;
  /** Header that carries the request id. */
  readonly requestIdHeader: string;
  /** Refuses what the real service would refuse. */
  check(body: JsonObject, traits: SimTraits, headers: Headers, complaints: Complaints): void;
  /** Reads a checked body. */
  read(body: JsonObject, traits: SimTraits, seed: string): Question;
  /** The non-streamed answer. */
  encode(answering: Answering): JsonObject;
  /** The streamed answer. */
  encodeFrames(answering: Answering): Frame[];
  encodeError(complaint: Complaint, requestId: string): JsonObject;
  /** The service's own words for a failure. @param contextLength tokens, for the overflow */
  words(status: number, kind: FailureKind, contextLength: number): Complaint;
  /**
   * The event that reports a failure in a running stream.
   * @param early before any content
   * @param sequence how many events were sent before
   */
  encodeErrorFrame(answering: Answering, early: boolean, sequence: number): string;
  /** An event that no client knows. */
  readonly unknownFrame: string;
  /** An event whose data is not JSON. */
  readonly malformedFrame: string;
}

/** A complaint with the words for a status or a kind of failure. */
export function complaint(status: number, message: string, more: Partial<Complaint> = {}): Complaint {
  return { status, message, param: null, code: null, type: null, ...more };
}
