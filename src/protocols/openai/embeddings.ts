// OpenAI's embeddings as spoken to an upstream: OpenAI itself and every compatible server. Stands beside the protocols'
// own folders, because servers of both of OpenAI's protocols have them.
import type {
  Embeddings,
  EmbeddingsRequest,
  JsonObject,
  JsonValue,
  MutableJsonObject,
  Report,
  Target,
  Usage,
  Vector,
} from '../../canonical/index.ts';
import { asArray, asNumber, asObject, isJsonObject, NO_USAGE } from '../../canonical/index.ts';
import { tellNotes } from '../embedding-inputs.ts';
import type { EmbeddingsCodec } from '../protocol.ts';
import { readVectors } from '../read-vectors.ts';

/** The upstream side of `POST /embeddings` (API reference, "Create embeddings", 2026-11). */
export const openaiEmbeddings: EmbeddingsCodec = {
  pathFor: () => '/embeddings',
  encodeRequest,
  decodeResponse,
};

function encodeRequest(
  asked: EmbeddingsRequest,
  { model, quirks }: Pick<Target, 'model' | 'quirks'>,
  report: Report,
): JsonObject {
  const { inputs, format, dimensions, user, extra } = asked;
  tellNotes(asked, model, report);
  const body: MutableJsonObject = { model, input: inputs };
  if (format !== undefined) body['encoding_format'] = format;
  if (dimensions !== undefined) body['dimensions'] = dimensions;
  if (user !== undefined) body['user'] = user;
  for (const name in extra) {
    if (quirks.unknownFields === 'pass') body[name] = extra[name];
    else report.add(name, 'dropped', 'the upstream refuses members that it does not know');
  }
  return body;
}

function decodeResponse(body: unknown, count: number): Embeddings {
  const { data, usage } = asObject(body);
  const vectors = readVectors(data, count, (entry) => asObject(entry)['embedding']);
  return {
    vectors: inOrder(vectors, asArray(data)),
    usage: isJsonObject(usage) ? decodeUsage(usage) : null,
  };
}

/** By `index`, where each has one of its own: some servers answer out of order, others number nothing, or all alike. */
function inOrder(vectors: readonly Vector[], entries: readonly JsonValue[]): readonly Vector[] {
  const ordered: Vector[] = [];
  entries.forEach((entry, position) => {
    const vector = vectors[position];
    const index = asNumber(asObject(entry)['index']);
    if (vector !== undefined && index !== undefined && index in vectors) ordered[index] = vector;
  });
  return Object.keys(ordered).length === vectors.length ? ordered : vectors;
}

/** Voyage counts `total_tokens` alone (API reference, 2026); an embedding has no output to add to it. */
function decodeUsage(raw: JsonObject): Usage | null {
  const tokens = asNumber(raw['prompt_tokens']) ?? asNumber(raw['total_tokens']);
  return tokens === undefined ? null : { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: tokens }, raw };
}
