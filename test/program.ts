// Runs the program as a user does: through its launcher under Node, in a folder of its own, with an environment that
// holds nothing but what a test gives. Knows the command line and the sockets only.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Working directory. */
  readonly folder: string;
  /** The checkout whose program it is; default: this one. */
  readonly root?: string;
}

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Program {
  /** Process id of the launcher. */
  readonly pid: number;
  /** `http://host:port`, as printed. */
  readonly origin: string;
  /** Standard output and error so far. */
  readonly out: () => string;
  readonly err: () => string;
  readonly exited: Promise<Finished>;
  /** Sends SIGTERM. @returns how it ended */
  stop(): Promise<Finished>;
}

/** An empty folder, and how to remove it. */
export function freshFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-program-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Runs a command to its end. */
export async function runProgram(args: readonly string[], options: ProgramOptions): Promise<Finished> {
  return launch(args, options).exited;
}

/** Starts a command that listens. Rejects with its output when it ends before. */
export async function startProgram(args: readonly string[], options: ProgramOptions): Promise<Program> {
  const { child, exited, out, err } = launch(args, options);
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const line = /^listening on (http:\/\/\S+)\n/m.exec(out());
      if (line?.[1]) resolve(line[1]);
    });
    void exited.then((end) =>
      reject(new Error(`ended with ${end.code} before it listened: ${end.out}${end.err}`)),
    );
  });
  const pid = child.pid ?? 0;
  return {
    pid,
    origin,
    out,
    err,
    exited,
    stop() {
      child.kill('SIGTERM');
      return exited;
    },
  };
}

/** Waits until a condition holds. Rejects when it does not within the time. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const until = performance.now() + withinMs;
  while (!(await condition())) {
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Process id of the runtime below a launcher (Linux). */
export function runtimePid(launcherPid: number): number {
  const children = readFileSync(`/proc/${launcherPid}/task/${launcherPid}/children`, 'utf8');
  return Number(children.trim().split(' ')[0]);
}

function launch(
  args: readonly string[],
  options: ProgramOptions,
): {
  readonly child: ChildProcess;
  readonly exited: Promise<Finished>;
  readonly out: () => string;
  readonly err: () => string;
} {
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn('node', [join(options.root ?? ROOT, 'bin', 'dragoman.mjs'), ...args], {
    cwd: options.folder,
    env: { PATH, HOME, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const exited = new Promise<Finished>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  return { child, exited, out: () => out, err: () => err };
}
