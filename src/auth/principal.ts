// What the rest of the gateway knows of the person or program behind a request. Knows nothing of keys' forms or
// storage.
import { GatewayError, type KeyRole, type RoutingWishes } from '../canonical/index.ts';
import type { LimitEntry } from '../limits/index.ts';

/** Who is asking: a key, and the project that it belongs to. */
export interface Principal {
  readonly keyId: string;
  /**
   * Whom everything belongs to that this key stores, and who may find it: the name of the key's project; the key's own
   * id where it has none.
   */
  readonly projectId: string;
  readonly roles: readonly KeyRole[];
  readonly name: string;
  /** Unix milliseconds; null: never. */
  readonly expiresAt: number | null;
  /** May this key use the model? Patterns with `*` were compiled when the key was loaded. */
  readonly mayUse: (modelId: string) => boolean;
  /** Whether prompts and answers are kept; null: as the configuration says. */
  readonly logContent: boolean | null;
  /** Whether a request of which something would be lost is refused; null: as for everybody. */
  readonly strict: boolean | null;
  /** What it may use and cost, besides what its project may. */
  readonly limits: readonly LimitEntry[];
  /** What holds when the request says nothing about routing; null: what holds for everybody. */
  readonly routing: RoutingWishes | null;
}

/** What a key without the role is told. */
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
