// A protocol whose clients may have an answer made in the background: what they read of it before it is there, and how its
// stream is told that has begun before anybody answers.
import type { JsonObject } from '../../base/json/index.ts';
import type { GatewayError } from '../../canonical/index.ts';
import type { AnswerContext } from './server-codec.ts';

/** How an answer ended that is none. */
export interface BackgroundFailure {
  readonly code: string;
  readonly message: string;
}

export interface BackgroundCodec {
  /** True for a body that asks for it. */
  asks(body: unknown): boolean;
  /** The body by which the answer is made: streamed, whatever its client reads. */
  runBody(body: string): string;
  /** The answer as it stands when it was queued. */
  queued(context: AnswerContext): JsonObject;
  /** The same as it stands later. @param failure of one that failed */
  standing(
    queued: JsonObject,
    status: 'queued' | 'in_progress' | 'cancelled' | 'failed',
    failure?: BackgroundFailure,
  ): JsonObject;
  /** The frames with which the stream of an answer begins that is queued, numbered from `first`. */
  opening(queued: JsonObject, first: number): readonly string[];
  /** The frame with which it ends. */
  ending(answer: JsonObject, number: number): string;
  /** Error of a failed answer. */
  failure(error: GatewayError): BackgroundFailure;
  /** A frame of a run under another number; null for one that the opening has told. */
  renumbered(frame: string, number: number): string | null;
}
