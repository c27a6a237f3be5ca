// Facts of this process and of the machine it runs on: its user, its memory, and how much of that there is; and has
// memory collected. Decides nothing.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { DurationMs } from '../units.ts';

/** The user of this process; undefined where the system has no numbers for users. */
export function userId(): number | undefined {
  return process.getuid?.();
}

/** Path of the executable that has the program in it; `null` where the runtime and the program are files of their own. */
export function executablePath(): string | null {
  return Bun.isStandaloneExecutable ? process.execPath : null;
}

/** Bytes of memory that this process holds. */
export function residentBytes(): number {
  return process.memoryUsage.rss();
}

/** Milliseconds for which this process has used the processor. */
export function usedMs(): DurationMs {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Collects what nobody refers to any more, at once, and gives its memory back to the system. */
export function collectGarbage(): void {
  Bun.gc(true);
}

/** Reads a file as text. Throws when there is none. */
type ReadText = (path: string) => string;

const readText: ReadText = (path) => readFileSync(path, 'latin1');

/**
 * Bytes of memory that this process may have: what its control group allows, where that is less than the machine has.
 * @param read reads a file of the system; tests give their own
 */
export function memoryLimitBytes(machineBytes: number = totalmem(), read: ReadText = readText): number {
  return Math.min(machineBytes, ...groupLimits(read));
}

/** Limits of the groups of this process and of those around them (Linux, Documentation/admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst). */
function groupLimits(read: ReadText): readonly number[] {
  const limits: number[] = [];
  for (const line of lines(read, '/proc/self/cgroup')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const isSecond = controllers === '';
    if (!isSecond && !controllers.split(',').includes('memory')) continue;
    const root = isSecond ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
    const name = isSecond ? 'memory.max' : 'memory.limit_in_bytes';
    // Inside a container the path may be one of the world outside: the root has the container's own limit then.
    const steps = path.split('/').filter((step) => step !== '' && step !== '..');
    for (let depth = steps.length; depth >= 0; depth--) {
      const [text = ''] = lines(read, [root, ...steps.slice(0, depth), name].join('/'));
      // `max` in the second version, a number beyond any machine in the first: no limit.
      if (/^\d+$/.test(text)) limits.push(Number(text));
    }
  }
  return limits;
}

function lines(read: ReadText, path: string): readonly string[] {
  try {
    return read(path).split('\n');
  } catch {
    return [];
  }
}
