// Gain and cost of several processes compared with one in the same run: `npm run bench:scale` prints tables.
//
//   --quick      shorter: under two minutes in total
//   --only NAME  one of the parts below: workers, database, postgres, counters, sqlite
//
// The load generator shares the cores with the measured processes: on a machine with few cores, compare CPU time
// instead of throughput.
import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs, promisify } from 'node:util';
import { Client } from 'pg';
import { openSqliteStorage } from '../src/storage/sqlite/storage.ts';
import { POSTGRES_PROGRAMS, startPostgres } from '../test/support/servers/postgres.ts';
import { startValkey, VALKEY_PROGRAM } from '../test/support/servers/valkey.ts';
import { BODY } from './beside.ts';
import { type Load, measure } from './measure.ts';
import { familyCpuMs, LOAD_CORE, onCore, proportionalMb, residentMb, usedCpuMs } from './processes.ts';
import { aligned } from './report.ts';
import { recordsTaken, responsesStored } from './scale-postgres.ts';
import type { Writing, Written } from './scale-writer.ts';
import { quantile, type SteadyResult } from './steady.ts';
import {
  GATEWAY_KEY,
  type GatewayOptions,
  packTree,
  type Server,
  startGateway,
  startMock,
  targetOf,
} from './targets.ts';

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const { quick, only } = values;
/** Seconds of warm-up, and of measurement. */
const [WARM, SECONDS] = quick ? [3, 3] : [15, 6];
/** Maximum seconds until a load generator has started. */
const START_SECONDS = 2;
const ROUNDS = quick ? 1 : 3;
/** PostgreSQL's defaults, which the test server overrides. */
const DURABLE = { fsync: 'on', full_page_writes: 'on', shared_buffers: '128MB' };
/** Number of processes that store responses of one project, and of clients of each. */
const STORING = [
  [1, 1],
  [1, 32],
  [3, 11],
] as const;
const SECRET = 'ab'.repeat(32);
const WHOLE: Load = {
  name: 'whole',
  title: '2 kB requests, 32 connections',
  model: 'whole',
  stream: false,
  ramp: 0,
  connections: 32,
  bodyBytes: 2_000,
};
/** Requests per second at which latencies are compared: a tenth of the capacity of one core. */
const RATE = 100;

const folder = mkdtempSync(join(tmpdir(), 'dragoman-scale-'));
const run = promisify(execFile);
const fixed = (figure: number, digits = 0): string => figure.toFixed(digits);
const median = (figures: readonly number[]): number => quantile(figures, 0.5);

/** Starts a gateway with its own folder. */
function gatewayOf(name: string, mockPort: number, options: GatewayOptions): Promise<Server> {
  const home = join(folder, name);
  mkdirSync(home);
  return startGateway(home, mockPort, { lanes: ['relay'], ...options });
}

/** CPU time, throughput and memory with one process and with workers. */
async function workers(mockPort: number): Promise<void> {
  const rows: string[][] = [];
  const kinds: readonly (readonly [string, GatewayOptions])[] = [
    ['one process', { isFree: true }],
    ['1 worker', { workers: 1 }],
    ['2 workers', { workers: 2 }],
  ];
  for (const [name, options] of kinds) {
    const gateway = await gatewayOf(name.replace(' ', '-'), mockPort, options);
    try {
      const target = targetOf(gateway, 'relay');
      const memory = (of: (pid: number) => number): string =>
        target
          .pids()
          .map((pid) => fixed(of(pid)))
          .join(' + ');
      const idle = memory(residentMb);
      await measure(WHOLE, target, folder, { warm: 0, seconds: WARM });
      const figures = [];
      for (let round = 0; round < ROUNDS; round += 1)
        figures.push(await measure(WHOLE, target, folder, { warm: 0.5, seconds: SECONDS }));
      const cpu = median(figures.map(({ cpuPerRequest }) => cpuPerRequest ?? Number.NaN));
      const perSecond = median(figures.map(({ requestsPerSecond }) => requestsPerSecond ?? Number.NaN));
      const busy = (cpu * perSecond) / 1e6;
      rows.push([
        name,
        fixed(cpu),
        fixed(perSecond),
        fixed(busy, 2),
        idle,
        memory(residentMb),
        memory(proportionalMb),
      ]);
    } finally {
      await gateway.stop();
    }
  }
  print('workers: 2 kB requests, 32 connections, all processes on all cores', [
    ['', 'CPU µs/request', 'requests/s', 'cores busy', 'RSS idle', 'RSS MB after', 'PSS MB after'],
    ...rows,
  ]);
}

