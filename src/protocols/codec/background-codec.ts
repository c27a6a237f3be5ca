// Background answers: their form before they are complete, and numbering of streams that start before the run.
import type { JsonObject } from '../../base/json/index.ts';
import type { GatewayError } from '../../canonical/index.ts';
import type { AnswerContext } from './server-codec.ts';

/** Failure of a background answer. */
export interface BackgroundFailure {
  readonly code: string;
  readonly message: string;
}

export interface BackgroundCodec {
  /** True if the body asks for a background answer. */
  asks(body: unknown): boolean;
  /** Returns the body for the run. It always streams, whatever the client reads. */
  runBody(body: string): string;
  /** Returns the answer in its queued state. */
  queued(context: AnswerContext): JsonObject;
  /** Returns the answer in a later state. @param failure of a failed answer */
  withStatus(
    queued: JsonObject,
    status: 'queued' | 'in_progress' | 'cancelled' | 'failed',
    failure?: BackgroundFailure,
  ): JsonObject;
  /** Returns the first frames of a queued answer's stream, numbered from `first`. */
  opening(queued: JsonObject, first: number): readonly string[];
  /** Returns the last frame of the stream. */
  ending(answer: JsonObject, number: number): string;
  /** Returns the failure for an error. */
  failure(error: GatewayError): BackgroundFailure;
  /** Returns a frame of the run with another sequence number; null if the opening already contained it. */
  renumbered(frame: string, number: number): string | null;
}
