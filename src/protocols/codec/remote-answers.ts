// Operations of clients on answers that stay at the upstream which gave them. Knows nothing of who asks or whom.
import type { Described } from '../../base/lib/route-description.ts';
import type { Slices } from '../../base/lib/slices.ts';
import type { GatewayError, Usage } from '../../canonical/index.ts';

/** How the gateway names an answer that another server keeps. */
export interface RemoteNames {
  /** Id of the generation that made it. */
  readonly id: string;
  /** The gateway's id of the model. */
  readonly model: string;
  /** Id of the generation that it goes on from; undefined where it begins. */
  readonly follows?: string | undefined;
}

export interface RemoteOperation {
  /** Name in the records. */
  readonly api: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path behind the answer's id, here and at the upstream. */
  readonly suffix: string;
  /** The parameters of the query that go on. */
  readonly query: readonly string[];
  readonly describes: Described;
}

/** Usage that the upstream counted for an answer that is complete. */
export interface RemoteCounts {
  readonly usage: Usage;
  /** How soon the vendor was to answer, in its own words. */
  readonly serviceTier: string | undefined;
}

export interface RemoteAnswers {
  /** Whole paths below which each answer stands here; at the upstream it stands below the protocol's own path. */
  readonly collections: readonly string[];
  readonly operations: readonly RemoteOperation[];
  /** A body of the upstream under the gateway's names. @param json the same, parsed; undefined where it is no JSON */
  patchAnswer(bytes: Uint8Array, json: unknown, names: RemoteNames): Slices;
  /** The same for an event of a stream, its blank line included. */
  patchFrame(frame: string, names: RemoteNames): string;
  /**
   * Usage that was not counted when the answer began: in an answer, or in an event of its stream. Undefined
   * as long as the answer is not complete.
   */
  countsIn(text: string): RemoteCounts | undefined;
  /** End of a stream whose upstream did not end it. Text. */
  failureFrames(error: GatewayError): string;
}