/** PostgreSQL compared with SQLite: CPU time of gateway and server per request, and latency at a fixed rate. */
async function database(mockPort: number): Promise<void> {
  if (POSTGRES_PROGRAMS === null) return;
  const server = await startPostgres(DURABLE);
  const stores: readonly (readonly [string, Readonly<Record<string, unknown>>, number | null])[] = [
    ['SQLite', {}, null],
    ['PostgreSQL', { database_url: server.url, secret: SECRET }, server.pid],
    [
      'PostgreSQL, local',
      { database_url: server.url, secret: SECRET, ledger: { durability: 'local' } },
      server.pid,
    ],
  ];
  const gateways: Server[] = [];
  try {
    const measured = [];
    for (const [name, config, pid] of stores) {
      const lanes = ['relay', 'responses-chat-stored'] as const;
      const gateway = await gatewayOf(name.replace(', ', '-'), mockPort, { config, lanes });
      gateways.push(gateway);
      for (const lane of lanes)
        await measure({ ...WHOLE, connections: 8 }, targetOf(gateway, lane), folder, {
          warm: 0,
          seconds: WARM,
        });
      measured.push({ name, pid, gateway, chat: [] as number[][], stored: [] as number[][] });
    }
    for (let round = 0; round < ROUNDS; round += 1)
      for (const { pid, gateway, chat, stored } of measured) {
        const { port, pids } = targetOf(gateway, 'relay');
        const cpu = (): [number, number] => [
          pids().reduce((sum, each) => sum + usedCpuMs(each), 0),
          pid === null ? 0 : familyCpuMs(pid),
        ];
        let from = cpu();
        const result = await steady(port, RATE, SECONDS);
        let to = cpu();
        const times = result.latencies['200'] ?? [];
        chat.push([
          (1000 * (to[0] - from[0])) / result.sent,
          (1000 * (to[1] - from[1])) / result.sent,
          quantile(times, 0.5),
          quantile(times, 0.99),
        ]);
        from = cpu();
        const target = targetOf(gateway, 'responses-chat-stored');
        const load = { ...WHOLE, name: 'stored', connections: 8 };
        const figures = await measure(load, target, folder, { warm: 0, seconds: SECONDS });
        to = cpu();
        const requests = (figures.requestsPerSecond ?? Number.NaN) * SECONDS;
        stored.push([
          (1000 * (to[0] - from[0])) / requests,
          (1000 * (to[1] - from[1])) / requests,
          (figures.p50 ?? Number.NaN) / 1000,
          (figures.p99 ?? Number.NaN) / 1000,
          requests / SECONDS,
        ]);
      }
    const middle = (rounds: readonly number[][]): number[] =>
      (rounds[0] ?? []).map((_, at) => median(rounds.map((round) => round[at] ?? Number.NaN)));
    const shown = (figures: number[]): string[] =>
      figures.map((figure, at) => fixed(figure, at === 2 || at === 3 ? 2 : 0));
    const columns = ['', 'gateway µs/request', 'server µs/request', 'p50 ms', 'p99 ms'];
    print(`database: chat relayed, ${RATE} requests a second`, [
      columns,
      ...measured.map(({ name, chat }) => [name, ...shown(middle(chat))]),
    ]);
    print('database: Responses → chat, stored, 8 connections, at full speed', [
      [...columns, 'requests/s'],
      ...measured.map(({ name, stored }) => [name, ...shown(middle(stored))]),
    ]);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await server.stop();
  }
}

