// Gemini's addresses: model and method stand in the path, the form of a stream and often the key in the query. Says what
// they mean, and by what Google's clients are known elsewhere.
import type { ClientAddress, ClientAddresses, ClientOperation, ClientRoute } from '../protocol.ts';
import { encodeModel, encodeModelList } from './encode-model-list.ts';

interface Method extends Omit<ClientOperation, 'route'> {
  readonly stream: boolean;
  /** True: the body holds several requests. */
  readonly batch?: boolean;
}

const METHODS: ReadonlyMap<string, Method> = new Map([
  ['generateContent', { api: 'generateContent', does: 'answer', stream: false }],
  ['streamGenerateContent', { api: 'generateContent', does: 'answer', stream: true }],
  ['countTokens', { api: 'countTokens', does: 'count', stream: false }],
  ['embedContent', { api: 'embeddings', does: 'embed', stream: false }],
  ['batchEmbedContents', { api: 'embeddings', does: 'embed', stream: false, batch: true }],
]);

/** Beginnings of the paths to which clients POST. */
const PATHS = ['/v1beta/*', '/v1/models/*', '/api/v1/models/*', '/api/vertex-ai/*'] as const;
/** Where only Google's clients look for models. */
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
const OWN_BASE = /^\/(?:v1beta|api\/vertex-ai)\//;

/** Undefined for a path that names no model or no method that is served. */
function operationAt({ path, query }: ClientAddress): ClientOperation | undefined {
  // A model's id may hold colons, too.
  const colon = path.lastIndexOf(':');
  const method = METHODS.get(path.slice(colon + 1));
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

export const ADDRESSES: ClientAddresses = {
  routes: PATHS.map((path): ClientRoute => ({
    path,
    isWhole: true,
    operation: operationAt,
    hint: `Methods of models are ${[...METHODS.keys()].join(', ')}.`,
  })),
  headersInQuery: { 'x-goog-api-key': 'key' },
  // Google's own libraries say who they are; others are known by where they put the key.
  isClient: ({ header, url }) =>
    OWN_BASE.test(url.pathname) ||
    header('x-goog-api-client') !== null ||
    header('x-goog-api-key') !== null ||
    url.searchParams.has('key'),
  looksOwn: (body) => Object.hasOwn(body, 'contents'),
  models: { paths: LISTS, idIn, encodeList: encodeModelList, encodeModel },
};
