// The current configuration: reads it, builds snapshots and watches its files. Includes the log, because the
// configuration says which secrets to mask.
import { BUNDLED_PRICES, type Catalog, type PriceBook } from '../../../catalog/index.ts';
import { MODALITIES } from '../../../engine/index.ts';
import { presets } from '../../../catalog/providers/index.ts';
import { findMeasured } from '../../../operations/doctor/index.ts';
import { checkTemplate } from '../../../server/check-template.ts';
import type { BudgetLimits } from '../../../server/body/memory-budget.ts';
import type { Storage } from '../../../accounts/ports/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { createLogger, type Logger } from '../../../base/telemetry/log.ts';
import { withOutages } from '../../../base/telemetry/outage-log.ts';
import type { Redact } from '../../../base/telemetry/redact.ts';
import {
  buildSnapshot,
  DEFAULT_PATH,
  readKnownPrices,
  reloadConfig,
  watchConfig,
  type Config,
  type KnownPrices,
  type LoadedConfig,
  type Snapshot,
  type SnapshotInput,
  type Watched,
} from '../../config/index.ts';
import { onHangup } from '../signals.ts';
import { budgetOf } from './memory.ts';
import { KnownFindings } from './open-findings.ts';
import { background, type Part } from './part.ts';
import type { ComposeInput } from './running-gateway.ts';
import { snapshotRedactor } from './snapshot-redactor.ts';

interface SettingsParts extends Pick<ComposeInput, 'environment' | 'load' | 'prettyLog'> {
  /** The file as read at the start. */
  readonly loaded: LoadedConfig;
  /** Catalog entry of the simulated provider. */
  readonly sim: SnapshotInput['sim'];
  readonly clock: Clock;
  /** Takes one log line, newline included. */
  readonly write: (line: string) => void;
  /** Called with every later snapshot, once it is in force. */
  readonly changed: (snapshot: Snapshot) => void;
}

/** The current configuration. Every function returns the current value. */
export interface Settings extends Part {
  readonly log: Logger;
  readonly redact: Redact;
  readonly config: () => Config;
  readonly snapshot: () => Snapshot;
  readonly catalog: () => Catalog;
  /** The catalog without probe results. */
  readonly unmeasured: () => Catalog;
  /** The file in force, as read. */
  readonly file: () => LoadedConfig;
  /** Memory budget of requests. */
  readonly budget: () => BudgetLimits;
  /** Prices and models known at the start. */
  readonly knownPrices: KnownPrices;
  /** Probe results of `doctor`. */
  readonly findings: KnownFindings;
  /** Follows probe results that other processes store in the database. */
  readonly followFindings: Part;
  /** Reads the probe results in the database. */
  readFindings(storage: Pick<Storage, 'findings'>): Promise<void>;
  /** Reads the file again. True: a new configuration is in force. */
  reread(): boolean;
  /** Applies prices and models. False: the configuration would be invalid, and the previous ones are kept. */
  usePrices(book: PriceBook): boolean;
}

/** Throws ConfigError. */
export function openSettings(parts: SettingsParts): Settings {
  const { loaded } = parts;
  const findings = new KnownFindings(loaded.config);
  const knownPrices = readKnownPrices(loaded.config.dataDir, loaded.config.catalog.refresh);
  let prices = knownPrices.book;
  const snapshotOf = (
    { config, show }: LoadedConfig,
    revision: number,
    diagnoses = findings.read(),
  ): Snapshot =>
    buildSnapshot({
      config,
      show,
      presets,
      sim: parts.sim,
      modalities: MODALITIES,
      environment: parts.environment,
      measured: findMeasured(diagnoses),
      // Prices of a source that is no longer configured do not apply.
      prices: config.catalog.refresh === null ? BUNDLED_PRICES : prices,
      checkTemplate,
      revision,
    });
  let snapshot = snapshotOf(loaded, 1);
  let budget = budgetOf(snapshot.config.server);
  /** The file as last read, and as in force. */
  let latest = loaded;
  let accepted = loaded;

  let mask = snapshotRedactor(snapshot);
  const redact: Redact = (text) => mask(text);
  const log = openLog(parts, redact);
  const warnOfUnreadable = (): void => {
    if (findings.problem !== null) log.warn(findings.problem);
  };
  warnOfUnreadable();
  if (knownPrices.problem !== null) log.warn(knownPrices.problem);

  let watched: Watched<Snapshot> | undefined;
  const watch = (): Watched<Snapshot> =>
    watchConfig<Snapshot>({
      // The file may also be created while the gateway runs.
      path: loaded.path ?? DEFAULT_PATH,
      also: findings.paths,
      current: snapshot,
      load: (revision) => snapshotOf((latest = reloadConfig(accepted, parts.load)), revision),
      log: (level, message) => log[level](message),
      onHangup,
      onSwap(next) {
        mask = snapshotRedactor(next);
        warnOfUnreadable();
        snapshot = next;
        accepted = latest;
        budget = budgetOf(next.config.server);
        parts.changed(next);
      },
    });
  const reread = (): boolean => watched?.reload() ?? false;

  return {
    log,
    redact,
    config: () => snapshot.config,
    snapshot: () => snapshot,
    catalog: () => snapshot.catalog,
    unmeasured: () => snapshotOf(accepted, snapshot.revision, []).catalog,
    file: () => accepted,
    budget: () => budget,
    knownPrices,
    findings,
    followFindings: background(() =>
      findings.watch(reread, (error) =>
        log.error('probe results of `doctor` could not be reloaded', { error }),
      ),
    ),
    async readFindings(storage) {
      if (await findings.open(storage)) snapshot = snapshotOf(loaded, 1);
    },
    reread,
    usePrices(book) {
      const before = prices;
      prices = book;
      const isInForce = reread();
      if (!isInForce) prices = before;
      return isInForce;
    },
    start() {
      watched = watch();
    },
    stop: () => watched?.close(),
  };
}

function openLog({ loaded, clock, write, prettyLog }: SettingsParts, redact: Redact): Logger {
  const { level } = loaded.config.logging;
  return withOutages(
    createLogger({ level, write, now: clock.wall, pretty: prettyLog ?? false, redact }),
    clock,
  );
}
