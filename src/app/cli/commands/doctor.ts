// `dragoman doctor`: probes the configured providers, prints the results, and stores them for the catalog.
import { printableLines } from '../../../base/lib/printable.ts';
import { createInterface } from 'node:readline/promises';
import type { Catalog, Endpoint } from '../../../catalog/index.ts';
import { buildSnapshot, type Config, type Snapshot } from '../../config/index.ts';
import {
  costOfProbes,
  examine,
  findMeasured,
  formatDiagnosis,
  isAnswering,
  mostUsd,
  probesFor,
  type Diagnosis,
} from '../../../operations/doctor/index.ts';
import { presets } from '../../../catalog/providers/index.ts';
import { systemClock } from '../../../base/runtime/clock.ts';
import { inThisShell } from '../program-name.ts';
import { readEnvironment } from '../../../base/runtime/environment.ts';
import { UpstreamClient } from '../../../upstream/client.ts';
import { parseArguments, type Arguments, type RunCommand } from '../command.ts';
import { DOCTOR_OPTIONS } from '../options.ts';
import { chooseEndpoints, UsageError, type ProbedEndpoint, type Unchosen } from './probed-endpoints.ts';
import { changesOf, diagnosisText, markOf, nameOf, type Change } from './doctor-text.ts';
import { withFindings, type Findings } from '../compose/open-findings.ts';
import { snapshotRedactor } from '../compose/snapshot-redactor.ts';
import { listenSim, simBuiltIn } from './sim-server.ts';
import type { DurationMs } from '../../../base/units.ts';

/** Timeout of one request in seconds; a local server may have to load its model first. */
const TIMEOUT_S = 60;

/** Advice for a fresh installation, where only the simulated provider is enabled. */
const NO_PROVIDER = (): string => `No provider is enabled except the simulated one, which needs no probes.
Set the API key of a provider and try again, for example:
  OPENAI_API_KEY=sk-... ${inThisShell('doctor')}
Or add one under \`providers\` in dragoman.yaml. \`${inThisShell('check')}\` lists enabled providers.
To probe the simulated provider: ${inThisShell('doctor --model sim/chat')}
`;

