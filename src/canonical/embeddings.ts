// What a request for embeddings asks, and what it gets, in no protocol's words. Knows nothing of routing.
import type { JsonObject } from './json.ts';
import type { Source } from './part.ts';
import type { Usage } from './usage.ts';

/** Texts, or the ids of their tokens in the model's own vocabulary. */
export type EmbeddingInput = string | readonly number[];

/** `base64`: the little-endian 32-bit floats of a vector, in base64. */
export const VECTOR_FORMATS = ['float', 'base64'] as const;
export type VectorFormat = (typeof VECTOR_FORMATS)[number];

/** Numbers, or base64 as `VECTOR_FORMATS` says. */
export type Vector = readonly number[] | string;

/** What a client of Gemini says of one input besides its text. */
export interface EmbeddingNote {
  /** Where the input stands in the client's body, with the dot behind it: '' or `requests[3].`. */
  readonly path: string;
  /** Of a document. */
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
  /** Length that the vectors are to have; undefined: the model's own. */
  readonly dimensions: number | undefined;
  /** What the vectors are for, in Gemini's words (`taskType`). Absent: nobody said. */
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
  /** Null when the upstream did not count. */
  readonly usage: Usage | null;
}
