// Three replicas as an operator runs them: processes of `dragoman serve` on one PostgreSQL and one Valkey or Redis, each
// behind a network of its own that can be cut, and nginx in front of them. All on free ports of the loopback and in one
// temporary folder, ended by pid.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findProgram, freePort } from '../../../bench/processes.ts';
import { launchOf } from '../../support/program.ts';
import { type PostgresServer, startPostgres } from '../../support/servers/postgres.ts';
import { startValkey, type ValkeyProcess } from '../../support/servers/valkey.ts';
import { type CutNetwork, startNetwork } from './cut-network.ts';
import { startUpstream, type Upstream } from './upstream.ts';

export const REPLICAS = 3;
export const ADMIN_KEY = 'sk-test-admin-0123456789';
export const LOAD_KEY = 'sk-test-load';
/** Price of the upstream's model: 0.02 USD for an answer of 20 tokens. */
export const USD_PER_TOKEN = 0.001;
export const MODEL = 'counted/whole';
/** Models whose streams take two seconds, and eight. */
export const PACED = ['counted/paced-100', 'counted/paced-400'] as const;

const FAKETIME = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu'].map(
  (folder) => `${folder}/faketime/libfaketime.so.1`,
);
/** A library that shifts the clock of a process; null where it is not installed. */
export const CLOCK_SHIFTER: string | null = FAKETIME.find((path) => existsSync(path)) ?? null;
const SPOOL_DISK_MB = 24;
const START_MS = 60_000;

export interface Replica {
  readonly name: string;
  readonly origin: string;
  /** Folder of its own data. */
  readonly dataDir: string;
  readonly log: string;
  readonly toPostgres: CutNetwork;
  readonly toValkey: CutNetwork;
  /** Sends a signal. */
  signal(name: NodeJS.Signals): void;
  /** Resolves when its process is gone. */
  gone(): Promise<void>;
  /** Starts it, again, on the same port and data directory. Does not wait. */
  start(): void;
  /** Sets its clock off. @param seconds beside the clock of the others */
  shiftClock(seconds: number): void;
}

export interface Cluster {
  /** nginx. */
  readonly origin: string;
  readonly replicas: readonly Replica[];
  readonly postgres: PostgresServer;
  readonly valkey: ValkeyProcess;
  readonly upstream: Upstream;
  /** Small disk of its own on which the first replica's spool lies; null where mounting is not allowed. */
  readonly smallDisk: string | null;
  /** Logs of nginx and the replicas. */
  readonly logs: readonly string[];
  /** Tells nginx which replicas get requests. */
  direct(taken: readonly Replica[]): Promise<void>;
  stop(): Promise<void>;
}

/** @param budgets keys `sk-test-NAME` with a budget in USD for all time each */
export async function startCluster(budgets: ReadonlyMap<string, number>): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-crashes-'));
  const remove = (): void => {
    // A disk that was mounted is given back with it; its processes die with this one.
    spawnSync('umount', ['-l', join(folder, 'r1')], { stdio: 'ignore' });
    rmSync(folder, { recursive: true, force: true });
  };
  process.once('exit', remove);
  const ends: (() => unknown)[] = [remove];
  const stop = async (): Promise<void> => {
    for (const end of ends.splice(0).toReversed()) await end();
  };
  try {
    const [postgres, valkey] = await Promise.all([startPostgres(), startValkey()]);
    ends.push(
      () => postgres.stop(),
      () => valkey.stop(),
    );
    const upstream = startUpstream();
    ends.push(() => upstream.stop());
    const smallDisk = mountSmall(join(folder, 'r1'));
    const replicas: Replica[] = [];
    for (let at = 1; at <= REPLICAS; at += 1) {
      const replica = await makeReplica({ folder, name: `r${at}`, postgres, valkey, upstream, budgets });
      replicas.push(replica);
      ends.push(
        () => replica.toPostgres.stop(),
        () => replica.toValkey.stop(),
        () => ended(replica),
      );
    }
    // One makes the tables; the others wait for it, as they would.
    for (const replica of replicas) replica.start();
    await Promise.all(replicas.map(started));
    const nginx = await startNginx(folder, replicas);
    ends.push(() => nginx.stop());
    const logs = [join(folder, 'nginx.log'), ...replicas.map(({ log }) => log)];
    return { ...nginx, logs, replicas, postgres, valkey, upstream, smallDisk, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A disk that is soon full, at the place of a data directory. */
function mountSmall(folder: string): string | null {
  mkdirSync(folder, { recursive: true });
  const done = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${SPOOL_DISK_MB}m`, 'tmpfs', folder]);
  return done.status === 0 ? folder : null;
}

interface Parts {
  readonly folder: string;
  readonly name: string;
  readonly postgres: PostgresServer;
  readonly valkey: ValkeyProcess;
  readonly upstream: Upstream;
  readonly budgets: ReadonlyMap<string, number>;
}

async function makeReplica(parts: Parts): Promise<Replica> {
  const { folder, name, postgres, valkey, upstream, budgets } = parts;
  const [port, toPostgres, toValkey] = await Promise.all([
    freePort(),
    startNetwork(postgres.port),
    startNetwork(Number(new URL(valkey.url).port)),
  ]);
  const dataDir = join(folder, name);
  mkdirSync(dataDir, { recursive: true });
  const [config, log, clock] = ['yaml', 'log', 'clock'].map((end) => join(folder, `${name}.${end}`)) as [
    string,
    string,
    string,
  ];
  const throughNetwork = (url: string, to: CutNetwork): string => {
    const address = new URL(url);
    address.port = String(to.port);
    return address.href;
  };
  writeFileSync(
    config,
    JSON.stringify({
      server: { port, admin_key: ADMIN_KEY, drain_ms: 30_000, overload: { lag_ms: 0 } },
      data_dir: dataDir,
      database_url: throughNetwork(postgres.url, toPostgres),
      redis_url: throughNetwork(valkey.url, toValkey),
      secret: 'ab'.repeat(32),
      counters: { processes: REPLICAS },
      ledger: { when_full: 'refuse' },
      logging: { level: 'info' },
      keys: [
        { name: 'load', key: LOAD_KEY, project: 'load' },
        ...[...budgets].map(([key, usd]) => ({
          name: key,
          key: `sk-test-${key}`,
          project: key,
          budgets: [{ usd }],
        })),
      ],
      projects: Object.fromEntries(['load', ...budgets.keys()].map((project) => [project, {}])),
      providers: {
        counted: {
          api_key: 'sk-test',
          protocols: { 'openai-chat': { base_url: `http://127.0.0.1:${upstream.port}/v1` } },
        },
      },
      models: [MODEL, ...PACED].map((id) => ({ id, price: { input: 0, output: USD_PER_TOKEN * 1e6 } })),
    }),
  );
  const launch = await launchOf();
  const environment: Record<string, string> = {
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    ...launch.environment,
  };
  if (CLOCK_SHIFTER !== null) {
    writeFileSync(clock, '+0s\n');
    Object.assign(environment, {
      LD_PRELOAD: CLOCK_SHIFTER,
      FAKETIME_TIMESTAMP_FILE: clock,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    });
  }
  let child: ChildProcess | undefined;
  return {
    name,
    origin: `http://127.0.0.1:${port}`,
    dataDir,
    log,
    toPostgres,
    toValkey,
    signal: (signal) => void child?.kill(signal),
    gone: () =>
      new Promise((resolve) => {
        if (!child || child.exitCode !== null || child.signalCode !== null) resolve();
        else child.once('exit', () => resolve());
      }),
    start() {
      const args = ['--pdeathsig=KILL', ...launch.command, 'serve', '--config', config];
      const output = openSync(log, 'a');
      child = spawn('setpriv', args, { cwd: folder, env: environment, stdio: ['ignore', 'ignore', output] });
      closeSync(output);
    },
    shiftClock: (seconds) => writeFileSync(clock, `${seconds < 0 ? '' : '+'}${seconds}s\n`),
  };
}

