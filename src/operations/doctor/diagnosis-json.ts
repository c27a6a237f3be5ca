// Probe results as JSON, in the configuration's terms. The same form is stored and shown. Parsing is lenient, because
// entries may be edited or from another version.
import { formatQuirks, parseQuirks } from '../../catalog/schema/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { Parameter, ReasoningStyle } from '../../canonical/index.ts';
import { asArray, asNumber, asObject, asString, isJsonObject } from '../../base/json/index.ts';
import { PARAMETERS } from '../../canonical/index.ts';
import { PROTOCOL_NAMES } from '../../protocols/index.ts';
import type { MeasuredFacts } from '../../catalog/index.ts';
import type { Diagnosis } from './examine.ts';
import { type Finding, MOST_CONTEXT, type Outcome } from './probe.ts';

const STYLES: readonly ReasoningStyle[] = ['none', 'effort', 'budget', 'both'];
const OUTCOMES: readonly Outcome[] = ['yes', 'no', 'unknown'];

/** JSON form for the file, the database, the management API and `--json`. */
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

/** Parses an entry; null: not valid for this version. */
export function parseDiagnosis(entry: unknown): Diagnosis | null {
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
    contextLength:
      contextLength !== undefined && contextLength > 0 && contextLength <= MOST_CONTEXT
        ? contextLength
        : undefined,
  };
}
