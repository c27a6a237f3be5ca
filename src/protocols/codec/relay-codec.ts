// Relay lane of a protocol: forwards bodies unchanged except for the envelope, and reads usage from them.
import type { JsonBytes } from '../../base/json/index.ts';
import type { Slices } from '../../base/lib/bytes.ts';
import type { CanonicalRequest, FinishEvent, GatewayError, Target, Usage } from '../../canonical/index.ts';
import type { RemoteNames } from './remote-answers.ts';

/** Envelope that the client sees in the relay lane. */
export interface RelayFacts extends RemoteNames {
  /** False: only the gateway asked for token counts, and the client does not get them. */
  readonly showUsage: boolean;
  /** `store` of the client's request, for protocols whose answers repeat it; undefined: as the upstream sends it. */
  readonly store?: boolean | undefined;
  /** True: the gateway runs the request in the background, without the upstream's knowledge. */
  readonly isBackground?: boolean | undefined;
  /** True: the upstream continues without a connection, so the answer is committed as soon as it has an id. */
  readonly background?: boolean | undefined;
  /** Masks keys in an upstream's error: JSON in, JSON out. */
  readonly redact: (json: string) => string;
}

/** Data that the tap reads from an answer. */
export interface RelayTap {
  readonly upstreamId: string | undefined;
  readonly usage: Usage | undefined;
  readonly finish: FinishEvent | undefined;
  /** Characters of visible output, from which tokens are estimated if no usage was sent. */
  readonly outputChars: number;
  /** True: the answer ended without content. Set once it is complete. */
  readonly isEmpty: boolean;
  /**
   * Returns the complete answer as the client received it, for protocols whose answers are stored
   * (`ServerCodec.items`).
   */
  answer?(): string | undefined;
}

/** A whole answer for the client, and what was read from it. */
export interface PatchedAnswer {
  readonly body: Slices;
  readonly tap: RelayTap;
}

/** A relayed stream. Strings are byte strings (one character, one byte). */
export interface RelayStream extends RelayTap {
  /** Takes the bytes of one read and returns those for the client. Returns nothing before the first content. */
  push(bytes: string): string;
  /** True once content was seen: the answer is committed to this upstream. */
  readonly committed: boolean;
  /** Failure that the upstream reported, before or after content. */
  readonly error: GatewayError | undefined;
  /** True if the upstream's own error was sent to the client. */
  readonly errorShown: boolean;
  /** True once the terminal marker was seen. Frames from there on are held back for `finish`. */
  readonly done: boolean;
  /** Called when the upstream closes. Returns the remaining bytes, or sets `error` if the answer was cut. */
  end(): string;
  /** Called instead of `end` if the answer is interrupted. Reads counts that wait for the end. Absent: none wait. */
  interrupt?(): void;
  /**
   * Returns the event for a failure that the upstream did not report. Required for protocols with numbered events,
   * because the number continues the stream. Absent: an error frame needs no number.
   */
  fail?(error: GatewayError): string;
}

/** Relay lane of a protocol: envelopes are patched, every other byte passes unchanged. */
export interface RelayCodec {
  /** Edits the client's body: sets the model, removes gateway members, and makes the requested additions. */
  editRequest(body: JsonBytes, request: CanonicalRequest, model: string): Slices;
  /** True if the request can be sent unchanged to a faithful upstream of this protocol. */
  accepts(request: CanonicalRequest): boolean;
  /**
   * Refuses what the protocol's owner always refuses. Absent: the owner accepts everything that decodes.
   * @throws GatewayError `unsupported`, so that another candidate can take the request
   */
  requireLegal?(request: CanonicalRequest): void;
  /** True if the client's own members request the decided reasoning. Absent: true for the same effort. */
  saysReasoning?(request: CanonicalRequest, target: Pick<Target, 'reasoning' | 'reasoningStyle'>): boolean;
  /**
   * Patches a whole answer.
   * @param json the parsed body; undefined: not JSON
   * @throws GatewayError if the body is not an answer of this protocol
   */
  patchResponse(body: Uint8Array, json: unknown, facts: RelayFacts): PatchedAnswer;
  openStream(facts: RelayFacts): RelayStream;
}
