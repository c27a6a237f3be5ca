// What several processes share: through a server of Valkey or Redis, or workers through their supervisor. None of it is
// loaded where there is nobody to share with.
import { type Config, ConfigError } from '../../config/index.ts';
import type { AnswerExchange } from '../../engine/index.ts';
import type { ExchangedAnswers } from '../../exchange/answers/index.ts';
import type { EventExchange } from '../../exchange/events/index.ts';
import type { AnswerStore, Bulletin, RoutingExchange, TenantChanges } from '../../exchange/index.ts';
import type { EventHub } from '../../events/index.ts';
import type { Leases } from '../../leases/index.ts';
import { type CounterStore, LEASE_MS, type LedgerSums, type LimitRule } from '../../limits/index.ts';
import type { MemoryRoutingState } from '../../routing/index.ts';
import type { Clock } from '../../runtime/clock.ts';
import { newId } from '../../runtime/ids.ts';
import type { Logger } from '../../telemetry/log.ts';
import type { Storage } from '../../storage/ports.ts';
import type { Siblings } from '../../workers/index.ts';

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
  /** @param refresh reads what has changed in the database @param onError told when it cannot be read */
  tenants(refresh: () => Promise<unknown>, onError: (error: unknown) => void): TenantChanges;
  /** What routing knows is told to the others, and heard of them, from now on. */
  shareRouting(routing: MemoryRoutingState): void;
  /** What happens here is told to others while somebody watches there, and the other way round, from now on. */
  shareEvents(events: EventHub): void;
  /** @param limits of all complete answers */
  answers(storage: Pick<Storage, 'secret'>, limits: () => Config['idempotency']): Promise<AnswerExchange>;
  /** Says what is left to say. */
  close(): Promise<void>;
}

/** What processes share it through. */
interface Medium {
  readonly store: CounterStore;
  readonly bulletin: Bulletin;
  readonly answers: AnswerStore;
  readonly close: () => void;
}

/** Null where this process shares nothing. Throws ConfigError. */
export async function openSharing(parts: SharingParts): Promise<Sharing | null> {
  const { config, ledger, clock, log } = parts;
  const holder = newId('proc_');
  const medium = await openMedium(parts, holder);
  if (!medium) return null;
  const { Leases } = await import('../../leases/index.ts');
  const { ExchangedAnswers } = await import('../../exchange/answers/index.ts');
  const { EventExchange } = await import('../../exchange/events/index.ts');
  const { RoutingExchange, TenantChanges } = await import('../../exchange/index.ts');
  let answers: ExchangedAnswers | undefined;
  let exchange: RoutingExchange | undefined;
  let happening: EventExchange | undefined;
  let leases: Leases | undefined;
  const processes = (): number => leases?.processes ?? 1;
  return {
    leases: (periodStart) =>
      (leases = new Leases({
        store: medium.store,
        holder,
        leaseMs: LEASE_MS,
        ledger,
        periodStart,
        clock,
        elapsed,
        whenUnreachable: config.counters.whenUnreachable,
        processes: config.counters.processes,
        log,
      })),
    tenants: (refresh, onError) => new TenantChanges(medium.bulletin, refresh, onError),
    async answers(storage, limits) {
      const secret = await storage.secret('shared answers');
      answers = new ExchangedAnswers({ store: medium.answers, secret, clock, elapsed, limits, log });
      return answers;
    },
    shareRouting(routing) {
      exchange = new RoutingExchange({ bulletin: medium.bulletin, routing, clock, processes });
    },
    shareEvents(events) {
      happening = new EventExchange({ bulletin: medium.bulletin, events, clock, processes });
    },
    async close() {
      happening?.stop();
      exchange?.stop();
      await answers?.stop();
      medium.close();
    },
  };
}

async function openMedium({ config, clock, siblings }: SharingParts, holder: string): Promise<Medium | null> {
  const url = config.redisUrl?.reveal();
  if (url !== undefined) {
    const { isServerUrl, ValkeyAnswerStore, ValkeyBulletin, ValkeyCounterStore, ValkeyServer } =
      await import('../../valkey/index.ts');
    if (!isServerUrl(url))
      throw new ConfigError('redis_url', 'must begin with redis://, rediss://, valkey:// or valkeys://');
    const server = new ValkeyServer(url, config.upstream.network.ca, elapsed);
    const bulletin = new ValkeyBulletin(server, { self: holder, clock, elapsed });
    const close = (): void => {
      bulletin.close();
      server.close();
    };
    const answers = new ValkeyAnswerStore(server);
    return { store: new ValkeyCounterStore(server, LEASE_MS), bulletin, answers, close };
  }
  if (!siblings) return null;
  const { SupervisorAnswerStore, SupervisorBulletin, SupervisorCounterStore } =
    await import('../../workers/index.ts');
  const { channel } = siblings;
  return {
    store: new SupervisorCounterStore(channel),
    bulletin: new SupervisorBulletin(channel),
    answers: new SupervisorAnswerStore(channel),
    close: () => {},
  };
}

/** Milliseconds that only go forward. */
function elapsed(): number {
  return performance.now();
}
