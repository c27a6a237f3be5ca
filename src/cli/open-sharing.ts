// What several processes share through a server of Valkey or Redis. None of it is loaded where none is configured.
import { type Config, ConfigError } from '../config/index.ts';
import type { Leases } from '../leases/index.ts';
import type { LedgerSums, LimitRule } from '../limits/index.ts';
import type { Clock } from '../runtime/clock.ts';
import { newId } from '../runtime/ids.ts';
import type { Logger } from '../telemetry/log.ts';

/** How long a lease holds that is not renewed, in milliseconds: so long a vanished process keeps what it had. */
const LEASE_MS = 3000;

interface SharingParts {
  readonly config: Config;
  readonly ledger: LedgerSums;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface Sharing {
  /** @param periodStart Unix milliseconds at which the calendar period of a time began */
  leases(periodStart: (rule: LimitRule, nowMs: number) => number): Leases;
  close(): void;
}

/** Null where this process shares nothing. Throws ConfigError. */
export async function openSharing(parts: SharingParts): Promise<Sharing | null> {
  const { config, ledger, clock, log } = parts;
  const url = config.redisUrl?.reveal();
  if (url === undefined) return null;
  const { isServerUrl, ValkeyCounterStore, ValkeyServer } = await import('../valkey/index.ts');
  const { Leases } = await import('../leases/index.ts');
  if (!isServerUrl(url))
    throw new ConfigError('redis_url', 'must begin with redis://, rediss://, valkey:// or valkeys://');
  const elapsed = (): number => performance.now();
  const server = new ValkeyServer(url, config.upstream.network.ca, elapsed);
  return {
    leases: (periodStart) =>
      new Leases({
        store: new ValkeyCounterStore(server, LEASE_MS),
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
    close: () => server.close(),
  };
}
