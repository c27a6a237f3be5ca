// Runs programs of the gateway in a subprocess, because hostile input may crash them. A crash, an endless loop or excessive
// memory ends only that process. The only file that starts such processes.
import { readFile } from 'node:fs/promises';
import type { DurationMs } from '../units.ts';

export interface ProgramRun {
  /** Path of a TypeScript file. It reads its input from file descriptor 0 and writes its answer to 1. */
  readonly file: string;
  readonly input: Uint8Array;
  /** Limit of the time, extended up to fourfold while the program lacks CPU time: a busy machine is not its fault. */
  readonly timeoutMs: DurationMs;
  readonly maxOutputBytes: number;
  /** Limit of resident memory in bytes; enforced on Linux only. */
  readonly maxMemoryBytes: number;
  /** Ends the program when aborted. The result is then a failure. */
  readonly signal?: AbortSignal | undefined;
}

/** Output of a program, or the reason why there is none: it failed or exceeded a limit. */
export type ProgramEnd =
  | { readonly type: 'answer'; readonly output: Uint8Array }
  | { readonly type: 'failed' | 'timeout' | 'memory' | 'output' };

const WATCH_MS = 50;
/** Maximum duration of a program that gets little CPU time, as a multiple of its timeout. */
const MOST_TIMEOUTS = 4;
/** Unit of CPU times in `stat`, the same on all systems (Linux, `man 5 proc_pid_stat` with USER_HZ). */
const TICK_MS = 10;
/** Page size in `stat`. Some ARM systems have larger pages, so that their limit is higher than stated. */
const PAGE_BYTES = 4096;

/** Environment variable that makes a standalone executable run one of its programs, by file name. */
export const OWN_PROGRAM = 'DRAGOMAN_PROGRAM';

/** Runs a program to its end. It does not inherit the environment, which contains keys. Never rejects. */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const end = run.file.lastIndexOf('/');
  const [command, where] = Bun.isStandaloneExecutable
    ? // A standalone executable contains its programs and never reads `.env` files.
      [[process.execPath], { env: { [OWN_PROGRAM]: run.file.slice(end + 1), BUN_OPTIONS: '--smol' } }]
    : // A working directory without a `.env` file.
      [[process.execPath, '--smol', '--no-install', run.file], { env: {}, cwd: run.file.slice(0, end) }];
  const child = Bun.spawn(command, {
    ...where,
    stdin: run.input,
    stdout: 'pipe',
    stderr: 'ignore',
  });
  let reached: 'timeout' | 'memory' | 'output' | undefined;
  const stop = (why: 'timeout' | 'memory' | 'output'): void => {
    reached ??= why;
    child.kill('SIGKILL');
  };
  const abort = (): void => child.kill('SIGKILL');
  run.signal?.addEventListener('abort', abort);
  if (run.signal?.aborted === true) abort();
  const startedAt = performance.now();
  const look = async (): Promise<void> => {
    const { cpuMs, residentBytes } = await readUsage(child.pid);
    if (residentBytes > run.maxMemoryBytes) stop('memory');
    const elapsedMs = performance.now() - startedAt;
    const isOver = elapsedMs >= run.timeoutMs && cpuMs >= run.timeoutMs;
    if (isOver || elapsedMs >= MOST_TIMEOUTS * run.timeoutMs) stop('timeout');
  };
  const watch = setInterval(() => void look(), WATCH_MS);
  try {
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of child.stdout) {
      bytes += piece.length;
      if (bytes > run.maxOutputBytes) {
        stop('output');
        break;
      }
      pieces.push(piece);
    }
    const code = await child.exited;
    if (reached) return { type: reached };
    return code === 0 ? { type: 'answer', output: Buffer.concat(pieces) } : { type: 'failed' };
  } catch {
    child.kill('SIGKILL');
    return { type: reached ?? 'failed' };
  } finally {
    clearInterval(watch);
    run.signal?.removeEventListener('abort', abort);
  }
}

/** CPU time and resident memory of a process. On systems that report neither, its CPU time counts as used up. */
async function readUsage(
  pid: number,
): Promise<{ readonly cpuMs: DurationMs; readonly residentBytes: number }> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  if (text === '') return { cpuMs: Infinity, residentBytes: 0 };
  // The command in parentheses may contain spaces. `utime`, `stime` and `rss` are fields 14, 15 and 24.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const numberAt = (field: number): number => Number(fields[field - 3] ?? 0);
  return { cpuMs: (numberAt(14) + numberAt(15)) * TICK_MS, residentBytes: numberAt(24) * PAGE_BYTES };
}
