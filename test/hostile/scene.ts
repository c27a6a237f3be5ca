// Scene of every attack: a gateway in a process of its own, a hostile server behind it, a bystander beside it, and
// the three questions that are asked of each scenario: what did the attacker get, how long did somebody else wait
// meanwhile, and how much memory is held afterwards. Knows no attack.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { residentMb } from '../../bench/processes.ts';
import { freshFolder, runtimePid, startProgram, type Program } from '../support/program.ts';
import { shareOf } from '../support/share.ts';
import { BYSTANDER_KEY, type Orders, type Seen } from './bystander.ts';
import {
  ATTACKER_KEY,
  PROVIDER_KEY,
  RawSocket,
  requestBytes,
  startServer,
  type Answer,
  type RawServer,
  type RequestParts,
} from './sockets.ts';

/** How much longer than usual another client may wait. */
const MOST_WAITING_MS = 250;
const WAITED = 'others waited';
/** How much more memory than before may be held afterwards. */
const MOST_HELD_MB = 64;
/** How much more than before an attack may take while it lasts: what the gateway sets aside for bodies and streams. */
const MOST_TAKEN_MB = 1024;
/** When that is judged. */
const AFTERWARDS_MS = 30_000;
const LINUX = process.platform === 'linux';
/** The sources of the gateway that is attacked, if not these. */
const ROOT = process.env['DRAGOMAN_HOSTILE_ROOT'];
/** Try what is known to fail, too. */
const EVERYTHING = process.env['DRAGOMAN_HOSTILE_ALL'] === '1';
/** Print what was measured. */
const PRINT = process.env['DRAGOMAN_HOSTILE_TELL'] === '1';

/** A key beside the attacker's, of which the attacker must see nothing. */
export const SECOND_KEY = 'sk-test-second';
/** A key that may use `relay/cheap` alone. */
export const NARROW_KEY = 'sk-test-narrow';

export interface Scenario {
  /** The attempt. */
  readonly title: string;
  /** Attacks, goes away, and says what it got. */
  readonly attack: (scene: Scene) => Promise<unknown>;
  /** Gain that the attacker must have. */
  readonly gets: Wanted;
  /** Change after which it can be expected to pass. */
  readonly awaits?: string;
}

/** A value, a form of text, a condition, or members of which each is one of these; members not named do not count. */
export type Wanted =
  | string
  | number
  | boolean
  | null
  | RegExp
  | ((got: unknown) => boolean)
  | readonly Wanted[]
  | { readonly [name: string]: Wanted };

function isWanted(got: unknown, wanted: Wanted): boolean {
  if (typeof wanted === 'function') return wanted(got);
  if (wanted instanceof RegExp) return wanted.test(String(got));
  if (typeof wanted !== 'object' || wanted === null) return got === wanted;
  if (typeof got !== 'object' || got === null) return false;
  if (Array.isArray(wanted) && wanted.length !== (got as readonly unknown[]).length) return false;
  return Object.entries(wanted).every(([name, each]) =>
    isWanted((got as Readonly<Record<string, unknown>>)[name], each as Wanted),
  );
}

export interface Scene {
  readonly origin: string;
  /** The hostile server: an upstream, an MCP server, a page. */
  readonly server: RawServer;
  /** Opens a connection to the gateway. */
  connect(): RawSocket;
  /** Sends one request on a connection of its own. */
  ask(body: unknown, parts?: RequestParts): Promise<Answer>;
  /** File descriptors that the gateway holds; null where they cannot be counted. */
  openFiles(): number | null;
  /** Log of the gateway. */
  log(): string;
}

interface Running extends Scene {
  readonly pid: number;
  readonly leaks: Set<string>;
  report(): Promise<Seen>;
  close(): Promise<void>;
}

