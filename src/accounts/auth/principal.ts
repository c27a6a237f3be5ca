// The principal of a request, and the headers that carry its key.
import { GatewayError, type KeyRole, type RoutingWishes } from '../../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** The authenticated key of a request, and its project. */
export interface Principal {
  readonly keyId: string;
  /**
   * Owner of everything that this key stores: the id of its project, or the key's own id if it has none.
   */
  readonly projectId: string;
  readonly roles: readonly KeyRole[];
  readonly name: string;
  /** `null`: never. */
  readonly expiresAt: UnixMs | null;
  /** True if the key may use a model. Patterns with `*` are compiled when the key is loaded. */
  readonly mayUse: (modelId: string) => boolean;
  /** Whether prompts and answers are logged; null: the default of the configuration. */
  readonly logContent: boolean | null;
  /** Strict mode: requests with losses are refused; null: the default of the configuration. */
  readonly strict: boolean | null;
  /** Handling of answers whose client disconnects; null: the default of the configuration. */
  readonly onDisconnect: string | null;
  /** Limits of the key, in addition to those of its project. */
  readonly limits: readonly LimitEntry[];
  /** Routing preferences for requests without any. Null: those of the configuration. */
  readonly routing: RoutingWishes | null;
}

/** Messages for a key that lacks a role. */
const REFUSALS: Readonly<Record<KeyRole, string>> = {
  models:
    'is for managing this gateway and may not call models; give it the role `models`, or use another key',
  admin: 'may not manage this gateway: that takes a key of role `admin`, or `server.admin_key`',
};

/**
 * Returns the principal if it has the role.
 * @throws GatewayError `permission` with code `permission_denied`
 */
export function withRole(principal: Principal, role: KeyRole): Principal {
  if (principal.roles.includes(role)) return principal;
  throw new GatewayError('permission', `The API key "${principal.name}" ${REFUSALS[role]}.`, {
    code: 'permission_denied',
  });
}

/**
 * Key in the headers of a request: the first of `Authorization: Bearer`, `x-api-key` and `x-goog-api-key`.
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
