// Embeddings as Google makes them: `models/{model}:batchEmbedContents`, one request of the batch for each input.
import type {
  Embeddings,
  EmbeddingsRequest,
  JsonObject,
  MutableJsonObject,
  Report,
  Target,
} from '../../canonical/index.ts';
import { asNumber, asObject, NO_USAGE } from '../../canonical/index.ts';
import { textsOf } from '../embedding-inputs.ts';
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
  const { dimensions, purpose, notes } = asked;
  const resource = model.includes('/') ? model : `models/${model}`;
  const requests = textsOf(asked, model).map((text, index) => {
    const { source, title, extra } = notes?.[index] ?? {};
    const content = source?.protocol === 'gemini' ? source.raw : { parts: [{ text }] };
    const request: MutableJsonObject = { model: resource, content, ...extra };
    if (purpose !== undefined) request['taskType'] = purpose;
    if (title !== undefined) request['title'] = title;
    if (dimensions !== undefined) request['outputDimensionality'] = dimensions;
    return request;
  });
  dropUnknown(asked, report);
  return { requests };
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
