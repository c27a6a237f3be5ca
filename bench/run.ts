// `npm run bench`: measures Dragoman, nginx and no proxy at all in alternation, and judges the medians against
// budgets.json. Writes the figures to .build/last.json.
//
//   --quick        one short repetition of the judged scenarios, under 40 seconds
//   --repeat N     number of repetitions (3)
//   --only NAME    one scenario, `start`, `footprint`, `plan` or `limits`
//   --report-only  never fails
//   --profile      profiles instead; --only takes cases (see cases.ts), by default relay
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findCases } from './cases.ts';
import { measureFootprint } from './footprint.ts';
import { type Figures, measure } from './measure.ts';
import { pairTable } from './pairs.ts';
import { limitsFigures } from './limits.ts';
import { planFigures } from './plan.ts';
import { pinned } from './processes.ts';
import { profileCase } from './profiled.ts';
import { type Budget, budgetTable, judge, type Results, scenarioTable, type Verdict } from './report.ts';
import { type Scenario, SCENARIOS } from './scenarios.ts';
import { measureStartUp } from './start-up.ts';
import {
  packTree,
  type Server,
  startGateway,
  startMock,
  startNginx,
  type Target,
  type TargetName,
} from './targets.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    'report-only': { type: 'boolean', default: false },
    repeat: { type: 'string' },
    only: { type: 'string' },
    profile: { type: 'boolean', default: false },
  },
});

if (process.platform !== 'linux') {
  console.error('bench requires Linux, because it reads CPU time and memory from /proc.');
  process.exit(values['report-only'] ? 0 : 1);
}

const { quick, only } = values;
const repetitions = Math.max(1, Number(values.repeat ?? (quick ? 1 : 3)) || 1);
/**
 * Seconds of mixed load before any measurement, with all kinds of requests together. The runtime takes some ten
 * thousand requests of each kind to compile hot code, and longer on two cores.
 */
const WARM_SECONDS = quick ? 1.5 : 60;
/** Measurements that are made once, on gateways of their own or without any. */
const SINGLE: Readonly<
  Record<string, (mockPort: number) => Promise<[TargetName, Figures]> | [TargetName, Figures]>
> = {
  plan: () => ['routing', planFigures(quick ? 3 : 20)],
  limits: () => ['limits', limitsFigures(quick ? 3 : 9)],
  async start(mockPort) {
    const times = quick ? { idle: 1, cold: 2 } : { idle: 5, cold: 5 };
    return ['relay', await measureStartUp(folder, mockPort, times)];
  },
  footprint: async (mockPort) => ['relay', await measureFootprint(folder, mockPort, quick ? 3_000 : 20_000)],
};
const root = join(import.meta.dirname, '..');
const build = join(import.meta.dirname, '.build');

const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
const servers: Server[] = [];
let failed = false;
try {
  const mock = await startMock(folder);
  servers.push(mock);
  if (!pinned)
    console.log(
      'taskset is not installed, or the machine has only one core. Processes share cores, so the results are less reliable.\n',
    );
  packTree(root);
  if (values.profile) await profile(mock.port);
  else failed = (await bench(mock.port, mock.targets)).some(({ kept }) => !kept);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed && !values['report-only'] ? 1 : 0);

async function profile(mockPort: number): Promise<void> {
  mkdirSync(build, { recursive: true });
  for (const each of findCases(only ?? 'relay')) {
    const file = join(build, `${each.name}.cpuprofile`);
    const times = quick ? { warm: 2, seconds: 1 } : { warm: 15, seconds: 4 };
    console.log(
      `${await profileCase(each, folder, mockPort, { root, label: 'Dragoman', ...times, file })}\n`,
    );
  }
}

async function bench(mockPort: number, direct: readonly Target[]): Promise<Verdict[]> {
  const scenarios = SCENARIOS.filter(({ name, alone, quick: short }) =>
    only === undefined ? !alone && !(quick && short === null) : name === only,
  );
  const single = Object.entries(SINGLE).filter(([name]) => only === undefined || name === only);
  if (scenarios.length + single.length === 0)
    throw new Error(
      `--only must be one of ${[...SCENARIOS.map(({ name }) => name), ...Object.keys(SINGLE)].join(', ')}`,
    );
  const collected: Record<string, Partial<Record<TargetName, Figures[]>>> = {};
  for (const [name, work] of single) {
    progress(name);
    const [target, figures] = await work(mockPort);
    collected[name] = { [target]: [figures] };
  }
  const labels = scenarios.length > 0 ? await measureAll(scenarios, collected, mockPort, direct) : {};
  progress('');
  for (const scenario of scenarios) console.log(`${scenarioTable(scenario, collected, labels)}\n`);
  return judged(collected);
}

async function measureAll(
  scenarios: readonly Scenario[],
  collected: Record<string, Partial<Record<TargetName, Figures[]>>>,
  mockPort: number,
  direct: readonly Target[],
): Promise<Record<string, string>> {
  const nginx = await startNginx(folder, mockPort);
  if (nginx) servers.push(nginx);
  else console.log('nginx is not on PATH. Ratios to nginx are skipped.\n');
  const gateway = await startGateway(folder, mockPort);
  servers.push(gateway);
  const targets = [...direct, ...(nginx?.targets ?? []), ...gateway.targets];
  const wanted = scenarios.flatMap((scenario) =>
    scenario.fresh
      ? []
      : gateway.targets
          .filter(({ name }) => targetsOf(scenario).includes(name))
          .map((target) => ({ scenario, target })),
  );
  for (const { scenario, target } of wanted) {
    progress(`warming up: ${target.label}, ${scenario.title}`);
    await measure(scenario, target, folder, { warm: 0, seconds: WARM_SECONDS / wanted.length });
  }
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const scenario of scenarios) {
      progress(`repetition ${repetition} of ${repetitions}: ${scenario.title}`);
      for (const target of targets) {
        if (!targetsOf(scenario).includes(target.name)) continue;
        const figures = await measureOn(scenario, target, mockPort);
        ((collected[scenario.name] ??= {})[target.name] ??= []).push(figures);
      }
    }
  }
  return Object.fromEntries(targets.map(({ name, label }) => [name, label]));
}

function targetsOf({ targets, quick: short }: Scenario): readonly TargetName[] {
  return quick && short ? short.targets : targets;
}

async function measureOn(scenario: Scenario, target: Target, mockPort: number): Promise<Figures> {
  const window = (quick && scenario.quick) || scenario.window;
  if (!scenario.fresh || target.name === 'nginx') return measure(scenario, target, folder, window);
  const gateway = await startGateway(mkdtempSync(join(folder, 'gateway-')), mockPort);
  servers.push(gateway);
  try {
    const fresh = gateway.targets.find(({ name }) => name === target.name) ?? target;
    return await measure(scenario, fresh, folder, window);
  } finally {
    servers.splice(servers.indexOf(gateway), 1);
    await gateway.stop();
  }
}

function judged(results: Results): Verdict[] {
  const { budgets } = JSON.parse(readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8')) as {
    budgets: Budget[];
  };
  const verdicts = judge(
    results,
    budgets.filter(({ scenario }) => results[scenario] !== undefined),
  );
  const pairs = pairTable(results);
  if (pairs !== '') console.log(`${pairs}\n`);
  console.log(budgetTable(verdicts));
  const output = { at: new Date().toISOString(), quick, repetitions, pinned, results, verdicts };
  mkdirSync(build, { recursive: true });
  writeFileSync(join(build, 'last.json'), `${JSON.stringify(output, null, 1)}\n`);
  return verdicts;
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
