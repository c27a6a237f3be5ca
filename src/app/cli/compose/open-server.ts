// Sockets of the gateway: the main listener, and one for metrics if they have their own address.
import { presentedKey, withRole } from '../../../accounts/auth/index.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import { residentBytes } from '../../../base/runtime/machine.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import type { Listener } from '../../../base/runtime/http-server.ts';
import { Counters } from '../../../base/telemetry/counters.ts';
import { RecentDelay } from '../../../base/telemetry/recent-delay.ts';
import type { Siblings } from '../../../cluster/workers/index.ts';
import { expiryOf } from '../../../engine/index.ts';
import type { RoutingState } from '../../../engine/routing/index.ts';
import { createApp, type App } from '../../../server/app.ts';
import { BodyReader } from '../../../server/body/body-reader.ts';
import { MemoryBudget } from '../../../server/body/memory-budget.ts';
import { FailedKeys } from '../../../server/failed-keys.ts';
import { LoadWatch } from '../../../server/load-watch.ts';
import { RefusedProjects } from '../../../server/refused-projects.ts';
import type { CertificateFiles, CertificatePair, Config } from '../../config/index.ts';
import type { Ending } from '../ending.ts';
import { originOf } from '../listen-or-explain.ts';
import { listenWithCertificate, type CertifiedListener } from '../listen-with-certificate.ts';
import { onHangup } from '../signals.ts';
import { availableBytes } from './memory.ts';
import type { Accounts } from './open-accounts.ts';
import { openAdmin } from './open-admin.ts';
import { openConsole } from './open-console.ts';
import { openSessions } from './open-sessions.ts';
import type { Engine } from './open-engine.ts';
import { openJobs } from './jobs/open-jobs.ts';
import { openManagement } from './open-management.ts';
import { openProbes } from './open-probes.ts';
import { listenForScrapes } from './observe/open-metrics.ts';
import type { Observers } from './observe/open-observers.ts';
import type { Settings } from './open-settings.ts';
import type { OpenWebhooks } from './open-webhooks.ts';
import type { Part } from './part.ts';
import { tryDraft } from './try-draft.ts';

/** Certificate files with their content. Null: plain HTTP. */
export type StartCertificate = { readonly files: CertificateFiles; readonly pair: CertificatePair } | null;

interface ServerParts {
  /** The configuration at the start, because a reload does not change addresses. */
  readonly config: Config;
  readonly certificate: StartCertificate;
  readonly settings: Settings;
  readonly storage: Storage;
  readonly accounts: Accounts;
  readonly routing: RoutingState;
  readonly observers: Observers;
  readonly engine: Engine;
  readonly ending: Ending;
  readonly webhooks: OpenWebhooks;
  /** False once the process is shutting down. */
  readonly takes: () => boolean;
  /** Null: single process. */
  readonly siblings: Siblings | null;
  readonly clock: Clock;
}

/** Time for which batches make room after the last other request, because another one may follow, in milliseconds. */
const ROOM_MS = 10_000;

export interface Server {
  readonly app: App;
  /** The main listener. Throws before the start. */
  readonly listener: () => CertifiedListener;
  /** `http://host:port` */
  readonly origin: () => string;
  /** Origin of the metrics listener. Null: none. */
  readonly metricsOrigin: () => string | null;
  /** One-time path that signs in its first visitor, valid for 15 minutes. */
  readonly signInPath: () => string;
  readonly parts: {
    readonly jobs: Part;
    readonly load: Part;
    readonly bodies: Part;
    readonly listener: Part;
    readonly scrapes: Part;
  };
}

