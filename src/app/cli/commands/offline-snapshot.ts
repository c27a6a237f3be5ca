// Configuration and catalog for read-only commands: the simulated provider is listed but does not run.
import type { PriceBook } from '../../../catalog/index.ts';
import { buildSnapshot, readKnownPrices, type Config, type Snapshot } from '../../config/index.ts';
import { findMeasured, readCapabilities, type Diagnosis } from '../../../operations/doctor/index.ts';
import { MODALITIES } from '../../../engine/index.ts';
import { presets } from '../../../catalog/providers/index.ts';
import { readEnvironment } from '../../../base/runtime/environment.ts';
import { checkTemplate } from '../../../server/check-template.ts';
import { simBuiltIn } from './sim-server.ts';

/**
 * Builds the snapshot that `serve` would use.
 * @param prices default: the stored ones
 * @param diagnoses default: those of the data directory, none for a shared database
 * @throws ConfigError
 */
export function offlineSnapshot(
  config: Config,
  prices: PriceBook = knownPrices(config),
  diagnoses: readonly Diagnosis[] = ownDiagnoses(config),
): Snapshot {
  return buildSnapshot({
    config,
    presets,
    sim: simBuiltIn('http://127.0.0.1:0'),
    modalities: MODALITIES,
    environment: readEnvironment(),
    measured: findMeasured(diagnoses),
    prices,
    checkTemplate,
    revision: 1,
  });
}

function ownDiagnoses({ dataDir, databaseUrl }: Config): readonly Diagnosis[] {
  return databaseUrl === null ? readCapabilities(dataDir).diagnoses : [];
}

function knownPrices({ dataDir, catalog }: Config): PriceBook {
  return readKnownPrices(dataDir, catalog.refresh).book;
}
