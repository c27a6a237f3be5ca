// The answer to `POST /embeddings` in OpenAI's shape. Vectors come as they are to be shown; how one form is made of the
// other is not decided here.
import type { JsonObject, Usage, Vector } from '../canonical/index.ts';
import { inputTokens } from '../canonical/index.ts';

/**
 * The body of the answer (API reference, "The embedding object", 2026-11).
 * @param model the gateway's id of the model that ran
 * @param costUsd as `usage.cost`; absent where it is not known
 */
export function encodeEmbeddings(
  vectors: readonly Vector[],
  model: string,
  usage: Usage,
  costUsd: number | undefined,
): JsonObject {
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
