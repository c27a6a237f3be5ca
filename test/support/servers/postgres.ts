// A PostgreSQL server for the tests of one process: Debian's, started on a free port in a temporary folder without care for
// its disk, and stopped by its pid when the process ends. Each test gets a schema of its own.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../free-port.ts';

const PASSWORD = 'test-password';
/** Folder in which Debian keeps its versions. */
const DEBIAN = '/usr/lib/postgresql';

export interface PostgresServer {
  /** Address of the database, with user and password. */
  readonly url: string;
  readonly port: number;
  /** Pid of the process that all others of the server are children of. */
  readonly pid: number;
  readonly folder: string;
  /** Pids of the processes that serve connections. */
  backends(): readonly number[];
  /** Stops it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again, with what it kept. */
  start(): Promise<void>;
  /** Ends it, and deletes its folder. */
  stop(): Promise<void>;
}

/** The folder of PostgreSQL's programs; null where there are none: these tests skip then. */
export const POSTGRES_PROGRAMS: string | null = programs();

if (POSTGRES_PROGRAMS === null)
  console.log(
    'skipped: tests with PostgreSQL, which is not installed (DRAGOMAN_POSTGRES names the folder of initdb)',
  );

function programs(): string | null {
  // Servers that are started here are found and ended by ways of Linux.
  if (process.platform !== 'linux') return null;
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).toSorted((a, b) => Number(b) - Number(a)) : [];
  const folders = [
    process.env['DRAGOMAN_POSTGRES'],
    ...versions.map((version) => join(DEBIAN, version, 'bin')),
  ];
  return folders.find((folder) => folder && existsSync(join(folder, 'initdb'))) ?? null;
}

/** A server of its own, for tests that stop or hold it. */
export async function startPostgres(
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const home = mkdtempSync(join(tmpdir(), 'dragoman-postgres-'));
  const user = ownerOf(home);
  const folder = join(home, 'data');
  const words = join(home, 'password');
  writeFileSync(words, PASSWORD);
  const made = spawnSync(
    ...asUser(user, 'initdb', [
      `--pgdata=${folder}`,
      '--username=dragoman',
      `--pwfile=${words}`,
      '--auth=scram-sha-256',
      '--no-sync',
      '--encoding=UTF8',
      '--locale=C.UTF-8',
    ]),
    { encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
  const port = await freePort();
  let child = await run(user, folder, port, settings);
  const kill = async (): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    // Immediate shutdown: no checkpoint, as after a loss of power.
    child.kill('SIGQUIT');
    await ended;
  };
  removeAfterwards(home);
  return {
    url: `postgres://dragoman:${PASSWORD}@127.0.0.1:${port}/postgres`,
    port,
    get pid() {
      return child.pid ?? 0;
    },
    folder,
    backends: () => backendsOf(child.pid ?? 0),
    kill,
    async start() {
      child = await run(user, folder, port, settings);
    },
    async stop() {
      await kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

/**
 * Options of a storage on a busy machine: a statement or a connection that comes late is not a database out of reach.
 * Tests of what happens when it is name times of their own.
 */
export const PATIENT = { statementMs: 60_000, connectMs: 60_000 } as const;

let shared: Promise<PostgresServer> | undefined;
let schemas = 0;

/**
 * Address of an empty schema in the server that all tests of this process share. The runner ends the processes of a test
 * that takes too long, and that may be this server: then the next test starts another one.
 */
export async function freshPostgres(): Promise<string> {
  schemas += 1;
  const name = `test_${schemas}`;
  const make = async (server: PostgresServer): Promise<PostgresServer> => {
    const client = new Client({ connectionString: server.url });
    try {
      await client.connect();
      await client.query(`create schema ${name}`);
    } finally {
      await client.end().catch(() => {});
    }
    return server;
  };
  shared = shared?.then(make).catch(async () => make(await startPostgres())) ?? startPostgres().then(make);
  return `${(await shared).url}?options=-c%20search_path%3D${name}`;
}

type User = { readonly uid: number; readonly gid: number } | null;

/** PostgreSQL refuses to run as root: then it is Debian's user `postgres`, who is given the folder. */
function ownerOf(folder: string): User {
  if (process.getuid?.() !== 0) return null;
  const idOf = (flag: string): number =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
  const user = { uid: idOf('-u'), gid: idOf('-g') };
  chownSync(folder, user.uid, user.gid);
  return user;
}

/** The command line that runs a program as that user; the server dies with this process, however it ends. */
function asUser(user: User, name: string, args: readonly string[]): [string, string[]] {
  const program = join(POSTGRES_PROGRAMS ?? '', name);
  const identity = user ? [`--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups'] : [];
  return ['setpriv', [...identity, '--pdeathsig=QUIT', program, ...args]];
}

/** Has a folder deleted when this process has ended, however it ended: the runner of the tests tells nobody. */
function removeAfterwards(folder: string): void {
  const script = 'cat >/dev/null; for _ in 1 2 3 4 5; do rm -rf "$1" && exit; sleep 0.2; done';
  const watcher = spawn('sh', ['-c', script, 'sh', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watcher.unref();
}

async function run(
  user: User,
  folder: string,
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<ChildProcess> {
  const all = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    full_page_writes: 'off',
    shared_buffers: '16MB',
    max_connections: '100',
    ...settings,
  };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(...asUser(user, 'postgres', ['-D', folder, '-p', String(port), ...args]), {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (bytes: Buffer) => {
      if (said.length < 10_000) said += bytes.toString();
      if (said.includes('ready to accept connections')) resolve();
    });
    child.once('error', reject);
    child.once('exit', () => reject(new Error(`PostgreSQL did not start: ${said}`)));
  });
  child.unref();
  return child;
}

/** Its children that say whom they serve. */
function backendsOf(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return children
    .filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').startsWith('postgres: dragoman '))
    .map(Number);
}
