// Composes the whole gateway from a configuration: the one place that knows every concrete part.
import { adminSignIn, KeyIndex, presentedKey, withRole } from '../../auth/index.ts';
import {
  buildSnapshot,
  readCertificate,
  readKnownPrices,
  watchConfig,
  type Environment,
  type LoadedConfig,
  type Snapshot,
} from '../../config/index.ts';
import { BUNDLED_PRICES } from '../../catalog/index.ts';
import { findMeasured } from '../../doctor/index.ts';
import { EndUsers, expiryOf, Gateway } from '../../engine/index.ts';
import { presets } from '../../providers/index.ts';
import { systemClock, Ticker, type Clock } from '../../runtime/clock.ts';
import { residentBytes } from '../../runtime/machine.ts';
import { resolveHost, type ResolveHost } from '../../runtime/resolve-host.ts';
import { createApp } from '../../server/app.ts';
import { BodyReader } from '../../server/body/body-reader.ts';
import { checkTemplate } from '../../server/check-template.ts';
import { FailedKeys } from '../../server/failed-keys.ts';
import { RefusedProjects } from '../../server/refused-projects.ts';
import { LoadWatch } from '../../server/load-watch.ts';
import { MemoryBudget } from '../../server/body/memory-budget.ts';
import { Counters } from '../../telemetry/counters.ts';
import { createLogger } from '../../telemetry/log.ts';
import { UpstreamClient } from '../../upstream/client.ts';
import { GuardedFetch } from '../../upstream/fetch-guarded.ts';
import type { Siblings } from '../../workers/index.ts';
import { Ending } from '../ending.ts';
import { originOf } from '../listen-or-explain.ts';
import { listenWithCertificate } from '../listen-with-certificate.ts';
import { onHangup } from '../signals.ts';
import { giveBack } from './give-back.ts';
import { availableBytes, budgetOf } from './memory-limits.ts';
import { listenForScrapes } from './open-metrics.ts';
import { openObservers } from './open-observers.ts';
import { KnownFindings } from './open-findings.ts';
import { openFiles, openStorage } from './open-storage.ts';
import { CatalogRefresh } from './catalog-refresh.ts';
import { openLimits } from './open-limits.ts';
import { configuredTenants, makeFirstKey } from './open-tenants.ts';
import { recoverRunning } from './recover-running.ts';
import { openRouting } from './open-routing.ts';
import { openSealing } from './open-sealing.ts';
import { openSharing } from './open-sharing.ts';
import { openTools } from './open-tools.ts';
import { openConsole } from './open-console.ts';
import { openManagement } from './open-management.ts';
import { listenSim, simBuiltIn } from '../commands/sim-server.ts';
import { allPurges, purgeExpired } from './purge-expired.ts';
import { snapshotRedactor } from './snapshot-redactor.ts';

/** How often timeouts and keep-alives are looked at, in milliseconds. */
const TICK_MS = 100;

export interface ComposeInput {
  readonly environment: Environment;
  /**
   * Reads the configuration; called again when it is reloaded. Throws ConfigError.
   * @param draft the text of a file that is only tried, in the place of the one that is there
   */
  readonly load: (draft?: string) => LoadedConfig;
  readonly clock?: Clock | undefined;
  /** A number in [0, 1). */
  readonly random?: (() => number) | undefined;
  /** Every address of a name; the machine's own resolver unless given. */
  readonly resolve?: ResolveHost | undefined;
  /** True: other gateways live in this process, and none of them gives back what all of them hold. */
  readonly sharesProcess?: boolean | undefined;
  /** Takes one log line, newline included. */
  readonly writeLog?: ((line: string) => void) | undefined;
  readonly prettyLog?: boolean | undefined;
  /** The other workers of the same supervisor; null or absent for a process alone. */
  readonly siblings?: Siblings | null | undefined;
}

export interface RunningGateway {
  /** `http://host:port` */
  readonly origin: string;
  /** The same of the metrics' own address; null where they have none. */
  readonly metricsOrigin: string | null;
  /** The key that was made because there was none; null otherwise. */
  readonly firstKey: string | null;
  /** An address of the console at which whoever opens it first, within a quarter of an hour, is signed in. */
  readonly signInLink: () => string;
  /** Reads the certificate and the configuration again. True when the new configuration is in force. */
  reload(): boolean;
  /**
   * Refuses new requests, lets running answers finish within the drain time, and closes everything.
   * @param givesNotice true: for the delay of the configuration requests are taken as before
   */
  stop(givesNotice?: boolean): Promise<void>;
}

