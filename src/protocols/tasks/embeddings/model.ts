// Canonical request and answer of embeddings.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Source, Usage } from '../../../canonical/index.ts';

/** A text, or token ids in the model's own vocabulary. */
export type EmbeddingInput = string | readonly number[];

/** `float`: a list of numbers. `base64`: the bytes of the elements, in base64. */
export const VECTOR_FORMATS = ['float', 'base64'] as const;
export type VectorFormat = (typeof VECTOR_FORMATS)[number];

/**
 * Encoding of a vector's elements in bytes. `float32`: little-endian. `binary`, `ubinary`: eight one-bit elements per
 * byte; as a list they are signed or unsigned bytes. `opaque`: unknown, and passed unchanged.
 */
export const ELEMENT_TYPES = ['float32', 'int8', 'uint8', 'binary', 'ubinary', 'opaque'] as const;
export type ElementType = (typeof ELEMENT_TYPES)[number];

/** Numbers, or the base64 of their bytes. */
export type Vector = readonly number[] | string;

/** Element type that a client requested by name. */
export interface AskedElements {
  readonly type: ElementType;
  /** The client's member that requests it. */
  readonly param: string;
}

/** Details of one input from a Gemini client. */
export interface EmbeddingNote {
  /** Path of the input in the client's body, including the trailing dot: '' or `requests[3].`. */
  readonly path: string;
  /** Title of a document. */
  readonly title: string | undefined;
  /** True: the text joins several parts with line breaks. */
  readonly isJoined: boolean;
  /** Path of the first part that is not text. Only upstreams of the client's own form can embed it. */
  readonly foreign: string | undefined;
  /** Members without a canonical form. */
  readonly extra: JsonObject;
  /** Content in the client's own form. */
  readonly source: Source;
}

export interface EmbeddingsRequest {
  /** Never empty; all texts, or all tokens. */
  readonly inputs: readonly EmbeddingInput[];
  /** Undefined: not specified, and the client gets numbers. */
  readonly format: VectorFormat | undefined;
  /** Absent: not specified. Lists then hold the model's own element type, and base64 holds `float32`. */
  readonly elements?: AskedElements | undefined;
  /** Requested length of the vectors; undefined: the model's default. */
  readonly dimensions: number | undefined;
  /** Purpose of the vectors, in Gemini's words (`taskType`). Absent: not specified. */
  readonly purpose?: string | undefined;
  /** One per input. Absent: none. */
  readonly notes?: readonly EmbeddingNote[] | undefined;
  /** The client's id of its end user. */
  readonly user: string | undefined;
  /** Members that OpenAI does not document. */
  readonly extra: JsonObject;
}

export interface Embeddings {
  /** One per input, in order. */
  readonly vectors: readonly Vector[];
  /** Element type of vectors in base64. */
  readonly elements: ElementType;
  /** Null: the upstream did not count. */
  readonly usage: Usage | null;
}
