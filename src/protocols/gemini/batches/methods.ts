// Methods that create batches: the method of their lines, and Google's names.
import type { JsonObject } from '../../../base/json/index.ts';

export interface BatchMethod {
  readonly name: string;
  /** Method of all lines. */
  readonly asks: string;
  /** Type of the batch. */
  readonly type: string;
  /** Member of the output with the results. */
  readonly results: string;
  /** Name of the operation in the API description. */
  readonly operation: string;
  /** A model, and the request of a line. */
  readonly example: { readonly model: string; readonly request: JsonObject };
}

const GENERATION: BatchMethod = {
  name: 'batchGenerateContent',
  asks: 'generateContent',
  type: 'GenerateContentBatch',
  results: 'inlinedResponses',
  operation: 'createGeminiBatch',
  example: {
    model: 'sim%2Fgemini',
    request: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
  },
};

export const GEMINI_BATCH_METHODS: readonly BatchMethod[] = [
  GENERATION,
  {
    name: 'asyncBatchEmbedContent',
    asks: 'embedContent',
    type: 'EmbedContentBatch',
    results: 'inlinedEmbedContentResponses',
    operation: 'createGeminiEmbeddingsBatch',
    example: { model: 'sim%2Fembed', request: { content: { parts: [{ text: 'Hello' }] } } },
  },
];

/** Returns the method that created a batch. Batches of older versions do not name it. */
export function methodOf({ asks }: JsonObject): BatchMethod {
  return GEMINI_BATCH_METHODS.find((method) => method.asks === asks) ?? GENERATION;
}
