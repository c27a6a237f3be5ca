// Accounts: keys and projects, their limits, and sharing of changes and counts with other processes.
import { KeyIndex } from '../../../accounts/auth/index.ts';
import type { LedgerSums, Limits } from '../../../accounts/limits/index.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Siblings } from '../../../cluster/workers/index.ts';
import { type OpenLimits, openLimits } from './open-limits.ts';
import type { Settings } from './open-settings.ts';
import type { Sharing } from './open-sharing.ts';
import { configuredTenants } from './open-tenants.ts';
import type { Part } from './part.ts';
import { recoverRunning } from './recover-running.ts';
import { counterName, watchReplicas, type WatchedReplicas } from './watch-replicas.ts';

interface AccountParts {
  readonly settings: Settings;
  readonly storage: Storage;
  /** Spend under all names of models. */
  readonly ledger: LedgerSums;
  /** Null: single process. */
  readonly sharing: Sharing | null;
  /** The other workers of the same supervisor. Null: single process. */
  readonly siblings: Siblings | null;
  readonly clock: Clock;
  /** Called when keys or projects changed. */
  readonly changed: () => void;
}

export interface Accounts {
  readonly keys: KeyIndex;
  readonly limits: Limits;
  readonly sharedLimits: OpenLimits['shared'];
  /** Limits that are less strict than configured, one sentence each. */
  readonly degraded: () => readonly string[];
  readonly parts: {
    readonly keys: Part;
    readonly replicas: WatchedReplicas;
    readonly limits: Part;
  };
}

/** Resolves once keys are loaded and counters include earlier spend. Rejects when the database cannot be read. */
export async function openAccounts(parts: AccountParts): Promise<Accounts> {
  const { settings, storage, sharing, clock } = parts;
  const { config, log } = settings;
  const self = counterName(parts.siblings !== null);
  const replicas = watchReplicas({ config: config(), storage, clock, log, self });
  let changes: ReturnType<Sharing['tenants']> | undefined;
  const keys = new KeyIndex({
    storage,
    pepper: await storage.secret('pepper'),
    earlierPeppers: await storage.earlierSecrets('pepper'),
    configured: configuredTenants(config()),
    onChange(changed) {
      opened.refresh(changed);
      if (limits.written(changed).some(({ entries }) => entries.length > 0)) replicas.limitsChanged();
      changes?.found();
      parts.changed();
    },
  });
  const opened = openLimits({ config, keys, ledger: parts.ledger, clock, log, sharing });
  const { limits } = opened;
  await keys.refresh();
  void replicas.look();
  await recoverRunning(storage);
  await opened.restored();
  const unread = (error: unknown): void => log.error('API keys could not be reloaded', { error });
  let stopKeys: (() => void) | undefined;
  return {
    keys,
    limits,
    sharedLimits: opened.shared,
    degraded: () => [...opened.degraded(), ...replicas.degraded()],
    parts: {
      keys: {
        start() {
          stopKeys = keys.watch(unread);
          changes = sharing?.tenants(() => keys.refresh(), unread);
        },
        reload: (next) => keys.configure(configuredTenants(next.config)),
        stop: () => stopKeys?.(),
      },
      replicas,
      limits: { reload: () => opened.refresh(), stop: () => opened.close() },
    },
  };
}
