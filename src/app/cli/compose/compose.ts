// Composes the gateway from a configuration: creates its parts, and starts, reloads and stops them in order.
import { systemClock, type Clock } from '../../../base/runtime/clock.ts';
import { writeLog } from '../log-output.ts';
import { resolveHost } from '../../../base/runtime/resolve-host.ts';
import { readCertificate } from '../../config/index.ts';
import { Ending } from '../ending.ts';
import { announcedJobs } from './jobs/announced-jobs.ts';
import { CatalogRefresh } from './catalog-refresh.ts';
import { countedLedger } from './counted-ledger.ts';
import { releaseMemory } from './memory.ts';
import { openAccounts } from './open-accounts.ts';
import { openEngine } from './open-engine.ts';
import { openObservers } from './observe/open-observers.ts';
import { openRouting } from './open-routing.ts';
import { openServer } from './open-server.ts';
import { openSettings, type Settings } from './open-settings.ts';
import { openSharing } from './open-sharing.ts';
import { openSim } from './open-sim.ts';
import { openStorage } from './open-storage.ts';
import { makeFirstKey } from './open-tenants.ts';
import { openWebhooks } from './open-webhooks.ts';
import { background, type Part, reloadAll, startAll, stopAll } from './part.ts';
import { allPurges, purgeExpired } from './purge-expired.ts';
import type { ComposeInput, RunningGateway } from './running-gateway.ts';
import { UpstreamClient } from '../../../upstream/client.ts';

/** Starts a gateway. Rejects with ConfigError or GatewayError, or when the address is in use. */
export async function composeGateway(input: ComposeInput): Promise<RunningGateway> {
  const { clock = systemClock, siblings = null, random = Math.random, resolve = resolveHost } = input;
  const write = input.writeLog ?? writeLog;
  const loaded = input.load();
  const { config } = loaded;
  const { tls } = config.server;
  const certificate = tls && { files: tls, pair: readCertificate(tls, clock.wall()) };
  const sim = openSim(config);
  const settings = openSettings({
    ...input,
    loaded,
    sim: sim.builtIn,
    clock,
    write,
    changed: (snapshot) => reloadAll(parts, snapshot),
  });
  const { log } = settings;
  const stored = await openStorage(
    config,
    (sentence) => log.warn(sentence),
    () => settings.config().state.maxBytesPerKey,
    clock.wall,
  );
  const jobsChanged = (): void => observers.events.changed('jobs');
  const storage = { ...stored, jobs: announcedJobs(stored.jobs, jobsChanged) };
  await settings.readFindings(storage);
  const ledger = countedLedger(storage.usage, settings.catalog);
  const sharing = await openSharing({ config, ledger, storage, clock, log, siblings });
  const common = { settings, storage, ledger, sharing, siblings, clock };
  const tenantsChanged = (): void => observers.events.changed('tenants');
  const accounts = await openAccounts({ ...common, changed: tenantsChanged });
  const { limits } = accounts;
  const upstream = openUpstream(settings, clock);
  const network = { client: upstream, clock, resolve };
  const routing = openRouting(
    () => settings.config().routing.breaker,
    (modelId) => settings.catalog().isListed(modelId),
    clock.now,
    sharing,
  );
  const ending = new Ending();
  const takes = (): boolean => ending.isOpen && !ending.hasBegun;
  const webhooks = await openWebhooks({ ...common, config: settings.config, network, takes, random, log });
  const announcer = webhooks.webhooks;
  const observers = await openObservers({ ...common, network, limits, routing, random, write, announcer });
  webhooks.alertBy(observers.raise);
  const engine = await openEngine({ ...common, network, limits, routing, random, ...observers });
  const made = { accounts, routing, observers, engine, ending, webhooks, takes };
  const server = await openServer({ ...common, ...made, config, certificate });
  const stores = allPurges(storage, engine.files, settings.config);

  // Order of starting, reloading and stopping: observers stop first, then servers, then what both use.
  const parts: readonly Part[] = [
    settings,
    accounts.parts.keys,
    settings.followFindings,
    background(() => purgeExpired({ stores, isRunning: () => ending.isOpen, clock, log })),
    accounts.parts.replicas,
    new CatalogRefresh({ settings, client: upstream, clock }),
    server.parts.load,
    observers,
    input.sharesProcess ? {} : background(() => releaseMemory(clock)),
    server.parts.jobs,
    webhooks.part,
    server.parts.bodies,
    server.parts.listener,
    server.parts.scrapes,
    sim,
    { stop: () => upstream.close() },
    accounts.parts.limits,
    { stop: () => sharing?.close() },
    { stop: () => storage.close() },
  ];
  startAll(parts);
  // Created last, because a failed start would leave a key that was never shown.
  const firstKey = await makeFirstKey(storage, accounts.keys, settings.config, clock.wall);

  return {
    origin: server.origin(),
    metricsOrigin: server.metricsOrigin(),
    providers: [...settings.catalog().providers().keys()].toSorted(),
    firstKey,
    signInLink: () => server.origin() + server.signInPath(),
    reload() {
      server.listener().reload();
      return settings.reread();
    },
    async stop(isDelayed = false) {
      const { drainMs, drainDelayMs } = settings.config().server;
      const times = { drainMs, drainDelayMs: isDelayed ? drainDelayMs : 0 };
      const { app, listener } = server;
      await ending.run(times, { gateway: engine.gateway, listener: listener(), app, clock, log });
      await stopAll(parts);
    },
  };
}

/** The client of all upstreams: follows the configured network, and warns of upstreams that send unasked bytes. */
function openUpstream({ config, log }: Pick<Settings, 'config' | 'log'>, clock: Clock): UpstreamClient {
  return new UpstreamClient(clock.now, {
    wall: clock.wall,
    reuse: () => config().upstream,
    network: () => config().upstream.network,
    every: (ms, run) => clock.every(ms, run),
    onUnsolicited: ({ label }) =>
      log.warn('upstream sent unexpected bytes; its connections are not reused for one minute', {
        from: label,
      }),
  });
}
