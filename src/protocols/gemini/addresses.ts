// Gemini's addresses: model and method are in the path, the stream form and often the key in the query. Also recognizes
// Google's clients at other addresses.
import { TEXTS } from '../../canonical/index.ts';
import { z } from 'zod';
import { ERROR_SHAPE } from '../google/error-shape.ts';
import type {
  ClientAddress,
  ClientAddresses,
  ClientOperation,
  ClientRoute,
  UnservedPart,
} from '../protocol.ts';
import { describeMethods } from './described-methods.ts';
import { encodeModel, encodeModelList } from './encode-model-list.ts';

interface Method extends Omit<ClientOperation, 'route'> {
  readonly stream: boolean;
  /** True: the body holds several requests. */
  readonly batch?: boolean;
}

type Methods = Readonly<Record<string, Method>>;

const METHODS: Methods = {
  generateContent: { api: 'generateContent', does: 'answer', stream: false },
  streamGenerateContent: { api: 'generateContent', does: 'answer', stream: true },
};

/** Prefixes of the paths to which clients send POST requests. Features in preview are documented under `v1alpha`. */
const PATHS = [
  '/v1beta/*',
  '/v1alpha/*',
  '/v1/models/*',
  '/api/v1/models/*',
  '/models/*',
  '/api/vertex-ai/*',
] as const;
/** Addresses at which only Google's clients list models. */
const LISTS = [
  '/v1beta/models',
  '/v1alpha/models',
  '/api/vertex-ai/v1/models',
  '/api/vertex-ai/v1beta/models',
  '/api/vertex-ai/v1beta1/models',
  '/api/vertex-ai/v1/publishers/:publisher/models',
  '/api/vertex-ai/v1beta1/publishers/:publisher/models',
] as const;

/** Some clients omit the collection if a model's id has a slash, and some repeat it. */
const STUDIO =
  /^(?:\/v1(?:alpha|beta)\/|\/(?:(?:api\/)?(?:vertex-ai\/)?v1(?:beta1?)?\/)?models\/)(?:models\/)*(?<model>.+)$/;
/** Google's own clients use `v1beta1`, and include a project if they know one. */
const VERTEX =
  /^\/api\/vertex-ai\/v1(?:beta1)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/(?<model>[^/]+\/models\/.+)$/;
/** Base paths that no other clients use. */
const OWN_BASE = /^\/(?:v1alpha|v1beta|(?:api\/)?upload|api\/vertex-ai)\//;

const BATCHES = 'Create batches at `/v1beta/models/{model}:batchGenerateContent`.';
function methods(names: string, nearest: string): UnservedPart {
  return { match: new RegExp(`:(?:${names})$`), nearest };
}

function below(names: string, nearest: string): UnservedPart {
  const base =
    '/(?:upload/)?(?:v1(?:alpha|beta1?)?|api/vertex-ai/v1(?:beta1?)?(?:/projects/[^/]+/locations/[^/]+)?)';
  return { match: new RegExp(`^${base}/(?:${names})(?:[/:]|$)`), nearest };
}

/** The rest of Google's API (its libraries and the API reference, 2026-11). */
const UNSERVED: readonly UnservedPart[] = [
  methods('batchGenerateContent|asyncBatchEmbedContent', BATCHES),
  methods('embedText|batchEmbedText', 'Use `:embedContent`.'),
  methods('generateText|generateMessage|generateAnswer', 'Use `:generateContent`.'),
  methods('computeTokens|countTextTokens|countMessageTokens', 'Use `:countTokens`.'),
  methods('predict|rawPredict', 'Image models return images from `:generateContent`.'),
  methods('predictLongRunning|fetchPredictOperation', `Videos are not supported. ${TEXTS.askProvider}`),
  methods('bidiGenerateContent', 'Use `:streamGenerateContent`.'),
  { match: /^\/ws\/.*BidiGenerateContent/, nearest: 'Use `:streamGenerateContent`.' },
  below('cachedContents', 'Send the whole prompt: providers cache its beginning automatically.'),
  below('batches|batchPredictionJobs', BATCHES),
  below('files', 'Upload files at `/upload/v1beta/files`, or send them inline as `inlineData`.'),
  below('fileSearchStores|corpora|ragCorpora', TEXTS.askProvider),
  below('tunedModels|tuningJobs|operations|auth_tokens|agents', TEXTS.askProvider),
];

/** Creates routes for methods of models, which are the end of a path with a common prefix. */
export function methodRoutes(known: Methods, describes: ClientRoute['describes']): readonly ClientRoute[] {
  return PATHS.map((path) => ({
    path,
    isWhole: true,
    operation: (address) => operationAt(known, address),
    methods: Object.keys(known),
    describes,
  }));
}

/** Returns the operation; undefined for a path without a model or a served method. */
function operationAt(known: Methods, { path, query }: ClientAddress): ClientOperation | undefined {
  // Model ids can contain colons too.
  const colon = path.lastIndexOf(':');
  const name = path.slice(colon + 1);
  const method = Object.hasOwn(known, name) ? known[name] : undefined;
  const before = path.slice(0, colon);
  const vertex = VERTEX.exec(before);
  const model = (vertex ?? STUDIO.exec(before))?.groups?.['model'];
  if (model === undefined || !method) return undefined;
  const { api, does, stream, batch } = method;
  const streamAsArray = stream && (query.get('alt') ?? query.get('$alt')) !== 'sse';
  const route = { model: vertex ? model.replace('/models/', '/') : model, stream, streamAsArray, batch };
  return { api, does, route };
}

/** Returns the id of one model, below the path of a list. */
function idIn(path: string): string {
  const collection = '/models/';
  const id = path.slice(path.indexOf(collection) + collection.length).replace(/^models\//, '');
  const publisher = /\/publishers\/([^/]+)\/models\//.exec(path)?.[1];
  return publisher === undefined ? id : `${publisher}/${id}`;
}

const WRONG_SIZE = TEXTS.mustBeCount;
const MODEL_SHAPE = z.looseObject({ name: z.string() });
const LIST_SHAPE = z.looseObject({ models: z.array(MODEL_SHAPE) });

export const ADDRESSES: ClientAddresses = {
  routes: methodRoutes(METHODS, describeMethods),
  unserved: UNSERVED,
  headersInQuery: { 'x-goog-api-key': 'key' },
  // Google's own libraries identify themselves. Others send the key in Google's place, and no `authorization`.
  isClient: ({ header, url }) =>
    OWN_BASE.test(url.pathname) ||
    header('x-goog-api-client') !== null ||
    (header('authorization') === null && (header('x-goog-api-key') !== null || url.searchParams.has('key'))),
  looksOwn: (body) => Object.hasOwn(body, 'contents'),
  errors: ERROR_SHAPE,
  models: {
    paths: LISTS,
    idIn,
    encodeList: encodeModelList,
    encodeModel,
    shapes: { list: LIST_SHAPE, model: MODEL_SHAPE },
    described: {
      list: {
        id: 'listGeminiModels',
        tag: 'Gemini',
        summary: "Lists the models that the key may use, in Google's format.",
        query: z.object({
          pageSize: z.coerce.number(WRONG_SIZE).int(WRONG_SIZE).min(0, WRONG_SIZE).optional(),
          pageToken: z.string().optional(),
        }),
        answer: LIST_SHAPE,
      },
      model: {
        id: 'getGeminiModel',
        tag: 'Gemini',
        summary: "Returns a model, in Google's format.",
        params: { id: { description: TEXTS.modelId, example: 'sim%2Fgemini' } },
        answer: MODEL_SHAPE,
        refusals: [404],
      },
    },
  },
};
