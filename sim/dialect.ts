// Interface of a wire format in the simulated service, with one implementation per protocol.
import type { JsonObject } from '../src/base/json/index.ts';
import type { ProtocolName } from '../src/canonical/index.ts';
import type { SimError, RequestProblems } from './request-problems.ts';
import type { FailureKind } from './misbehaviour.ts';
import type { SimTraits } from './models.ts';
import type { Question, SimAnswer } from './question.ts';

/** A piece of a stream: one or more complete events. */
export interface Frame {
  readonly text: string;
  /** Number of characters of text or tool arguments. Faults count these. */
  readonly chars: number;
  /**
   * `head`: before any content. `content`: reasoning, text and calls. `end`: from the finish reason on. `done`: the
   * last frame.
   */
  readonly phase: 'head' | 'content' | 'end' | 'done';
}

/** Input of an encoder. */
export interface Answering {
  readonly body: JsonObject;
  readonly traits: SimTraits;
  readonly question: Question;
  readonly answer: SimAnswer;
  /** Unix time in seconds. */
  readonly createdSeconds: number;
  /** Number of characters after which the text will be cut. */
  readonly cutAt: number;
}

export interface Dialect {
  readonly protocol: ProtocolName;
  /** Name of the header with the request id. */
  readonly requestIdHeader: string;
  /** Validates a request like the real service. */
  check(body: JsonObject, traits: SimTraits, headers: Headers, problems: RequestProblems): void;
  /** Parses a validated body. */
  read(body: JsonObject, traits: SimTraits, seed: string): Question;
  /** Encodes an answer that is not streamed. */
  encode(answering: Answering): JsonObject;
  /** Encodes a streamed answer. */
  encodeFrames(answering: Answering): Frame[];
  encodeError(simError: SimError, requestId: string): JsonObject;
  /** The service's message for a failure. @param contextLength tokens, for a context overflow */
  words(status: number, kind: FailureKind, contextLength: number): SimError;
  /**
   * Event that reports an error within a stream.
   * @param early before any content
   * @param sequence number of events sent before
   */
  encodeErrorFrame(answering: Answering, early: boolean, sequence: number): string;
  /** An event of an unknown type. */
  readonly unknownFrame: string;
  /** An event with invalid JSON. */
  readonly malformedFrame: string;
}

/** Creates an error from a status and message. */
export function simError(status: number, message: string, more: Partial<SimError> = {}): SimError {
  return { status, message, param: null, code: null, type: null, ...more };
}
