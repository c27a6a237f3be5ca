// OpenAI's embeddings for upstreams: OpenAI itself and compatible servers of both of its protocols.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../../base/json/index.ts';
import { type Quirks, type Report, TEXTS } from '../../../../canonical/index.ts';
import { asArray, asNumber, asObject, isJsonObject } from '../../../../base/json/index.ts';
import type { TaskTarget, TaskUpstream } from '../../../codec/task-codec.ts';
import { refuseElements, reportNotes } from '../../../tasks/embeddings/inputs.ts';
import type { ElementType, Embeddings, EmbeddingsRequest, Vector } from '../../../tasks/embeddings/model.ts';
import { readVectors } from '../../../tasks/embeddings/read-vectors.ts';
import { embeddingUsage } from '../../../tasks/embeddings/usage.ts';
import { formatWord, packedFormat } from './vector-words.ts';

/** Upstream side of `POST /embeddings` (API reference, "Create embeddings", 2026-11). */
export const upstream: TaskUpstream<EmbeddingsRequest, Embeddings> = {
  pathFor: () => '/embeddings',
  encodeRequest,
  decodeResponse,
};

function encodeRequest(asked: EmbeddingsRequest, { model, quirks }: TaskTarget, report: Report): JsonObject {
  const { inputs, dimensions, user, extra, elements } = asked;
  reportNotes(asked, model, report);
  refuseElements(asked, model, madeElements(asked, quirks));
  const body: MutableJsonObject = { model, input: inputs };
  if (quirks.vectors === 'output_dtype') {
    // Mistral has two members for what Perplexity's clients put into one.
    if (elements?.param === 'encoding_format') body['output_dtype'] = elements.type;
    if (dimensions !== undefined) body['output_dimension'] = dimensions;
  } else if (dimensions !== undefined) body['dimensions'] = dimensions;
  const format = formatFor(asked, quirks);
  if (format !== undefined) body['encoding_format'] = format;
  if (user !== undefined) body['user'] = user;
  for (const name in extra) {
    if (isKnown(name, quirks)) body[name] = extra[name];
    else report.add(name, 'dropped', TEXTS.strictUpstream);
  }
  return body;
}

function isKnown(name: string, { unknownFields, vectors }: Quirks): boolean {
  if (unknownFields === 'pass') return true;
  return vectors === 'output_dtype' && (name === 'output_dtype' || name === 'output_dimension');
}

/** Returns the value of `encoding_format` that the server accepts. */
function formatFor(asked: EmbeddingsRequest, quirks: Quirks): string | undefined {
  if (quirks.vectors === 'base64_int8') return packedFormat(madeElements(asked, quirks));
  return quirks.vectors === 'output_dtype' ? asked.format : formatWord(asked);
}

/** Returns the element type with which the server will answer. */
function madeElements({ elements }: EmbeddingsRequest, quirks: Quirks): ElementType {
  const inFormat = elements?.param === 'encoding_format';
  if (quirks.vectors === 'base64_int8') return inFormat ? elements.type : 'int8';
  if (!elements) return 'float32';
  // One vendor's bit order in bytes differs from that of the others.
  if (quirks.vectors === 'output_dtype' && inFormat)
    return elements.type === 'binary' ? 'float32' : elements.type;
  return inFormat || isKnown(elements.param, quirks) ? elements.type : 'float32';
}

function decodeResponse(body: unknown, asked: EmbeddingsRequest, { quirks }: TaskTarget): Embeddings {
  const { data, usage } = asObject(body);
  const vectors = readVectors(data, asked.inputs.length, (entry) => asObject(entry)['embedding']);
  return {
    vectors: inOrder(vectors, asArray(data)),
    elements: madeElements(asked, quirks),
    // Voyage only counts `total_tokens` (API reference, 2026), which is the input: embeddings have no output.
    usage: isJsonObject(usage)
      ? embeddingUsage([usage['prompt_tokens'] ?? usage['total_tokens']], usage)
      : null,
  };
}

/** Sorts vectors by `index` if the indexes are unique: servers may answer out of order, or omit or repeat indexes. */
function inOrder(vectors: readonly Vector[], entries: readonly JsonValue[]): readonly Vector[] {
  const ordered: Vector[] = [];
  entries.forEach((entry, position) => {
    const vector = vectors[position];
    const index = asNumber(asObject(entry)['index']);
    if (vector !== undefined && index !== undefined && index in vectors) ordered[index] = vector;
  });
  return Object.keys(ordered).length === vectors.length ? ordered : vectors;
}
