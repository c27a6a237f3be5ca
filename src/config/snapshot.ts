// One immutable whole of configuration and catalog. A request pins the snapshot under which it was admitted; a
// reload makes a new one and swaps it.
import { readFileSync } from 'node:fs';
import type { JsonObject } from '../canonical/index.ts';
import { buildCatalog } from '../catalog/index.ts';
import type { BuiltIn, Catalog, FindMeasured, PriceBook, Refuse } from '../catalog/index.ts';
import type { ProviderPreset } from '../providers/index.ts';
import type { PromptFile } from '../state/prompt-template.ts';
import { checkRoutingNames } from './check-routing-names.ts';
import { ConfigError } from './config-error.ts';
import type { Config } from './config.ts';
import type { Environment } from './environment.ts';
import { readPromptFiles, type CheckTemplate } from './prompt-files.ts';
import { compileNamePatterns } from '../lib/name-patterns.ts';

export interface Snapshot {
  readonly config: Config;
  readonly catalog: Catalog;
  /** Whether requests may name this object of the operator's account at a vendor. */
  readonly mayName: (id: string) => boolean;
  /** The operator's prompt templates, by id. */
  readonly prompts: ReadonlyMap<string, PromptFile>;
  /** Counts up with every configuration that was accepted, from 1. */
  readonly revision: number;
  /** The configuration as people may see it: in the file's own words, secrets masked. Takes some 50 ms. */
  readonly show: () => JsonObject;
}

export interface SnapshotInput {
  readonly config: Config;
  /** Default: there is nothing to see. */
  readonly show?: (() => JsonObject) | undefined;
  readonly presets: readonly ProviderPreset[];
  /** The simulated provider; null when it does not run. */
  readonly sim: BuiltIn | null;
  readonly environment: Environment;
  /** Finds what was measured of an endpoint. Default: nothing was. */
  readonly measured?: FindMeasured | undefined;
  /** What vendors charge. Default: the data that came with the gateway. */
  readonly prices?: PriceBook | undefined;
  /** Unix milliseconds; the clock by default. */
  readonly now?: (() => number) | undefined;
  /** Refuses templates that no request could use. Default: only their own form is checked. */
  readonly checkTemplate?: CheckTemplate | undefined;
  readonly revision: number;
}

/**
 * Builds a snapshot whole, or not at all.
 * @throws ConfigError for what no schema sees: unknown providers, protocols they do not serve, ids given twice,
 *   aliases in a circle, routing defaults that name nobody, templates that are wrong
 */
export function buildSnapshot(input: SnapshotInput): Snapshot {
  const { config, presets, sim } = input;
  const refuse: Refuse = (path, message) => {
    throw new ConfigError(path, message);
  };
  const catalog = buildCatalog({
    config,
    presets,
    sim,
    environment: input.environment,
    measured: input.measured,
    prices: input.prices,
    readFile: (path) => readFileSync(path, 'utf8'),
    now: input.now ?? Date.now,
    refuse,
  });
  checkRoutingNames(config, { catalog, providers: knownProviders(input) }, refuse);
  const prompts =
    config.prompts === null
      ? new Map<string, PromptFile>()
      : readPromptFiles(config.prompts, input.checkTemplate ?? (() => {}));
  const mayName = compileNamePatterns(config.vendorObjects);
  const { revision, show = () => ({}) } = input;
  return Object.freeze({ config, catalog, mayName, prompts, revision, show });
}

/** Every provider that this configuration could switch on: presets, and those that it names. */
export function knownProviders(input: Pick<SnapshotInput, 'config' | 'presets'>): readonly string[] {
  return [...input.presets.map((preset) => preset.id), ...Object.keys(input.config.providers)];
}
