// Cost of limits shared through Valkey or Redis, for requests under five limits: latency, CPU time of gateway and
// server, and calls per 1,000 requests, at 1, 10 and 200 connections. `node bin/bun.mjs run bench/shared-limits.ts`
// prints a table. Options: --rounds N (3), --seconds N of each (4), --root of another source tree.
import { parseArgs } from 'node:util';
import { startValkey, type ValkeyProcess } from '../test/support/servers/valkey.ts';
import { BODY, withGateway } from './beside.ts';
import { usedCpuMs } from './processes.ts';
import { aligned } from './report.ts';
import { quantile } from './steady.ts';
import { GATEWAY_KEY } from './targets.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    root: { type: 'string' },
  },
});
const seconds = Number(values.seconds);

/** Number of connections, and their requests per second; 20,000: as many as possible. */
const LOADS = [
  { connections: 1, perSecond: 100 },
  { connections: 10, perSecond: 400 },
  { connections: 200, perSecond: 20_000 },
];
const LIMITS = {
  limits: [{ concurrent: 2000 }, { requests: 1e9, per: 'minute' }, { tokens: 1e12, per: 'minute' }],
  budgets: [
    { usd: 1e6, per: 'month' },
    { usd: 1e6, per: 'day' },
  ],
};

interface Measured {
  readonly p50: number;
  readonly p99: number;
  readonly cpuUs: number;
  readonly serverUs: number;
  readonly perThousand: number;
}

async function callsOf(server: ValkeyProcess): Promise<number> {
  const stats = String(await server.send('INFO', 'commandstats'));
  return Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0);
}

async function measure(config: object, server: ValkeyProcess): Promise<readonly Measured[]> {
  const measured: Measured[] = [];
  const options = { config: { ...config }, ...(values.root === undefined ? {} : { root: values.root }) };
  await withGateway(options, async (bench) => {
    const head = `authorization: Bearer ${GATEWAY_KEY}\r\n`;
    await bench.run({ perSecond: 400, connections: 10, seconds: 4, head, body: BODY });
    for (const load of LOADS) {
      const [cpuMs, serverMs, calls] = [bench.cpuMs(), usedCpuMs(server.pid), await callsOf(server)];
      const { sent, statuses, latencies } = await bench.run({ ...load, seconds, head, body: BODY });
      if (statuses['200'] !== sent) throw new Error(`${sent} requests: ${JSON.stringify(statuses)}`);
      const answered = latencies['200'] ?? [];
      measured.push({
        p50: quantile(answered, 0.5),
        p99: quantile(answered, 0.99),
        cpuUs: (1000 * (bench.cpuMs() - cpuMs)) / sent,
        serverUs: (1000 * (usedCpuMs(server.pid) - serverMs)) / sent,
        perThousand: (1000 * ((await callsOf(server)) - calls)) / sent,
      });
    }
  });
  return measured;
}

const server = await startValkey();
const kinds = [
  { name: 'without limits', config: {} },
  { name: 'limits in memory', config: LIMITS },
  { name: 'limits shared', config: { ...LIMITS, redis_url: server.url } },
];
const rounds = new Map<string, Measured[][]>();
for (let round = 0; round < Number(values.rounds); round += 1)
  for (const { name, config } of kinds)
    for (const [at, one] of (await measure(config, server)).entries()) {
      const key = `${LOADS[at]?.connections} connections, ${name}`;
      rounds.set(key, [...(rounds.get(key) ?? []), [one]]);
    }
const median = (all: readonly Measured[], of: (one: Measured) => number, digits: number): string =>
  quantile(all.map(of), 0.5).toFixed(digits);
const rows = [...rounds].map(([name, found]) => {
  const all = found.flat();
  return [
    name,
    median(all, ({ p50 }) => p50, 2),
    median(all, ({ p99 }) => p99, 2),
    median(all, ({ cpuUs }) => cpuUs, 0),
    median(all, ({ serverUs }) => serverUs, 0),
    median(all, ({ perThousand }) => perThousand, 0),
  ];
});
console.log(aligned([['', 'p50 ms', 'p99 ms', 'CPU µs', "server's CPU µs", 'calls for 1,000'], ...rows]));
await server.stop();
