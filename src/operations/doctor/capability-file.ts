// Probe results in one file of the data directory, in the configuration's terms. The whole file is read with every
// snapshot, so that commands and running gateways agree, and is replaced by a rename.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { asArray, asObject, parseJson } from '../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import type { FindMeasured, MeasuredPlace } from '../../catalog/index.ts';
import { formatDiagnosis, parseDiagnosis } from './diagnosis-json.ts';
import type { Diagnosis } from './examine.ts';
import { errorCode } from '../../base/lib/errors.ts';

const VERSION = 1;

/** Path of the file. */
export function capabilityPath(dataDir: string): string {
  return join(dataDir, 'capabilities.json');
}

export interface Capabilities {
  readonly diagnoses: readonly Diagnosis[];
  /** Problem with the file; null: valid or missing. Readable entries are returned in any case. */
  readonly problem: string | null;
  /** True: the file was read and is damaged. Deleting the stored results repairs it. */
  readonly isDamaged: boolean;
}

/** Reads the file. A damaged file is reported, but is not an error, because results only refine presets. */
export function readCapabilities(dataDir: string): Capabilities {
  const path = capabilityPath(dataDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = errorCode(error) === 'ENOENT';
    const problem = isAbsent ? null : TEXTS.cannotRead(path, String(error));
    return { diagnoses: [], problem, isDamaged: false };
  }
  const file = asObject(parseJson(text));
  if (file['version'] !== VERSION)
    return {
      diagnoses: [],
      problem: `${path} has an unsupported format and is ignored`,
      isDamaged: true,
    };
  return readDiagnoses(asArray(file['endpoints']), path);
}

/** Reads entries of the file or a database. @param place where they are stored, for the problem */
export function readDiagnoses(entries: readonly unknown[], place: string): Capabilities {
  const diagnoses = entries.map(parseDiagnosis).filter((diagnosis) => diagnosis !== null);
  const lost = entries.length - diagnoses.length;
  return {
    diagnoses,
    problem: lost === 0 ? null : `${place}: ${lost} of ${entries.length} entries are invalid and ignored`,
    isDamaged: lost > 0,
  };
}

/** Replaces older results of the same endpoints. @throws GatewayError `internal` */
export function storeDiagnoses(dataDir: string, made: readonly Diagnosis[]): void {
  const known = new Map(readCapabilities(dataDir).diagnoses.map((one) => [keyOf(one), one]));
  for (const one of made) known.set(keyOf(one), one);
  write(dataDir, [...known.values()]);
}

/** Deletes results. @param provider only those of this provider; undefined: all @returns number of endpoints */
export function forgetDiagnoses(dataDir: string, provider: string | undefined): number {
  const { diagnoses } = readCapabilities(dataDir);
  const kept = provider === undefined ? [] : diagnoses.filter((one) => one.provider !== provider);
  // Written even if empty or damaged before, because running gateways watch the file for changes.
  if (existsSync(capabilityPath(dataDir))) write(dataDir, kept);
  return diagnoses.length - kept.length;
}

/** Lookup by provider, model, protocol and address, for the catalog. */
export function findMeasured(diagnoses: readonly Diagnosis[]): FindMeasured {
  const find = findDiagnosis(diagnoses);
  return (place) => find(place)?.facts;
}

/** Finds the result of an endpoint. Results for another address of the provider do not apply. */
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

/** Identifies a model of a provider over one protocol. */
function keyOf({ provider, protocol, model }: MeasuredPlace): string {
  return JSON.stringify([provider, protocol, model]);
}

function write(dataDir: string, diagnoses: readonly Diagnosis[]): void {
  const path = capabilityPath(dataDir);
  // Unique name, because two commands may write at the same time. The later one wins as a whole.
  const draft = `${path}.${crypto.randomUUID()}`;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const file = { version: VERSION, endpoints: diagnoses.map(formatDiagnosis) };
    writeFileSync(draft, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 });
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw new GatewayError('internal', `cannot write ${path}: ${String(error)}`, { cause: error });
  }
}
