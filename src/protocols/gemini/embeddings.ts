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
  mostInputs: () => MOST_INPUTS,
  encodeRequest,
  decodeResponse,
};

function encodeRequest(
  asked: EmbeddingsRequest,
  { model }: Pick<Target, 'model'>,
  report: Report,
): JsonObject {
  const { dimensions } = asked;
  const resource = model.includes('/') ? model : `models/${model}`;
  const requests = textsOf(asked, model).map((text) => {
    const request: MutableJsonObject = { model: resource, content: { parts: [{ text }] } };
    if (dimensions !== undefined) request['outputDimensionality'] = dimensions;
    return request;
  });
  dropUnknown(asked, report);
  return { requests };
}

/** The inputs, where all are texts. Throws GatewayError `unsupported` for tokens. */
export function textsOf({ inputs }: EmbeddingsRequest, model: string): readonly string[] {
  return inputs.map((input) => {
    if (typeof input === 'string') return input;
    throw new GatewayError('unsupported', `input: ${model} takes texts only, no tokens`, { param: 'input' });
  });
}

/** Reports the members that Google has no place for. */
export function dropUnknown({ user, extra }: EmbeddingsRequest, report: Report): void {
  if (user !== undefined) report.add('user', 'dropped', 'the Gemini protocol has no place for it');
  for (const name in extra) report.add(name, 'dropped', 'the Gemini protocol does not know it');
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
