// Client operations on answers that are stored by the upstream that created them.
import type { Described } from '../../base/lib/route-description.ts';
import type { Slices } from '../../base/lib/bytes.ts';
import type { GatewayError, Usage } from '../../canonical/index.ts';

/** The gateway's names for an answer that an upstream stores. */
export interface RemoteNames {
  /** Id of the generation that created it. */
  readonly id: string;
  /** The gateway's id of the model. */
  readonly model: string;
  /** Id of the generation that it continues; undefined: none. */
  readonly follows?: string | undefined;
}

export interface RemoteOperation {
  /** Name in the records. */
  readonly api: string;
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** Path behind the answer's id, here and at the upstream. */
  readonly suffix: string;
  /** Query parameters that are forwarded. */
  readonly query: readonly string[];
  readonly describes: Described;
}

/** Usage that the upstream reported for a complete answer. */
export interface RemoteCounts {
  readonly usage: Usage;
  /** Service tier in the vendor's words. */
  readonly serviceTier: string | undefined;
}

export interface RemoteAnswers {
  /** Absolute paths below which answers are found. At the upstream, they are below the protocol's own path. */
  readonly collections: readonly string[];
  readonly operations: readonly RemoteOperation[];
  /** Replaces the upstream's names in a body by the gateway's. @param json the parsed body; undefined: not JSON */
  patchAnswer(bytes: Uint8Array, json: unknown, names: RemoteNames): Slices;
  /** Replaces them in an event of a stream, including its blank line. */
  patchFrame(frame: string, names: RemoteNames): string;
  /**
   * Reads usage that was not known when the answer began, from an answer or a stream event. Undefined until the answer
   * is complete.
   */
  countsIn(text: string): RemoteCounts | undefined;
  /** Returns the end of a stream that the upstream did not end, as text. */
  failureFrames(error: GatewayError): string;
}
