// Answers to requests that nobody serves: a path that does not exist is a 404, one that exists for other methods a 405
// with `allow` (RFC 9110, 15.5.6). Knows no path by itself.
import { GatewayError } from '../canonical/index.ts';
import type { RouteTable } from './routes/served-routes.ts';

/** Longest part of an address that an error repeats, in characters. */
export const LONGEST_PATH = 200;

/**
 * @param hint what to do instead, as a sentence; empty where nothing is known
 * @returns the error for a request that no route takes
 */
export function nothingThere(method: string, path: string, served: RouteTable, hint = ''): GatewayError {
  const shown = path.slice(0, LONGEST_PATH);
  const allowed = served.methodsAt(path).filter((each) => each !== method);
  return allowed.length === 0 ? nothingAt(method, shown, hint) : wrongMethod(method, shown, allowed);
}

/** The error for a path that does not exist. @param hint as for `nothingThere` */
export function nothingAt(method: string, path: string, hint: string): GatewayError {
  return new GatewayError('not_found', `There is nothing at ${method} ${path}. ${hint}`.trimEnd());
}

/**
 * The error for a path that exists for other methods.
 * @param allowed methods that the path takes, at least one
 */
export function wrongMethod(method: string, path: string, allowed: readonly string[]): GatewayError {
  const only = `${allowed.join(', ')}${allowed.length === 1 ? ' only' : ''}`;
  return new GatewayError('invalid_request', `${path} does not take ${method}: it takes ${only}.`, {
    code: 'method_not_allowed',
    httpStatus: 405,
    allow: allowed,
  });
}
