// The configuration and its catalog for commands that only look: the simulated provider is listed, but does not run.
import { buildSnapshot, readEnvironment, type Config, type Snapshot } from '../config/index.ts';
import { findMeasured, readCapabilities } from '../doctor/index.ts';
import { presets } from '../providers/index.ts';
import { checkTemplate } from '../server/check-template.ts';
import { simBuiltIn } from './sim-server.ts';

/** Builds the snapshot that `serve` would run under. Throws ConfigError. */
export function offlineSnapshot(config: Config): Snapshot {
  return buildSnapshot({
    config,
    presets,
    sim: simBuiltIn('http://127.0.0.1:0'),
    environment: readEnvironment(),
    measured: findMeasured(readCapabilities(config.dataDir).diagnoses),
    checkTemplate,
    revision: 1,
  });
}
