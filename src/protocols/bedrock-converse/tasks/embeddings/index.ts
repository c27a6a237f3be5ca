// Embeddings on Amazon Bedrock by InvokeModel, because Converse has none. Each model family has a form of its own.
// Sources: "Amazon Titan Text Embeddings", "Cohere Embed v3", "Cohere Embed v4" (Bedrock user guide), "Complete
// embeddings request and response schema" (Amazon Nova user guide), 2026-11.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../../base/json/index.ts';
import type { Report } from '../../../../canonical/index.ts';
import { asArray, asObject, asString, isJsonArray } from '../../../../base/json/index.ts';
import { GatewayError } from '../../../../canonical/index.ts';
import type { TaskCodec, TaskTarget } from '../../../codec/task-codec.ts';
import { refuseElements, reportNotes, textsOf } from '../../../tasks/embeddings/inputs.ts';
import {
  ELEMENT_TYPES,
  type ElementType,
  type Embeddings,
  type EmbeddingsRequest,
} from '../../../tasks/embeddings/model.ts';
import { readVectors } from '../../../tasks/embeddings/read-vectors.ts';
import { embeddingUsage } from '../../../tasks/embeddings/usage.ts';

/** Request form of a model family. */
interface Family {
  readonly match: RegExp;
  readonly mostInputs: number;
  /** Encodes the body for texts. `dimensions` is only set if the family supports it. */
  encode(
    texts: readonly string[],
    dimensions: number | undefined,
    extra: JsonObject,
    report: Report,
  ): JsonObject;
  /** Family's values for Gemini's purposes. Absent: there is no such member. */
  readonly purpose?: { readonly member: string; readonly words: Readonly<Record<string, string>> };
  /** Member with the requested element types. Absent: only floats. */
  readonly types?: string;
  /** False: the length of its vectors is fixed. */
  readonly hasDimensions: boolean;
}

const titan = (match: RegExp, hasDimensions: boolean): Family => ({
  match,
  types: 'embeddingTypes',
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
  types: 'embedding_types',
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
      report.add('input_type', 'defaulted', 'Cohere requires an input type; search_document is sent');
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
      report.add('embeddingPurpose', 'defaulted', 'Nova requires a purpose; GENERIC_INDEX is sent');
    if (dimensions !== undefined) params['embeddingDimension'] = dimensions;
    // Long texts are only cut if the client requests it, never silently.
    params['text'] = { truncationMode: 'NONE', value };
    return { taskType: 'SINGLE_EMBEDDING', singleEmbeddingParams: params };
  },
});

/** Families by a part of the model's id, which may be in an inference profile or an ARN. The first match wins. */
const FAMILIES: readonly Family[] = [
  titan(/amazon\.titan-embed-text-v2/, true),
  titan(/amazon\.titan-embed-/, false),
  nova(/amazon\.nova-.*embed/),
  cohere(/cohere\.embed-v4/, true),
  cohere(/cohere\.embed-/, false),
];

export const bedrockEmbeddings: TaskCodec<EmbeddingsRequest, Embeddings> = {
  protocols: ['bedrock-converse'],
  upstream: {
    pathFor: (model) => `/model/${encodeURIComponent(model)}/invoke`,
    mostInputs: (model) => familyOf(model).mostInputs,
    encodeRequest,
    decodeResponse,
  },
};

function familyOf(model: string): Family {
  const family = FAMILIES.find(({ match }) => match.test(model));
  if (family) return family;
  throw new GatewayError(
    'unsupported',
    `Embeddings of ${model} are not supported on Bedrock: only Titan, Nova and Cohere models are.`,
    { param: 'model' },
  );
}

function encodeRequest(asked: EmbeddingsRequest, { model }: TaskTarget, report: Report): JsonObject {
  const { dimensions, purpose, user, extra } = asked;
  const family = familyOf(model);
  if (dimensions !== undefined && !family.hasDimensions)
    throw new GatewayError('unsupported', `dimensions: ${model} does not support a choice of dimensions`, {
      param: 'dimensions',
    });
  const texts = textsOf(asked, model);
  refuseElements(asked, model, elementsOf(typeOf(family, extra)));
  const { member = '', words = {} } = family.purpose ?? {};
  const word = purpose !== undefined && Object.hasOwn(words, purpose) ? words[purpose] : undefined;
  reportNotes(asked, model, report, { purpose: word !== undefined });
  if (user !== undefined) report.add('user', 'dropped', 'Bedrock has no equivalent field');
  return family.encode(texts, dimensions, word === undefined ? extra : { [member]: word, ...extra }, report);
}

/**
 * Returns the one element type that the client requests in the family's own member.
 * @throws GatewayError `unsupported` for several, because OpenAI's and Gemini's answers hold one vector per input
 */
function typeOf({ types: member }: Family, extra: JsonObject): string {
  const types = asArray(member === undefined ? undefined : extra[member]);
  if (member !== undefined && types.length > 1)
    throw new GatewayError('unsupported', `${member}: must name one type (got ${types.length})`, {
      param: member,
    });
  return asString(types[0]) ?? 'float';
}

/** Cohere's value `base64` means floats. */
function elementsOf(type: string): ElementType {
  if (type === 'float' || type === 'base64') return 'float32';
  return ELEMENT_TYPES.find((known) => known === type) ?? 'opaque';
}

/**
 * Decodes the answer. Titan returns one vector and its tokens; the others return lists of vectors, of objects, or by
 * type. The order of Titan's bits is undocumented, so they are passed unchanged.
 */
function decodeResponse(
  body: unknown,
  { inputs, extra }: EmbeddingsRequest,
  { model }: TaskTarget,
): Embeddings {
  const { embedding, embeddings, embeddingsByType, inputTextTokenCount } = asObject(body);
  const type = typeOf(familyOf(model), extra);
  const one = asObject(embeddingsByType)[type] ?? embedding;
  const list = isJsonArray(embeddings) ? embeddings : asObject(embeddings)[type];
  return {
    vectors: readVectors(one === undefined ? list : [one], inputs.length, vectorOf),
    elements: one === undefined || type === 'float' ? elementsOf(type) : 'opaque',
    usage: embeddingUsage([inputTextTokenCount], undefined),
  };
}

function vectorOf(entry: JsonValue): JsonValue | undefined {
  return isJsonArray(entry) || typeof entry === 'string' ? entry : asObject(entry)['embedding'];
}
