// Runs the program as a user does: in its own folder, with an environment that contains only what a test sets. Uses only the
// command line and sockets.
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');

export interface ProgramOptions {
  readonly environment?: Readonly<Record<string, string>>;
  /** Working directory. */
  readonly folder: string;
  /** The checkout whose program it is; default: this one. */
  readonly root?: string;
  /** Command that is run with the arguments; default: what that checkout's launcher starts. */
  readonly command?: readonly [string, ...string[]] | undefined;
}

/** The launcher, which npm links as `dragoman`. @param root the checkout whose launcher it is */
export function nodeLauncher(root = ROOT): [string, ...string[]] {
  return ['node', join(root, 'bin', 'dragoman.mjs')];
}

export interface Launch {
  readonly command: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
}

/** Command and variables that the launcher of a checkout starts the program with. Signals then reach the program directly. */
export async function launchOf(root = ROOT): Promise<Launch> {
  const launcher = (await import(join(root, 'bin', 'program.mjs'))) as {
    readonly programCommand: (args: readonly string[]) => [string, ...string[]];
    readonly RUNTIME_ENVIRONMENT: Readonly<Record<string, string>>;
  };
  return { command: launcher.programCommand([]), environment: launcher.RUNTIME_ENVIRONMENT };
}

export interface Finished {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Program {
  /** Process id of the launcher, or of what it became. */
  readonly pid: number;
  /** `http://host:port` or `https://host:port`, as printed. */
  readonly origin: string;
  /** Standard output and error so far. */
  readonly out: () => string;
  readonly err: () => string;
  readonly exited: Promise<Finished>;
  /** Sends SIGTERM, or another signal. @returns how it ended */
  stop(signal?: NodeJS.Signals): Promise<Finished>;
}

/** An empty folder, and how to remove it. */
export function freshFolder(): { readonly folder: string; readonly remove: () => void } {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-program-'));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Runs a command to its end. */
export async function runProgram(args: readonly string[], options: ProgramOptions): Promise<Finished> {
  return (await launch(args, options)).exited;
}

/** Starts a command that listens. Rejects with its output when it ends before. */
export async function startProgram(args: readonly string[], options: ProgramOptions): Promise<Program> {
  const { child, exited, out, err } = await launch(args, options);
  const origin = await new Promise<string>((resolve, reject) => {
    child.stdout?.on('data', () => {
      const line = /^listening on (https?:\/\/\S+)\n/m.exec(out());
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
    stop(signal = 'SIGTERM') {
      child.kill(signal);
      return exited;
    },
  };
}

/** Settings of `server` for programs that run beside other tests: a machine that does much else is no overload. */
export const NO_OVERLOAD = { overload: { lag_ms: 0 } };

/** Milliseconds that a busy machine may need for anything; less than the runner gives to a test. */
const EVENTUALLY_MS = 50_000;

/** Waits until a condition holds. Rejects when it does not within the time. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = EVENTUALLY_MS,
): Promise<void> {
  await eventuallyFound(what, condition, (holds) => holds, withinMs);
}

/** Looks again and again until what is found is the one that is waited for. Rejects when it is not within the time. */
export async function eventuallyFound<T>(
  what: string,
  look: () => T | Promise<T>,
  isIt: (found: T) => boolean,
  withinMs = EVENTUALLY_MS,
): Promise<T> {
  const until = performance.now() + withinMs;
  for (;;) {
    const found = await look();
    if (isIt(found)) return found;
    if (performance.now() > until) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Process id of the runtime that a launcher became, or that runs below it (Linux). */
export function runtimePid(launcherPid: number): number {
  const program = basename(readlinkSync(`/proc/${launcherPid}/exe`));
  return /^(bun|dragoman)/.test(program) ? launcherPid : runtimePid(Number(childrenOf(launcherPid)[0]));
}

/** Process ids of those that a process started and that still run (Linux). */
export function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

async function launch(
  args: readonly string[],
  options: ProgramOptions,
): Promise<{
  readonly child: ChildProcess;
  readonly exited: Promise<Finished>;
  readonly out: () => string;
  readonly err: () => string;
}> {
  const { command, environment } = options.command
    ? { command: options.command, environment: {} }
    : await launchOf(options.root);
  const [program, ...first] = command;
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(program, [...first, ...args], {
    cwd: options.folder,
    env: { PATH, HOME, ...environment, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
  const exited = new Promise<Finished>((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  return { child, exited, out: () => out, err: () => err };
}
