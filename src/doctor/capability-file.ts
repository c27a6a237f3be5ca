// What was measured, kept in one file of the data directory, in the words of the configuration. Read whole with every
// snapshot, so that commands that only look and running gateways see the same; written whole, by one rename. Must not
// know how anything was measured.
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject, Parameter, ReasoningStyle } from '../canonical/index.ts';
import {
  GatewayError,
  PARAMETERS,
  asArray,
  asNumber,
  asObject,
  asString,
  isJsonObject,
  parseJson,
} from '../canonical/index.ts';
import { PROTOCOL_NAMES } from '../protocols/index.ts';
import type { FindMeasured, MeasuredFacts, MeasuredPlace } from '../catalog/index.ts';
import { formatQuirks, parseQuirks } from '../config/index.ts';
import type { Diagnosis } from './examine.ts';
import type { Finding, Outcome } from './probe.ts';

const VERSION = 1;
const STYLES: readonly ReasoningStyle[] = ['none', 'effort', 'budget', 'both'];
const OUTCOMES: readonly Outcome[] = ['yes', 'no', 'unknown'];

/** Where the file is. */
export function capabilityPath(dataDir: string): string {
  return join(dataDir, 'capabilities.json');
}

export interface Capabilities {
  readonly diagnoses: readonly Diagnosis[];
  /** What is wrong with the file; null when it is good, or when there is none. What could be read is there. */
  readonly problem: string | null;
}

/** Reads the file. A damaged one is a problem to tell of, not a reason to stop: it only makes presets better. */
export function readCapabilities(dataDir: string): Capabilities {
  const path = capabilityPath(dataDir);
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { diagnoses: [], problem: isAbsent ? null : `${path} cannot be read: ${String(error)}` };
  }
  const file = asObject(parseJson(text));
  const repair = '`dragoman doctor --forget` mends it';
  if (file['version'] !== VERSION)
    return { diagnoses: [], problem: `${path} is not a file of this version and is not used; ${repair}` };
  const entries = asArray(file['endpoints']);
  const diagnoses = entries.map(toDiagnosis).filter((diagnosis) => diagnosis !== null);
  const lost = entries.length - diagnoses.length;
  return {
    diagnoses,
    problem: lost === 0 ? null : `${path}: ${lost} of ${entries.length} entries are not valid; ${repair}`,
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
  // Of its own name: two commands may write at once, and then the later one is right as a whole.
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

/** A diagnosis in the form of the file and of `--json`. */
export function formatDiagnosis(diagnosis: Diagnosis): JsonObject {
  const { facts, findings } = diagnosis;
  return {
    provider: diagnosis.provider,
    protocol: diagnosis.protocol,
    model: diagnosis.model,
    base_url: diagnosis.baseUrl,
    probed_at: new Date(diagnosis.probedAt).toISOString(),
    probes: diagnosis.probes,
    facts: {
      quirks: formatQuirks(facts.quirks),
      supported: namesOf(facts, true),
      unsupported: namesOf(facts, false),
      reasoning: facts.reasoningStyle,
      reasoning_mandatory: facts.reasoningMandatory,
      context_length: facts.contextLength,
    },
    findings: findings.map(({ probe, title, outcome, value, detail }) => ({
      probe,
      title,
      outcome,
      value,
      detail,
    })),
  };
}

function namesOf({ parameters }: MeasuredFacts, takes: boolean): readonly string[] {
  return (Object.entries(parameters) as [Parameter, boolean][])
    .filter(([, taken]) => taken === takes)
    .map(([name]) => PARAMETERS[name]);
}

const PARAMETER_OF = new Map(
  (Object.entries(PARAMETERS) as [Parameter, string][]).map(([parameter, name]) => [name, parameter]),
);

/** Null for an entry that this version did not write. */
function toDiagnosis(entry: unknown): Diagnosis | null {
  const given = asObject(entry);
  const protocol = PROTOCOL_NAMES.find((name) => name === given['protocol']);
  const provider = asString(given['provider']);
  const model = asString(given['model']);
  const baseUrl = asString(given['base_url']);
  const probedAt = Date.parse(asString(given['probed_at']) ?? '');
  const facts = isJsonObject(given['facts']) ? toFacts(given['facts']) : null;
  if (!protocol || !provider || !model || !baseUrl || !facts || Number.isNaN(probedAt)) return null;
  return {
    provider,
    protocol,
    model,
    baseUrl,
    probedAt,
    probes: asNumber(given['probes']) ?? 0,
    findings: asArray(given['findings']).map(toFinding),
    facts,
  };
}

function toFinding(entry: unknown): Finding {
  const given = asObject(entry);
  return {
    probe: asString(given['probe']) ?? '',
    title: asString(given['title']) ?? '',
    outcome: OUTCOMES.find((outcome) => outcome === given['outcome']) ?? 'unknown',
    value: asString(given['value']),
    detail: asString(given['detail']) ?? '',
  };
}

function toFacts(given: JsonObject): MeasuredFacts | null {
  const quirks = parseQuirks(given['quirks'] ?? {});
  if (!quirks) return null;
  const parameters: Partial<Record<Parameter, boolean>> = {};
  for (const [member, takes] of [
    ['supported', true],
    ['unsupported', false],
  ] as const) {
    for (const name of asArray(given[member])) {
      const parameter = PARAMETER_OF.get(String(name));
      if (parameter) parameters[parameter] = takes;
    }
  }
  const contextLength = asNumber(given['context_length']);
  return {
    quirks,
    parameters,
    reasoningStyle: STYLES.find((style) => style === given['reasoning']),
    reasoningMandatory:
      typeof given['reasoning_mandatory'] === 'boolean' ? given['reasoning_mandatory'] : undefined,
    contextLength: contextLength !== undefined && contextLength > 0 ? contextLength : undefined,
  };
}
