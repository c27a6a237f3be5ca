// Embeddings on Amazon Bedrock: Converse has none, so models are asked by InvokeModel, each family in its own words.
// Sources: "Amazon Titan Text Embeddings", "Cohere Embed v3", "Cohere Embed v4" (Bedrock user guide), "Complete
// embeddings request and response schema" (Amazon Nova user guide), 2026-11.
import type {
  Embeddings,
  EmbeddingsRequest,
  JsonObject,
  JsonValue,
  MutableJsonObject,
  Report,
  Target,
} from '../../canonical/index.ts';
import { asNumber, asObject, GatewayError, isJsonArray, NO_USAGE } from '../../canonical/index.ts';
import { tellNotes, textsOf } from '../embedding-inputs.ts';
import type { EmbeddingsCodec } from '../protocol.ts';
import { readVectors } from '../read-vectors.ts';

/** How a family is asked. */
interface Family {
  readonly match: RegExp;
  readonly mostInputs: number;
  /** Writes the body for texts; `dimensions` is given only where the family has a place for it. */
  encode(
    texts: readonly string[],
    dimensions: number | undefined,
    extra: JsonObject,
    report: Report,
  ): JsonObject;
  /** What it calls what vectors are for, by Gemini's words. Absent: it does not ask. */
  readonly purpose?: { readonly member: string; readonly words: Readonly<Record<string, string>> };
  /** False: its vectors have one length. */
  readonly hasDimensions: boolean;
}

const titan = (match: RegExp, hasDimensions: boolean): Family => ({
  match,
  mostInputs: 1,
  hasDimensions,
  encode: ([inputText = ''], dimensions, extra) => ({
    inputText,
    ...(dimensions === undefined ? {} : { dimensions }),
    ...extra,
  }),
});

const cohere = (match: RegExp, hasDimensions: boolean): Family => ({
  match,
  mostInputs: 96,
  hasDimensions,
  purpose: {
    member: 'input_type',
    words: {
      RETRIEVAL_QUERY: 'search_query',
      RETRIEVAL_DOCUMENT: 'search_document',
      CLASSIFICATION: 'classification',
      CLUSTERING: 'clustering',
    },
  },
  encode(texts, dimensions, extra, report) {
    const body: MutableJsonObject = { texts };
    if (extra['input_type'] === undefined) {
      body['input_type'] = 'search_document';
      report.add('input_type', 'defaulted', 'Cohere must be told what texts are for: search_document');
    }
    if (dimensions !== undefined) body['output_dimension'] = dimensions;
    return { ...body, embedding_types: ['float'], ...extra };
  },
});

const nova = (match: RegExp): Family => ({
  match,
  mostInputs: 1,
  hasDimensions: true,
  purpose: {
    member: 'embeddingPurpose',
    words: {
      RETRIEVAL_QUERY: 'GENERIC_RETRIEVAL',
      RETRIEVAL_DOCUMENT: 'GENERIC_INDEX',
      CLASSIFICATION: 'CLASSIFICATION',
      CLUSTERING: 'CLUSTERING',
    },
  },
  encode([value = ''], dimensions, extra, report) {
    const params: MutableJsonObject = { embeddingPurpose: 'GENERIC_INDEX', ...extra };
    if (extra['embeddingPurpose'] === undefined)
      report.add('embeddingPurpose', 'defaulted', 'Nova must be told what vectors are for: GENERIC_INDEX');
    if (dimensions !== undefined) params['embeddingDimension'] = dimensions;
    // Whoever wants a long text cut may say so: nothing is cut silently.
    params['text'] = { truncationMode: 'NONE', value };
    return { taskType: 'SINGLE_EMBEDDING', singleEmbeddingParams: params };
  },
});

/** By the model's id, wherever in an inference profile or an ARN it stands; the first that matches. */
const FAMILIES: readonly Family[] = [
  titan(/amazon\.titan-embed-text-v2/, true),
  titan(/amazon\.titan-embed-/, false),
  nova(/amazon\.nova-.*embed/),
  cohere(/cohere\.embed-v4/, true),
  cohere(/cohere\.embed-/, false),
];

export const bedrockEmbeddings: EmbeddingsCodec = {
  pathFor: (model) => `/model/${encodeURIComponent(model)}/invoke`,
  mostInputs: (model) => familyOf(model).mostInputs,
  encodeRequest,
  decodeResponse,
};

function familyOf(model: string): Family {
  const family = FAMILIES.find(({ match }) => match.test(model));
  if (family) return family;
  throw new GatewayError(
    'unsupported',
    `it is not known how Bedrock is asked for embeddings of ${model}: its id names none of Titan, Nova and Cohere`,
    { param: 'model' },
  );
}

function encodeRequest(
  asked: EmbeddingsRequest,
  { model }: Pick<Target, 'model'>,
  report: Report,
): JsonObject {
  const { dimensions, purpose, user, extra } = asked;
  const family = familyOf(model);
  if (dimensions !== undefined && !family.hasDimensions)
    throw new GatewayError('unsupported', `dimensions: the vectors of ${model} have one length`, {
      param: 'dimensions',
    });
  const texts = textsOf(asked, model);
  const { member = '', words = {} } = family.purpose ?? {};
  const word = purpose !== undefined && Object.hasOwn(words, purpose) ? words[purpose] : undefined;
  tellNotes(asked, model, report, { purpose: word !== undefined });
  if (user !== undefined) report.add('user', 'dropped', 'Bedrock has no place for it');
  return family.encode(texts, dimensions, word === undefined ? extra : { [member]: word, ...extra }, report);
}

/** Titan gives one vector and its tokens; the others give lists, of vectors, of objects, or by type. */
function decodeResponse(body: unknown, count: number): Embeddings {
  const { embedding, embeddings, inputTextTokenCount } = asObject(body);
  const tokens = asNumber(inputTextTokenCount);
  return {
    vectors: readVectors(embedding === undefined ? listOf(embeddings) : [embedding], count, vectorOf),
    usage: tokens === undefined ? null : { ...NO_USAGE, input: { ...NO_USAGE.input, uncached: tokens } },
  };
}

function listOf(embeddings: JsonValue | undefined): JsonValue | undefined {
  return isJsonArray(embeddings) ? embeddings : asObject(embeddings)['float'];
}

function vectorOf(entry: JsonValue): JsonValue | undefined {
  return isJsonArray(entry) ? entry : asObject(entry)['embedding'];
}
