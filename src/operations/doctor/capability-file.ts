// Measured facts, kept in one file of the data directory, in the words of the configuration. Read whole with every
// snapshot, so that commands that only look and running gateways see the same; written whole, by one rename. Must not
// know how anything was measured.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asArray, asObject, parseJson } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { FindMeasured, MeasuredPlace } from '../../catalog/index.ts';
import { formatDiagnosis, parseDiagnosis } from './diagnosis-json.ts';
import type { Diagnosis } from './examine.ts';

const VERSION = 1;

/** Path of the file. */
export function capabilityPath(dataDir: string): string {
  return join(dataDir, 'capabilities.json');
}

export interface Capabilities {
  readonly diagnoses: readonly Diagnosis[];
  /** Problem with what was kept; null when it is good, or when there is nothing. Readable facts are there. */
  readonly problem: string | null;
  /** True: it was read, and is damaged. Forgetting what was kept mends it. */
  readonly isDamaged: boolean;
}

/** Reads the file. A damaged one is a problem to tell of, not a reason to stop: it only makes presets better. */
export function readCapabilities(dataDir: string): Capabilities {
  const path = capabilityPath(dataDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    const problem = isAbsent ? null : `${path} cannot be read: ${String(error)}`;
    return { diagnoses: [], problem, isDamaged: false };
  }
  const file = asObject(parseJson(text));
  if (file['version'] !== VERSION)
    return {
      diagnoses: [],
      problem: `${path} is not a file of this version and is not used`,
      isDamaged: true,
    };
  return readDiagnoses(asArray(file['endpoints']), path);
}

/**
 * Reads entries of the file, or of a database.
 * @param place names where they are kept, for the problem
 */
export function readDiagnoses(entries: readonly unknown[], place: string): Capabilities {
  const diagnoses = entries.map(parseDiagnosis).filter((diagnosis) => diagnosis !== null);
  const lost = entries.length - diagnoses.length;
  return {
    diagnoses,
    problem: lost === 0 ? null : `${place}: ${lost} of ${entries.length} entries are not valid`,
    isDamaged: lost > 0,
  };
}

/** Puts diagnoses in the place of older ones of the same endpoints. Throws GatewayError `internal`. */
export function storeDiagnoses(dataDir: string, made: readonly Diagnosis[]): void {
  const known = new Map(readCapabilities(dataDir).diagnoses.map((one) => [keyOf(one), one]));
  for (const one of made) known.set(keyOf(one), one);
  write(dataDir, [...known.values()]);
}

/**
 * Forgets what was measured.
 * @param provider only of this one; undefined: everything
 * @returns how many endpoints are forgotten
 */
export function forgetDiagnoses(dataDir: string, provider: string | undefined): number {
  const { diagnoses } = readCapabilities(dataDir);
  const kept = provider === undefined ? [] : diagnoses.filter((one) => one.provider !== provider);
  // Written also when nothing is left, and over a damaged one: a gateway that runs notices files that change.
  if (existsSync(capabilityPath(dataDir))) write(dataDir, kept);
  return diagnoses.length - kept.length;
}

/** Looks facts up as the catalog does. */
export function findMeasured(diagnoses: readonly Diagnosis[]): FindMeasured {
  const find = findDiagnosis(diagnoses);
  return (place) => find(place)?.facts;
}

/** Looks up what was found at an endpoint. At another address of the provider, it says nothing. */
export function findDiagnosis(
  diagnoses: readonly Diagnosis[],
): (place: MeasuredPlace) => Diagnosis | undefined {
  if (diagnoses.length === 0) return () => undefined;
  const known = new Map(diagnoses.map((one) => [keyOf(one), one]));
  return (place) => {
    const found = known.get(keyOf(place));
    return found?.baseUrl === place.baseUrl ? found : undefined;
  };
}

/** A provider serves a model over a protocol at one address. */
function keyOf({ provider, protocol, model }: MeasuredPlace): string {
  return JSON.stringify([provider, protocol, model]);
}

function write(dataDir: string, diagnoses: readonly Diagnosis[]): void {
  const path = capabilityPath(dataDir);
  // A name of its own: two commands may write at once, and then the later one is right as a whole.
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = { version: VERSION, endpoints: diagnoses.map(formatDiagnosis) };
    writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new GatewayError('internal', `${path} cannot be written: ${String(error)}`, { cause: error });
  }
}
