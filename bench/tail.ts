// Causes of the slowest answers: sends requests of the relay lane at a constant rate on one connection, and analyses
// each step. Prints wall clock time and CPU time per step, how much more the slowest hundredth took, garbage
// collections, and the timers that block the event loop longest. On a busy machine only the CPU time is meaningful.
//
// node bin/bun.mjs run bench/tail.ts [--rate N] [--seconds S] [--warm S] [TREE]
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { RELAY } from './cases.ts';
import { type Load, measure } from './measure.ts';
import { aligned } from './report.ts';
import { MARKS, type Noted } from './steps.ts';
import { startGateway, startMock, targetOf } from './targets.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rate: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '20' },
    warm: { type: 'string', default: '15' },
  },
});
const seconds = Number(values.seconds);
const PACED: Load = { ...RELAY.load, name: 'paced', connections: 1, rate: Number(values.rate) };
/** Number of timers shown. */
const MOST_TIMERS = 8;

/** A duration of a request in microseconds. @param before the previous request */
type Step = (request: readonly number[], before: readonly number[]) => number;
const between =
  (from: number, to: number): Step =>
  (request) =>
    (request[to] ?? 0) - (request[from] ?? 0);
const CPU = MARKS.length;
const LAST = MARKS.length - 1;
const STEPS: readonly (readonly [name: string, wall: Step, cpu: Step])[] = [
  ['arrived → sent', between(0, 1), between(CPU, CPU + 1)],
  ['sent → received', between(1, 2), between(CPU + 1, CPU + 2)],
  ['received → responded', between(2, 3), between(CPU + 2, CPU + 3)],
  ['total', between(0, LAST), between(CPU, CPU + LAST)],
  [
    'notified → next arrived',
    (request, before) => (request[0] ?? 0) - (before[LAST] ?? 0),
    (request, before) => (request[CPU] ?? 0) - (before[CPU + LAST] ?? 0),
  ],
];

const folder = mkdtempSync(join(tmpdir(), 'dragoman-tail-'));
const mock = await startMock(folder);
try {
  await look();
} finally {
  await mock.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);

async function look(): Promise<void> {
  const steps = join(folder, 'steps.json');
  const gateway = await startGateway(folder, mock.port, {
    ...(positionals[0] === undefined ? {} : { root: resolve(positionals[0]) }),
    fromSources: true,
    lanes: ['relay'],
    environment: {
      BUN_OPTIONS: `--preload=${join(import.meta.dirname, 'steps.ts')}`,
      DRAGOMAN_BENCH_STEPS: steps,
      BUN_JSC_logGC: '1',
    },
  });
  const target = targetOf(gateway, 'relay');
  await measure(RELAY.load, target, folder, { warm: 0, seconds: Number(values.warm) });
  const collected = collections().length;
  const { p50, p99 } = await measure(PACED, target, folder, { warm: 0, seconds });
  const pauses = collections().slice(collected);
  await gateway.stop();
  const { requests, turns } = JSON.parse(readFileSync(steps, 'utf8')) as Noted;
  const paced = requests.slice(-Math.floor(PACED.rate ? PACED.rate * seconds : 0));
  console.log(`of the client: p50 ${p50} µs, p99 ${p99} µs; ${paced.length} requests\n`);
  console.log(`${stepTable(paced)}\n`);
  console.log(
    `collector: ${pauses.length} collections, ${((100 * pauses.length) / paced.length).toFixed(2)} for each hundred requests; ` +
      `pauses p50 ${(at(pauses, 0.5) * 1000).toFixed(0)} µs, longest ${(at(pauses, 1) * 1000).toFixed(0)} µs\n`,
  );
  console.log(timerTable(turns));
}

/** Durations of garbage collections so far, in milliseconds, from the log of the runtime. */
function collections(): number[] {
  const log = readFileSync(join(folder, 'dragoman.log'), 'utf8');
  return [...log.matchAll(/Collection,.* p=([\d.]+)ms/g)].map(([, pause]) => Number(pause));
}

function stepTable(requests: readonly (readonly number[])[]): string {
  const all = ([, wall, cpu]: (typeof STEPS)[number], step: 'wall' | 'cpu'): number[] =>
    requests.slice(1).map((request, place) => (step === 'wall' ? wall : cpu)(request, requests[place] ?? []));
  const whole = requests.slice(1).map((request) => between(0, LAST)(request, request));
  const slow = at(whole, 0.99);
  const rows = STEPS.flatMap((each) =>
    (['wall', 'cpu'] as const).map((step) => {
      const times = all(each, step);
      const slowest = times.filter((_, place) => (whole[place] ?? 0) >= slow);
      const mean = slowest.reduce((sum, time) => sum + time, 0) / slowest.length;
      const figures = [at(times, 0.5), at(times, 0.9), at(times, 0.99), at(times, 1), mean];
      return [step === 'wall' ? each[0] : '  processor', ...figures.map((figure) => figure.toFixed(0))];
    }),
  );
  return aligned([['µs', 'p50', 'p90', 'p99', 'longest', 'slowest 1 %'], ...rows]);
}

function timerTable(turns: Noted['turns']): string {
  const places = Map.groupBy(turns, ([, , place]) => place.replaceAll(/\(?\/\S*\/src\//g, 'src/'));
  const sum = (list: Noted['turns']): number => list.reduce((total, [, cpu]) => total + cpu, 0);
  const rows = [...places]
    .toSorted(([, one], [, other]) => sum(other) - sum(one))
    .slice(0, MOST_TIMERS)
    .map(([place, list]) => {
      const cpus = list.map(([, cpu]) => cpu);
      return [place, String(list.length), ...[0.5, 0.99, 1].map((share) => at(cpus, share).toFixed(0))];
    });
  return aligned([['timers, processor µs', 'turns', 'p50', 'p99', 'longest'], ...rows]);
}

/** Quantile of figures. */
function at(figures: readonly number[], share: number): number {
  const sorted = figures.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
