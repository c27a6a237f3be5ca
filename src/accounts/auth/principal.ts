// Identity of the person or program behind a request. Knows nothing of keys' forms or storage.
import { GatewayError, type KeyRole, type RoutingWishes } from '../../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** Sender of a request: a key, and the project that it belongs to. */
export interface Principal {
  readonly keyId: string;
  /**
   * Owner of all that this key stores, and that finds it: the id of the key's project; the key's own id where it has none.
   */
  readonly projectId: string;
  readonly roles: readonly KeyRole[];
  readonly name: string;
  /** `null`: never. */
  readonly expiresAt: UnixMs | null;
  /** May this key use the model? Patterns with `*` were compiled when the key was loaded. */
  readonly mayUse: (modelId: string) => boolean;
  /** Whether prompts and answers are kept; null: as the configuration says. */
  readonly logContent: boolean | null;
  /** Whether a request of which something would be lost is refused; null: as for everybody. */
  readonly strict: boolean | null;
  /** Fate of an answer whose client leaves; null: as the configuration says. */
  readonly onDisconnect: string | null;
  /** Limits of the key, besides those of its project. */
  readonly limits: readonly LimitEntry[];
  /** Routing wishes of requests that name none. Null: the gateway's. */
  readonly routing: RoutingWishes | null;
}

/** Refusals of a key without the role. */
const REFUSALS: Readonly<Record<KeyRole, string>> = {
  models:
    'is for managing this gateway and may not call models; give it the role `models`, or use another key',
  admin: 'may not manage this gateway: that takes a key of role `admin`, or `server.admin_key`',
};

/**
 * The same principal, where it has the role.
 * @throws GatewayError `permission` with code `permission_denied`
 */
export function withRole(principal: Principal, role: KeyRole): Principal {
  if (principal.roles.includes(role)) return principal;
  throw new GatewayError('permission', `The API key "${principal.name}" ${REFUSALS[role]}.`, {
    code: 'permission_denied',
  });
}

// Places in which a request carries its key.

/**
 * The key in a request's headers: `Authorization: Bearer`, `x-api-key` or `x-goog-api-key`, the first that is there.
 * @param header reads a header by lower-case name
 */
export function presentedKey(header: (name: string) => string | null): string | null {
  const authorization = header('authorization');
  if (
    authorization !== null &&
    authorization.length > 7 &&
    authorization.slice(0, 7).toLowerCase() === 'bearer '
  ) {
    const key = authorization.slice(7).trim();
    if (key !== '') return key;
  }
  return header('x-api-key')?.trim() || header('x-goog-api-key')?.trim() || null;
}
