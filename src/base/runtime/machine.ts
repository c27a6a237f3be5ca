// Facts about this process and its machine: user, executable, memory and CPU time. Also starts the garbage collector.
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import type { DurationMs } from '../units.ts';

/** User id of this process; undefined on systems without user ids. */
export function userId(): number | undefined {
  return process.getuid?.();
}

/** Path of the standalone executable; `null` if Bun runs the program from its source files. */
export function executablePath(): string | null {
  return Bun.isStandaloneExecutable ? process.execPath : null;
}

let lastResidentBytes = 0;

/**
 * Resident memory of this process in bytes. The last known value if the system does not tell: the runtime opens a file for
 * it, and throws if clients use all file descriptors.
 */
export function residentBytes(): number {
  try {
    lastResidentBytes = process.memoryUsage.rss();
  } catch {
    // Connections must not end the process: its memory is measured again once one is closed.
  }
  return lastResidentBytes;
}

/** CPU time of this process in milliseconds. */
export function usedMs(): DurationMs {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** Runs a full garbage collection now, and returns the freed memory to the system. */
export function collectGarbage(): void {
  Bun.gc(true);
}

/** Reads a file as text. Throws if it does not exist. */
type ReadText = (path: string) => string;

const readText: ReadText = (path) => readFileSync(path, 'latin1');

/**
 * Bytes of memory that this process may use: the limit of its control group, or the machine's memory if that is less.
 * @param read reads a system file; tests pass their own
 */
export function memoryLimitBytes(machineBytes: number = totalmem(), read: ReadText = readText): number {
  return Math.min(machineBytes, ...groupLimits(read));
}

/** Limits of the control groups of this process and of their parents (Linux, admin-guide/cgroup-v2.rst, cgroup-v1/memory.rst). */
function groupLimits(read: ReadText): readonly number[] {
  const limits: number[] = [];
  for (const line of lines(read, '/proc/self/cgroup')) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const isSecond = controllers === '';
    if (!isSecond && !controllers.split(',').includes('memory')) continue;
    const root = isSecond ? '/sys/fs/cgroup' : '/sys/fs/cgroup/memory';
    const name = isSecond ? 'memory.max' : 'memory.limit_in_bytes';
    // Inside a container the path may be the host's. The root then has the container's own limit.
    const steps = path.split('/').filter((step) => step !== '' && step !== '..');
    for (let depth = steps.length; depth >= 0; depth--) {
      const [text = ''] = lines(read, [root, ...steps.slice(0, depth), name].join('/'));
      // No limit: `max` in version 2, a huge number in version 1.
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