/** Load of three gateways on PostgreSQL, and statements of an idle gateway. */
async function postgres(mockPort: number): Promise<void> {
  if (POSTGRES_PROGRAMS === null) return;
  const server = await startPostgres(DURABLE);
  try {
    const rows = [];
    for (const batch of [1, 10, 100]) rows.push(await recordsTaken(server, batch, SECONDS));
    print('postgres: records of three writers at full speed', [
      [
        'records of a batch',
        'a second',
        'server µs each',
        'writer µs each',
        'bytes each',
        'bytes of WAL each',
      ],
      ...rows.map(({ batch, ...figures }) =>
        [batch, ...Object.values(figures)].map((figure) => fixed(figure)),
      ),
    ]);
    const stored = [];
    for (const [processes, atOnce] of STORING)
      stored.push(await responsesStored(server, { processes, atOnce, seconds: SECONDS }));
    print('postgres: responses of one project, 4 kB each', [
      ['processes', 'clients', 'a second', 'p50 ms', 'p99 ms', 'server µs each', 'writer µs each'],
      ...stored.map((figures) =>
        Object.values(figures).map((figure, at) => fixed(figure, at === 3 || at === 4 ? 1 : 0)),
      ),
    ]);
    const config = { database_url: server.url, secret: SECRET };
    const gateway = await gatewayOf('idle', mockPort, { config, lanes: [] });
    const client = new Client({ connectionString: server.url });
    await client.connect();
    try {
      // PostgreSQL updates the count when a connection is idle.
      const transactions = async (): Promise<number> => {
        const { rows: found } = await client.query<{ count: string }>(
          'select xact_commit + xact_rollback as count from pg_stat_database where datname = current_database()',
        );
        return Number(found[0]?.count);
      };
      const [from, cpuMs] = [await transactions(), familyCpuMs(server.pid)];
      await Bun.sleep(2_000 * SECONDS);
      const asked = (await transactions()) - from - 1;
      print('postgres: an idle gateway', [
        ['transactions per second', 'CPU of the server, ms a second'],
        [fixed(asked / (2 * SECONDS), 1), fixed((familyCpuMs(server.pid) - cpuMs) / (2 * SECONDS), 1)],
      ]);
    } finally {
      await client.end();
      await gateway.stop();
    }
  } finally {
    await server.stop();
  }
}

/** Round trips to the counter server for three gateways that share five limits. */
async function counters(mockPort: number): Promise<void> {
  if (VALKEY_PROGRAM === null) return;
  const server = await startValkey();
  const config = {
    redis_url: server.url,
    keys: [
      {
        name: 'bench',
        key: GATEWAY_KEY,
        project: 'bench',
        limits: [{ requests: 100_000, per: 'minute' }],
        budgets: [{ usd: 100_000, per: 'month' }],
      },
    ],
    projects: {
      bench: {
        limits: [{ concurrent: 1_000 }, { tokens: 100_000_000, per: 'minute' }],
        budgets: [{ usd: 100_000, per: 'day' }],
      },
    },
  };
  const gateways = await Promise.all(
    [1, 2, 3].map((each) => gatewayOf(`counters-${each}`, mockPort, { config, isFree: true })),
  );
  try {
    const all = (seconds: number): Promise<SteadyResult[]> =>
      Promise.all(gateways.map((gateway) => steady(targetOf(gateway, 'relay').port, RATE, seconds)));
    const reads = async (): Promise<number> =>
      Number(/total_reads_processed:(\d+)/.exec(String(await server.send('INFO', 'stats')))?.[1]);
    // Measured in the middle of a load, to exclude the start and end of programs.
    const load = all(WARM + 2 * SECONDS + START_SECONDS);
    await Bun.sleep((WARM + START_SECONDS) * 1000);
    const began = performance.now();
    const [from, cpuMs] = [await reads(), familyCpuMs(server.pid)];
    await Bun.sleep(2 * SECONDS * 1000 - 500);
    const requests = (gateways.length * RATE * (performance.now() - began)) / 1000;
    // One of them is the query itself.
    const calls = (await reads()) - from - 1;
    const serverMs = familyCpuMs(server.pid) - cpuMs;
    await load;
    print(`counters: ${gateways.length} gateways, ${RATE} requests a second on each, five limits`, [
      ['', 'requests', 'round trips', 'for 1,000 requests', 'server µs/request'],
      ['', requests, calls, (1000 * calls) / requests, (1000 * serverMs) / requests].map((figure, at) =>
        typeof figure === 'string' ? figure : fixed(figure, at > 2 ? 1 : 0),
      ),
    ]);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    await server.stop();
  }
}

