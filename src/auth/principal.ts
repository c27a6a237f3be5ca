// What the rest of the gateway knows of the person or program behind a request. Knows nothing of keys' forms or
// storage.
import type { RoutingWishes } from '../canonical/index.ts';

/** Who is asking: one API key is one tenant. */
export interface Principal {
  readonly keyId: string;
  readonly name: string;
  /** Unix milliseconds; null: never. */
  readonly expiresAt: number | null;
  /** May this key use the model? Patterns with `*` were compiled when the key was loaded. */
  readonly mayUse: (modelId: string) => boolean;
  readonly logContent: boolean;
  /** Whether a request of which something would be lost is refused; null: as for everybody. */
  readonly strict: boolean | null;
  /** What holds when the request says nothing about routing; null: what holds for everybody. */
  readonly routing: RoutingWishes | null;
}
