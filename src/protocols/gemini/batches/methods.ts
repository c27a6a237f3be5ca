// Methods that make batches: what each line of theirs asks for, and the words in which Google tells of them.
import type { JsonObject } from '../../../base/json/index.ts';

export interface BatchMethod {
  readonly name: string;
  /** Method of all lines. */
  readonly asks: string;
  /** Type of the batch. */
  readonly type: string;
  /** Member of the output that holds the results. */
  readonly results: string;
  /** Name of the operation in the description of the API. */
  readonly operation: string;
  /** A model, and a request of a line. */
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

/** The method that made a batch; batches of older versions say nothing of it. */
export function methodOf({ asks }: JsonObject): BatchMethod {
  return GEMINI_BATCH_METHODS.find((method) => method.asks === asks) ?? GENERATION;
}
