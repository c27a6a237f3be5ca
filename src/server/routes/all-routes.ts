// All routes of this server except the management API.
import { mainProtocol, servedProtocols } from '../../protocols/index.ts';
import type { Method, RouteDescription } from '../../base/lib/route-description.ts';
import { postRoutes } from '../../engine/index.ts';
import { protocolOfClient, speakerOfFiles } from '../client-protocol.ts';
import { SOCKET_ROUTE } from '../socket/responses-sockets.ts';
import type { ClientGroup } from './client-route.ts';
import { BATCH_ROUTES } from './batches-routes.ts';
import { CONVERSATION_ROUTES } from './conversations-routes.ts';
import { FILE_ROUTES } from './files-routes.ts';
import { STREAM_ROUTES } from './kept-streams.ts';
import { GEMINI_BATCH_ROUTES, gemini } from './gemini-batches-routes.ts';
import { BEGIN_UPLOAD, CONTINUE_UPLOAD, GEMINI_FILE_ROUTES, uploaderOf } from './gemini-files-routes.ts';
import { MESSAGE_BATCH_ROUTES, messages } from './message-batches-routes.ts';
import { MODEL_ROUTES, OWN_MODEL_GROUPS, readerOfLists } from './models-routes.ts';
import { PROMPT_ROUTES } from './prompts-routes.ts';
import { EXPLANATION, RECORD } from './request-routes.ts';
import { RESPONSE_ROUTES } from './responses-routes.ts';
import { RESULT_ROUTES } from './result-routes.ts';
import { servedBy, type ServedRoute } from './served-routes.ts';
import { SERVICE_GROUPS } from './service-routes.ts';

/** Every API path is served under both. */
export const BASES = ['/v1', '/api/v1'] as const;

/** Upload paths of Google's clients have a prefix before the version. */
const UPLOADS = {
  audience: 'models',
  errors: gemini.server.addresses.errors,
  bases: ['/upload/v1beta', '/upload/v1alpha', '/upload/v1', '/api/upload/v1'],
  speaker: () => gemini.server,
} as const;

/** Paths that clients call first are also served without a base, which is often forgotten. */
const CLIENT_BASES = [...BASES, ''] as const;

/** Base paths for model lists. */
const MODELS_BASES = [
  ...CLIENT_BASES,
  ...servedProtocols.flatMap(({ server }) => server.addresses.bases ?? []),
];

const OWN_API = { audience: 'models', errors: mainProtocol.server.addresses.errors } as const;
const CLIENT_API = { audience: 'models', errors: 'any' } as const;

export const CLIENT_GROUPS: readonly ClientGroup[] = [
  { ...OWN_API, bases: BASES, routes: [...RESPONSE_ROUTES, ...STREAM_ROUTES] },
  {
    ...CLIENT_API,
    bases: BASES,
    speaker: (request) => protocolOfClient(request)?.server,
    routes: RESULT_ROUTES,
  },
  {
    audience: 'models',
    errors: gemini.server.addresses.errors,
    bases: ['/v1beta', '/v1alpha', ...BASES],
    // OpenAI's batches and files have the same paths.
    takes: (request) => protocolOfClient(request)?.server === gemini.server,
    speaker: () => gemini.server,
    routes: [...GEMINI_BATCH_ROUTES, ...GEMINI_FILE_ROUTES],
  },
  { ...UPLOADS, routes: [BEGIN_UPLOAD] },
  { ...UPLOADS, principalOf: uploaderOf, routes: [CONTINUE_UPLOAD] },
  { ...OWN_API, bases: BASES, routes: [...CONVERSATION_ROUTES, ...PROMPT_ROUTES, ...BATCH_ROUTES] },
  {
    audience: 'models',
    errors: messages.server.addresses.errors,
    bases: [...BASES, ...(messages.server.addresses.bases ?? [])],
    speaker: () => messages.server,
    routes: MESSAGE_BATCH_ROUTES,
  },
  { ...CLIENT_API, bases: BASES, speaker: speakerOfFiles, routes: FILE_ROUTES },
  ...OWN_MODEL_GROUPS,
  { ...CLIENT_API, bases: MODELS_BASES, speaker: readerOfLists, routes: MODEL_ROUTES },
  { ...OWN_API, bases: [...BASES, ...BASES.map((base) => `${base}/management`)], routes: [RECORD] },
  { ...CLIENT_API, bases: BASES, routes: [EXPLANATION] },
];

/** All paths of a POST route. */
export function pathsOf(
  { path, isWhole }: { readonly path: string; readonly isWhole?: true },
  bases: readonly string[] = [],
): readonly string[] {
  return (isWhole ? [''] : [...CLIENT_BASES, ...bases]).map((base) => base + path);
}

/** All routes. */
export function servedRoutes(): readonly ServedRoute[] {
  const socket = { ...OWN_API, bases: BASES, routes: [SOCKET_ROUTE] };
  return [...posts(), ...remote(), ...[socket, ...CLIENT_GROUPS, ...SERVICE_GROUPS].flatMap(servedBy)];
}

/** POST routes of the protocols. Paths described by the same function are one route. */
function posts(): readonly ServedRoute[] {
  return servedProtocols.flatMap((protocol) => {
    const { addresses } = protocol.server;
    const all = postRoutes(protocol);
    return [...new Set(all.map(({ describes }) => describes))].map((describes): ServedRoute => {
      const routes = all.filter((route) => route.describes === describes);
      const paths = routes.flatMap((route) => pathsOf(route, addresses.bases));
      return {
        method: 'post',
        paths,
        audience: 'models',
        errors: addresses.errors,
        describes() {
          const described = describes();
          return 'length' in described
            ? described
            : [{ ...described, method: 'post', path: paths[0] ?? '' } satisfies RouteDescription];
        },
      };
    });
  });
}

/** Routes for answers stored at upstreams. */
function remote(): readonly ServedRoute[] {
  return servedProtocols.flatMap(({ server: { remoteAnswers, addresses } }) =>
    servedBy({
      bases: remoteAnswers?.collections ?? [],
      audience: 'models',
      errors: addresses.errors,
      routes: (remoteAnswers?.operations ?? []).map(({ method, suffix, describes }) => ({
        ...describes,
        method: method.toLowerCase() as Method,
        path: `/{id}${suffix}`,
      })),
    }),
  );
}
