// Every method and path that this server answers, as its routers have them: what the description of its API is compared with.
import type { RouterRoute } from 'hono/types';
import { servedProtocols } from '../../protocols/index.ts';

export interface ServedRoute {
  /** In upper case. */
  readonly method: string;
  /** `:name` stands for a parameter, a `*` at the end for the rest. */
  readonly path: string;
}

/**
 * @param hot paths that are matched natively, for POST
 * @param routes of the router for the rest
 * @param sockets paths on which clients open WebSockets
 */
export function servedRoutes(
  hot: readonly string[],
  routes: readonly RouterRoute[],
  sockets: ReadonlySet<string>,
): readonly ServedRoute[] {
  const remote = servedProtocols.flatMap(({ server: { remoteAnswers } }) =>
    (remoteAnswers?.collections ?? []).flatMap((path) =>
      (remoteAnswers?.operations ?? []).map(({ method, suffix }) => ({
        method,
        path: `${path}/:id${suffix}`,
      })),
    ),
  );
  // What is below a collection of such answers is in `remote`, method by method.
  const collections = new Set(
    servedProtocols.flatMap(({ server }) =>
      (server.remoteAnswers?.collections ?? []).map((path) => `${path}/*`),
    ),
  );
  return [
    ...hot.filter((path) => !collections.has(path)).map((path) => ({ method: 'POST', path })),
    ...routes.filter(({ method }) => method !== 'ALL').map(({ method, path }) => ({ method, path })),
    ...[...sockets].map((path) => ({ method: 'GET', path })),
    ...remote,
  ];
}
