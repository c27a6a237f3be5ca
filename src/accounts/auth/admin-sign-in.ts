// Authenticates administrators: keys with the role `admin`, the key of `server.admin_key`, and operator tokens, each of
// which is valid for one request.
import { timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../canonical/index.ts';
import { type KeyIndex, presentedKey, withRole } from './key-index.ts';
import { isForGateway, isOperatorToken, looksLikeOperatorToken } from './operator-token.ts';
import type { Principal } from './principal.ts';
import type { UnixMs } from '../../base/units.ts';

export interface AdminSignInOptions {
  readonly keys: Pick<KeyIndex, 'authenticate'>;
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  /** Token with which this process's console acts as the operator. It never leaves the process. */
  readonly inProcess: string;
  /** `http://host:port` of this process. */
  readonly origin: () => string;
  readonly now: () => UnixMs;
}

/** A request to the management API. */
export interface AdminRequest {
  readonly method: string;
  /** Full URL. */
  readonly url: string;
  /** Reads a header by lower-case name. */
  readonly header: (name: string) => string | null;
}

/** Authenticates a management request. */
export type AdminSignIn = (request: AdminRequest) => Principal;

/** Principal of commands on the gateway's own machine. */
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

/** True for a principal that signed in with an operator token. Its session may outlive the token. */
export function isOperator(principal: Principal): boolean {
  return principal === OPERATOR;
}

/**
 * Creates the function that authenticates management requests.
 * @returns a function from request to principal. It throws GatewayError `authentication` for a missing or unknown key, and
 *   `permission` for a key without the role `admin`
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
        'The operator token belongs to another request or gateway, or has expired.',
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
