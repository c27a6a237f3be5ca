// Targets of the benchmark: the mock upstream itself, nginx in front of it, and Dragoman in front of it in each lane.
// All of them listen on loopback and have their files in one temporary folder.
import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Api, CHAT, RESPONSES, STORED_RESPONSES } from './apis.ts';
import { type PairName, pairProviders, PAIRS } from './pairs.ts';
import {
  childrenOf,
  familyOf,
  findProgram,
  freePort,
  LOAD_CORE,
  MEASURED_CORE,
  type Owned,
  run,
  start,
} from './processes.ts';
import { type Launch, launchOf } from '../test/support/program.ts';

/**
 * `routing` is the router only, within the benchmark's process. Targets named after Responses have clients of that
 * API. All pairs use the translate lane.
 */
export type TargetName =
  | 'direct'
  | 'nginx'
  | 'relay'
  | 'translate'
  | 'messages'
  | 'routing'
  | 'limits'
  | 'responses'
  | 'responses-stored'
  | 'responses-chat'
  | 'responses-chat-stored'
  | 'responses-messages'
  | PairName;

export interface Target {
  readonly name: TargetName;
  readonly label: string;
  readonly port: number;
  readonly api: Api;
  /** Prefix of model names. */
  readonly modelPrefix: string;
  readonly headers: readonly string[];
  /** Current processes whose CPU time and memory count. */
  readonly pids: () => readonly number[];
}

export interface Server {
  readonly targets: readonly Target[];
  stop(): Promise<void>;
}

/** Models of the mock. The name selects its behaviour. */
const MODELS = ['whole', 'paced-5', 'paced-50'];
/** API key for the gateway. */
export const GATEWAY_KEY = 'sk-bench-0123456789abcdef';
const PROVIDERS = ['relay', 'translate', 'messages', 'responses'];
const PAIRED = new Set(PAIRS.map(({ provider }) => provider));

interface Lane {
  readonly name: TargetName;
  readonly label: string;
  readonly provider: string;
  readonly api: Api;
}

const LANES: readonly Lane[] = [
  { name: 'relay', label: 'Dragoman, relay', provider: 'relay', api: CHAT },
  { name: 'translate', label: 'Dragoman, chat → chat', provider: 'translate', api: CHAT },
  { name: 'messages', label: 'Dragoman, chat → Messages', provider: 'messages', api: CHAT },
  { name: 'responses', label: 'Dragoman, Responses, relay', provider: 'responses', api: RESPONSES },
  {
    name: 'responses-stored',
    label: 'Dragoman, Responses, relay, stored',
    provider: 'responses',
    api: STORED_RESPONSES,
  },
  { name: 'responses-chat', label: 'Dragoman, Responses → chat', provider: 'translate', api: RESPONSES },
  {
    name: 'responses-chat-stored',
    label: 'Dragoman, Responses → chat, stored',
    provider: 'translate',
    api: STORED_RESPONSES,
  },
  {
    name: 'responses-messages',
    label: 'Dragoman, Responses → Messages',
    provider: 'messages',
    api: RESPONSES,
  },
  ...PAIRS.map(({ name, label, provider, client }): Lane => ({ name, label, provider, api: client })),
];

const here = import.meta.dirname;
const build = join(here, '.build');

