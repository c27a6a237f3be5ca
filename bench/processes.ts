// Starts the processes of the benchmark on chosen cores, and stops only those. Reads /proc.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, openSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { delimiter, join } from 'node:path';

/** The measured process has a core of its own. Upstream and load share the other. */
export const MEASURED_CORE = 1;
export const LOAD_CORE = 0;

export interface Owned {
  readonly pid: number;
  /** Resolves to the first line of output that matches. Rejects if the process ends before, or after ten seconds. */
  line(matches: RegExp): Promise<RegExpMatchArray>;
  stop(): Promise<void>;
}

const running = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(1));

/** Path of a program on PATH, or in system folders that are often missing from it; null if not found. */
export function findProgram(name: string): string | null {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path)) ?? null;
}

const taskset = availableParallelism() > 1 ? findProgram('taskset') : null;

/** True if processes are pinned to cores. */
export const pinned = taskset !== null;

/** Command pinned to a core, if possible. @param core null: not pinned */
export function onCore(core: number | null, command: readonly string[]): string[] {
  return taskset && core !== null ? [taskset, '-c', String(core), ...command] : [...command];
}

/**
 * Starts a process.
 * @param logPath file for its standard error
 * @param environment additional variables
 */
export function start(
  command: readonly string[],
  core: number | null,
  logPath: string,
  environment: Readonly<Record<string, string>> = {},
): Owned {
  const [program = '', ...rest] = onCore(core, command);
  const child = spawn(program, rest, {
    stdio: ['ignore', 'pipe', openSync(logPath, 'a')],
    env: { ...process.env, ...environment },
  });
  running.add(child);
  let output = '';
  let ended = false;
  const listeners = new Set<() => void>();
  const changed = (): void => listeners.forEach((listener) => listener());
  const exited = new Promise<void>((resolve) => {
    const over = (): void => {
      running.delete(child);
      ended = true;
      changed();
      resolve();
    };
    child.on('exit', over);
    child.on('error', over);
  });
  child.stdout?.on('data', (bytes: Buffer) => {
    output = (output + bytes.toString()).slice(-10_000);
    changed();
  });
  return {
    pid: child.pid ?? -1,
    line(matches) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => look(true), 60_000);
        const look = (late: boolean): void => {
          const match = matches.exec(output);
          if (!match && !ended && !late) return;
          clearTimeout(timer);
          listeners.delete(check);
          if (match) resolve(match);
          else
            reject(
              new Error(
                `${program} did not start; see ${logPath}\n${readFileSync(logPath, 'utf8').slice(-2000)}`,
              ),
            );
        };
        const check = (): void => look(false);
        listeners.add(check);
        check();
      });
    },
    async stop() {
      if (ended) return;
      child.kill('SIGTERM');
      const killTimer = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await exited;
      clearTimeout(killTimer);
    },
  };
}

/** Child processes of `pid`. */
export function childrenOf(pid: number): number[] {
  const children: number[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 4).split(' ', 1)[0]) === pid) children.push(Number(name));
    } catch {
      // The process ended between the two reads.
    }
  }
  return children;
}

/** A process and all current descendants. */
export function familyOf(pid: number): number[] {
  return [pid, ...childrenOf(pid).flatMap(familyOf)];
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb ?? Number.NaN) / 1024;
}

/**
 * Memory of a process in MB, with shared pages divided by their number of users, so that the memory of processes can
 * be added.
 */
export function proportionalMb(pid: number): number {
  const kb = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return Number(kb ?? Number.NaN) / 1024;
}

/** Clock ticks per second in which the kernel counts CPU time (Linux on all known architectures). */
const TICKS = 100;

/** CPU time of all threads of a process since its start, in milliseconds, with a resolution of ten. */
export function usedCpuMs(pid: number): number {
  return (cpuTicks(pid).slice(0, 2).reduce(sum) * 1000) / TICKS;
}

/** CPU time of a process and all of its descendants. Ended ones are counted once their parent has waited for them. */
export function familyCpuMs(pid: number): number {
  let ticks = 0;
  for (const each of familyOf(pid)) {
    try {
      ticks += cpuTicks(each).reduce(sum);
    } catch {
      // The process just ended, and will be counted by its parent.
    }
  }
  return (ticks * 1000) / TICKS;
}

const sum = (one: number, other: number): number => one + other;

/** User and system time of a process and of children that it has waited for ("proc_pid_stat(5)", fields 14 to 17). */
function cpuTicks(pid: number): number[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 15)
    .map(Number);
}

/** Finds a free port. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

/** Runs a program to its end. @throws Error with its standard error if it fails */
export function run(command: readonly string[]): void {
  const [program = '', ...rest] = command;
  const { status, stderr, error } = spawnSync(program, rest, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} failed: ${error?.message ?? stderr}`);
}
