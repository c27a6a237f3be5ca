// Embeddings as Google makes them: `models/{model}:batchEmbedContents`, one request of the batch for each input.
import type {
  Embeddings,
  EmbeddingsRequest,
  JsonObject,
  MutableJsonObject,
  Report,
  Target,
} from '../../canonical/index.ts';
import { asNumber, asObject, GatewayError, NO_USAGE } from '../../canonical/index.ts';
import type { EmbeddingsCodec } from '../protocol.ts';
import { readVectors } from '../read-vectors.ts';
import { methodPath } from './encode-request.ts';

/** Google refuses larger batches ("at most 100 requests can be in one batch", its 400 of 2026). */
const MOST_INPUTS = 100;

/** The upstream side of `batchEmbedContents` (API reference, "Embeddings", 2026-11). */
export const geminiEmbeddings: EmbeddingsCodec = {
  pathFor: (model) => methodPath(model, 'batchEmbedContents'),
  encodeRequest,
  decodeResponse,
};

function encodeRequest(
  { inputs, dimensions, user, extra }: EmbeddingsRequest,
  { model }: Pick<Target, 'model'>,
  report: Report,
): JsonObject {
  if (inputs.length > MOST_INPUTS) {
    throw new GatewayError(
      'unsupported',
      `input: ${model} takes at most ${MOST_INPUTS} inputs at once, and there are ${inputs.length}`,
      { param: 'input' },
    );
  }
  if (user !== undefined) report.add('user', 'dropped', 'the Gemini protocol has no place for it');
  for (const name in extra) report.add(name, 'dropped', 'the Gemini protocol does not know it');
  const resource = model.includes('/') ? model : `models/${model}`;
  return {
    requests: inputs.map((input) => {
      if (typeof input !== 'string')
        throw new GatewayError('unsupported', `input: ${model} takes texts only, no tokens`, {
          param: 'input',
        });
      const request: MutableJsonObject = { model: resource, content: { parts: [{ text: input }] } };
      if (dimensions !== undefined) request['outputDimensionality'] = dimensions;
      return request;
    }),
  };
}

/** Only newer models count (`usageMetadata`). */
function decodeResponse(body: unknown, count: number): Embeddings {
  const { embeddings, usageMetadata } = asObject(body);
  const tokens = asNumber(asObject(usageMetadata)['promptTokenCount']);
  return {
    vectors: readVectors(embeddings, count, (entry) => asObject(entry)['values']),
    usage:
      tokens === undefined
        ? null
        : { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: tokens }, raw: usageMetadata ?? null },
  };
}
