// The probes in order, their cost, and the examination of one endpoint.
import type { Endpoint, MeasuredFacts } from '../../catalog/index.ts';
import type { AnswerAsking, Task } from '../../engine/index.ts';
import { findProtocol } from '../../protocols/index.ts';
import { Examination } from './examination.ts';
import { PROBES_VERSION, type Finding, type Probe, type Verdict } from './probe.ts';
import { ANSWERS, answers, doesTask } from './probes/answers.ts';
import { conversationProbes } from './probes/conversation.ts';
import { formatProbes } from './probes/formats.ts';
import { lastProbes, outputProbes } from './probes/output.ts';
import { deepProbes, placeProbes } from './probes/place.ts';
import { reasoningProbes } from './probes/reasoning.ts';
import { toolProbes } from './probes/tools.ts';
import type { UnixMs } from '../../base/units.ts';

/** Later probes use the results of earlier ones. */
const PROBES: readonly Probe[] = [
  answers,
  ...placeProbes,
  ...outputProbes,
  ...conversationProbes,
  ...formatProbes,
  ...toolProbes,
  ...reasoningProbes,
  ...deepProbes,
  ...lastProbes,
];

/** Probe results of one endpoint. */
export interface Diagnosis {
  readonly provider: string;
  readonly protocol: Endpoint['protocol'];
  /** The upstream's model name. */
  readonly model: string;
  readonly baseUrl: string;
  readonly probedAt: UnixMs;
  /** Version of the probes. */
  readonly probes: number;
  readonly findings: readonly Finding[];
  readonly facts: MeasuredFacts;
}

export interface Cost {
  readonly calls: number;
  /** Prompt and output tokens. */
  readonly tokens: number;
}

/** Probes for an endpoint. @param deep true: includes expensive ones @param task task of its model; absent: text */
export function probesFor({ protocol }: Endpoint, deep: boolean, task?: Task): readonly Probe[] {
  if (task?.facts) return task.probe ? [doesTask(task.probe)] : [];
  const spoken = findProtocol(protocol);
  if (!spoken) return [];
  return PROBES.filter((probe) => (probe.suits?.(spoken) ?? true) && (deep || !probe.deep));
}

/** Maximum cost of examining an endpoint. */
export function costOfProbes(endpoint: Endpoint, deep: boolean, task?: Task): Cost {
  const probes = probesFor(endpoint, deep, task);
  return {
    calls: probes.reduce((sum, probe) => sum + probe.calls, 0),
    tokens: probes.reduce((sum, probe) => sum + probe.tokens(endpoint.contextLength), 0),
  };
}

/** Maximum price of a number of tokens, at the higher of both rates. USD; null: unknown. */
export function mostUsd({ price }: Endpoint, tokens: number): number | null {
  if (price?.output === undefined) return null;
  const rates = [price.output, price.input ?? 0].map((rate) => (typeof rate === 'number' ? rate : rate.base));
  return (Math.max(...rates) * tokens) / 1_000_000;
}

export interface ExamineOptions {
  readonly deep: boolean;
  /** Task of the endpoint's model. Absent: text. */
  readonly task?: Task | undefined;
  /** Results that all endpoints of one address share. Pass the same map to all examinations of a run. */
  readonly shared: Map<string, Promise<unknown>>;
  /** Called before each probe. */
  readonly starting?: ((probe: Probe) => void) | undefined;
  readonly found?: ((finding: Finding) => void) | undefined;
}

/** Examines an endpoint. Never rejects because of the endpoint. */
export async function examine(
  endpoint: Endpoint,
  asking: AnswerAsking,
  options: ExamineOptions,
): Promise<Diagnosis> {
  const examination = new Examination(endpoint, asking, options.shared);
  const findings: Finding[] = [];
  for (const probe of probesFor(endpoint, options.deep, options.task)) {
    const verdict = await judge(probe, examination, options);
    const { facts, ...rest } = verdict;
    const finding: Finding = { probe: probe.id, title: probe.title, ...rest };
    if (facts) examination.learn(facts);
    examination.outcomes.set(probe.id, finding.outcome);
    findings.push(finding);
    options.found?.(finding);
    if (probe.id === ANSWERS && finding.outcome !== 'yes') examination.giveUp(finding.detail);
  }
  const { provider, protocol, model, baseUrl } = endpoint;
  return {
    provider,
    protocol,
    model,
    baseUrl,
    probedAt: asking.clock.wall(),
    probes: PROBES_VERSION,
    findings,
    facts: examination.facts,
  };
}

async function judge(probe: Probe, examination: Examination, options: ExamineOptions): Promise<Verdict> {
  if (examination.givenUp !== null && probe.calls > 0)
    return { outcome: 'unknown', detail: 'skipped because of earlier failures' };
  options.starting?.(probe);
  return probe.run(examination);
}

/** True if the endpoint was reachable, accepted the key and answered. */
export function isAnswering({ findings }: Diagnosis): boolean {
  return findings.some(({ probe, outcome }) => probe === ANSWERS && outcome === 'yes');
}
