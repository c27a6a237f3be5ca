// Content parts of messages and tool results: a union of the parts of all protocols.
import type { JsonObject, JsonValue } from '../base/json/index.ts';
import type { ProtocolName } from './protocol-name.ts';

/** The raw node from which a canonical node was decoded. A codec of the same protocol may emit it unchanged. */
export interface Source {
  readonly protocol: ProtocolName;
  readonly raw: JsonObject;
}

/** Members of every node. */
export interface NodeBase {
  /** JSON path in the client's body, for problems and the report. */
  readonly path?: string | undefined;
  readonly source?: Source | undefined;
  /** Prompt-cache breakpoint, in Anthropic's shape: `{type:"ephemeral", ttl?}`. */
  readonly cache?: JsonObject | undefined;
}

/** Source of bytes. Base64 never contains the `data:` prefix. */
export type Media =
  | { readonly kind: 'base64'; readonly data: string; readonly mediaType: string | undefined }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'file_id'; readonly id: string };

export type Annotation =
  | {
      readonly type: 'url_citation';
      readonly url: string;
      readonly title: string;
      /** Character indices into the text of the part. */
      readonly start: number;
      readonly end: number;
      readonly source?: Source | undefined;
    }
  /** An annotation that exists only in its own protocol. */
  | {
      readonly type: 'other';
      readonly source: Source;
      /** True: the other annotations already contain all that other protocols can express. */
      readonly isReported?: boolean | undefined;
      /** Names of its members that no other annotation contains. Absent: none. */
      readonly unreported?: readonly string[] | undefined;
    };

export interface TextPart extends NodeBase {
  readonly type: 'text';
  readonly text: string;
  readonly annotations?: readonly Annotation[] | undefined;
  /** Token log probabilities in OpenAI's element shape (token, logprob, bytes, top_logprobs). */
  readonly logprobs?: readonly JsonValue[] | undefined;
}
export interface RefusalPart extends NodeBase {
  readonly type: 'refusal';
  readonly refusal: string;
  readonly logprobs?: readonly JsonValue[] | undefined;
}
export interface ImagePart extends NodeBase {
  readonly type: 'image';
  readonly media: Media;
  /** `low`, `high`, `auto` or a newer value of the same field. */
  readonly detail?: string | undefined;
}
export interface AudioPart extends NodeBase {
  readonly type: 'audio';
  /** base64 */
  readonly data: string;
  /** `wav`, `mp3`, … */
  readonly format: string;
}
export interface FilePart extends NodeBase {
  readonly type: 'file';
  readonly media: Media;
  readonly filename?: string | undefined;
  /** Words of the client to the model about the file. */
  readonly context?: string | undefined;
  /** True: the client sent no name here; it is that of the uploaded or downloaded file. */
  readonly isNameFound?: true;
}
/** A part that exists only in its own protocol. It is kept if the upstream speaks that protocol. */
export interface UnknownPart extends NodeBase {
  readonly type: 'unknown';
  readonly source: Source;
}

export type Part = TextPart | RefusalPart | ImagePart | AudioPart | FilePart | UnknownPart;

/** True for an empty text. */
export function isEmptyText(part: Part): boolean {
  return part.type === 'text' && part.text === '';
}