/** Write throughput of several processes to one SQLite database, and how long each waits for the others. */
async function sqlite(): Promise<void> {
  const rows: string[][] = [];
  for (const what of ['records', 'responses'] as const)
    for (const processes of [1, 2, 4]) {
      const path = join(folder, `${what}-${processes}.db`);
      // Created in advance, so that the processes need not wait for it.
      await (await openSqliteStorage({ path, later: () => {} })).close();
      const writing: Writing = { path, what, seconds: SECONDS };
      const all = await writers(processes, writing);
      const count = all.reduce((sum, each) => sum + each.count, 0);
      const cpuMs = all.reduce((sum, each) => sum + each.cpuMs, 0);
      rows.push([
        what,
        String(processes),
        fixed(count / SECONDS),
        fixed((1000 * cpuMs) / count, 1),
        fixed(median(all.map(({ p50 }) => p50)), 2),
        fixed(Math.max(...all.map(({ p99 }) => p99)), 1),
      ]);
    }
  print(
    'sqlite: one database, written at full speed (records in batches of 50, responses of 3 kB by 8 at once)',
    [['', 'processes', 'a second', 'CPU µs each', 'wait p50 ms', 'wait p99 ms'], ...rows],
  );
}

/** Runs writing processes that start at the same moment. */
async function writers(count: number, writing: Writing): Promise<readonly Written[]> {
  const children = Array.from({ length: count }, () => {
    const args = ['bin/bun.mjs', 'run', 'bench/scale-writer.ts', JSON.stringify(writing)];
    return spawn('node', args, { stdio: ['pipe', 'pipe', 'inherit'] });
  });
  const lines = children.map(({ stdout }) => createInterface({ input: stdout })[Symbol.asyncIterator]());
  for (const line of lines) await line.next();
  for (const { stdin } of children) stdin.write('go\n');
  return Promise.all(lines.map(async (line) => JSON.parse(String((await line.next()).value)) as Written));
}

/** Runs a client with a fixed rate in a process of its own. */
async function steady(port: number, perSecond: number, seconds: number): Promise<SteadyResult> {
  const load = {
    port,
    perSecond,
    seconds,
    connections: 64,
    head: `authorization: Bearer ${GATEWAY_KEY}\r\n`,
    body: BODY,
  };
  const [program = '', ...args] = onCore(LOAD_CORE, [
    'node',
    'bin/bun.mjs',
    'run',
    'bench/steady.ts',
    JSON.stringify(load),
  ]);
  const { stdout } = await run(program, args, { maxBuffer: 1e8 });
  const result = JSON.parse(stdout) as SteadyResult;
  const others = Object.keys(result.statuses).filter((status) => status !== '200');
  if (others.length > 0) throw new Error(`other responses: ${others.join(', ')}`);
  if (result.omitted > 0)
    console.log(
      `(${result.omitted} of ${result.sent + result.omitted} requests were omitted, because no connection was free)`,
    );
  return result;
}

function print(title: string, rows: readonly (readonly string[])[]): void {
  console.log(`${title}\n${aligned(rows.map((row) => [...row]))}\n`);
}

const PARTS: Readonly<Record<string, (mockPort: number) => Promise<void>>> = {
  workers,
  database,
  postgres,
  counters,
  sqlite,
};

packTree(join(import.meta.dirname, '..'));
const mock = await startMock(folder);
try {
  for (const [name, part] of Object.entries(PARTS))
    if (only === undefined || only === name) await part(mock.port);
} finally {
  await mock.stop();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(0);
