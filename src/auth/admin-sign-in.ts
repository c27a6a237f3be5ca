// Who may manage the gateway: keys of the role `admin`, the key of `server.admin_key`, and commands with an operator
// token. Knows no path.
import { GatewayError } from '../canonical/index.ts';
import type { KeyIndex } from './key-index.ts';
import { isOperatorToken, looksLikeOperatorToken } from './operator-token.ts';
import { presentedKey } from './presented-key.ts';
import { withRole, type Principal } from './principal.ts';

export interface AdminSignInOptions {
  readonly keys: Pick<KeyIndex, 'authenticate'>;
  /** `storage.secret('operator')`. */
  readonly operatorSecret: Uint8Array;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Given a reader of request headers by lower-case name: who manages. */
export type AdminSignIn = (header: (name: string) => string | null) => Principal;

/** A command of the machine on which the gateway runs. */
const OPERATOR: Principal = {
  keyId: 'operator',
  projectId: 'operator',
  name: 'operator',
  roles: ['admin'],
  expiresAt: null,
  mayUse: () => false,
  logContent: false,
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
 * @returns given a reader of request headers by lower-case name: who asks. Throws GatewayError `authentication` for a key
 *   that is missing or not known, `permission` for one that is no admin's
 */
export function adminSignIn({ keys, operatorSecret, now }: AdminSignInOptions): AdminSignIn {
  return (header) => {
    const presented = presentedKey(header);
    if (presented !== null && looksLikeOperatorToken(presented)) {
      if (isOperatorToken(presented, operatorSecret, now())) return OPERATOR;
      throw new GatewayError('authentication', 'The operator token is not of this gateway, or has expired.', {
        code: 'invalid_api_key',
      });
    }
    return withRole(keys.authenticate(presented, now()), 'admin');
  };
}
