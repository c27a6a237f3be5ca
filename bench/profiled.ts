// Profiles a gateway under one case: warms it up, measures it, then samples it under the same load.
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Case } from './cases.ts';
import { measure } from './measure.ts';
import { type CpuProfile, profileTables, sharesOf } from './profile.ts';
import { startProbed } from './probed.ts';
import { targetOf } from './targets.ts';

/** Maximum rows in the tables of files and functions. */
const ROWS = 25;

export interface ProfileOptions {
  /** The source tree. */
  readonly root: string;
  readonly label: string;
  /** Seconds of warm-up, and of measurement. Sampling takes twice as long as the measurement. */
  readonly warm: number;
  readonly seconds: number;
  /** Path of the .cpuprofile to write. */
  readonly file: string;
}

/**
 * Starts a gateway for the profile and stops it.
 * @param folder for its files
 * @returns the tables, after a line with the cost of a request without the profiler
 */
export async function profileCase(
  each: Case,
  folder: string,
  mockPort: number,
  { root, label, warm, seconds, file }: ProfileOptions,
): Promise<string> {
  const gateway = await startProbed(mkdtempSync(join(folder, 'profiled-')), mockPort, {
    root,
    fromSources: true,
  });
  try {
    const target = targetOf(gateway, each.target);
    const { cpuPerRequest, cpuPerChunk } = await measure(each.load, target, folder, { warm, seconds });
    const micros = cpuPerRequest ?? cpuPerChunk ?? Number.NaN;
    await gateway.profile(file, async () => {
      await measure(each.load, target, folder, { warm: 0, seconds: seconds * 2 });
    });
    const shares = sharesOf(JSON.parse(readFileSync(file, 'utf8')) as CpuProfile, root);
    const unit = each.load.stream ? 'µs/chunk' : 'µs/request';
    const head = `${label}, ${each.name}: ${micros.toFixed(1)} ${unit} of CPU; ${file}`;
    return `${head}\n${profileTables(shares, ROWS, micros, unit)}`;
  } finally {
    await gateway.stop();
  }
}
