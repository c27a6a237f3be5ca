// Errors for requests without a route: 404 for an unknown path, 405 with `allow` for one with other methods (RFC 9110,
// 15.5.6).
import { GatewayError } from '../canonical/index.ts';
import type { RouteTable } from './routes/served-routes.ts';

/** Maximum characters of an address quoted in an error. */
export const LONGEST_PATH = 200;

/** Advice where no route is near. */
export const ALL_ROUTES = '`GET /openapi.json` lists all routes.';

/** @returns the error for a request that no route accepts */
export function noSuchRoute(method: string, path: string, served: RouteTable): GatewayError {
  const shown = path.slice(0, LONGEST_PATH);
  const allowed = served.methodsAt(path).filter((each) => each !== method);
  return allowed.length === 0 ? unknownPath(method, shown, ALL_ROUTES) : wrongMethod(method, shown, allowed);
}

/** The error for an unknown path. @param hint advice as a sentence */
export function unknownPath(method: string, path: string, hint: string): GatewayError {
  return new GatewayError('not_found', `There is no route for ${method} ${path}. ${hint}`);
}

/** The error for a path with other methods. @param allowed methods of the path, at least one */
export function wrongMethod(method: string, path: string, allowed: readonly string[]): GatewayError {
  const only = `${allowed.join(', ')}${allowed.length === 1 ? ' only' : ''}`;
  return new GatewayError('invalid_request', `${path} does not support ${method}. Supported: ${only}.`, {
    code: 'method_not_allowed',
    httpStatus: 405,
    allow: allowed,
  });
}
