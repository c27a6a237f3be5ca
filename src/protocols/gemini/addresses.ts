// Gemini's addresses: model and method stand in the path, the form of a stream and often the key in the query. Says what
// they mean, and by what Google's clients are known elsewhere.
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

/** Beginnings of the paths to which clients POST. */
const PATHS = ['/v1beta/*', '/v1/models/*', '/api/v1/models/*', '/api/vertex-ai/*'] as const;
/** Addresses at which only Google's clients look for models. */
const LISTS = [
  '/v1beta/models',
  '/api/vertex-ai/v1/models',
  '/api/vertex-ai/v1beta/models',
  '/api/vertex-ai/v1beta1/models',
  '/api/vertex-ai/v1/publishers/:publisher/models',
  '/api/vertex-ai/v1beta1/publishers/:publisher/models',
] as const;

/** Some clients leave the collection away where a model's id has a slash, and some say it twice. */
const STUDIO =
  /^(?:\/v1beta\/|\/(?:api\/)?(?:vertex-ai\/)?v1(?:beta1?)?\/models\/)(?:models\/)*(?<model>.+)$/;
/** Google's own clients ask for `v1beta1`, and name a project where they know one. */
const VERTEX =
  /^\/api\/vertex-ai\/v1(?:beta1)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/(?<model>[^/]+\/models\/.+)$/;
/** Bases that no other clients have. */
const OWN_BASE = /^\/(?:v1beta|(?:api\/)?upload|api\/vertex-ai)\//;

const BATCHES = 'Batches are made at `/v1beta/models/{model}:batchGenerateContent`.';
function methods(names: string, nearest: string): UnservedPart {
  return { match: new RegExp(`:(?:${names})$`), nearest };
}

function below(names: string, nearest: string): UnservedPart {
  const base =
    '/(?:upload/)?(?:v1(?:beta1?)?|api/vertex-ai/v1(?:beta1?)?(?:/projects/[^/]+/locations/[^/]+)?)';
  return { match: new RegExp(`^${base}/(?:${names})(?:[/:]|$)`), nearest };
}

/** The rest of Google's API (its own libraries and the API reference, 2026-11). */
const UNSERVED: readonly UnservedPart[] = [
  methods('batchGenerateContent|asyncBatchEmbedContent', BATCHES),
  methods('embedText|batchEmbedText', 'Use `:embedContent`.'),
  methods('generateText|generateMessage|generateAnswer', 'Use `:generateContent`.'),
  methods('computeTokens|countTextTokens|countMessageTokens', 'Use `:countTokens`.'),
  methods('predict|rawPredict', 'Models that make pictures answer `:generateContent` with them.'),
  methods('predictLongRunning|fetchPredictOperation', `No videos are made here. ${TEXTS.askProvider}`),
  methods('bidiGenerateContent', 'Use `:streamGenerateContent`.'),
  { match: /^\/ws\/.*BidiGenerateContent/, nearest: 'Use `:streamGenerateContent`.' },
  below('cachedContents', 'Send the whole prompt: providers cache its beginning by themselves.'),
  below('batches|batchPredictionJobs', BATCHES),
  below('files', 'Files are uploaded at `/upload/v1beta/files`; requests take bytes as `inlineData`, too.'),
  below('fileSearchStores|corpora|ragCorpora', TEXTS.askProvider),
  below('tunedModels|tuningJobs|operations|auth_tokens|agents', TEXTS.askProvider),
];

/** Routes of methods of models: the end of a path that begins as others do. */
export function methodRoutes(known: Methods, describes: ClientRoute['describes']): readonly ClientRoute[] {
  return PATHS.map((path) => ({
    path,
    isWhole: true,
    operation: (address) => operationAt(known, address),
    methods: Object.keys(known),
    describes,
  }));
}

/** Undefined for a path that names no model or no method that is served. */
function operationAt(known: Methods, { path, query }: ClientAddress): ClientOperation | undefined {
  // A model's id may hold colons, too.
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

/** The id of one model, below the path of a list. */
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
  // Google's own libraries say who they are; others are known by where they put the key, unless they put one elsewhere, too.
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
        summary: 'The models that the key may use, in the words of Google.',
        query: z.object({
          pageSize: z.coerce.number(WRONG_SIZE).int(WRONG_SIZE).min(0, WRONG_SIZE).optional(),
          pageToken: z.string().optional(),
        }),
        answer: LIST_SHAPE,
      },
      model: {
        id: 'getGeminiModel',
        tag: 'Gemini',
        summary: 'One model, in the words of Google.',
        params: { id: { description: TEXTS.modelId, example: 'sim%2Fgemini' } },
        answer: MODEL_SHAPE,
        refusals: [404],
      },
    },
  },
};
