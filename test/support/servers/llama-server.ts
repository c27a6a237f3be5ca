// llama.cpp's own server for tests, with a model of a few MB: a server that nobody here wrote. It is started on a free port
// in a temporary folder, and stopped by its pid.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import { writeTinyModel } from './tiny-model.ts';

/** The program; null where the environment does not name it: these tests skip then. */
export const LLAMA_SERVER: string | null = programIn('DRAGOMAN_LLAMA_SERVER', 'a real llama-server');

/** The file that a variable names, or null after a line that says what is skipped. */
export function programIn(variable: string, what: string): string | null {
  const path = process.env[variable];
  if (path && existsSync(path)) return path;
  console.log(`skipped: tests with ${what} (${variable} names no program)`);
  return null;
}

export interface LlamaServer extends AsyncDisposable {
  /** `http://127.0.0.1:port` */
  readonly origin: string;
  stop(): Promise<void>;
}

/** The name under which the server lists its model. */
export const TINY = 'tiny';

/**
 * Starts one server.
 * @param context tokens of each of its two slots
 * @param flags further ones of its command line; `--models-dir` makes a router of it, whose folder is then ours
 */
export async function startLlamaServer({
  context = 2048,
  flags = [] as readonly string[],
  router = false,
} = {}): Promise<LlamaServer> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-llama-'));
  mkdirSync(join(folder, 'models'));
  const model = join(folder, 'models', `${TINY}.gguf`);
  writeTinyModel(model);
  const port = await freePort();
  const which = router ? ['--models-dir', join(folder, 'models')] : ['--model', model, '--alias', TINY];
  const all = [...which, '--host', '127.0.0.1', '--port', String(port), '--ctx-size', String(2 * context)];
  const args = [
    ...all,
    '--parallel',
    '2',
    '--threads',
    '1',
    '--threads-batch',
    '1',
    '--jinja',
    '--offline',
    ...flags,
  ];
  const stop = await run(LLAMA_SERVER ?? '', args, /listening on http/);
  const end = async (): Promise<void> => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  };
  return { origin: `http://127.0.0.1:${port}`, stop: end, [Symbol.asyncDispose]: end };
}

/**
 * Starts a server and waits for a line of it.
 * @param program whose lines are read
 * @param ready what the line says
 * @returns what ends it
 */
export async function run(
  program: string,
  args: readonly string[],
  ready: RegExp,
  environment: Readonly<Record<string, string>> = {},
): Promise<() => Promise<void>> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
    // The program may be a script that starts another: all of them are ended.
    detached: true,
  });
  const end = (): void => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, 'SIGKILL');
  };
  process.once('exit', end);
  let said = '';
  await new Promise<void>((resolve, reject) => {
    const read = (bytes: Buffer): void => {
      if (said.length < 100_000) said += bytes.toString();
      if (ready.test(said)) resolve();
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`${program} did not start: ${said.slice(-2000)}`)));
  });
  child.unref();
  return async () => {
    process.removeListener('exit', end);
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    end();
    await ended;
  };
}
