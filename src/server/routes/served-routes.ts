// Every method and path that this server answers, each with what is said of it: of these `/openapi.json` is made, and by these
// whoever reaches nothing is told what there is.
import type { Method, NamedShape, RouteDescription } from '../../base/lib/route-description.ts';
import { routerPath } from './route.ts';

/** Caller that may ask: a key that may call models, an admin, or everybody. */
export type Audience = 'models' | 'admin' | 'everybody';

/** In whose shape errors are answered; `any`: in that of the client, by which it is known. */
export type ErrorShape = NamedShape | 'any';

/** Routes that stand below the same addresses, for the same audience. */
export interface RouteGroup<Route extends RouteDescription = RouteDescription> {
  /** Beginnings of paths. The first is the one that the description names. */
  readonly bases: readonly string[];
  readonly audience: Audience;
  readonly errors: ErrorShape;
  readonly routes: readonly Route[];
}

/** Addresses at which the same is answered. */
export interface ServedRoute {
  readonly method: Method;
  /** Whole paths as the router has them: `:name` stands for a parameter, a `*` at the end for the rest. */
  readonly paths: readonly string[];
  /** True: GET opens a WebSocket. */
  readonly isSocket?: boolean;
  readonly audience: Audience;
  readonly errors: ErrorShape;
  /** Descriptions of it, with whole paths; several where more than the path decides what is asked for. */
  readonly describes: () => readonly RouteDescription[];
}

/** The routes of a group with their whole paths. */
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

/** Tells of a path which methods it takes. */
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

  /** Methods that a path takes, in alphabetical order; empty where it takes none. */
  methodsAt(pathname: string): readonly string[] {
    const found = this.#routes.filter(({ pattern }) => pattern.test(pathname));
    const methods = new Set(found.map(({ method }) => method));
    // A route that answers the one answers the other without a body.
    if (methods.has('GET') && !found.some(({ isSocket }) => isSocket)) methods.add('HEAD');
    return [...methods].toSorted();
  }

  /** Methods of the routes that are this very path, without a parameter. */
  methodsOf(pathname: string): readonly string[] {
    return this.#routes.filter(({ path }) => path === pathname).map(({ method }) => method);
  }
}

/** The paths of a route: `:name` is one segment, `:name{.+}` and a `*` at the end are the rest, `:name{.+:verb}` one that ends so. */
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
