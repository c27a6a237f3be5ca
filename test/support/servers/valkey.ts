// A server of Valkey or Redis for the tests of one process: Debian's, started on a free port without files, and stopped by
// its pid when the process ends.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { RedisClient } from 'bun';
import { freePort } from '../free-port.ts';

const PROGRAMS = [process.env['DRAGOMAN_VALKEY'], '/usr/bin/valkey-server', '/usr/bin/redis-server'];

/** The server's program; null where there is none: these tests skip then. */
export const VALKEY_PROGRAM: string | null =
  (process.platform === 'linux' && PROGRAMS.find((path) => path && existsSync(path))) || null;

if (VALKEY_PROGRAM === null)
  console.log(
    'skipped: tests with Valkey or Redis, which is not installed (DRAGOMAN_VALKEY names valkey-server)',
  );

export interface ValkeyProcess {
  readonly url: string;
  readonly pid: number;
  /** Sends a command, as an operator would. */
  send(command: string, ...args: string[]): Promise<unknown>;
  /** Stops it at once, with all that it knew. */
  kill(): Promise<void>;
  /** Starts it again on the same port, empty. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** A server of its own. @param settings on its command line: `tls-port`, … @param scheme of its address */
export async function startValkey(
  settings: (port: number) => Readonly<Record<string, string>> = (port) => ({ port: String(port) }),
  scheme = 'redis',
): Promise<ValkeyProcess> {
  const port = await freePort();
  const url = `${scheme}://127.0.0.1:${port}`;
  let child = await run(settings(port));
  let client: RedisClient | undefined;
  const kill = async (): Promise<void> => {
    client?.close();
    client = undefined;
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGCONT');
    child.kill('SIGKILL');
    await ended;
  };
  return {
    url,
    get pid() {
      return child.pid ?? 0;
    },
    send: (command, ...args) => (client ??= new RedisClient(url)).send(command, args),
    kill,
    async start() {
      child = await run(settings(port));
    },
    stop: kill,
  };
}

let shared: Promise<ValkeyProcess> | undefined;

/** The server that tests of this process share, without what they left in it. */
export async function freshValkey(): Promise<ValkeyProcess> {
  const server = await (shared ??= startValkey());
  await server.send('FLUSHALL');
  return server;
}

async function run(settings: Readonly<Record<string, string>>): Promise<ChildProcess> {
  const all = { bind: '127.0.0.1', save: '', appendonly: 'no', ...settings };
  const args = Object.entries(all).flatMap(([name, value]) => [`--${name}`, value]);
  // It dies with this process, however that ends.
  const child = spawn('setpriv', ['--pdeathsig=KILL', VALKEY_PROGRAM ?? '', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stdout?.on('data', (bytes: Buffer) => {
      if (said.length < 10_000) said += bytes.toString();
      if (/Ready to accept connections/i.test(said)) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`the server did not start: ${said}`)));
  });
  child.unref();
  return child;
}