async function ended(replica: Replica): Promise<void> {
  replica.signal('SIGCONT');
  replica.signal('SIGKILL');
  await replica.gone();
}

/** Resolves when a replica says that it is ready. Rejects with its log when it does not come up. */
export async function started(replica: Replica): Promise<void> {
  const until = performance.now() + START_MS;
  while (performance.now() < until) {
    const ready = await fetch(`${replica.origin}/readyz`, { signal: AbortSignal.timeout(1_000) }).catch(
      () => null,
    );
    await ready?.arrayBuffer();
    if (ready?.status === 200) return;
    await Bun.sleep(25);
  }
  throw new Error(
    `${replica.name} is not ready: ${existsSync(replica.log) ? readFileSync(replica.log, 'utf8').slice(-2000) : ''}`,
  );
}

async function startNginx(
  folder: string,
  replicas: readonly Replica[],
): Promise<{ readonly origin: string; direct: Cluster['direct']; stop(): Promise<void> }> {
  const program = findProgram('nginx');
  if (program === null) throw new Error('nginx is not installed');
  const port = await freePort();
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, nginxConfig(folder, port, replicas));
  const child = spawn('setpriv', ['--pdeathsig=TERM', program, '-e', join(folder, 'nginx.log'), '-c', path], {
    stdio: 'ignore',
  });
  const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const origin = `http://127.0.0.1:${port}`;
  for (let tries = 0; tries < 100; tries += 1) {
    const answer = await fetch(`${origin}/healthz`).catch(() => null);
    await answer?.arrayBuffer();
    if (answer?.ok) break;
    await Bun.sleep(50);
  }
  return {
    origin,
    async direct(taken) {
      writeFileSync(path, nginxConfig(folder, port, taken));
      child.kill('SIGHUP');
      // Its new workers take over within moments, and nobody says when.
      await Bun.sleep(300);
    },
    async stop() {
      child.kill('SIGTERM');
      await gone;
    },
  };
}

/** As deploy/nginx.conf has it: nothing that a replica may have begun is sent to another one, and no connection is kept. */
function nginxConfig(folder: string, port: number, replicas: readonly Replica[]): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/nginx-${kind};`,
  );
  const servers = replicas.map(({ origin }) => `server ${new URL(origin).host} max_fails=1 fail_timeout=1s;`);
  return `
daemon off; worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log warn;
events { worker_connections 4096; }
http {
  access_log off; ${temporary.join(' ')}
  client_max_body_size 32m; tcp_nodelay on;
  upstream replicas { ${servers.join(' ')} }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://replicas; proxy_http_version 1.1; proxy_set_header connection close;
      proxy_buffering off; proxy_connect_timeout 1s; proxy_read_timeout 5s;
      proxy_next_upstream error timeout;
    }
  }
}
`;
}
