// `npm run bench`: measures Dragoman beside nginx and beside no proxy at all, in turn, and judges the medians
// against budgets.json. Options: --quick (one short repetition), --report-only (never fails), --repeat N,
// --only SCENARIO. Leaves the figures in .build/last.json.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Figures, measure, type Window } from './measure.ts';
import { pairTable } from './pairs.ts';
import { planFigures } from './plan.ts';
import { pinned } from './processes.ts';
import { type Budget, budgetTable, judge, type Results, scenarioTable } from './report.ts';
import { type Scenario, SCENARIOS } from './scenarios.ts';
import { type Server, startGateway, startMock, startNginx, type Target, type TargetName } from './targets.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    'report-only': { type: 'boolean', default: false },
    repeat: { type: 'string' },
    only: { type: 'string' },
  },
});

if (process.platform !== 'linux') {
  console.error('bench runs on Linux only: it reads CPU time and memory from /proc.');
  process.exit(values['report-only'] ? 0 : 1);
}

const quick = values.quick;
const repetitions = Math.max(1, Number(values.repeat ?? (quick ? 1 : 3)) || 1);
const scenarios = SCENARIOS.filter(({ name, alone }) =>
  values.only === undefined ? !alone : name === values.only,
);
if (scenarios.length === 0)
  throw new Error(`--only takes one of ${SCENARIOS.map(({ name }) => name).join(', ')}`);

const folder = mkdtempSync(join(tmpdir(), 'dragoman-bench-'));
const servers: Server[] = [];
let failed = false;
try {
  const verdicts = await bench();
  failed = verdicts.some(({ kept }) => !kept);
} finally {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(failed && !values['report-only'] ? 1 : 0);

async function bench(): Promise<ReturnType<typeof judge>> {
  const mock = await startMock(folder);
  servers.push(mock);
  const nginx = await startNginx(folder, mock.port);
  if (nginx) servers.push(nginx);
  else console.log('There is no nginx on PATH: the ratios against it are skipped.\n');
  if (!pinned)
    console.log('There is no taskset, or only one core: processes share cores and the figures say less.\n');
  const gateway = await startGateway(folder, mock.port);
  servers.push(gateway);
  const targets = [mock, nginx, gateway].flatMap((server) => server?.targets ?? []);

  const collected: Record<string, Partial<Record<TargetName, Figures[]>>> = {};
  if (values.only === undefined) collected['plan'] = { routing: [planFigures(quick ? 5 : 20)] };
  for (const scenario of scenarios.filter(({ alone }) => alone)) {
    progress(`warming up: ${scenario.title}`);
    for (const target of targets)
      if (scenario.targets.includes(target.name))
        await measure(scenario, target, folder, windowOf(scenario, true));
  }
  for (let repetition = 1; repetition <= repetitions; repetition++) {
    for (const scenario of scenarios) {
      progress(`repetition ${repetition} of ${repetitions}: ${scenario.title}`);
      for (const target of targets) {
        if (!scenario.targets.includes(target.name)) continue;
        const figures = await measureOn(scenario, target, mock.port);
        ((collected[scenario.name] ??= {})[target.name] ??= []).push(figures);
      }
    }
  }
  progress('');
  return show(collected, Object.fromEntries(targets.map(({ name, label }) => [name, label])));
}

async function measureOn(scenario: Scenario, target: Target, mockPort: number): Promise<Figures> {
  if (!scenario.fresh || target.name === 'nginx')
    return measure(scenario, target, folder, windowOf(scenario, quick));
  const own = mkdtempSync(join(folder, 'gateway-'));
  const gateway = await startGateway(own, mockPort);
  servers.push(gateway);
  try {
    const fresh = gateway.targets.find(({ name }) => name === target.name) ?? target;
    return await measure(scenario, fresh, folder, windowOf(scenario, quick));
  } finally {
    servers.splice(servers.indexOf(gateway), 1);
    await gateway.stop();
  }
}

function windowOf({ warm, seconds }: Scenario, short: boolean): Window {
  const at = short ? 1 : 0;
  return { warm: warm[at] ?? 0, seconds: seconds[at] ?? 0 };
}

function show(results: Results, labels: Readonly<Record<string, string>>): ReturnType<typeof judge> {
  const { budgets } = JSON.parse(readFileSync(join(import.meta.dirname, 'budgets.json'), 'utf8')) as {
    budgets: Budget[];
  };
  const verdicts = judge(
    results,
    budgets.filter(({ scenario }) => results[scenario] !== undefined),
  );
  for (const scenario of scenarios) console.log(`${scenarioTable(scenario, results, labels)}\n`);
  const pairs = pairTable(results);
  if (pairs !== '') console.log(`${pairs}\n`);
  console.log(budgetTable(verdicts));
  const output = { at: new Date().toISOString(), quick, repetitions, pinned, results, verdicts };
  writeFileSync(join(import.meta.dirname, '.build', 'last.json'), `${JSON.stringify(output, null, 1)}\n`);
  return verdicts;
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
