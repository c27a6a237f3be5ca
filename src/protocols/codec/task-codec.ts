// A task besides text in the forms of one protocol: how its servers are asked, and how its clients ask. Codecs are pure, as
// those for text are.
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

/** Sink of a streamed answer. After `finish` or `error` it ignores what follows. */
export interface PieceSink<Made> {
  /** Takes a piece of the answer. The task's own `join` makes one answer of all of them. */
  piece(made: Made): void;
  finish(): void;
  error(error: GatewayError): void;
}

/** A body that is text of some media type. */
export class TextBody {
  readonly type: string;
  readonly text: string;

  constructor(type: string, text: string) {
    this.type = type;
    this.text = text;
  }
}

/** A task as servers of a protocol do it: one body asks, and a whole body or a stream of events answers. */
export interface TaskUpstream<Asked, Made> {
  /** Path below the provider's base URL. @param model the upstream's own name */
  pathFor(model: string): string;
  /** How many inputs one request may hold: more are sent as several. Absent: as many as clients may send. */
  mostInputs?(model: string): number;
  /**
   * Writes the upstream body. What has no place in it goes to the report; throws GatewayError `unsupported` for what
   * cannot be expressed.
   */
  encodeRequest(asked: Asked, target: TaskTarget, report: Report): JsonObject | Form;
  /**
   * Reads a whole answer.
   * @param asked the request that `encodeRequest` wrote
   * @throws GatewayError `upstream_unavailable` for a body that is no answer to it
   */
  decodeResponse(body: unknown, asked: Asked, target: TaskTarget): Made;
  /** Reads a whole answer that is text. Absent: every answer is JSON. */
  readonly text?: {
    /** Media types of such answers: any other is read as JSON. */
    readonly types: readonly string[];
    decode(text: string, asked: Asked, target: TaskTarget): Made;
  };
  /**
   * Reads the events of a streamed answer. A server may answer as a whole all the same. Absent: its servers stream none.
   */
  decodeStream?(sink: PieceSink<Made>, asked: Asked, target: TaskTarget): StreamDecoder;
}

/** An answer as a client is to get it. */
export interface TaskAnswer<Made> {
  readonly made: Made;
  readonly usage: Usage;
  /** The gateway's id of the model that ran. */
  readonly model: string;
  /** Cost in USD; undefined where it was not asked for, or is not known. */
  readonly costUsd: number | undefined;
}

/** Writes a streamed answer. */
export interface TaskStream<Made> {
  piece(made: Made): void;
  /** Writes the end of a good answer. @param answer all that was made, as a whole */
  finish(answer: TaskAnswer<Made>): void;
  /** Writes the end of an answer that failed. */
  error(error: GatewayError): void;
}

/** A client's request. */
export interface DecodedTask<Asked, Made> {
  /** Facts for limits, routing and the record: a request without items. */
  readonly request: CanonicalRequest;
  /** Never empty. Several where settings differ from one input to another; what they give is one answer, in order. */
  readonly asked: readonly Asked[];
  /** Writes the body of the answer. */
  encode(answer: TaskAnswer<Made>): JsonObject | TextBody;
  /** Begins a stream of server-sent events. @param write takes complete frames. Absent: a whole answer was asked for */
  stream?(write: (frames: string) => void): TaskStream<Made>;
}

/** A task as clients of a protocol ask for it. */
export interface TaskClient<Asked, Made> {
  readonly protocol: ProtocolName;
  /** Addresses at which they ask. */
  readonly routes: readonly ClientRoute[];
  /**
   * Decodes a client's body. Throws GatewayError naming every offending field.
   * @param files of a form; undefined where the request is only to be explained: then any may be missing
   */
  decodeRequest(body: unknown, route?: RequestRoute, files?: readonly FormFile[]): DecodedTask<Asked, Made>;
}

/** All that is known of a task in the forms of one protocol, or of those that one vendor's servers have in common. */
export interface TaskCodec<Asked, Made> {
  /** Protocols whose servers do it in this form. */
  readonly protocols: readonly ProtocolName[];
  readonly upstream: TaskUpstream<Asked, Made>;
  /** Form of hosts that serve the protocol for its owner. Absent: the owner's own. */
  readonly hosted?: TaskUpstream<Asked, Made>;
  /** Absent: its clients have no such operation. */
  readonly client?: TaskClient<Asked, Made>;
}

/** The request as routing sees it: it has no items. */
export function taskRequest(
  said: Pick<CanonicalRequest, 'protocol' | 'raw' | 'model' | 'gateway' | 'report' | 'endUser'>,
): CanonicalRequest {
  return { ...said, items: [], tools: [], reasoning: {}, stream: false, extra: {} };
}
