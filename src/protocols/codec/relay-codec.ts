// The relay lane of a protocol: what passes untouched, what is patched on the way, and what is learned from it.
import type { JsonBytes } from '../../base/json/index.ts';
import type { Slices } from '../../base/lib/slices.ts';
import type { CanonicalRequest, FinishEvent, GatewayError, Target, Usage } from '../../canonical/index.ts';
import type { RemoteNames } from './remote-answers.ts';

/** Envelope that the client sees in the relay lane. */
export interface RelayFacts extends RemoteNames {
  /** False: token counts were asked of the upstream by the gateway alone and are withheld from the client. */
  readonly showUsage: boolean;
  /** `store` as the client asked, for protocols whose answers repeat it; undefined: as the upstream has it. */
  readonly store?: boolean | undefined;
  /** True: the answer is made in the background here, of which the upstream knows nothing. */
  readonly isBackground?: boolean | undefined;
  /** True: the upstream goes on without a listener, so that an answer is begun as soon as it has an id. */
  readonly background?: boolean | undefined;
  /** Masks keys in an upstream's words about a failure: JSON in, JSON out. */
  readonly redact: (json: string) => string;
}

/** Facts that the tap reads from an answer that passes. */
export interface RelayTap {
  readonly upstreamId: string | undefined;
  readonly usage: Usage | undefined;
  readonly finish: FinishEvent | undefined;
  /** Characters of visible output that passed: the basis of an estimate when no usage came. */
  readonly outputChars: number;
  /** True: it ended, and nothing of it is an answer. Known once it is complete. */
  readonly isEmpty: boolean;
  /**
   * The text of the whole answer as its client gets it, once it is complete. For protocols whose answers are kept
   * (`ServerCodec.items`).
   */
  answer?(): string | undefined;
}

/** A whole answer as its client gets it, and what was learned from it. */
export interface PatchedAnswer {
  readonly body: Slices;
  readonly tap: RelayTap;
}

/** A relayed stream. All text is byte strings (one character, one byte). */
export interface RelayStream extends RelayTap {
  /** Takes the bytes of one read; returns those for the client. Before the first content nothing is returned. */
  push(bytes: string): string;
  /** True once content was seen: the answer is committed to this upstream. */
  readonly committed: boolean;
  /** Set when the upstream reported a failure, before or after content. */
  readonly error: GatewayError | undefined;
  /** True when the upstream's own words about the failure went to the client. */
  readonly errorShown: boolean;
  /** True once the terminal marker was seen. Frames from there on are held back for `finish`. */
  readonly done: boolean;
  /** The upstream closed: what is still to be sent, or the error if the answer was cut. */
  end(): string;
  /**
   * Event for a failure that the upstream did not report itself, for protocols whose events are
   * numbered: only who passed them on knows how to go on. Absent where an error frame stands for itself.
   */
  fail?(error: GatewayError): string;
}

/** The relay lane of a protocol: envelopes are patched, every other byte passes. */
export interface RelayCodec {
  /** Edits the client's own body: model name, gateway keys out, asked-for additions in. */
  editRequest(body: JsonBytes, request: CanonicalRequest, model: string): Slices;
  /** True when the request, as the client wrote it, may go to a faithful upstream of this protocol. */
  accepts(request: CanonicalRequest): boolean;
  /**
   * Refuses what the protocol's owner always refuses. Absent: the owner takes everything that decodes.
   * @throws GatewayError `unsupported`, so that another candidate may still take it
   */
  requireLegal?(request: CanonicalRequest): void;
  /**
   * True when the client's own words already tell the endpoint to reason as was decided. Absent: they do where the
   * effort is the decided one.
   */
  saysReasoning?(request: CanonicalRequest, target: Pick<Target, 'reasoning' | 'reasoningStyle'>): boolean;
  /**
   * Patches a whole answer. Throws GatewayError when the body is no answer of this protocol.
   * @param json the body, parsed; undefined where it is no JSON
   */
  patchResponse(body: Uint8Array, json: unknown, facts: RelayFacts): PatchedAnswer;
  openStream(facts: RelayFacts): RelayStream;
}