export const doctor: RunCommand = async (argv) => {
  const args = parseArguments(argv, DOCTOR_OPTIONS);
  try {
    const { config } = args.load();
    return await withFindings(config, (findings) =>
      args.flag('forget') ? forget(args, findings) : examineAll(args, config, findings),
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    say(`dragoman doctor: ${error.message}\n`);
    return 2;
  }
};

/** The named provider. Undefined: all. */
function providerOf(args: Arguments): string | undefined {
  return args.words[0] ?? args.option('provider');
}

async function forget(args: Arguments, findings: Findings): Promise<number> {
  const count = await findings.forget(providerOf(args));
  if (args.json) print(`${JSON.stringify({ forgotten: count })}\n`);
  else print(`Deleted the results of ${count} ${count === 1 ? 'endpoint' : 'endpoints'}.\n`);
  return 0;
}

async function examineAll(args: Arguments, config: Config, findings: Findings): Promise<number> {
  const timeoutMs = timeoutOf(args.option('timeout'));
  const sim = config.providers['sim'] === false ? null : listenSim('127.0.0.1', 0);
  const client = new UpstreamClient(systemClock.now, { network: () => config.upstream.network });
  const builtIn = sim && simBuiltIn(`http://127.0.0.1:${sim.port}`);
  // Earlier measurements are ignored: a quirk is either found again or gone.
  const snapshotWith = (diagnoses: readonly Diagnosis[]): Snapshot =>
    buildSnapshot({
      config,
      presets,
      sim: builtIn,
      environment: readEnvironment(),
      measured: findMeasured(diagnoses),
      revision: 1,
    });
  try {
    const before = snapshotWith([]);
    const { catalog } = before;
    const asking = {
      upstream: client,
      clock: systemClock,
      timeoutMs,
      redact: snapshotRedactor(before),
    };
    const isDry = args.flag('dry-run');
    const { targets, unchosen } = await chooseEndpoints({
      catalog,
      config,
      presets,
      provider: providerOf(args),
      model: args.option('model'),
      asking: isDry ? null : asking,
    });
    const deep = args.flag('deep');
    announce(targets, unchosen, deep);
    if (targets.length === 0 && unchosen.length === 0) say(NO_PROVIDER());
    if (isDry) {
      if (args.json) print(`${JSON.stringify(planOf(targets, unchosen, deep), null, 2)}\n`);
      return 0;
    }
    if (targets.length > 0 && !(await isAgreed(args))) return 1;

    const shared = new Map<string, Promise<unknown>>();
    const diagnoses: Diagnosis[] = [];
    for (const target of targets) {
      const diagnosis = await examineOne(target, asking, { deep, shared });
      diagnoses.push(diagnosis);
      // Stored one by one, so that results already paid for survive an interruption.
      if (isKept(target, diagnosis)) await findings.store([diagnosis]);
    }
    const after = snapshotWith(diagnoses.filter((diagnosis, at) => isKept(targets[at], diagnosis))).catalog;
    report(args, targets, diagnoses, unchosen, after);
    return unchosen.length === 0 && diagnoses.every(isAnswering) ? 0 : 1;
  } finally {
    client.close();
    await sim?.stop();
  }
}

/** False for endpoints that did not answer, and for the built-in provider. */
function isKept(target: ProbedEndpoint | undefined, diagnosis: Diagnosis): boolean {
  return target !== undefined && !target.model.builtIn && isAnswering(diagnosis);
}

async function examineOne(
  { endpoint, task }: ProbedEndpoint,
  asking: Parameters<typeof examine>[1],
  { deep, shared }: Pick<Parameters<typeof examine>[2], 'deep' | 'shared'>,
): Promise<Diagnosis> {
  const { length } = probesFor(endpoint, deep, task);
  let at = 0;
  say(`${nameOf(endpoint)}\n`);
  return examine(endpoint, asking, {
    deep,
    task,
    shared,
    found: ({ title, outcome }) =>
      say(`  ${String(++at).padStart(2)}/${length} ${markOf(outcome)} ${title}\n`),
  });
}

function announce(targets: readonly ProbedEndpoint[], unchosen: readonly Unchosen[], deep: boolean): void {
  for (const { endpoint, task } of targets) {
    const { calls, tokens } = costOfProbes(endpoint, deep, task);
    say(
      `${nameOf(endpoint)}: at most ${calls} requests and ${tokens} tokens${priceText(endpoint, tokens)}\n`,
    );
  }
  for (const { provider, reason } of unchosen) say(`${provider}: ${reason}\n`);
}

/** Upper bound: the price if all tokens had the higher rate. */
function priceText(endpoint: Endpoint, tokens: number): string {
  const usd = mostUsd(endpoint, tokens);
  if (usd === null) return ', price unknown';
  return usd === 0 ? ', free' : `, at most USD ${Math.max(usd, 0.001).toFixed(3)}`;
}

function planOf(targets: readonly ProbedEndpoint[], unchosen: readonly Unchosen[], deep: boolean): object {
  return {
    endpoints: targets.map(({ endpoint, task }) => ({
      provider: endpoint.provider,
      protocol: endpoint.protocol,
      model: endpoint.model,
      base_url: endpoint.baseUrl,
      probes: probesFor(endpoint, deep, task).map(({ id }) => id),
      ...costOfProbes(endpoint, deep, task),
    })),
    skipped: unchosen,
  };
}

/** False without a terminal, because no one can confirm. */
async function isAgreed(args: Arguments): Promise<boolean> {
  if (args.flag('yes') || !process.stdin.isTTY) return true;
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const answer = await lines.question('Continue? [y/N] ');
  lines.close();
  return /^y(es)?$/i.test(answer.trim());
}

function report(
  args: Arguments,
  targets: readonly ProbedEndpoint[],
  diagnoses: readonly Diagnosis[],
  unchosen: readonly Unchosen[],
  after: Catalog,
): void {
  const changes = diagnoses.map((diagnosis, at) => changesBy(targets[at], diagnosis, after));
  if (args.json) {
    const endpoints = diagnoses.map((diagnosis, at) => ({
      ...formatDiagnosis(diagnosis),
      stored: isKept(targets[at], diagnosis),
      changes: changes[at]?.map(({ isOverruled, ...change }) => ({ ...change, overruled: isOverruled })),
    }));
    return print(`${JSON.stringify({ endpoints, skipped: unchosen }, null, 2)}\n`);
  }
  const isTerminal = process.stdout.isTTY;
  const options = {
    width: isTerminal ? process.stdout.columns : null,
    colour: isTerminal && !readEnvironment()['NO_COLOR'],
  };
  print(diagnoses.map((diagnosis, at) => diagnosisText(diagnosis, changes[at] ?? [], options)).join('\n'));
}

function changesBy(
  target: ProbedEndpoint | undefined,
  diagnosis: Diagnosis,
  after: Catalog,
): readonly Change[] {
  if (!target || !isKept(target, diagnosis)) return [];
  const { endpoint, model } = target;
  const now = after.find(model.id)?.endpoints.find((one) => one.slug === endpoint.slug);
  return now ? changesOf(endpoint, now, diagnosis.facts) : [];
}

function timeoutOf(text: string | undefined): DurationMs {
  const seconds = text === undefined ? TIMEOUT_S : Number(text);
  if (seconds > 0 && seconds <= 3600) return seconds * 1000;
  throw new UsageError(
    `--timeout: must be a number of seconds, more than 0 and at most 3600 (got "${text}")`,
  );
}

function say(text: string): void {
  process.stderr.write(printableLines(text));
}

function print(text: string): void {
  process.stdout.write(printableLines(text));
}
