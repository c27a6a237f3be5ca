// Measures how much other load on one gateway slows down a well-behaved client. Loads run in processes of their own,
// on another core than the gateway.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { LOAD_CORE, onCore, residentMb, usedCpuMs } from './processes.ts';
import { quantile, type Steady, type SteadyResult } from './steady.ts';
import { GATEWAY_KEY, type GatewayOptions, startGateway, startMock, targetOf } from './targets.ts';

export const BODY = JSON.stringify({
  model: 'relay/whole',
  max_tokens: 64,
  messages: [{ role: 'user', content: 'How long is the Ounas?' }],
});
const GOOD: Omit<Steady, 'port' | 'seconds'> = {
  perSecond: 200,
  connections: 32,
  head: `authorization: Bearer ${GATEWAY_KEY}\r\n`,
  body: BODY,
};

/** Lower priority for floods, so that they do not delay the measuring client. */
const FLOOD_NICENESS = 10;

export interface Bench {
  /** Runs a load to its end, at low priority. */
  run(load: Omit<Steady, 'port'>): Promise<SteadyResult>;
  /** Runs the well-behaved client for some seconds. @returns its latencies in milliseconds */
  good(seconds: number): Promise<readonly number[]>;
  /** Resident memory of the gateway in MB. */
  resident(): number;
  /** CPU time of the gateway so far, in milliseconds. */
  cpuMs(): number;
}

/** Starts a gateway and an upstream that answers immediately, and calls `measure`. */
export async function withGateway(
  options: GatewayOptions,
  measure: (bench: Bench) => Promise<void>,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-beside-'));
  const mock = await startMock(folder);
  const gateway = await startGateway(folder, mock.port, { ...options, lanes: ['relay'] });
  const { port, pids } = targetOf(gateway, 'relay');
  const client = async (load: Omit<Steady, 'port'>, niceness: number): Promise<SteadyResult> => {
    const command = [
      'nice',
      '-n',
      String(niceness),
      'node',
      'bin/bun.mjs',
      'run',
      'bench/steady.ts',
      JSON.stringify({ ...load, port }),
    ];
    const [program = '', ...rest] = onCore(LOAD_CORE, command);
    const { stdout } = await promisify(execFile)(program, rest, { maxBuffer: 1e8 });
    return JSON.parse(stdout) as SteadyResult;
  };
  try {
    await measure({
      run: (load) => client(load, FLOOD_NICENESS),
      async good(seconds) {
        const { statuses, latencies } = await client({ ...GOOD, seconds }, 0);
        const others = Object.keys(statuses).filter((status) => status !== '200');
        if (others.length > 0) throw new Error(`other responses: ${others.join(', ')}`);
        return latencies['200'] ?? [];
      },
      resident: () => Math.max(...pids().map(residentMb)),
      cpuMs: () => pids().reduce((sum, pid) => sum + usedCpuMs(pid), 0),
    });
  } finally {
    await gateway.stop();
    await mock.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Latencies of the well-behaved client by round: alone, and next to other load. */
export class Rounds {
  readonly #rounds = new Map<string, number[][]>();

  add(name: string, latencies: readonly number[]): void {
    const rounds = this.#rounds.get(name) ?? [];
    rounds.push([...latencies]);
    this.#rounds.set(name, rounds);
  }

  /**
   * Rows of a table: median and p99 of all rounds together, median ratio of each round's p99 to that alone, and
   * median of the longest latency of each round.
   */
  rows(): string[][] {
    const [first] = this.#rounds.values();
    return [...this.#rounds].map(([name, rounds]) => {
      const all = rounds.flat();
      const ratios = rounds.map((round, at) => quantile(round, 0.99) / quantile(first?.[at] ?? [], 0.99));
      return [
        name,
        String(all.length),
        quantile(all, 0.5).toFixed(2),
        quantile(all, 0.99).toFixed(2),
        quantile(ratios, 0.5).toFixed(2),
        quantile(
          rounds.map((round) => Math.max(...round)),
          0.5,
        ).toFixed(1),
      ];
    });
  }
}

export const HEADINGS = ['', 'requests', 'p50 ms', 'p99 ms', 'p99 vs. alone', 'longest ms'];
