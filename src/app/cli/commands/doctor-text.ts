// Probe results as text for a terminal: one aligned block per endpoint, optionally coloured.
import type { Endpoint, MeasuredFacts } from '../../../catalog/index.ts';
import type { Parameter } from '../../../canonical/index.ts';
import { PARAMETERS } from '../../../canonical/index.ts';
import type { Diagnosis, Finding, Outcome } from '../../../operations/doctor/index.ts';
import { padColumns } from '../command.ts';
import { printable } from '../../../base/lib/printable.ts';
import { painter, wrap, type Colour } from './format-value.ts';

export interface DoctorTextOptions {
  /** Characters per line. Null: unlimited. */
  readonly width: number | null;
  readonly colour: boolean;
}

const MARKS: Readonly<Record<Outcome, string>> = { yes: '✓', no: '✗', unknown: '?' };
const COLOURS: Readonly<Record<Outcome, Colour>> = { yes: 'green', no: 'red', unknown: 'yellow' };
/** Minimum width of a detail; narrower columns are unreadable. */
const LEAST_DETAIL = 24;

/** One-character mark of an outcome. */
export function markOf(outcome: Outcome): string {
  return MARKS[outcome];
}

/** `provider/model over protocol`. */
export function nameOf({
  provider,
  model,
  protocol,
}: Pick<Endpoint, 'provider' | 'model' | 'protocol'>): string {
  return printable(`${provider}/${model} over ${protocol}`);
}

/** Block of one endpoint, ending in a newline. @param changes new facts in the catalog */
export function diagnosisText(
  diagnosis: Diagnosis,
  changes: readonly Change[],
  options: DoctorTextOptions,
): string {
  const paint = painter(options.colour);
  const lines = [`${nameOf(diagnosis)} at ${printable(diagnosis.baseUrl)}`];
  const cells = padColumns(diagnosis.findings.map(({ title }) => [title]));
  diagnosis.findings.forEach((finding, at) => {
    const title = cells[at]?.[0] ?? '';
    const indent = 4 + title.length + 2;
    const width = options.width === null ? null : Math.max(options.width - indent, LEAST_DETAIL);
    const [first = '', ...more] = wrap(printable(detailOf(finding)), width);
    lines.push(`  ${paint(COLOURS[finding.outcome], MARKS[finding.outcome])} ${title}  ${first}`.trimEnd());
    lines.push(...more.map((line) => ' '.repeat(indent) + line));
  });
  for (const { name, known, measured, isOverruled } of changes)
    lines.push(
      isOverruled
        ? `  = ${name} stays ${known}, as configured (measured: ${measured})`
        : `  → ${name}: ${measured} (before: ${known})`,
    );
  return `${lines.join('\n')}\n`;
}

function detailOf({ value, detail }: Finding): string {
  return value === undefined ? detail : `${value}: ${detail}`;
}

/** A fact that differs from what was known. */
export interface Change {
  readonly name: string;
  readonly known: string;
  readonly measured: string;
  /** True: the operator's setting takes precedence. */
  readonly isOverruled: boolean;
}

/**
 * Compares an endpoint with and without the measured facts.
 * @param before from documentation and configuration
 * @param after the same with the facts
 */
export function changesOf(before: Endpoint, after: Endpoint, facts: MeasuredFacts): readonly Change[] {
  const changes: Change[] = [];
  const compare = (name: string, known: unknown, measured: unknown, now: unknown): void => {
    if (measured === undefined || measured === known) return;
    changes.push({
      name,
      known: String(known),
      measured: String(measured),
      isOverruled: now !== measured,
    });
  };
  for (const name of Object.keys(facts.quirks) as (keyof typeof facts.quirks)[])
    compare(snake(name), before.quirks[name], facts.quirks[name], after.quirks[name]);
  for (const [name, takes] of Object.entries(facts.parameters) as [Parameter, boolean][])
    compare(
      PARAMETERS[name],
      before.unsupported.has(name) ? 'unsupported' : 'supported',
      takes ? 'supported' : 'unsupported',
      after.unsupported.has(name) ? 'unsupported' : 'supported',
    );
  compare('reasoning', before.reasoningStyle, facts.reasoningStyle, after.reasoningStyle);
  // A model without reasoning cannot have mandatory reasoning.
  if (after.reasoningStyle !== 'none')
    compare(
      'reasoning_mandatory',
      before.reasoningMandatory,
      facts.reasoningMandatory,
      after.reasoningMandatory,
    );
  compare('context_length', before.contextLength, facts.contextLength, after.contextLength);
  // This fact follows from the others.
  if (after.faithful !== before.faithful)
    changes.push({
      name: 'faithful',
      known: String(before.faithful),
      measured: String(after.faithful),
      isOverruled: false,
    });
  return changes;
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
