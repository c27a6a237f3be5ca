// Starts whole gateways for tests: real sockets, a data directory of their own, a configuration given as an object.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { composeGateway } from '../../src/app/cli/compose/compose.ts';
import type { RunningGateway } from '../../src/app/cli/compose/running-gateway.ts';
import { loadConfig } from '../../src/app/config/index.ts';
import type { Clock } from '../../src/base/runtime/clock.ts';
import { type ResolveHost, resolveHost } from '../../src/base/runtime/resolve-host.ts';
import { disposable } from './disposable.ts';

export const TEST_KEY = 'sk-test';
/** Stands for the file that is given as an object. */
const CONFIG = 'test.json';

/** Names that stand for somebody else's host, where tests must not go: public, and unreachable without a network. */
const resolveExample: ResolveHost = async (host) =>
  /(?:^|\.)(?:example(?:\.(?:com|org|net))?|youtube\.com)$/.test(host)
    ? ['93.184.215.14']
    : resolveHost(host);

export interface TestGateway extends RunningGateway, AsyncDisposable {
  /** Base URL for OpenAI-style clients. */
  readonly baseURL: string;
  readonly key: string;
  readonly dataDir: string;
  readonly logLines: string[];
  /** POSTs JSON to a path below `/v1`. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  get(path: string): Promise<Response>;
  /** Stops it and removes its data. */
  close(): Promise<void>;
}

/**
 * Starts a gateway.
 * @param config as a person would write it in YAML; `server`, `data_dir` and a key are filled in
 */
export async function startGateway(
  config: Readonly<Record<string, unknown>> = {},
  options: {
    clock?: Clock;
    environment?: Record<string, string>;
    dataDir?: string;
    /** Addresses of names, in place of this machine's resolver. */
    resolve?: ResolveHost;
  } = {},
): Promise<TestGateway> {
  const dataDir = options.dataDir ?? mkdtempSync(join(tmpdir(), 'dragoman-test-'));
  const environment = { ...options.environment };
  const logLines: string[] = [];
  const text = JSON.stringify({
    keys: [{ name: 'test', key: TEST_KEY }],
    logging: { level: 'warn' },
    ...config,
    // A machine that does much else is no overload.
    server: { port: 0, drain_ms: 2000, overload: { lag_ms: 0 }, ...(config['server'] as object | undefined) },
    data_dir: dataDir,
  });
  const readFile = (path: string): string => (path === CONFIG ? text : readFileSync(path, 'utf8'));
  const running = await composeGateway({
    environment,
    load: () => loadConfig({ environment, flags: { config: CONFIG }, readFile }),
    clock: options.clock,
    random: () => 0,
    resolve: options.resolve ?? resolveExample,
    // Garbage of other tests in this process is no burst of this gateway.
    sharesProcess: true,
    writeLog: (line) => logLines.push(line),
  });
  const authorization = `Bearer ${TEST_KEY}`;
  return disposable<Omit<TestGateway, keyof AsyncDisposable>>({
    ...running,
    baseURL: `${running.origin}/v1`,
    key: TEST_KEY,
    dataDir,
    logLines,
    post: (path, body, headers = {}) =>
      fetch(`${running.origin}/v1${path}`, {
        method: 'POST',
        headers: { authorization, 'content-type': 'application/json', ...headers },
        body:
          typeof body === 'string' || body instanceof Uint8Array ? (body as BodyInit) : JSON.stringify(body),
      }),
    get: (path) => fetch(`${running.origin}/v1${path}`, { headers: { authorization } }),
    async close() {
      await running.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  });
}
