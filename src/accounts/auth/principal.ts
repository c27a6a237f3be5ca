// The principal of a request: its key and project, with what they may do.
import type { KeyRole, RoutingWishes } from '../../canonical/index.ts';
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
  /** True: prompts and answers are logged. Null: the default of the configuration. */
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
