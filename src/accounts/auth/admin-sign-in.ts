// Administrators: keys of the role `admin`, the key of `server.admin_key`, and commands with an operator token, which
// is good for one request. Knows no path.
import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../canonical/index.ts';
import type { KeyIndex } from './key-index.ts';
import { isForGateway, isOperatorToken, looksLikeOperatorToken } from './operator-token.ts';
import { presentedKey, type Principal, withRole } from './principal.ts';
import type { UnixMs } from '../../base/units.ts';

export interface AdminSignInOptions {
  readonly keys: Pick<KeyIndex, 'authenticate'>;
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  /** Token with which the console of this process asks for the operator. It never leaves the process. */
  readonly inProcess: string;
  /** `http://host:port` at which this process listens. */
  readonly origin: () => string;
  readonly now: () => UnixMs;
}

/** A request that manages. */
export interface AdminRequest {
  readonly method: string;
  /** Whole address. */
  readonly url: string;
  /** Reads a header by lower-case name. */
  readonly header: (name: string) => string | null;
}

/** Finds out who manages. */
export type AdminSignIn = (request: AdminRequest) => Principal;

/** A command of the machine on which the gateway runs. */
const OPERATOR: Principal = {
  keyId: 'operator',
  projectId: 'operator',
  name: 'operator',
  roles: ['admin'],
  expiresAt: null,
  mayUse: () => false,
  logContent: false,
  onDisconnect: null,
  strict: null,
  routing: null,
  limits: [],
};

/** True for whoever signed in with a token: it was good for a moment, and what it opened goes on. */
export function isOperator(principal: Principal): boolean {
  return principal === OPERATOR;
}

/**
 * Makes what finds out who manages.
 * @returns given a request: who asks. Throws GatewayError `authentication` for a key that is missing or not known,
 *   `permission` for one that is no admin's
 */
export function adminSignIn(options: AdminSignInOptions): AdminSignIn {
  const { keys, operatorSecret, inProcess, origin, now } = options;
  return (request) => {
    const presented = presentedKey(request.header);
    if (presented !== null && isEqual(presented, inProcess)) return OPERATOR;
    if (presented !== null && looksLikeOperatorToken(presented)) {
      if (isForGateway(request.url, origin()) && isOperatorToken(presented, request, operatorSecret, now()))
        return OPERATOR;
      throw new GatewayError(
        'authentication',
        'The operator token is for another request or another gateway, or has expired.',
        { code: 'invalid_api_key' },
      );
    }
    return withRole(keys.authenticate(presented, now()), 'admin');
  };
}

function isEqual(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}
