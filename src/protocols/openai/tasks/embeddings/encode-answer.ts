// The answer to `POST /embeddings` in OpenAI's shape. Vectors come as they are to be shown; how one form is made of the
// other is not decided here.
import type { JsonObject } from '../../../../base/json/index.ts';
import { inputTokens } from '../../../../canonical/index.ts';
import type { TaskAnswer } from '../../../task-codec.ts';
import type { Embeddings } from '../../../tasks/embeddings/model.ts';

/** The body of the answer (API reference, "The embedding object", 2026-11). The cost stands in `usage.cost`. */
export function encodeAnswer({ made, model, usage, costUsd }: TaskAnswer<Embeddings>): JsonObject {
  const tokens = inputTokens(usage);
  return {
    object: 'list',
    data: made.vectors.map((embedding, index) => ({ object: 'embedding', index, embedding })),
    model,
    usage: {
      prompt_tokens: tokens,
      total_tokens: tokens,
      ...(costUsd === undefined ? {} : { cost: costUsd }),
    },
  };
}
