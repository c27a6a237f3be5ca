// The answer to `POST /embeddings` in OpenAI's shape. Vectors come as they are to be shown; how one form is made of the
// other is not decided here.
import type { JsonObject } from '../../canonical/index.ts';
import { inputTokens } from '../../canonical/index.ts';
import type { AnsweredEmbeddings } from '../protocol.ts';

/** The body of the answer (API reference, "The embedding object", 2026-11). The cost stands in `usage.cost`. */
export function encodeEmbeddings({ vectors, model, usage, costUsd }: AnsweredEmbeddings): JsonObject {
  const tokens = inputTokens(usage);
  return {
    object: 'list',
    data: vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model,
    usage: {
      prompt_tokens: tokens,
      total_tokens: tokens,
      ...(costUsd === undefined ? {} : { cost: costUsd }),
    },
  };
}
