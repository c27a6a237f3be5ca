// One immutable whole of configuration and catalog. A request pins the snapshot under which it was admitted; a
// reload makes a new one and swaps it.
import { buildCatalog } from '../catalog/index.ts';
import type { BuiltIn, Catalog } from '../catalog/index.ts';
import type { ProviderPreset } from '../providers/index.ts';
import { ConfigError } from './config-error.ts';
import type { Config } from './config.ts';
import type { Environment } from './environment.ts';

export interface Snapshot {
  readonly config: Config;
  readonly catalog: Catalog;
  /** Counts up with every configuration that was accepted, from 1. */
  readonly revision: number;
}

export interface SnapshotInput {
  readonly config: Config;
  readonly presets: readonly ProviderPreset[];
  /** The simulated provider; null when it does not run. */
  readonly sim: BuiltIn | null;
  readonly environment: Environment;
  /** Unix milliseconds; the clock by default. */
  readonly now?: (() => number) | undefined;
  readonly revision: number;
}

/**
 * Builds a snapshot whole, or not at all.
 * @throws ConfigError for what no schema sees: unknown providers, protocols they do not serve, ids given twice,
 *   aliases in a circle
 */
export function buildSnapshot(input: SnapshotInput): Snapshot {
  const catalog = buildCatalog({
    config: input.config,
    presets: input.presets,
    sim: input.sim,
    environment: input.environment,
    now: input.now ?? Date.now,
    refuse: (path, message) => {
      throw new ConfigError(path, message);
    },
  });
  return Object.freeze({ config: input.config, catalog, revision: input.revision });
}
