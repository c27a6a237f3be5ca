// What several processes share: through a server of Valkey or Redis, or workers through their supervisor. None of it is
// loaded where there is nobody to share with.
import { type Config, ConfigError } from '../config/index.ts';
import type { Leases } from '../leases/index.ts';
import type { CounterStore, LedgerSums, LimitRule } from '../limits/index.ts';
import type { Clock } from '../runtime/clock.ts';
import { newId } from '../runtime/ids.ts';
import type { Logger } from '../telemetry/log.ts';
import type { Siblings } from '../workers/index.ts';

/** How long a lease holds that is not renewed, in milliseconds: so long a vanished process keeps what it had. */
export const LEASE_MS = 3000;

interface SharingParts {
  readonly config: Config;
  readonly ledger: LedgerSums;
  readonly clock: Clock;
  readonly log: Logger;
  /** The other workers of the same supervisor; null for a process alone. */
  readonly siblings: Siblings | null;
}

export interface Sharing {
  /** @param periodStart Unix milliseconds at which the calendar period of a time began */
  leases(periodStart: (rule: LimitRule, nowMs: number) => number): Leases;
  close(): void;
}

/** What a store takes with it. */
interface OpenStore {
  readonly store: CounterStore;
  readonly close: () => void;
}

/** Null where this process shares nothing. Throws ConfigError. */
export async function openSharing(parts: SharingParts): Promise<Sharing | null> {
  const { config, ledger, clock, log } = parts;
  const opened = await openStore(parts);
  if (!opened) return null;
  const { Leases } = await import('../leases/index.ts');
  return {
    leases: (periodStart) =>
      new Leases({
        store: opened.store,
        holder: newId('proc_'),
        leaseMs: LEASE_MS,
        ledger,
        periodStart,
        clock,
        elapsed,
        whenUnreachable: config.counters.whenUnreachable,
        processes: config.counters.processes,
        log,
      }),
    close: opened.close,
  };
}

async function openStore({ config, siblings }: SharingParts): Promise<OpenStore | null> {
  const url = config.redisUrl?.reveal();
  if (url !== undefined) {
    const { isServerUrl, ValkeyCounterStore, ValkeyServer } = await import('../valkey/index.ts');
    if (!isServerUrl(url))
      throw new ConfigError('redis_url', 'must begin with redis://, rediss://, valkey:// or valkeys://');
    const server = new ValkeyServer(url, config.upstream.network.ca, elapsed);
    return { store: new ValkeyCounterStore(server, LEASE_MS), close: () => server.close() };
  }
  if (!siblings) return null;
  const { SupervisorCounterStore } = await import('../workers/index.ts');
  return { store: new SupervisorCounterStore(siblings.channel), close: () => {} };
}

/** Milliseconds that only go forward. */
function elapsed(): number {
  return performance.now();
}
