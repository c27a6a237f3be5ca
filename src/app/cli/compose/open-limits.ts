// Combines the limits of the configuration and of keys and projects.
import type { KeyIndex } from '../../../accounts/auth/index.ts';
import type { Config } from '../../config/index.ts';
import {
  type LedgerSums,
  type LimitEntry,
  Limits,
  type LimitSource,
  type Owner,
  RestoredLimits,
  type Written,
} from '../../../accounts/limits/index.ts';
import type { SharedLimits } from '../../../cluster/counters/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { Sharing } from './open-sharing.ts';
import type { DurationMs } from '../../../base/units.ts';

interface LimitParts {
  /** The current one. */
  readonly config: () => Config;
  readonly keys: Pick<KeyIndex, 'limitsOf' | 'principals' | 'projects'>;
  readonly ledger: LedgerSums;
  readonly clock: Clock;
  readonly log: Logger;
  /** Sharing of counts. Null: single process. */
  readonly sharing: Sharing | null;
}

export interface OpenLimits {
  readonly limits: Limits;
  /** Called when the configuration, keys or projects changed. @param changed only these owners */
  refresh(changed?: readonly Owner[]): void;
  /**
   * Resolves once counters include earlier spend, or after a timeout; then requests wait for them, and are refused
   * after some time. Rejects when the ledger cannot be read.
   */
  restored(): Promise<void>;
  /** Limits shared between processes. Null: not shared. */
  readonly shared: SharedLimits | null;
  /** Limits that are less strict while the counter server is unreachable, one sentence each. */
  readonly degraded: () => readonly string[];
  /** Reports pending counts to other processes. */
  close(): Promise<void>;
}

/** How long a start waits for the ledger; how long a request does at a time, up to twelve times; when it is tried again. */
const START_MS = 2_000;
const WAIT_MS = 1_000;
const RETRY_MS = 1_000;

/** The limits of the gateway. */
export function openLimits(parts: LimitParts): OpenLimits {
  const { ledger, clock, log, sharing } = parts;
  const { now } = clock;
  const shared = sharing && sharing.limits((rule, nowMs) => limits.limiter.periodStart(rule.window, nowMs));
  const limits: Limits = new Limits(sourceOf(parts), now, shared, clock.wall);
  if (shared)
    return {
      limits,
      shared,
      degraded: () => shared.degraded,
      refresh: (changed) => limits.refresh(changed),
      // One process reads the ledger for all, when counters are needed.
      restored: () => shared.open(),
      close: () => shared.stop(),
    };
  const pause = (ms: DurationMs): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
  const restored = new RestoredLimits({ limits, ledger, now, pause: () => pause(WAIT_MS) });
  let isOpen = false;
  const goOn = async (reading: Promise<void>): Promise<void> => {
    let isLogged = false;
    for (let at = reading; isOpen; at = restored.catchUp())
      try {
        await at;
        return log.info('limit usage has been restored from the ledger');
      } catch (error) {
        if (!isOpen) return;
        if (!isLogged)
          log.error(
            'limit usage could not be restored from the ledger; requests under these limits are refused',
            {
              error,
            },
          );
        isLogged = true;
        await pause(RETRY_MS);
      }
  };
  return {
    limits,
    shared: null,
    degraded: () => [],
    refresh(changed) {
      limits.refresh(changed);
      if (!isOpen) return;
      restored
        .catchUp(changed)
        .catch((error: unknown) =>
          log.error('the ledger could not be read; new limits start at zero usage', { error }),
        );
    },
    async restored() {
      const whole = restored.catchUp();
      isOpen = true;
      const late = Promise.withResolvers<boolean>();
      const stopWaiting = clock.after(START_MS, () => late.resolve(true));
      const isLate = await Promise.race([whole.then(() => false), late.promise]).finally(stopWaiting);
      if (!isLate) return;
      log.warn('limit usage is still being restored from older records; requests under these limits wait');
      void goOn(whole);
    },
    close() {
      isOpen = false;
      return Promise.resolve();
    },
  };
}

const NONE: readonly LimitEntry[] = [];

function sourceOf({ config, keys }: LimitParts): LimitSource {
  const entriesOf: LimitSource['entriesOf'] = (kind, id) => {
    const { limits, budgets, providers } = config();
    if (kind === 'gateway') return [...limits, ...budgets];
    if (kind === 'provider') return (own(providers, id) || undefined)?.limits ?? NONE;
    return kind === 'project' ? keys.projects.limitsOf(id) : keys.limitsOf(id);
  };
  function* all(): Iterable<Written> {
    yield { owner: { kind: 'gateway', id: '', name: '' }, entries: entriesOf('gateway', '') };
    for (const [kind, names] of [
      ['project', keys.projects.names()],
      ['provider', Object.keys(config().providers)],
    ] as const)
      for (const id of names) yield { owner: { kind, id, name: id }, entries: entriesOf(kind, id) };
    for (const { keyId, name, limits } of keys.principals())
      yield { owner: { kind: 'key', id: keyId, name }, entries: limits };
  }
  return {
    entriesOf,
    limitsProviders: () =>
      Object.values(config().providers).some((provider) => provider && provider.limits.length > 0),
    *all() {
      for (const written of all()) if (written.entries.length > 0) yield written;
    },
  };
}

/** Own property of an untrusted name, which may also be a method's. */
function own<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