/** Creates the servers. Their sockets open when the parts start. */
export async function openServer(input: ServerParts): Promise<Server> {
  const { config, settings, storage, accounts, routing, observers, engine, ending, siblings, clock } = input;
  const { webhooks, takes } = input;
  const { log } = settings;
  const { keys, limits } = accounts;
  const { gateway, compaction, prompts, files } = engine;
  const memory = new MemoryBudget(settings.budget);
  const bodies = new BodyReader({
    maxBytes: () => settings.config().server.bodyLimitBytes,
    graceMs: () => settings.config().server.bodyGraceMs,
    clock,
  });
  const counters = new Counters();
  const delay = new RecentDelay();
  let othersRanAt = Number.NEGATIVE_INFINITY;
  const load = new LoadWatch({
    config: settings.config,
    clock,
    ledger: storage.ledger,
    residentBytes,
    memoryBytes: availableBytes,
    counters,
    late(ms) {
      if (gateway.active > jobs.lines()) othersRanAt = clock.now();
      // Batches make room for other requests. Without any, waiting helps nobody, whatever delays the event loop.
      delay.note(clock.now() - othersRanAt < ROOM_MS ? ms : 0);
      observers.metrics.late(ms);
    },
    log,
  });
  const jobs = openJobs({
    engine,
    storage,
    accounts,
    settings,
    memory,
    announcer: webhooks.webhooks,
    takes,
    delay,
    clock,
  });
  const exposeOwn = observers.metrics.open({
    gateway,
    jobs,
    streams: engine.streams,
    routing,
    limits,
    sharedLimits: accounts.sharedLimits,
    memory,
    counters,
    ledger: storage.ledger,
    clock,
  });
  const expose = siblings?.shareMetrics(exposeOwn) ?? exposeOwn;
  let opened: CertifiedListener | undefined;
  let scrapes: Listener | null = null;
  const listener = (): CertifiedListener => {
    if (!opened) throw new Error('the gateway does not listen yet');
    return opened;
  };
  const origin = (): string => originOf(listener());
  const admin = await openAdmin(storage, keys, origin, clock.wall);
  const forPeople = { authenticateAdmin: admin.authenticateAdmin, gateway, bodies, memory, clock, log };
  const sessions = openSessions({ ...forPeople, ...admin, storage });
  const management = openManagement({
    ...forPeople,
    sessions: sessions.list,
    storage,
    keys,
    snapshot: settings.snapshot,
    findings: () => settings.findings.diagnoses,
    probes: openProbes({ settings, storage, upstream: engine.dependencies.upstream, clock }),
    path: settings.file().path,
    tryDraft: (text, signal) => tryDraft(text, settings.file(), settings.config(), signal),
    redact: settings.redact,
    payloads: observers.recorders,
    events: observers.events,
    lastUsed: observers.lastUsed,
    routing,
    limits,
    jobs: jobs.administration,
    batches: jobs.batchAdministration,
    webhooks,
  });
  const people = openConsole({
    ...forPeople,
    ...admin,
    storage,
    sessions: sessions.opened,
    management,
    dataDir: config.dataDir,
  });
  const app = createApp({
    ...forPeople,
    streams: engine.streams,
    remoteStreams: engine.remoteStreams,
    hasUnreachedReplicas: engine.remoteStreams === null && storage.replicas !== null,
    background: jobs.background,
    batches: jobs.batches,
    lookForKey: (header) => keys.lookFor(presentedKey(header), clock.wall()),
    keyById: (keyId) => keys.keyById(keyId, clock.wall()),
    authenticate: (header) => withRole(keys.authenticate(presentedKey(header), clock.wall()), 'models'),
    metrics: expose,
    catalog: settings.catalog,
    ledger: storage.ledger,
    state: storage,
    prompts,
    files,
    localModels: engine.localModels,
    readsOpenWords: () => settings.config().compatibility.openResponses,
    maxBodyBytes: () => settings.config().server.bodyLimitBytes,
    load,
    counters,
    failedKeys: new FailedKeys({ clock, counters, log }),
    refusedProjects: new RefusedProjects({ clock, counters }),
    socketLimits: () => settings.config().server.websocket,
    describe: async (path, served) =>
      (await import('../../../operations/openapi/index.ts')).describeApi(path, served),
    management,
    console: people.answer,
    ready: () => ending.isOpen,
    leaves: () => ending.hasBegun,
    degraded: accounts.degraded,
    sealSummary: (projectId, text) => compaction.seal(projectId, text),
    expiresAt: (now) => expiryOf(settings.snapshot(), now),
    now: clock.wall,
  });
  return {
    app,
    listener,
    origin,
    metricsOrigin: () => scrapes && originOf(scrapes),
    signInPath: people.signInPath,
    parts: {
      jobs: jobs.part,
      load,
      bodies,
      listener: {
        start() {
          opened = listen(input, app);
        },
        stop: () => opened?.stop(),
      },
      scrapes: {
        start() {
          scrapes = listenForScrapes(config.metrics.listen, expose, siblings !== null);
        },
        stop: () => scrapes?.stop(),
      },
    },
  };
}

function listen(
  { config, certificate, settings, siblings, clock }: ServerParts,
  app: App,
): CertifiedListener {
  const { server, files, batches } = config;
  return listenWithCertificate({
    hostname: server.host,
    port: server.port,
    // Bodies over the gateway's own limit are still read up to this size, so that clients get a response.
    maxBodyBytes: Math.max(
      server.bodyLimitBytes * 4,
      files.maxBytes * 4,
      batches.maxBytes * 2,
      batches.maxRequestBytes * 2,
    ),
    // Slightly more, so that the gateway itself refuses messages that are slightly too long.
    maxMessageBytes: server.bodyLimitBytes + 65_536,
    isShared: siblings !== null,
    hot: app.hot,
    fallback: app.fallback,
    failed: app.failed,
    idleSeconds: Math.ceil(server.idleMs / 1000),
    clock,
    tls: certificate && {
      ...certificate,
      now: clock.wall,
      log: (level, message) => settings.log[level](message),
      onHangup,
    },
  });
}
