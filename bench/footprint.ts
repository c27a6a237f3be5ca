// Measures the remains of a request: bytes of the ledger on disk, memory that is allocated while it is answered, and memory
// that is still held after a collection. Each on a gateway of its own.
import { mkdtempSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { RELAY } from './cases.ts';
import { type Figures, measure } from './measure.ts';
import { residentMb } from './processes.ts';
import { type ProbedGateway, startProbed } from './probed.ts';
import { targetOf } from './targets.ts';

/** The figures of memory are for this many requests. */
const REQUESTS = 10_000;
/** Memory that is never given back adds up: a part of the requests says as much. */
const PART_WITHOUT_COLLECTOR = 4;
/** Longer than any of the runs takes. */
const PATIENCE_SECONDS = 120;
/** Seconds in which records find their last place. */
const SETTLING = 1;
/** The collector of the runtime, and its timer, do nothing. */
const NO_COLLECTOR = { BUN_JSC_useGC: '0', BUN_GC_TIMER_DISABLE: '1' };

/**
 * @param folder for the gateways' files
 * @param requests of the relay lane, for the ledger and for what is kept; as many come before to warm up
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

/** Bytes of all files in a folder and below it: the database with its journal. */
function bytesIn(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
