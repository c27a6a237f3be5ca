// State shared between processes: through a Valkey or Redis server, or between workers through their supervisor. Not
// loaded by a single process.
import { type Config, ConfigError } from '../../config/index.ts';
import type { AnswerExchange, KeptStreams, RemoteStreams } from '../../../engine/index.ts';
import type { ExchangedAnswers } from '../../../cluster/exchange/answers/index.ts';
import type { EventExchange } from '../../../cluster/exchange/events/index.ts';
import type { AnswerStore, PubSub, RoutingExchange, TenantChanges } from '../../../cluster/exchange/index.ts';
import type { EventHub } from '../../../operations/events/index.ts';
import type { SharedLimits } from '../../../cluster/counters/index.ts';
import {
  type CounterStore,
  LEASE_MS,
  type LedgerSums,
  type LimitRule,
} from '../../../accounts/limits/index.ts';
import type { MemoryRoutingState } from '../../../engine/routing/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { newId } from '../../../base/runtime/ids.ts';
import type { Logger } from '../../../base/telemetry/log.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Siblings } from '../../../cluster/workers/index.ts';
import type { UnixMs } from '../../../base/units.ts';

interface SharingParts {
  readonly config: Config;
  readonly ledger: LedgerSums;
  readonly storage: Pick<Storage, 'secret' | 'earlierSecrets'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** The other workers of the same supervisor. Null: single process. */
  readonly siblings: Siblings | null;
}

export interface Sharing {
  /** @param periodStart returns the start of the calendar period of a time, in Unix milliseconds */
  limits(periodStart: (rule: LimitRule, nowMs: UnixMs) => number): SharedLimits;
  /** @param refresh reads changes from the database @param onError called when reading fails */
  tenants(refresh: () => Promise<unknown>, onError: (error: unknown) => void): TenantChanges;
  /** Starts exchanging routing measurements with other processes. */
  shareRouting(routing: MemoryRoutingState): void;
  /** Starts exchanging events with other processes while they have subscribers. */
  shareEvents(events: EventHub): void;
  /** @param limits of all complete answers */
  answers(storage: Pick<Storage, 'secret'>, limits: () => Config['idempotency']): Promise<AnswerExchange>;
  /** Makes streams resumable across processes. Called after `answers`. */
  streams(kept: KeptStreams): RemoteStreams | null;
  /** Sends what is still pending. */
  close(): Promise<void>;
}

/** Channel between the processes. */
interface Medium {
  readonly store: CounterStore;
  readonly pubSub: PubSub;
  readonly answers: AnswerStore;
  readonly close: () => void;
}

/** Null: this process shares nothing. Throws ConfigError. */
export async function openSharing(parts: SharingParts): Promise<Sharing | null> {
  const { config, ledger, clock, log } = parts;
  const holder = newId('proc_');
  const medium = await openMedium(parts, holder);
  if (!medium) return null;
  const { SharedLimits } = await import('../../../cluster/counters/index.ts');
  const { ExchangedAnswers, StreamExchange } = await import('../../../cluster/exchange/answers/index.ts');
  const { EventExchange } = await import('../../../cluster/exchange/events/index.ts');
  const { RoutingExchange, TenantChanges } = await import('../../../cluster/exchange/index.ts');
  let answers: ExchangedAnswers | undefined;
  let exchange: RoutingExchange | undefined;
  let happening: EventExchange | undefined;
  let limits: SharedLimits | undefined;
  const processes = (): number => limits?.processes ?? 1;
  return {
    limits: (periodStart) =>
      (limits = new SharedLimits({
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
    tenants: (refresh, onError) => new TenantChanges(medium.pubSub, refresh, onError),
    async answers(storage, mostKept) {
      const secret = await storage.secret('shared answers');
      answers = new ExchangedAnswers({
        store: medium.answers,
        secret,
        clock,
        elapsed,
        limits: mostKept,
        log,
      });
      return answers;
    },
    streams: (kept) =>
      answers ? new StreamExchange({ pubSub: medium.pubSub, answers, streams: kept, clock }) : null,
    shareRouting(routing) {
      exchange = new RoutingExchange({ pubSub: medium.pubSub, routing, clock, processes });
    },
    shareEvents(events) {
      happening = new EventExchange({ pubSub: medium.pubSub, events, clock, processes });
    },
    async close() {
      happening?.stop();
      exchange?.stop();
      await answers?.stop();
      medium.close();
    },
  };
}

async function openMedium(
  { config, clock, siblings, storage }: SharingParts,
  holder: string,
): Promise<Medium | null> {
  const url = config.redisUrl?.reveal();
  if (url !== undefined) {
    const { isServerUrl, ValkeyAnswerStore, ValkeyPubSub, ValkeyCounterStore, ValkeyServer } =
      await import('../../../cluster/valkey/index.ts');
    if (!isServerUrl(url))
      throw new ConfigError(
        'redis_url',
        'must be redis://HOST:PORT or redis://HOST:PORT/DATABASE, where DATABASE is a number; rediss://, valkey:// and valkeys:// are also supported',
      );
    const server = new ValkeyServer(url, config.upstream.network.ca, elapsed);
    const unsigned = new ValkeyPubSub(server, { self: holder, clock, elapsed });
    const { messageSecrets, SignedPubSub } = await import('../../../cluster/exchange/index.ts');
    const secrets = await messageSecrets(storage);
    const pubSub = new SignedPubSub(unsigned, { self: holder, secrets, now: clock.now });
    const close = (): void => {
      unsigned.close();
      server.close();
    };
    const answers = new ValkeyAnswerStore(server);
    return { store: new ValkeyCounterStore(server, LEASE_MS), pubSub, answers, close };
  }
  if (!siblings) return null;
  const { SupervisorAnswerStore, SupervisorPubSub, SupervisorCounterStore } =
    await import('../../../cluster/workers/index.ts');
  const { channel } = siblings;
  return {
    store: new SupervisorCounterStore(channel),
    pubSub: new SupervisorPubSub(channel),
    answers: new SupervisorAnswerStore(channel),
    close: () => {},
  };
}

/** Monotonic milliseconds. */
function elapsed(): number {
  return performance.now();
}