/** Declares the tests of one attacker, whose scenarios share a gateway: every eighth of them, or all with DRAGOMAN_TESTS=all. */
export function play(scenarios: readonly Scenario[]): void {
  let scene: Running;
  beforeAll(async () => {
    scene = await start();
  });
  afterAll(async () => {
    await scene.close();
  });
  for (const scenario of shareOf(scenarios))
    test.skipIf(scenario.awaits !== undefined && !EVERYTHING)(
      `other clients are served despite ${scenario.title}`,
      async () => {
        let problems = await problemsOf(scenario, scene);
        // A machine that is busy with something else makes others wait, too, but not four times in a row.
        for (let again = 0; again < 3 && onlyWaited(problems); again++)
          problems = await problemsOf(scenario, scene);
        expect(problems).toEqual([]);
      },
    );
}

function onlyWaited(problems: readonly string[]): boolean {
  return problems.length > 0 && problems.every((problem) => problem.startsWith(WAITED));
}

async function problemsOf(scenario: Scenario, scene: Running): Promise<string[]> {
  const problems: string[] = [];
  const usual = await settled(scene);
  const before = LINUX ? residentMb(scene.pid) : 0;
  const from = performance.now();
  const got = await scenario.attack(scene);
  const took = performance.now() - from;
  await Bun.sleep(40);
  const { worstMs, refused, firstRefusal, mostMb } = await scene.report();
  if (!isWanted(got, scenario.gets)) problems.push(`the attacker got ${Bun.inspect(got, { depth: 6 })}`);
  for (const leak of scene.leaks) problems.push(`a client saw ${leak}`);
  scene.leaks.clear();
  if (scene.log().includes(PROVIDER_KEY)) problems.push('the log has the key of a provider');
  const waited = worstMs - usual;
  if (waited > MOST_WAITING_MS) problems.push(`${WAITED} ${Math.round(waited)} ms longer than usual`);
  if (refused > 0) problems.push(`${refused} requests of others failed: ${firstRefusal}`);
  const taken = (mostMb ?? before) - before;
  if (taken > MOST_TAKEN_MB) problems.push(`it took ${Math.round(taken)} MB while it lasted`);
  const held = await heldAfterwards(scene, before);
  if (held > MOST_HELD_MB) problems.push(`${Math.round(held)} MB are held after ${AFTERWARDS_MS / 1000} s`);
  if (PRINT)
    console.log(
      `${problems.length === 0 ? 'ok  ' : 'FAIL'} ${scenario.title}: ${Math.round(took)} ms, others +${Math.round(waited)} ms, ` +
        `${Math.round(taken)} MB taken, ${Math.round(held)} MB held, ${Math.round(performance.now() - from - took)} ms settling\n  ${Bun.inspect(got, { depth: 6 }).slice(0, 1500)}`,
    );
  return problems;
}

/** Waits until the gateway answers as usual. @returns the usual time in milliseconds */
async function settled(scene: Running): Promise<number> {
  for (;;) {
    await scene.report();
    await Bun.sleep(70);
    const { answers, medianMs, refused } = await scene.report();
    if (answers >= 2 && refused === 0) return medianMs;
  }
}

/** Megabytes above `before`, as soon as there are few enough, or at the end of the time. */
async function heldAfterwards(scene: Running, before: number): Promise<number> {
  if (!LINUX) {
    console.warn('the memory of another process is read from /proc: not judged on this system');
    return 0;
  }
  const until = performance.now() + AFTERWARDS_MS;
  for (;;) {
    const held = residentMb(scene.pid) - before;
    if (held <= MOST_HELD_MB || performance.now() > until) return held;
    await Bun.sleep(100);
  }
}

async function start(): Promise<Running> {
  const server = await startServer();
  const bystander = await startBystander();
  const { folder, remove } = freshFolder();
  writeFileSync(
    join(folder, 'dragoman.yaml'),
    JSON.stringify(configuration(server.origin, bystander.upstream)),
  );
  const program: Program = await startProgram([], {
    folder,
    environment: { DRAGOMAN_PORT: '0' },
    ...(ROOT === undefined ? {} : { root: ROOT }),
  });
  const pid = LINUX ? runtimePid(program.pid) : program.pid;
  const leaks = new Set<string>();
  const connect = (): RawSocket => new RawSocket(program.origin, leaks);
  const scene: Running = {
    origin: program.origin,
    pid,
    server,
    leaks,
    connect,
    async ask(body, parts) {
      const socket = connect();
      void socket.send(requestBytes(body, parts));
      const answer = await socket.answer();
      socket.close();
      return answer;
    },
    openFiles: () => (LINUX ? readdirSync(`/proc/${pid}/fd`).length : null),
    log: () => program.out() + program.err(),
    report: bystander.report,
    async close() {
      bystander.stop();
      await program.stop();
      await server.stop();
      remove();
    },
  };
  await warm(scene);
  bystander.go({ origin: program.origin, pid });
  return scene;
}

