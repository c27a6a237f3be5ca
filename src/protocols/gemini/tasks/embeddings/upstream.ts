// Embeddings at Google: `models/{model}:batchEmbedContents`, with one request of the batch per input.
import type { JsonObject, MutableJsonObject } from '../../../../base/json/index.ts';
import type { Report } from '../../../../canonical/index.ts';
import { asObject } from '../../../../base/json/index.ts';
import type { TaskTarget, TaskUpstream } from '../../../codec/task-codec.ts';
import { refuseElements, textsOf } from '../../../tasks/embeddings/inputs.ts';
import type { Embeddings, EmbeddingsRequest } from '../../../tasks/embeddings/model.ts';
import { readVectors } from '../../../tasks/embeddings/read-vectors.ts';
import { embeddingUsage } from '../../../tasks/embeddings/usage.ts';
import { methodPath } from '../../requests/encode-request.ts';

/** Google refuses larger batches ("at most 100 requests can be in one batch", its 400 of 2026). */
const MOST_INPUTS = 100;

/** Upstream side of `batchEmbedContents` (API reference, "Embeddings", 2026-11). */
export const upstream: TaskUpstream<EmbeddingsRequest, Embeddings> = {
  pathFor: (model) => methodPath(model, 'batchEmbedContents'),
  mostInputs: () => MOST_INPUTS,
  encodeRequest,
  decodeResponse,
};

function encodeRequest(asked: EmbeddingsRequest, { model }: TaskTarget, report: Report): JsonObject {
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
  refuseElements(asked, model);
  return { requests };
}

/** Reports members that Google does not have. */
export function dropUnknown({ user, extra }: EmbeddingsRequest, report: Report): void {
  if (user !== undefined) report.add('user', 'dropped', 'the Gemini protocol has no equivalent field');
  for (const name in extra) report.add(name, 'dropped', 'the Gemini protocol does not support this field');
}

/** Decodes the answer. Only newer models count tokens (`usageMetadata`). */
function decodeResponse(body: unknown, { inputs }: EmbeddingsRequest): Embeddings {
  const { embeddings, usageMetadata } = asObject(body);
  const raw = asObject(usageMetadata);
  return {
    vectors: readVectors(embeddings, inputs.length, (entry) => asObject(entry)['values']),
    elements: 'float32',
    usage: embeddingUsage([raw['promptTokenCount']], usageMetadata),
  };
}
