// Measures what a request leaves behind: bytes of the ledger on disk, memory allocated while it is answered, and
// memory still in use after a garbage collection. Each on a gateway of its own.
import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RELAY } from './cases.ts';
import { type Figures, measure } from './measure.ts';
import { residentMb } from './processes.ts';
import { type ProbedGateway, startProbed } from './probed.ts';
import { targetOf } from './targets.ts';

/** Number of requests that the memory figures are scaled to. */
const REQUESTS = 10_000;
/** Divisor of the number of requests without garbage collection, because all of their memory adds up. */
const PART_WITHOUT_COLLECTOR = 4;
/** Maximum duration of a run. */
const PATIENCE_SECONDS = 120;
/** Seconds until all records are in the database. */
const SETTLING = 1;
/** Disables the garbage collector of the runtime and its timer. */
const NO_COLLECTOR = { BUN_JSC_useGC: '0', BUN_GC_TIMER_DISABLE: '1' };

/**
 * @param folder for the gateways' files
 * @param requests number of measured requests in the relay lane, after as many for warm-up
 */
export async function measureFootprint(folder: string, mockPort: number, requests: number): Promise<Figures> {
  const left = await onGateway(folder, mockPort, {}, async (gateway, relay, directory) => {
    await relay(requests);
    await Bun.sleep(SETTLING * 1000);
    const heap = await gateway.heap(true);
    const disk = bytesIn(directory);
    await relay(requests);
    await Bun.sleep(SETTLING * 1000);
    const ledgerBytes = (bytesIn(directory) - disk) / requests;
    const { heapSize } = await gateway.heap(true);
    return { ledgerBytes, keptMb: ((heapSize - heap.heapSize) / 2 ** 20) * (REQUESTS / requests) };
  });
  const allocatedMb = await onGateway(folder, mockPort, NO_COLLECTOR, async (gateway, relay) => {
    const { pids } = targetOf(gateway, 'relay');
    const resident = (): number => pids().reduce((sum, pid) => sum + residentMb(pid), 0);
    const part = Math.ceil(requests / PART_WITHOUT_COLLECTOR);
    await relay(part);
    const before = resident();
    await relay(part);
    return ((resident() - before) * REQUESTS) / part;
  });
  return { ...left, allocatedMb };
}

type Relay = (requests: number) => Promise<void>;

async function onGateway<T>(
  folder: string,
  mockPort: number,
  environment: Readonly<Record<string, string>>,
  work: (gateway: ProbedGateway, relay: Relay, directory: string) => Promise<T>,
): Promise<T> {
  const directory = mkdtempSync(join(folder, 'footprint-'));
  const gateway = await startProbed(directory, mockPort, { environment, lanes: ['relay'] });
  const relay: Relay = async (requests) => {
    const window = { warm: 0, seconds: PATIENCE_SECONDS, requests };
    await measure(RELAY.load, targetOf(gateway, 'relay'), folder, window);
  };
  try {
    return await work(gateway, relay, join(directory, 'data'));
  } finally {
    await gateway.stop();
  }
}

/** Total size of all files below a folder: the database with its journal. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