/** Lets the process reach its usual size: what is compiled and kept after the first requests is no harm of an attack. */
async function warm(scene: Scene): Promise<void> {
  const body = {
    model: 'sim/chat',
    messages: [{ role: 'user', content: 'write 300 words' }],
  };
  for (let round = 0; round < 20; round++)
    await Promise.all(
      [false, true, true].map((stream, at) =>
        scene.ask({ ...body, stream, model: at === 2 ? 'sim/messages' : body.model }),
      ),
    );
}

interface Bystander {
  /** Address of its honest upstream. */
  readonly upstream: string;
  go(orders: Orders): void;
  report(): Promise<Seen>;
  stop(): void;
}

function startBystander(): Promise<Bystander> {
  return new Promise((resolve) => {
    let reported: (seen: Seen) => void = () => {};
    const child = Bun.spawn([process.execPath, join(import.meta.dirname, 'bystander.ts')], {
      stdio: ['ignore', 'inherit', 'inherit'],
      ipc(message: { readonly upstream: string } | Seen) {
        if (!('upstream' in message)) return reported(message);
        resolve({
          upstream: message.upstream,
          go: (orders) => child.send(orders),
          report: () =>
            new Promise((settle) => {
              reported = settle;
              child.send('report');
            }),
          stop: () => child.kill(),
        });
      },
    });
  });
}

/**
 * The same on every machine; and nobody is refused for being late, so that lateness shows. Older checkouts do not know
 * these.
 */
const BOUNDS = { memory: { bodies_mb: 512 }, overload: { lag_ms: 0, memory_percent: 0 } };

/** One provider for each protocol, all at the hostile server: relayed, except `chat`. */
function configuration(hostile: string, honest: string): object {
  const api_key = PROVIDER_KEY;
  const openai = { base_url: `${hostile}/v1`, faithful: true };
  const provider = (protocol: string, address: object): object => ({
    api_key,
    protocols: { [protocol]: address },
  });
  const served: Readonly<Record<string, readonly [string, object]>> = {
    relay: ['openai-chat', openai],
    chat: ['openai-chat', { base_url: `${hostile}/v1` }],
    plain: ['openai-chat', { base_url: `${hostile}/v1`, quirks: { structured_output: 'none' } }],
    responses: ['openai-responses', openai],
    messages: ['anthropic-messages', { base_url: hostile, faithful: true }],
    gemini: ['gemini', { base_url: `${hostile}/v1beta`, faithful: true }],
    honest: ['openai-chat', { base_url: `${honest}/v1`, faithful: true }],
  };
  const names = Object.keys(served);
  return {
    keys: [
      { name: 'attacker', key: ATTACKER_KEY },
      { name: 'second', key: SECOND_KEY },
      { name: 'narrow', key: NARROW_KEY, models: ['relay/cheap'] },
      { name: 'bystander', key: BYSTANDER_KEY },
    ],
    logging: { level: 'warn' },
    server: { drain_ms: 100, ...(ROOT === undefined ? BOUNDS : {}) },
    routing: { retries: 0, breaker: { failures: 1_000_000 } },
    fetch: { allow: [new URL(hostile).host] },
    tools: { web_search: { backend: 'searxng', url: hostile } },
    providers: Object.fromEntries(
      Object.entries(served).map(([name, [protocol, at]]) => [name, provider(protocol, at)]),
    ),
    models: [...names.map((name) => `${name}/m`), 'relay/cheap'].map((id) => {
      const [name = '', model] = id.split('/');
      return {
        id,
        max_output_tokens: 8000,
        endpoints: [{ provider: name, model, protocol: served[name]?.[0] }],
      };
    }),
  };
}
