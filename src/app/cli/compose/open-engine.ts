// Opens the engine with its dependencies: sealed state, prompts, files, tools.
import {
  EndUsers,
  Gateway,
  type GatewayDependencies,
  TASK_FACTS,
  KeptStreams,
  LocalModels,
  type RemoteStreams,
} from '../../../engine/index.ts';
import type { Envelope } from '../../../engine/state/envelope.ts';
import type { Files } from '../../../engine/state/files.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import { Ticker } from '../../../base/runtime/clock.ts';
import { GuardedFetch, type GuardedFetchOptions } from '../../../upstream/fetch-guarded.ts';
import { openSealing } from './open-sealing.ts';
import type { Settings } from './open-settings.ts';
import type { Sharing } from './open-sharing.ts';
import { openFiles } from './open-storage.ts';
import { openTools } from './open-tools.ts';

/** Interval of checking timeouts and keep-alives, in milliseconds. */
const TICK_MS = 100;

interface EngineParts extends Pick<
  GatewayDependencies,
  'routing' | 'limits' | 'observer' | 'recorders' | 'random'
> {
  readonly settings: Settings;
  readonly storage: Storage;
  /** Null: single process. */
  readonly sharing: Sharing | null;
  readonly network: Omit<GuardedFetchOptions, 'allow'>;
}

export interface Engine {
  readonly gateway: Gateway;
  readonly dependencies: GatewayDependencies;
  readonly streams: KeptStreams;
  /** Streams of other processes. Null: none are reachable. */
  readonly remoteStreams: RemoteStreams | null;
  readonly prompts: GatewayDependencies['prompts'];
  readonly files: Files;
  /** Seals conversation summaries. */
  readonly compaction: Envelope;
  /** Model lists of self-hosted servers. */
  readonly localModels: LocalModels;
}

export async function openEngine(parts: EngineParts): Promise<Engine> {
  const { settings, storage, sharing, network, routing, limits, observer, recorders, random } = parts;
  const { config, snapshot } = settings;
  const { clock, client } = network;
  const { vault, compaction, reasoning } = await openSealing(storage, clock.wall);
  const prompts = { store: storage.prompts, files: () => snapshot().prompts };
  const files = openFiles(config(), storage, () => config().files.maxBytes, clock.wall);
  const guarded = new GuardedFetch({ ...network, allow: () => config().fetch.allow });
  const answers = await sharing?.answers(storage, () => config().idempotency);
  const streams = new KeptStreams(() => {
    const { keepS, maxBytes } = config().streams;
    return { keepMs: keepS * 1000, maxBytes };
  }, clock);
  const remoteStreams = sharing?.streams(streams) ?? null;
  const dependencies: GatewayDependencies = {
    prompts,
    answers: answers ?? null,
    settings: snapshot,
    upstream: client,
    routing,
    limits,
    running: storage.running,
    ledger: storage.ledger,
    observer,
    recorders,
    vault,
    state: storage,
    reasoning,
    compaction,
    endUsers: new EndUsers(await storage.secret('end users')),
    media: { files, fetch: guarded },
    tools: openTools({ ...network, fetch: guarded, config }),
    clock,
    ticker: new Ticker(clock, TICK_MS),
    random,
    log: settings.log,
    redact: settings.redact,
    tasks: TASK_FACTS,
    streams,
  };
  const gateway = new Gateway(dependencies);
  const localModels = new LocalModels({ catalog: settings.catalog, upstream: client, clock });
  return { gateway, dependencies, streams, remoteStreams, prompts, files, compaction, localModels };
}
