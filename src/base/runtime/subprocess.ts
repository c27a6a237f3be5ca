// Runs programs of the gateway in a subprocess, because hostile input may crash them. A crash, an endless loop or excessive
// memory ends only that process. The only file that starts such processes.
import { readFile } from 'node:fs/promises';
import type { DurationMs } from '../units.ts';

export interface ProgramRun {
  /** Path of a TypeScript file. It reads its input from file descriptor 0 and writes its answer to 1. */
  readonly file: string;
  readonly input: Uint8Array;
  /** Milliseconds of wall time. */
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
/** Page size in `statm`. Some ARM systems have larger pages, so that their limit is higher than stated. */
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
  const deadline = setTimeout(() => stop('timeout'), run.timeoutMs);
  const watch = setInterval(() => {
    void residentBytes(child.pid).then((bytes) => bytes > run.maxMemoryBytes && stop('memory'));
  }, WATCH_MS);
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
    clearTimeout(deadline);
    clearInterval(watch);
    run.signal?.removeEventListener('abort', abort);
  }
}

/** Resident memory in bytes; 0 on systems that do not report it. */
async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) * PAGE_BYTES;
}
