// Gemini's addresses: model and method stand in the path, the form of a stream and often the key in the query. Says
// what they mean; answers nothing itself but the list of models.
import type { Hono } from 'hono';
import { GatewayError } from '../canonical/index.ts';
import type { Catalog, Model } from '../catalog/index.ts';
import type { RequestRoute } from '../protocols/index.ts';
import { encodeGeminiModel, encodeGeminiModels, type GeminiModel } from '../protocols/index.ts';
import type { Handler } from '../runtime/http-server.ts';
import { newGenerationId } from '../runtime/ids.ts';
import { isGoogles } from './client-manner.ts';
import { countTokens } from './count-tokens.ts';
import { decodePath, findVisible, visibleModels } from './models-routes.ts';
import { errorResponse, reply, withServer, type Manner } from './reply.ts';
import { serveOperation, type Envelope, type Operation, type ServeDependencies } from './serve-operation.ts';

const protocol = withServer('gemini');
const GENERATE: Operation = { protocol, api: 'generateContent' };
const EMBED: Operation = { protocol, api: 'embeddings', serve: ({ gateway }, call) => gateway.embed(call) };
const COUNT: Operation = { protocol, api: 'countTokens', serve: countTokens };

interface Method {
  readonly operation: Operation;
  readonly stream: boolean;
  /** True: the body holds several requests. */
  readonly batch?: boolean;
}

const METHODS: ReadonlyMap<string, Method> = new Map([
  ['generateContent', { operation: GENERATE, stream: false }],
  ['streamGenerateContent', { operation: GENERATE, stream: true }],
  ['countTokens', { operation: COUNT, stream: false }],
  ['embedContent', { operation: EMBED, stream: false }],
  ['batchEmbedContents', { operation: EMBED, stream: false, batch: true }],
]);

/** Beginnings of the paths to which clients POST. */
const PATHS = ['/v1beta/*', '/v1/models/*', '/api/v1/models/*', '/api/vertex-ai/*'] as const;
/** Where Google's clients look for models. */
const OWN_LISTS = [
  '/v1beta/models',
  '/api/vertex-ai/v1/models',
  '/api/vertex-ai/v1beta/models',
  '/api/vertex-ai/v1beta1/models',
  '/api/vertex-ai/v1/publishers/:publisher/models',
  '/api/vertex-ai/v1beta1/publishers/:publisher/models',
] as const;
/** The same where clients of other protocols do so, too. */
const SHARED_LISTS = ['/v1/models', '/api/v1/models'] as const;

/** Some clients leave the collection away where a model's id has a slash, and some say it twice. */
const STUDIO =
  /^(?:\/v1beta\/|\/(?:api\/)?(?:vertex-ai\/)?v1(?:beta1?)?\/models\/)(?:models\/)*(?<model>.+)$/;
/** Google's own clients ask for `v1beta1`, and name a project where they know one. */
const VERTEX =
  /^\/api\/vertex-ai\/v1(?:beta1)?\/(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/(?<model>[^/]+\/models\/.+)$/;

/** POST handlers by the patterns of their paths. */
export function geminiHandlers(deps: ServeDependencies): Readonly<Record<string, Handler>> {
  const handler: Handler = (request, connection) => {
    const url = new URL(request.url);
    const address = readAddress(url);
    if (address)
      return serveOperation(deps, address.operation, request, connection, {
        ...envelopeOf(request, url),
        route: address.route,
      });
    const path = url.pathname.slice(0, 200);
    const error = new GatewayError(
      'not_found',
      `There is nothing at POST ${path}. Methods of models are ${[...METHODS.keys()].join(', ')}.`,
    );
    return errorResponse(deps, error, newGenerationId(deps.now()), protocol.server);
  };
  return Object.fromEntries(PATHS.map((path) => [path, handler]));
}

/** Adds the list of models, and one model, in Google's shape. To be added before the routes of other shapes. */
export function addGeminiModels(
  hono: Hono,
  deps: Pick<ServeDependencies, 'authenticate' | 'now' | 'log' | 'memory'> & {
    readonly catalog: () => Catalog;
  },
): void {
  const list = (request: Request): Promise<Response> =>
    reply(
      deps,
      request,
      (principal) => encodeGeminiModels(visibleModels(deps.catalog(), principal).map(listed)),
      mannerOf(request),
    );
  const show = (request: Request, id: string): Promise<Response> =>
    reply(
      deps,
      request,
      (principal) => encodeGeminiModel(listed(findVisible(deps.catalog(), principal, id))),
      mannerOf(request),
    );
  for (const path of OWN_LISTS) {
    hono.get(path, ({ req }) => list(req.raw));
    hono.get(`${path}/*`, ({ req }) => show(req.raw, idIn(req.path, req.param('publisher'))));
  }
  for (const path of SHARED_LISTS) {
    hono.get(path, ({ req }, next) => (isGoogles(req.raw) ? list(req.raw) : next()));
    hono.get(`${path}/*`, ({ req }, next) => (isGoogles(req.raw) ? show(req.raw, idIn(req.path)) : next()));
  }
}

function idIn(path: string, publisher?: string): string {
  const id = decodePath(path.slice(path.indexOf('/models/') + '/models/'.length)).replace(/^models\//, '');
  return publisher === undefined ? id : `${publisher}/${id}`;
}

function mannerOf(request: Request): Manner {
  return { server: protocol.server, ...envelopeOf(request, new URL(request.url)) };
}

/** Null for a path that names no model or no method that is served. */
function readAddress({ pathname, searchParams }: URL): { operation: Operation; route: RequestRoute } | null {
  const path = decodePath(pathname);
  // A model's id may hold colons, too.
  const colon = path.lastIndexOf(':');
  const method = METHODS.get(path.slice(colon + 1));
  const before = path.slice(0, colon);
  const vertex = VERTEX.exec(before);
  const model = (vertex ?? STUDIO.exec(before))?.groups?.['model'];
  if (model === undefined || !method) return null;
  const { operation, stream, batch } = method;
  const streamAsArray = stream && (searchParams.get('alt') ?? searchParams.get('$alt')) !== 'sse';
  const route = { model: vertex ? model.replace('/models/', '/') : model, stream, streamAsArray, batch };
  return { operation, route };
}

/** Google's clients may send the key in the query. */
function envelopeOf({ headers }: Request, { searchParams }: URL): Pick<Envelope, 'header'> {
  return {
    header: (name) => headers.get(name) ?? (name === 'x-goog-api-key' ? searchParams.get('key') : null),
  };
}

function listed(model: Model): GeminiModel {
  return { ...model, reasons: model.reasoningStyle !== 'none' };
}
