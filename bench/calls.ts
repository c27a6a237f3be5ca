// `npm run path -- --calls CASE [TREE]`: number of calls of each function for one request of a case. The runtime's
// precise count is used, which is independent of other load on the machine. Requests are sent one after another on
// one connection, and calls while idle are subtracted. Half a call is one that every second request makes.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { findCases } from './cases.ts';
import { measure } from './measure.ts';
import type { Coverage } from './path.ts';
import { startProbed } from './probed.ts';
import { aligned } from './report.ts';
import { startMock, targetOf } from './targets.ts';

/** Number of counted requests, and of earlier ones that warm up caches of names and prices. */
const REQUESTS = 64;
const WARM_REQUESTS = 64;
/** Seconds until the record of the last request is stored. */
const SETTLING = 1;
/** Rows in the table of functions. */
const ROWS = 60;

/** Number of calls by function, file or folder. */
export type Calls = ReadonlyMap<string, number>;

/**
 * Calls by function, as "file function:offset".
 * @param folder only files in it count, without their top-level code
 */
export function callsOf(coverage: Coverage, folder: string): Map<string, number> {
  const calls = new Map<string, number>();
  for (const { url, functions } of coverage.result) {
    if (!url.startsWith(`file://${folder}/`)) continue;
    const file = relative(folder, url.slice('file://'.length));
    for (const { functionName, ranges } of functions) {
      const [own] = ranges;
      if (own === undefined || own.startOffset === 0 || own.count === 0) continue;
      calls.set(`${file} ${functionName}:${own.startOffset}`, own.count);
    }
  }
  return calls;
}

/** Calls for one request of a case; can be fractions. */
async function callsOfOneRequest(root: string, name: string): Promise<Calls> {
  const [found] = findCases(name);
  if (!found) throw new Error('unknown case');
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-calls-'));
  const mock = await startMock(folder);
  const environment = { DRAGOMAN_BENCH_COVERAGE: '1' };
  const lanes = [found.target];
  const gateway = await startProbed(folder, mock.port, { root, environment, lanes, fromSources: true });
  try {
    const target = targetOf(gateway, found.target);
    const ask = async (requests: number): Promise<void> => {
      const load = { ...found.load, connections: 1 };
      if (requests > 0) await measure(load, target, folder, { warm: 0, seconds: 60, requests });
      await Bun.sleep(SETTLING * 1000);
    };
    const file = join(folder, 'coverage.json');
    const counted = async (requests: number): Promise<Calls> => {
      await gateway.coverage(file, () => ask(requests));
      return callsOf(JSON.parse(readFileSync(file, 'utf8')) as Coverage, join(root, 'src'));
    };
    await ask(WARM_REQUESTS);
    const idle = await counted(0);
    const all = await counted(REQUESTS);
    const each = [...all].map(
      ([called, count]) => [called, (count - (idle.get(called) ?? 0)) / REQUESTS] as const,
    );
    return new Map(each.filter(([, count]) => count > 0));
  } finally {
    await gateway.stop();
    await mock.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Prints the number of calls: total, and by folder, file and function. */
export async function printCalls(root: string, name: string): Promise<void> {
  const calls = await callsOfOneRequest(root, name);
  const byFile = summed(calls, (called) => called.split(' ', 1)[0] ?? '');
  console.log(table('folder', summed(byFile, dirname)));
  console.log(table('file', byFile));
  console.log(table('function', calls, ROWS));
  const total = calls.values().reduce((sum, count) => sum + count, 0);
  console.log(`${total.toFixed(1)} calls of ${calls.size} functions per request of ${name}`);
}

function summed(calls: Calls, nameOf: (called: string) => string): Calls {
  const sums = new Map<string, number>();
  for (const [called, count] of calls) sums.set(nameOf(called), (sums.get(nameOf(called)) ?? 0) + count);
  return sums;
}

function table(title: string, calls: Calls, rows = calls.size): string {
  const most = [...calls].toSorted(([, a], [, b]) => b - a).slice(0, rows);
  return `${aligned([[title, 'calls'], ...most.map(([name, count]) => [name, count.toFixed(2)])])}\n`;
}