/** Compiles a C program of this folder if its source is newer. @returns path of the program */
export function compiled(name: 'mock' | 'load'): string {
  const source = join(here, `${name}.c`);
  const program = join(build, name);
  const age = statSync(program, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  if (age > statSync(source).mtimeMs) return program;
  const compiler = findProgram('cc') ?? findProgram('gcc') ?? findProgram('clang');
  if (!compiler) throw new Error('bench needs a C compiler (`cc`) for its upstream and its load generator');
  mkdirSync(build, { recursive: true });
  run([compiler, '-O2', '-o', program, source]);
  return program;
}

/** Starts the mock upstream. */
export async function startMock(folder: string): Promise<Server & { readonly port: number }> {
  const mock = start([compiled('mock'), '0'], LOAD_CORE, join(folder, 'mock.log'));
  const port = Number((await mock.line(/^(\d+)\n/))[1]);
  const direct: Target = {
    name: 'direct',
    label: 'direct',
    port,
    api: CHAT,
    modelPrefix: '',
    headers: [],
    pids: () => [mock.pid],
  };
  return { port, targets: [direct], stop: () => mock.stop() };
}

/** Starts nginx as a plain proxy with pooled connections; null if nginx is not installed. */
export async function startNginx(folder: string, mockPort: number): Promise<Server | null> {
  const nginx = findProgram('nginx');
  if (!nginx) return null;
  const port = await freePort();
  const path = join(folder, 'nginx.conf');
  writeFileSync(path, nginxConfig(folder, port, mockPort));
  const master = start(
    [nginx, '-e', join(folder, 'nginx.log'), '-c', path],
    MEASURED_CORE,
    join(folder, 'nginx.log'),
  );
  await answering(port, master);
  const target: Target = {
    name: 'nginx',
    label: 'nginx',
    port,
    api: CHAT,
    modelPrefix: '',
    headers: [],
    pids: () => childrenOf(master.pid),
  };
  return { targets: [target], stop: () => master.stop() };
}

export interface GatewayOptions {
  /** The source tree. Default: that of the benchmark. */
  readonly root?: string;
  /** Additional environment variables. */
  readonly environment?: Readonly<Record<string, string>>;
  /** Additional providers. */
  readonly providers?: Readonly<Record<string, object>>;
  readonly tools?: Readonly<Record<string, object>>;
  /** Additional keys, and their projects. */
  readonly keys?: readonly object[];
  readonly projects?: Readonly<Record<string, object>>;
  /** Additional top-level configuration, which has precedence. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Number of workers, on all cores; absent: one process, on the measured core. */
  readonly workers?: number;
  /** True: uses all cores even without workers. */
  readonly isFree?: boolean;
  /** True: runs from sources even if packed, as profiles and call counts require. */
  readonly fromSources?: boolean;
  /** Targets that are checked with a request to use their lane. Default: all. */
  readonly lanes?: readonly TargetName[];
}

/** Starts Dragoman by its launcher, with one provider per lane. The targets share the process. */
export async function startGateway(
  folder: string,
  mockPort: number,
  options: GatewayOptions = {},
): Promise<Server> {
  const { root = join(here, '..'), environment = {}, lanes, fromSources = false } = options;
  const upstream = `http://127.0.0.1:${mockPort}/v1`;
  const path = join(folder, 'dragoman.json');
  const config = {
    server: { port: 0 },
    data_dir: join(folder, 'data'),
    keys: [{ name: 'bench', key: GATEWAY_KEY }, ...(options.keys ?? [])],
    ...(options.projects ? { projects: options.projects } : {}),
    logging: { level: 'warn' },
    providers: {
      relay: { api_key: 'sk-test', protocols: { 'openai-chat': { base_url: upstream, faithful: true } } },
      translate: {
        api_key: 'sk-test',
        protocols: { 'openai-chat': { base_url: upstream, faithful: false } },
      },
      messages: { api_key: 'sk-test', protocols: { 'anthropic-messages': { base_url: upstream } } },
      responses: {
        api_key: 'sk-test',
        protocols: { 'openai-responses': { base_url: upstream, faithful: true } },
      },
      ...pairProviders(`http://127.0.0.1:${mockPort}`),
      ...options.providers,
    },
    models: [...PROVIDERS, ...PAIRED].flatMap((provider) =>
      MODELS.map((model) => ({
        id: `${provider}/${model}`,
        price: { input: 1, output: 4, cache_read: 0.1 },
      })),
    ),
    ...(options.tools ? { tools: options.tools } : {}),
    // A high limit, so that eviction is not measured.
    state: { max_mb_per_key: 4096 },
    ...options.config,
  };
  writeFileSync(path, JSON.stringify(config, null, 2));
  const launch = fromSources ? { command: sourcesOf(root), environment: {} } : await packedLaunch(root);
  const gateway = start(
    [
      ...launch.command,
      'serve',
      '--config',
      path,
      ...(options.workers === undefined ? [] : ['--workers', String(options.workers)]),
    ],
    options.isFree || options.workers !== undefined ? null : MEASURED_CORE,
    join(folder, 'dragoman.log'),
    { ...launch.environment, ...environment },
  );
  const port = Number((await gateway.line(/listening on http:\/\/[^:]+:(\d+)/))[1]);
  // The cost includes the launcher, if it stays, and all child processes.
  const pids = (): readonly number[] => familyOf(gateway.pid);
  const headers = [`authorization: Bearer ${GATEWAY_KEY}`];
  const checked = LANES.filter(({ name }) => lanes?.includes(name) ?? true);
  await Promise.all(checked.map((lane) => checkLane(port, lane)));
  return {
    targets: LANES.map(({ name, label, provider, api }) => ({
      name,
      label,
      port,
      api,
      modelPrefix: `${provider}/`,
      headers,
      pids,
    })),
    stop: () => gateway.stop(),
  };
}

/** Packs a source tree, if it supports that, as `npm install` did before its sources changed. */
export function packTree(root: string): void {
  const script = join(root, 'contrib', 'pack.ts');
  if (existsSync(script)) run(['node', join(root, 'bin', 'bun.mjs'), 'run', script]);
}

/** Command that starts a source tree from its sources. */
function sourcesOf(root: string): string[] {
  const settings = [`--config=${join(root, 'bin', 'bunfig.toml')}`, '--no-env-file'];
  return ['node', join(root, 'bin', 'bun.mjs'), ...settings, join(root, 'src', 'app', 'main.ts')];
}

/** How the packed program of a source tree is started. Older trees have a launcher for shells. */
export async function packedLaunch(root: string): Promise<Launch> {
  const launcher = join(root, 'bin', 'dragoman');
  return existsSync(launcher) ? { command: [launcher], environment: {} } : launchOf(root);
}

/** @throws Error if requests do not use the lane that is to be measured */
async function checkLane(port: number, { name, provider, api }: Lane): Promise<void> {
  const model = `${provider}/whole`;
  const messages = [
    { role: 'system', content: 'You answer in one paragraph.' },
    { role: 'user', content: 'Hello' },
  ];
  const response = await fetch(`http://127.0.0.1:${port}${api.path(model, false)}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${GATEWAY_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(api.body(model, false, messages)),
  });
  const lane = response.headers.get('x-dragoman-lane');
  const wanted = provider === 'relay' || provider === 'responses' ? 'relay' : 'translate';
  if (!response.ok || lane !== wanted)
    throw new Error(`${name}: status ${response.status}, lane ${lane}: ${await response.text()}`);
}

/** Waits until a server accepts connections. */
async function answering(port: number, server: Owned): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    try {
      await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  throw new Error(`process ${server.pid} does not respond on port ${port}`);
}

function nginxConfig(folder: string, port: number, mockPort: number): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/nginx-${kind};`,
  );
  return `
daemon off; worker_processes 1; worker_rlimit_nofile 16384; pid ${folder}/nginx.pid; error_log ${folder}/nginx.log warn;
events { worker_connections 8192; }
http {
  access_log off; ${temporary.join(' ')}
  client_max_body_size 32m; client_body_buffer_size 512k; tcp_nodelay on;
  keepalive_timeout 600s; keepalive_requests 1000000000;
  upstream mock { server 127.0.0.1:${mockPort}; keepalive 2048; keepalive_requests 1000000000; keepalive_timeout 600s; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location / {
      proxy_pass http://mock; proxy_http_version 1.1; proxy_set_header connection "";
      proxy_buffering off; proxy_read_timeout 600s;
    }
  }
}
`;
}

/** A target of a server by name. @throws Error if it has none */
export function targetOf(server: Server, name: TargetName): Target {
  const found = server.targets.find((target) => target.name === name);
  if (!found) throw new Error(`unknown target ${name}`);
  return found;
}
