// The content of messages and tool results: a union that covers the parts of every protocol.
import type { JsonObject, JsonValue } from '../base/json/index.ts';
import type { ProtocolName } from './protocol-name.ts';

/** The raw node a canonical node was decoded from. A codec of the same protocol may emit it again untouched. */
export interface Source {
  readonly protocol: ProtocolName;
  readonly raw: JsonObject;
}

/** Members that every node may carry. */
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
  /** An annotation of a form that only its own protocol knows. */
  | {
      readonly type: 'other';
      readonly source: Source;
      /** True: the other annotations say as much of it as every protocol can. */
      readonly isReported?: boolean | undefined;
      /** Its members that no other annotation says, by their names. Absent: none. */
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
  /** True: the client did not say the name here; it is that under which the file was uploaded or found. */
  readonly isNameFound?: true;
}
/** A part that only its own protocol knows; it survives where the upstream speaks that protocol. */
export interface UnknownPart extends NodeBase {
  readonly type: 'unknown';
  readonly source: Source;
}

export type Part = TextPart | RefusalPart | ImagePart | AudioPart | FilePart | UnknownPart;

/** True for a text that says nothing. */
export function isEmptyText(part: Part): boolean {
  return part.type === 'text' && part.text === '';
}
