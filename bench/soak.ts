// `npm run soak`: minutes of mixed load on one gateway, with faults, disconnecting clients, tools and state, to
// detect growing memory or handles. Prints resident memory of all processes, the JavaScript heap and open handles
// over time, with their slopes after a warm-up. Exits with 1 if one of them grows, or memory exceeds its limit.
//
//   --minutes N   duration (10)
//   --clients N   clients with one call at a time (16)
//   --seed N      seed of the order of calls
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { LOAD_CORE, type Owned, residentMb, start } from './processes.ts';
import { type ProbedGateway, startProbed } from './probed.ts';
import { aligned } from './report.ts';
import { type Ask, type Caller, CALLS, pickCall, SIMULATED } from './soak-calls.ts';
import { trend } from './spread.ts';
import { GATEWAY_KEY, packTree, startMock, targetOf } from './targets.ts';
import { launchOf } from '../test/support/program.ts';

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '10' },
    clients: { type: 'string', default: '16' },
    seed: { type: 'string', default: '20261122' },
  },
});
const minutes = Number(values.minutes);
/** Share of the duration that is not judged, at the beginning. */
const WARM_SHARE = 0.25;
const MOST_RESIDENT_MB = 160;
/** Maximum growth per hour, after subtracting twice the standard error of the slope. */
const MOST_GROWTH_PER_HOUR = { resident: 12, heap: 6, handles: 20 } as const;
/** Seconds between the last call and the final reading. */
const SETTLING_SECONDS = 12;
/** Connections that each client may keep open: its own, and those to upstreams. */
const POOLED_PER_CLIENT = 3;

interface Sample {
  readonly minute: number;
  readonly resident: number;
  readonly heap: number;
  readonly handles: number;
  readonly calls: number;
}

const root = join(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'dragoman-soak-'));
const stops: (() => Promise<void>)[] = [];
let passed = false;
try {
  passed = await soak();
} finally {
  await Promise.all(stops.map((stop) => stop()));
  rmSync(folder, { recursive: true, force: true });
}
process.exit(passed ? 0 : 1);

async function soak(): Promise<boolean> {
  packTree(root);
  const mock = await startMock(folder);
  stops.push(() => mock.stop());
  const engine = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: searchResults });
  stops.push(() => engine.stop(true));
  const gateway = await startProbed(folder, mock.port, {
    root,
    lanes: ['relay', 'translate'],
    providers: simulatedProviders(await simulator()),
    tools: { web_search: { backend: 'searxng', url: `http://127.0.0.1:${engine.port}` } },
  });
  stops.push(() => gateway.stop());
  const { port, pids } = targetOf(gateway, 'relay');
  const counts = new Map(CALLS.map(({ name }) => [name, 0]));
  const wrong: string[] = [];
  const calls = (): number => [...counts.values()].reduce((sum, count) => sum + count, 0);
  const look = (minute: number): Promise<Sample> => sample(gateway, pids(), minute, calls());
  const before = await look(0);

  const begun = performance.now();
  const minuteNow = (): number => (performance.now() - begun) / 60_000;
  const client = async (number: number): Promise<void> => {
    const caller: Caller = { ask: askAt(port), below: numbersFrom(Number(values.seed) + number) };
    while (minuteNow() < minutes) {
      const call = pickCall(caller);
      await call.run(caller).catch((error: unknown) => wrong.push(`${call.name}: ${String(error)}`));
      counts.set(call.name, (counts.get(call.name) ?? 0) + 1);
    }
  };
  const clients = Array.from({ length: Number(values.clients) }, (_, number) => client(number));
  const samples: Sample[] = [];
  const every = Math.min(5, minutes);
  print(['minute', 'RSS MB', 'heap MB', 'handles', 'calls']);
  for (let shown = 0; minuteNow() < minutes;) {
    await Bun.sleep(every * 1000);
    samples.push(await look(minuteNow()));
    const last = samples.at(-1);
    if (!last || last.minute - shown < minutes / 20) continue;
    shown = last.minute;
    print(cells(last));
  }
  await Promise.all(clients);
  await Bun.sleep(SETTLING_SECONDS * 1000);
  const { heapSize } = await gateway.heap(true);
  const rest = { ...(await look(minuteNow())), heap: heapSize / 2 ** 20 };
  print(cells(rest), 'idle, after garbage collection');
  console.log(`\n${aligned([...counts].map(([name, count]) => [name, String(count)]))}\n`);
  for (const line of wrong.slice(0, 10)) console.log(`wrong: ${line}`);
  return judge(samples, before, rest, wrong.length);
}

