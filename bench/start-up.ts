// Cost of a start: seconds until the first response, memory of an idle gateway, and CPU time of requests while the
// runtime still compiles. On a gateway of its own, with an empty data directory.
import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { RELAY } from './cases.ts';
import { type Figures, measure } from './measure.ts';
import { residentMb } from './processes.ts';
import { startGateway, targetOf } from './targets.ts';

export interface StartUpTimes {
  /** Seconds between the first response and the reading of memory. */
  readonly idle: number;
  /** Seconds of measured requests after that. */
  readonly cold: number;
}

/** @param folder for the gateway's files */
export async function measureStartUp(
  folder: string,
  mockPort: number,
  times: StartUpTimes,
): Promise<Figures> {
  const before = performance.now();
  const gateway = await startGateway(mkdtempSync(join(folder, 'started-')), mockPort, { lanes: ['relay'] });
  const firstAnswerSeconds = (performance.now() - before) / 1000;
  try {
    await Bun.sleep(times.idle * 1000);
    const relay = targetOf(gateway, 'relay');
    const idleResident = relay.pids().reduce((sum, pid) => sum + residentMb(pid), 0);
    const { cpuPerRequest = null } = await measure(RELAY.load, relay, folder, {
      warm: 0,
      seconds: times.cold,
    });
    return { firstAnswerSeconds, idleResident, cpuPerRequest };
  } finally {
    await gateway.stop();
  }
}
