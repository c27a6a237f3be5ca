// Programs of our own that run in a process of theirs, because their input may be made to break them: a crash, an endless
// loop or a flood of memory ends that process alone. The only file that knows how this runtime starts one.
import { readFile } from 'node:fs/promises';
import type { DurationMs } from '../units.ts';

export interface ProgramRun {
  /** Path of a TypeScript file. It reads its input from file descriptor 0 and writes its answer to 1. */
  readonly file: string;
  readonly input: Uint8Array;
  /** Wall time. */
  readonly timeoutMs: DurationMs;
  readonly maxOutputBytes: number;
  /** Resident memory; enforced where the system tells it (Linux). */
  readonly maxMemoryBytes: number;
  /** Aborted: the program is ended, as one that failed. */
  readonly signal?: AbortSignal | undefined;
}

/** Output of a program, or the reason for its absence: it failed, or reached one of its limits. */
export type ProgramEnd =
  | { readonly type: 'answer'; readonly output: Uint8Array }
  | { readonly type: 'failed' | 'timeout' | 'memory' | 'output' };

const WATCH_MS = 50;
/** `statm` counts pages of this size on every platform that we run on but some ARM systems, where ours are larger. */
const PAGE_BYTES = 4096;

/** Name of the program that an executable runs, in its environment: that of its file. */
export const OWN_PROGRAM = 'DRAGOMAN_PROGRAM';

/** Runs a program to its end. It gets nothing of our environment: there are keys in it. Never rejects. */
export async function runProgram(run: ProgramRun): Promise<ProgramEnd> {
  const end = run.file.lastIndexOf('/');
  const [command, where] = Bun.isStandaloneExecutable
    ? // Its programs are inside, and it reads no `.env` anywhere.
      [[process.execPath], { env: { [OWN_PROGRAM]: run.file.slice(end + 1), BUN_OPTIONS: '--smol' } }]
    : // Where no `.env` lies.
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

/** 0 where the system does not tell. */
async function residentBytes(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/statm`, 'latin1').catch(() => '');
  return Number(text.split(' ')[1] ?? 0) * PAGE_BYTES;
}