function judge(samples: readonly Sample[], before: Sample, rest: Sample, wrong: number): boolean {
  const judged = samples.filter(({ minute }) => minute >= minutes * WARM_SHARE);
  const peak = Math.max(...samples.map(({ resident }) => resident));
  const pooled = POOLED_PER_CLIENT * Number(values.clients);
  const verdicts: [says: string, measured: string, kept: boolean][] = [
    ['calls with wrong responses', String(wrong), wrong === 0],
    [`peak RSS in MB, at most ${MOST_RESIDENT_MB}`, peak.toFixed(0), peak <= MOST_RESIDENT_MB],
    [
      `additional idle handles since the start, at most ${pooled}`,
      `${rest.handles - before.handles}`,
      rest.handles - before.handles <= pooled,
    ],
  ];
  for (const [name, most] of Object.entries(MOST_GROWTH_PER_HOUR) as [
    keyof typeof MOST_GROWTH_PER_HOUR,
    number,
  ][]) {
    const { slope, error } = trend(judged.map((each) => [each.minute / 60, each[name]]));
    const says = `growth of ${name} per hour, at most ${most}`;
    verdicts.push([says, `${slope.toFixed(1)} ± ${(2 * error).toFixed(1)}`, slope - 2 * error <= most]);
  }
  const rows = verdicts.map(([says, measured, kept]) => [says, measured, kept ? 'kept' : 'FAILED']);
  console.log(aligned([['', 'measured', ''], ...rows]));
  return verdicts.every(([, , kept]) => kept);
}

async function sample(
  gateway: ProbedGateway,
  pids: readonly number[],
  minute: number,
  calls: number,
): Promise<Sample> {
  const { heapSize } = await gateway.heap(false);
  const resident = pids.reduce((sum, pid) => sum + residentMb(pid), 0);
  const handles = pids.reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0);
  return { minute, resident, heap: heapSize / 2 ** 20, handles, calls };
}

function cells({ minute, resident, heap, handles, calls }: Sample): string[] {
  return [minute.toFixed(1), resident.toFixed(0), heap.toFixed(1), String(handles), String(calls)];
}

function print(row: readonly string[], note = ''): void {
  console.log(`${row.map((cell) => cell.padStart(9)).join('')}  ${note}`.trimEnd());
}

/** Starts the simulated provider in a process of its own, so that its memory is not counted. @returns its origin */
async function simulator(): Promise<string> {
  const { command, environment } = await launchOf(root);
  const log = join(folder, 'sim.log');
  const program: Owned = start([...command, 'sim', '--port', '0'], LOAD_CORE, log, environment);
  stops.push(() => program.stop());
  return (await program.line(/listening on (http:\/\/\S+)/))[1] ?? '';
}

function simulatedProviders(origin: string): Record<string, object> {
  const entries = Object.entries(SIMULATED).map(([name, [protocol, path]]) => [
    name,
    { api_key: 'sk-test', protocols: { [protocol]: { base_url: origin + path } } },
  ]);
  return Object.fromEntries(entries) as Record<string, object>;
}

function searchResults(): Response {
  const results = Array.from({ length: 5 }, (_, at) => ({
    url: `https://example.com/${at}`,
    title: `River ${at}`,
    content: 'A river that rises in the hills and ends in the sea.',
  }));
  return Response.json({ query: 'rivers', results });
}

function askAt(port: number): Ask {
  return async (path, { method = 'POST', body, key = GATEWAY_KEY, signal, status }) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    if (status === null || response.status === status) return response;
    throw new Error(`${method} ${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
  };
}

/** Pseudo-random numbers from a seed. */
function numbersFrom(seed: number): (end: number) => number {
  let state = BigInt(seed);
  return (end) => {
    state = (state * 6_364_136_223_846_793_005n + 1_442_695_040_888_963_407n) & 0xffff_ffff_ffff_ffffn;
    return Number((state >> 33n) % BigInt(end));
  };
}
