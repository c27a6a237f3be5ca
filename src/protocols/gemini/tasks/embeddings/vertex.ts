// Embeddings as Vertex AI makes them, which hosts Gemini's protocol but has other methods for this: `:predict`, and for
// newer models `:embedContent`. Its texts travel one by one where the model takes no more.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../../base/json/index.ts';
import type { Report } from '../../../../canonical/index.ts';
import { asArray, asObject } from '../../../../base/json/index.ts';
import type { TaskTarget, TaskUpstream } from '../../../codec/task-codec.ts';
import { refuseElements, reportNotes, textsOf } from '../../../tasks/embeddings/inputs.ts';
import type { Embeddings, EmbeddingsRequest } from '../../../tasks/embeddings/model.ts';
import { readVectors } from '../../../tasks/embeddings/read-vectors.ts';
import { embeddingUsage } from '../../../tasks/embeddings/usage.ts';
import { dropUnknown } from './upstream.ts';

/** Most texts of one request ("Get text embeddings", docs.cloud.google.com, 2026-11). */
const MOST_TEXTS = 250;

/** The upstream side of "Text embeddings API" (2026-11); which model has which method: Google's own SDK, 2026-11. */
export const vertex: TaskUpstream<EmbeddingsRequest, Embeddings> = {
  pathFor: (model) => (isEmbedContent(model) ? ':embedContent' : ':predict'),
  mostInputs: (model) => (takesOne(model) ? 1 : MOST_TEXTS),
  encodeRequest,
  decodeResponse,
};

/** "Supports one instance per request", and one content. */
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

/** Each instance says what it is; their number and length of all is one. */
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

/** One content, in the client's own form where that is Gemini's: newer models see and hear, too. */
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

/** Each prediction counts its own tokens. */
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
