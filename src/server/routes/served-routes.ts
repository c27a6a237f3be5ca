// All methods and paths of this server with their descriptions, used for `/openapi.json` and for hints in 404
// responses.
import type { Method, NamedShape, RouteDescription } from '../../base/lib/route-description.ts';
import { routerPath } from './route.ts';

/** Permitted callers: a key for models, an admin, or everybody. */
export type Audience = 'models' | 'admin' | 'everybody';

/** Format of errors. `any`: that of the detected client. */
export type ErrorShape = NamedShape | 'any';

/** Routes with the same base paths and audience. */
export interface RouteGroup<Route extends RouteDescription = RouteDescription> {
  /** Base paths; the first is used in descriptions. */
  readonly bases: readonly string[];
  readonly audience: Audience;
  readonly errors: ErrorShape;
  readonly routes: readonly Route[];
}

/** Addresses of one route. */
export interface ServedRoute {
  readonly method: Method;
  /** Full paths in the router's syntax: `:name` is a parameter, a final `*` matches the rest. */
  readonly paths: readonly string[];
  /** True: GET opens a WebSocket. */
  readonly isSocket?: boolean;
  readonly audience: Audience;
  readonly errors: ErrorShape;
  /** Descriptions with full paths; several if more than the path selects the operation. */
  readonly describes: () => readonly RouteDescription[];
}

/** The routes of a group with full paths. */
export function servedBy({ bases, audience, errors, routes }: RouteGroup): readonly ServedRoute[] {
  return routes.map((route) => ({
    method: route.method,
    paths: bases.map((base) => base + routerPath(route)),
    isSocket: route.status === 101,
    audience,
    errors,
    describes: () => [{ ...route, path: (bases[0] ?? '') + route.path }],
  }));
}

/** Finds the methods of a path. */
export class RouteTable {
  readonly #routes: readonly {
    readonly method: string;
    readonly path: string;
    readonly isSocket: boolean;
    readonly pattern: RegExp;
  }[];

  constructor(served: readonly ServedRoute[]) {
    this.#routes = served.flatMap(({ method, paths, isSocket = false }) =>
      paths.map((path) => ({
        method: method.toUpperCase(),
        path,
        isSocket,
        pattern: routePattern(path),
      })),
    );
  }

  /** Methods of a path in alphabetical order. Empty: unknown path. */
  methodsAt(pathname: string): readonly string[] {
    const found = this.#routes.filter(({ pattern }) => pattern.test(pathname));
    const methods = new Set(found.map(({ method }) => method));
    // GET routes also answer HEAD, without a body.
    if (methods.has('GET') && !found.some(({ isSocket }) => isSocket)) methods.add('HEAD');
    return [...methods].toSorted();
  }

  /** Methods of routes with exactly this path, without parameters. */
  methodsOf(pathname: string): readonly string[] {
    return this.#routes.filter(({ path }) => path === pathname).map(({ method }) => method);
  }
}

/**
 * Pattern of a route: `:name` is one segment, `:name{.+}` and a final `*` are the rest, `:name{.+:verb}` the rest with
 * a final verb.
 */
function routePattern(path: string): RegExp {
  const source = path.split('/').map((part) => {
    const deep = part === '*' ? '' : /^:\w+\{\.\+(.*)\}$/.exec(part)?.[1];
    if (deep !== undefined) return `.+${deep}`;
    return part
      .replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
      .replaceAll(/:\w+/g, '[^/]+')
      .replace(/\*$/, '.+');
  });
  return new RegExp(`^${source.join('/')}$`);
}
