// Codecs of a task other than text in the forms of one protocol, for its servers and its clients. They are pure, like
// those for text.
import type { JsonObject } from '../../base/json/index.ts';
import type { Form, FormFile } from '../../base/lib/form.ts';
import type {
  CanonicalRequest,
  GatewayError,
  ProtocolName,
  Report,
  Target,
  Usage,
} from '../../canonical/index.ts';
import type { ClientRoute } from './client-addresses.ts';
import type { RequestRoute } from './server-codec.ts';
import type { StreamDecoder } from './upstream-codec.ts';

export type TaskTarget = Pick<Target, 'model' | 'quirks'>;

/** Sink of a streamed answer. After `finish` or `error` it ignores further events. */
export interface PieceSink<Made> {
  /** Takes a piece of the answer. The task's `join` combines all pieces. */
  piece(made: Made): void;
  finish(): void;
  error(error: GatewayError): void;
}

/** A text body of some media type. */
export class TextBody {
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

/** A task at servers of a protocol: one request body, answered by a whole body or an event stream. */
export interface TaskUpstream<Asked, Made> {
  /** Returns the path below the provider's base URL. @param model the upstream's own name */
  pathFor(model: string): string;
  /** Maximum inputs per request; more are split into several requests. Absent: no limit beyond that for clients. */
  mostInputs?(model: string): number;
  /**
   * Encodes the upstream body. What it cannot express goes to the report.
   * @throws GatewayError `unsupported` for requests that cannot be expressed
   */
  encodeRequest(asked: Asked, target: TaskTarget, report: Report): JsonObject | Form;
  /**
   * Decodes a whole answer.
   * @param asked the request that `encodeRequest` wrote
   * @throws GatewayError `upstream_unavailable` for a body that does not answer it
   */
  decodeResponse(body: unknown, asked: Asked, target: TaskTarget): Made;
  /** Decodes a whole answer that is text. Absent: every answer is JSON. */
  readonly text?: {
    /** Media types of such answers. All others are read as JSON. */
    readonly types: readonly string[];
    decode(text: string, asked: Asked, target: TaskTarget): Made;
  };
  /** Decodes the events of a streamed answer. A server may still answer as a whole. Absent: no streaming. */
  decodeStream?(sink: PieceSink<Made>, asked: Asked, target: TaskTarget): StreamDecoder;
}

/** An answer for the client. */
export interface TaskAnswer<Made> {
  readonly made: Made;
  readonly usage: Usage;
  /** The gateway's id of the model that ran. */
  readonly model: string;
  /** Cost in USD; undefined: not requested, or unknown. */
  readonly costUsd: number | undefined;
}

/** Writes a streamed answer. */
export interface TaskStream<Made> {
  piece(made: Made): void;
  /** Writes the end of a successful answer. @param answer all pieces, combined */
  finish(answer: TaskAnswer<Made>): void;
  /** Writes the end of a failed answer. */
  error(error: GatewayError): void;
}

/** A decoded client request. */
export interface DecodedTask<Asked, Made> {
  /** Request for limits, routing and the record. It has no items. */
  readonly request: CanonicalRequest;
  /** Never empty. Several if settings differ between inputs; their results form one answer, in order. */
  readonly asked: readonly Asked[];
  /** Encodes the body of the answer. */
  encode(answer: TaskAnswer<Made>): JsonObject | TextBody;
  /** Begins an event stream. Absent: a whole answer was requested. @param write takes complete frames */
  stream?(write: (frames: string) => void): TaskStream<Made>;
}

/** A task for clients of a protocol. */
export interface TaskClient<Asked, Made> {
  readonly protocol: ProtocolName;
  /** Routes of the operation. */
  readonly routes: readonly ClientRoute[];
  /**
   * Decodes a client's body.
   * @param files of a form; undefined: the request is only explained, so files can be missing
   * @throws GatewayError naming every invalid field
   */
  decodeRequest(body: unknown, route?: RequestRoute, files?: readonly FormFile[]): DecodedTask<Asked, Made>;
}

/** A task in the forms of one protocol, or in those that one vendor's servers share. */
export interface TaskCodec<Asked, Made> {
  /** Protocols whose servers use this form. */
  readonly protocols: readonly ProtocolName[];
  readonly upstream: TaskUpstream<Asked, Made>;
  /** Form of hosts that serve the protocol for its owner. Absent: the owner's form. */
  readonly hosted?: TaskUpstream<Asked, Made>;
  /** Absent: its clients have no such operation. */
  readonly client?: TaskClient<Asked, Made>;
}

/** Creates the request for routing, without items. */
export function taskRequest(
  said: Pick<CanonicalRequest, 'protocol' | 'raw' | 'model' | 'gateway' | 'report' | 'endUser'>,
): CanonicalRequest {
  return { ...said, items: [], tools: [], reasoning: {}, stream: false, extra: {} };
}
