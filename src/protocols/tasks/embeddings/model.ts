// Request and answer of embeddings, in no protocol's words. Knows nothing of routing.
import type { JsonObject } from '../../../base/json/index.ts';
import type { Source, Usage } from '../../../canonical/index.ts';

/** Texts, or the ids of their tokens in the model's own vocabulary. */
export type EmbeddingInput = string | readonly number[];

/** `float`: a list of numbers. `base64`: the bytes of the elements, in base64. */
export const VECTOR_FORMATS = ['float', 'base64'] as const;
export type VectorFormat = (typeof VECTOR_FORMATS)[number];

/**
 * How bytes hold the elements of a vector. `float32`: little-endian. `binary`, `ubinary`: eight elements a byte, one bit
 * each; as a list they are signed or unsigned bytes. `opaque`: only the client and the model know; it passes as it came.
 */
export const ELEMENT_TYPES = ['float32', 'int8', 'uint8', 'binary', 'ubinary', 'opaque'] as const;
export type ElementType = (typeof ELEMENT_TYPES)[number];

/** Numbers, or the base64 of their bytes. */
export type Vector = readonly number[] | string;

/** Elements that a client asked for by name. */
export interface AskedElements {
  readonly type: ElementType;
  /** The client's member that says so. */
  readonly param: string;
}

/** Facts that a client of Gemini gives of one input besides its text. */
export interface EmbeddingNote {
  /** Path of the input in the client's body, with the dot behind it: '' or `requests[3].`. */
  readonly path: string;
  /** Title of a document. */
  readonly title: string | undefined;
  /** True: the text is that of several parts, joined by line breaks. */
  readonly isJoined: boolean;
  /** Path of the first part that is no text: only who knows the client's form can make a vector of it. */
  readonly foreign: string | undefined;
  /** Members that have no canonical form. */
  readonly extra: JsonObject;
  /** The content in the client's own form. */
  readonly source: Source;
}

export interface EmbeddingsRequest {
  /** Never empty; all texts, or all tokens. */
  readonly inputs: readonly EmbeddingInput[];
  /** Undefined: the client said nothing and gets numbers. */
  readonly format: VectorFormat | undefined;
  /** Absent: nobody said. Lists then hold what the model makes, and base64 holds `float32`. */
  readonly elements?: AskedElements | undefined;
  /** Length that the vectors are to have; undefined: the model's own. */
  readonly dimensions: number | undefined;
  /** Purpose of the vectors, in Gemini's words (`taskType`). Absent: the client named none. */
  readonly purpose?: string | undefined;
  /** One for each input. Absent: the inputs are all that was said. */
  readonly notes?: readonly EmbeddingNote[] | undefined;
  /** The client's name for its end user. */
  readonly user: string | undefined;
  /** Members that OpenAI's documentation does not know. */
  readonly extra: JsonObject;
}

export interface Embeddings {
  /** One for each input, in their order. */
  readonly vectors: readonly Vector[];
  /** How the bytes of vectors in base64 hold their elements. */
  readonly elements: ElementType;
  /** Null when the upstream did not count. */
  readonly usage: Usage | null;
}
