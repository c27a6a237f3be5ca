// Routes for clients with an API key: the context of a call, and how requests are read and answered.
import type { Hono } from 'hono';
import { z } from 'zod';
import { presentedKey, type Principal } from '../../accounts/auth/index.ts';
import type { LedgerStore } from '../../accounts/ports/index.ts';
import { asObject, type JsonObject } from '../../base/json/index.ts';
import type { Connection } from '../../base/runtime/http-server.ts';
import type { Gateway } from '../../engine/index.ts';
import { mainProtocol, type ServerCodec } from '../../protocols/index.ts';
import { announcedBytes, readBody } from '../body/body.ts';
import { headersOf } from '../client-protocol.ts';
import { reply } from '../reply.ts';
import type { ModelsDependencies } from './models-routes.ts';
import { mayLackBody, type RawCall, type Route, routerPath, routesOf, withoutVerb } from './route.ts';
import type { RouteGroup } from './served-routes.ts';
import type { StateDependencies } from './state-routes.ts';
import type { UnixMs } from '../../base/units.ts';

export interface ClientDependencies extends StateDependencies, ModelsDependencies {
  readonly ledger: Pick<LedgerStore, 'find'>;
  readonly gateway: Pick<Gateway, 'explain'>;
  /** Principal of a key by its id. Throws GatewayError if the key is no longer valid. */
  readonly keyById: (keyId: string) => Principal;
}

/** A request before validation of query and body. Empty query parameters count as absent. */
export interface ClientCall extends RawCall {
  readonly deps: ClientDependencies;
  readonly principal: Principal;
  readonly projectId: string;
  readonly now: UnixMs;
  /** Protocol of the response. */
  readonly server: ServerCodec;
  /** The whole query, for parameters with several notations. */
  readonly search: URLSearchParams;
  /** The body as it was sent, from which stored and forwarded data is taken. */
  readonly sent: JsonObject;
  /** Length of the body. */
  readonly sentBytes: number;
  readonly requestId: string;
  /** For handlers that stream the body. */
  readonly request: Request;
  readonly connection: Connection;
}

export type ClientRoute = Route<ClientCall>;

export interface ClientGroup extends RouteGroup<ClientRoute> {
  /** False: the request belongs to later routes with the same path. Absent: no other routes share it. */
  readonly takes?: (request: Request) => boolean;
  /** Protocol of the client. Absent or undefined: the gateway's own. */
  readonly speaker?: (request: Request) => ServerCodec | undefined;
  /**
   * Returns the principal of a request without a key, by a secret in its path. Absent: every request needs a key.
   * @param param a parameter of the path, decoded
   */
  readonly principalOf?: (deps: ClientDependencies, param: (name: string) => string) => Promise<Principal>;
}

/** Creates a route from its specification. Undescribed query parameters are ignored. */
export const clientRoute = routesOf<ClientCall>(z.object({}));

/** Values for handlers in addition to the request. */
export interface ConnectedEnv {
  Bindings: { readonly connection: Connection };
}

/** Registers the routes of a group. */
export function serveGroup(hono: Hono<ConnectedEnv>, deps: ClientDependencies, group: ClientGroup): void {
  for (const base of group.bases)
    for (const route of group.routes)
      hono.on(route.method.toUpperCase(), base + routerPath(route), ({ req, env: { connection } }, next) => {
        const request = req.raw;
        if (group.takes?.(request) === false) return next();
        const server = group.speaker?.(request);
        const header = server ? headersOf(request, server) : (name: string) => request.headers.get(name);
        const param = (name: string): string => withoutVerb(route, name, req.param(name) ?? '');
        const { principalOf } = group;
        const principal =
          principalOf && presentedKey(header) === null ? () => principalOf(deps, param) : undefined;
        return reply(
          deps,
          request,
          async (principal, hold, requestId) => {
            const read = hasBody(route, request)
              ? await readBody(request, announcedBytes(request), deps.bodies, hold)
              : null;
            const query = Object.entries(req.query()).filter(([, value]) => value !== '');
            return route.answerTo({
              deps,
              principal,
              projectId: principal.projectId,
              now: deps.now(),
              server: server ?? mainProtocol.server,
              param,
              query: Object.fromEntries(query),
              search: new URL(request.url).searchParams,
              body: read?.json,
              sent: asObject(read?.json),
              sentBytes: read?.body.bytes.length ?? 0,
              requestId,
              request,
              connection,
            });
          },
          { server, header, principal },
        );
      });
}

function hasBody(route: ClientRoute, request: Request): boolean {
  if (!route.body || route.bodyMedia) return false;
  const isAbsent = request.body === null || request.headers.get('content-length') === '0';
  return !(isAbsent && mayLackBody(route));
}