/** Starts a gateway. Rejects with ConfigError or GatewayError, or when the address is taken. */
export async function composeGateway(input: ComposeInput): Promise<RunningGateway> {
  const { environment, clock = systemClock, siblings = null } = input;
  const loaded = input.load();
  const { config, path } = loaded;
  const { tls } = config.server;
  const certificate = tls && { files: tls, pair: readCertificate(tls, clock.now()) };

  const sim = config.providers['sim'] === false ? null : listenSim('127.0.0.1', 0);
  const builtIn = sim && simBuiltIn(`http://127.0.0.1:${sim.port}`);
  const findings = new KnownFindings(config);
  const known = readKnownPrices(config.dataDir, config.catalog.refresh);
  let prices = known.book;
  const snapshotOf = ({ config: next, show }: LoadedConfig, revision: number): Snapshot => {
    return buildSnapshot({
      config: next,
      show,
      presets,
      sim: builtIn,
      environment,
      measured: findMeasured(findings.read()),
      // A source that is no longer asked says nothing any more.
      prices: next.catalog.refresh === null ? BUNDLED_PRICES : prices,
      checkTemplate,
      revision,
    });
  };
  let first = snapshotOf(loaded, 1);

  let redact = snapshotRedactor(first);
  const write = input.writeLog ?? ((line: string) => void process.stderr.write(line));
  const log = createLogger({
    level: config.logging.level,
    write,
    now: clock.now,
    pretty: input.prettyLog ?? false,
    redact: (text) => redact(text),
  });
  const warnOfUnreadable = (): void => {
    if (findings.problem !== null) log.warn(findings.problem);
  };
  warnOfUnreadable();
  if (known.problem !== null) log.warn(known.problem);

  let inForce = config;
  let budget = budgetOf(config.server);
  const storage = await openStorage(
    config,
    (sentence) => log.warn(sentence),
    () => inForce.state.maxBytesPerKey,
  );
  if (await findings.open(storage)) first = snapshotOf(loaded, 1);
  let hub: Awaited<ReturnType<typeof openObservers>>['events'] | null = null;
  const keys = new KeyIndex({
    storage,
    pepper: await storage.secret('pepper'),
    earlierPeppers: await storage.earlierSecrets('pepper'),
    configured: configuredTenants(config),
    onChange(changed) {
      opened.refresh(changed);
      changes?.found();
      hub?.changed('tenants');
    },
  });
  const sharing = await openSharing({ config, ledger: storage.usage, clock, log, siblings });
  const opened = openLimits({ config: () => inForce, keys, ledger: storage.usage, clock, log, sharing });
  const { limits } = opened;
  await keys.refresh();
  await recoverRunning(storage);
  await opened.restored();
  const keysUnread = (error: unknown): void => log.error('the API keys could not be read again', { error });
  const stopKeys = keys.watch(keysUnread);
  const changes = sharing?.tenants(() => keys.refresh(), keysUnread);

  const watched = watchConfig<Snapshot>({
    path,
    also: findings.paths,
    current: first,
    load: (revision) => snapshotOf(input.load(), revision),
    log: (level, message) => log[level](message),
    onHangup,
    onSwap: (next) => {
      redact = snapshotRedactor(next);
      warnOfUnreadable();
      inForce = next.config;
      budget = budgetOf(inForce.server);
      keys.configure(configuredTenants(next.config));
      opened.refresh();
      hub?.changed('configuration');
    },
  });

  const stopFindings = findings.watch(watched.reload, (error) =>
    log.error('what `doctor` found could not be read again', { error }),
  );

  const upstream = new UpstreamClient(clock.now, {
    reuse: () => inForce.upstream,
    network: () => inForce.upstream.network,
    every: (ms, run) => clock.every(ms, run),
    stray: ({ label }) =>
      log.warn('bytes came that nobody had asked for; for a minute no connection is used twice', {
        from: label,
      }),
  });
  const refresh = new CatalogRefresh({
    settings: () => inForce,
    known,
    apply(book) {
      const before = prices;
      prices = book;
      const isInForce = watched.reload();
      if (!isInForce) prices = before;
      return isInForce;
    },
    client: upstream,
    clock,
    log,
  });
  const { vault, compaction, reasoning } = await openSealing(storage, clock.now);
  const prompts = { store: storage.prompts, files: () => watched.current().prompts };
  const files = openFiles(config, storage, () => inForce.files.maxBytes, clock.now);
  const network = { client: upstream, clock, resolve: input.resolve ?? resolveHost };
  const guarded = new GuardedFetch({ ...network, allow: () => inForce.fetch.allow });
  const routing = openRouting(() => inForce.routing.breaker, clock.now, sharing);
  const random = input.random ?? Math.random;
  const { observer, tapes, events, metrics, ...observers } = await openObservers({
    ...network,
    config: () => inForce,
    catalog: () => watched.current().catalog,
    limits,
    routing,
    storage,
    sharing,
    random,
    write,
    log,
  });
  hub = events;
  const answers = await sharing?.answers(storage, () => inForce.idempotency);
  const gateway = new Gateway({
    prompts,
    answers: answers ?? null,
    settings: watched.current,
    upstream,
    routing,
    limits,
    running: storage.running,
    ledger: storage.ledger,
    observer,
    tapes,
    vault,
    state: storage,
    reasoning,
    compaction,
    endUsers: new EndUsers(await storage.secret('end users')),
    media: { files, fetch: guarded },
    tools: openTools({ ...network, fetch: guarded, config: () => inForce }),
    clock,
    ticker: new Ticker(clock, TICK_MS),
    random,
    log,
    redact: (text) => redact(text),
  });
  const memory = new MemoryBudget(() => budget);
  const bodies = new BodyReader({
    maxBytes: () => inForce.server.bodyLimitBytes,
    graceMs: () => inForce.server.bodyGraceMs,
    clock,
  });
  const counters = new Counters();
  const load = new LoadWatch({
    config: () => inForce,
    clock,
    ledger: storage.ledger,
    residentBytes,
    memoryBytes: availableBytes,
    counters,
    late: (ms) => metrics.late(ms),
    log,
  });
  const exposeOwn = metrics.open({
    gateway,
    routing,
    limits,
    leases: opened.leases,
    memory,
    counters,
    ledger: storage.ledger,
    now: clock.now,
  });
  const expose = siblings?.shareMetrics(exposeOwn) ?? exposeOwn;
  const ending = new Ending();
  const stopGivingBack = input.sharesProcess ? undefined : giveBack(clock);
  const stopPurge = purgeExpired({
    stores: allPurges(storage, files, () => inForce),
    goesOn: () => ending.isOpen,
    clock,
    log,
  });
  const operatorSecret = await storage.secret('operator');
  const authenticateAdmin = adminSignIn({ keys, operatorSecret, now: clock.now });
  const forPeople = { authenticateAdmin, gateway, bodies, memory, clock, log };
  const management = openManagement({
    ...forPeople,
    storage,
    keys,
    snapshot: watched.current,
    findings: () => findings.diagnoses,
    path,
    tryDraft: (text) => void snapshotOf(input.load(text), 0),
    redact: (text) => redact(text),
    payloads: tapes,
    events,
    routing,
    limits,
  });
  const people = openConsole({ ...forPeople, storage, operatorSecret, management, dataDir: config.dataDir });
  const app = createApp({
    ...forPeople,
    authenticate: (header) => withRole(keys.authenticate(presentedKey(header), clock.now()), 'models'),
    metrics: expose,
    catalog: () => watched.current().catalog,
    ledger: storage.ledger,
    state: storage,
    prompts,
    files,
    maxBodyBytes: () => inForce.server.bodyLimitBytes,
    load,
    counters,
    failedKeys: new FailedKeys({ clock, counters, log }),
    refusedProjects: new RefusedProjects({ clock, counters }),
    socketLimits: () => inForce.server.websocket,
    describe: async (path, served) => (await import('../../openapi/index.ts')).describeApi(path, served),
    management,
    console: people.answer,
    ready: () => ending.isOpen,
    leaves: () => ending.hasBegun,
    degraded: opened.degraded,
    sealSummary: (projectId, text) => compaction.seal(projectId, text),
    expiresAt: (now) => expiryOf(watched.current(), now),
    now: clock.now,
  });
  const listener = listenWithCertificate({
    hostname: config.server.host,
    port: config.server.port,
    // Bodies over the gateway's own limit are still read, so that their clients get an answer; this is the end of patience.
    maxBodyBytes: Math.max(config.server.bodyLimitBytes, config.files.maxBytes) * 4,
    // A little more, so that messages that are a little too long are refused in the gateway's words.
    maxMessageBytes: config.server.bodyLimitBytes + 65_536,
    isShared: siblings !== null,
    hot: app.hot,
    fallback: app.fallback,
    failed: app.failed,
    idleSeconds: Math.ceil(config.server.idleMs / 1000),
    clock,
    tls: certificate && {
      ...certificate,
      now: clock.now,
      log: (level, message) => log[level](message),
      onHangup,
    },
  });
  const scrapes = listenForScrapes(config.metrics.listen, expose, siblings !== null);
  // Only now: a start that failed would have made a key that nobody was shown.
  const firstKey = await makeFirstKey(storage, keys, () => inForce, clock.now);

  return {
    origin: originOf(listener),
    metricsOrigin: scrapes && originOf(scrapes),
    firstKey,
    signInLink: () => originOf(listener) + people.signInPath(),
    reload() {
      listener.reload();
      return watched.reload();
    },
    async stop(givesNotice = false) {
      const { drainMs, drainDelayMs } = inForce.server;
      const times = { drainMs, drainDelayMs: givesNotice ? drainDelayMs : 0 };
      await ending.run(times, { gateway, listener, app, clock, log });
      watched.close();
      stopKeys();
      stopFindings();
      stopPurge();
      refresh.stop();
      load.stop();
      await observers.stop();
      stopGivingBack?.();
      bodies.stop();
      await listener.stop();
      await scrapes?.stop();
      await sim?.stop();
      upstream.close();
      await opened.close();
      await sharing?.close();
      await storage.close();
    },
  };
}
