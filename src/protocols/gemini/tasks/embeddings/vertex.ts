// Embeddings at Vertex AI, which hosts Gemini's protocol but has other methods: `:predict`, and `:embedContent` for
// newer models. Texts are sent one by one if the model accepts only one.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../../base/json/index.ts';
import type { Report } from '../../../../canonical/index.ts';
import { asArray, asObject } from '../../../../base/json/index.ts';
import type { TaskTarget, TaskUpstream } from '../../../codec/task-codec.ts';
import { refuseElements, reportNotes, textsOf } from '../../../tasks/embeddings/inputs.ts';
import type { Embeddings, EmbeddingsRequest } from '../../../tasks/embeddings/model.ts';
import { readVectors } from '../../../tasks/embeddings/read-vectors.ts';
import { embeddingUsage } from '../../../tasks/embeddings/usage.ts';
import { dropUnknown } from './upstream.ts';

/** Maximum texts per request ("Get text embeddings", docs.cloud.google.com, 2026-11). */
const MOST_TEXTS = 250;

/** Upstream side of "Text embeddings API" (2026-11). The method of each model is that in Google's own SDK, 2026-11. */
export const vertex: TaskUpstream<EmbeddingsRequest, Embeddings> = {
  pathFor: (model) => (isEmbedContent(model) ? ':embedContent' : ':predict'),
  mostInputs: (model) => (takesOne(model) ? 1 : MOST_TEXTS),
  encodeRequest,
  decodeResponse,
};

/** True for models with "one instance per request", or one content. */
function takesOne(model: string): boolean {
  return model.includes('gemini') || isEmbedContent(model);
}

function isEmbedContent(model: string): boolean {
  return (model.includes('gemini') && model !== 'gemini-embedding-001') || model.includes('maas');
}

function encodeRequest(request: EmbeddingsRequest, { model }: TaskTarget, report: Report): JsonObject {
  dropUnknown(request, report);
  refuseElements(request, model);
  return isEmbedContent(model) ? embedContentBody(request, model) : predictBody(request, model, report);
}

/** Encodes one instance per text, with purpose and title. The length of the vectors is common to all. */
function predictBody(request: EmbeddingsRequest, model: string, report: Report): JsonObject {
  const { dimensions, purpose, notes } = request;
  reportNotes(request, model, report, { purpose: true, titles: true });
  const instances = textsOf(request, model).map((content, index) => {
    const title = notes?.[index]?.title;
    return {
      content,
      ...(purpose === undefined ? {} : { task_type: purpose }),
      ...(title === undefined ? {} : { title }),
    };
  });
  return { instances, parameters: dimensions === undefined ? {} : { outputDimensionality: dimensions } };
}

/** Encodes one content, in the client's own form if that is Gemini's, because newer models accept images and audio too. */
function embedContentBody(request: EmbeddingsRequest, model: string): JsonObject {
  const { dimensions, purpose, notes } = request;
  const { source, title, extra } = notes?.[0] ?? {};
  const { embedContentConfig, ...others } = extra ?? {};
  const config: MutableJsonObject = { ...asObject(embedContentConfig) };
  if (purpose !== undefined) config['taskType'] = purpose;
  if (title !== undefined) config['title'] = title;
  if (dimensions !== undefined) config['outputDimensionality'] = dimensions;
  const texts = textsOf(request, model);
  const content = source?.protocol === 'gemini' ? source.raw : { parts: texts.map((text) => ({ text })) };
  return { content, ...others, ...(Object.keys(config).length > 0 && { embedContentConfig: config }) };
}

/** Decodes the answer. Each prediction has its own token count. */
function decodeResponse(body: unknown, { inputs }: EmbeddingsRequest): Embeddings {
  const { predictions, embedding, usageMetadata } = asObject(body);
  if (predictions === undefined) {
    const entries = embedding === undefined ? undefined : [embedding];
    const vectors = readVectors(entries, inputs.length, (entry) => asObject(entry)['values']);
    return {
      vectors,
      elements: 'float32',
      usage: embeddingUsage([asObject(usageMetadata)['promptTokenCount']], usageMetadata),
    };
  }
  const made = (entry: JsonValue): JsonObject => asObject(asObject(entry)['embeddings']);
  const vectors = readVectors(predictions, inputs.length, (entry) => made(entry)['values']);
  const counts = asArray(predictions).map((entry) => asObject(made(entry)['statistics'])['token_count']);
  return { vectors, elements: 'float32', usage: embeddingUsage(counts, undefined) };
}
