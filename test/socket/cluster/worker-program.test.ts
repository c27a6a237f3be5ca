// Several workers on one port, as somebody starts them: limits and records are those of one gateway, a worker that dies is
// replaced, and all of them are without a gap.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BEST_OF_THREE } from '../../support/growth.ts';
import { Received, listenAt } from '../../support/management/listen.ts';
import {
  childrenOf,
  eventually,
  freshFolder,
  runProgram,
  startProgram,
  type Program,
} from '../../support/program.ts';

const KEY = 'sk-test-0123456789';
const SLOW = 120_000;
/** Children are found in `/proc`. */
const LINUX = process.platform === 'linux';
const WORKERS = 2;
const ALLOWED = 12;

let at: ReturnType<typeof freshFolder>;
let program: Program;
beforeAll(async () => {
  if (!LINUX) return;
  at = freshFolder();
  const config = join(at.folder, 'dragoman.yaml');
  const roles = 'roles: [admin, models]';
  writeFileSync(
    config,
    // Nobody has to notice that a worker is replaced, nor who waits at a terminal; a busy machine is no overload.
    `server: { drain_delay_ms: 600000, overload: { lag_ms: 0 } }\nkeys: [{ name: all, key: ${KEY}, ${roles} }, { name: few, key: sk-few, limits: [{ requests: ${ALLOWED}, per: hour }] }]`,
  );
  program = await startProgram(['--workers', String(WORKERS), '--port', '0', '--config', config], {
    folder: at.folder,
  });
});
afterAll(async () => {
  if (!LINUX) return;
  const { code } = await program.stop('SIGINT');
  expect(code).toBe(0);
  at.remove();
});

const headers = (key: string) => ({ authorization: `Bearer ${key}`, 'content-type': 'application/json' });
const ask = (key = KEY, model = 'sim/chat', stream = false, more = {}): Promise<Response> =>
  fetch(`${program.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers(key), ...more },
    body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'What is 6 x 7?' }] }),
    // Each on a connection of its own, which either may get.
    keepalive: false,
  });
const metrics = async (): Promise<string> =>
  (await fetch(`${program.origin}/metrics`, { headers: headers(KEY) })).text();
/** How many requests each has served. */
const served = async (): Promise<readonly number[]> => {
  const page = await metrics();
  const sum = (worker: number): number =>
    [...page.matchAll(new RegExp(`^dragoman_requests_total\\{worker="${worker}".*\\} (\\d+)$`, 'gm'))]
      .map(([, requests]) => Number(requests))
      .reduce((all, each) => all + each, 0);
  return Array.from({ length: WORKERS }, (_, at) => sum(at + 1));
};
const workersNow = (): readonly number[] => childrenOf(program.pid);

test.skipIf(!LINUX)('all serve, and their metrics and records are on one page', async () => {
  expect(workersNow()).toHaveLength(WORKERS);
  await eventually('both have served', async () => {
    expect((await ask()).status).toBe(200);
    return (await served()).every((requests) => requests > 0);
  });
  const asked = (await served()).reduce((sum, each) => sum + each, 0);
  const usage = await fetch(`${program.origin}/api/v1/management/usage`, { headers: headers(KEY) });
  expect(usage.status).toBe(200);
  expect(await usage.json()).toMatchObject({ data: [{ requests: asked }] });
});

test.skipIf(!LINUX)('a client that watches one worker gets the events of all', async () => {
  const received = new Received(await listenAt(program.origin, KEY, '?types=generation'));
  const ids = [new Set<unknown>(), new Set<unknown>()];
  let before = await served();
  await eventually('requests of both are heard', async () => {
    const answer = await ask();
    const now = await served();
    ids[now.findIndex((requests, at) => requests > (before[at] ?? 0))]?.add(
      answer.headers.get('x-request-id'),
    );
    before = now;
    return ids.every((each) => !each.isDisjointFrom(received.ids));
  });
  await received.leave();
});

test.skipIf(!LINUX)('the supervisor holds nothing of the gateway', () => {
  const status = readFileSync(`/proc/${program.pid}/status`, 'utf8');
  // A worker has some 40 MB of its own, and reading the configuration alone takes 23.
  expect(Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1])).toBeLessThan(16_000);
});

test.skipIf(!LINUX)('a limit is one limit for all of them together', async () => {
  const statuses: number[] = [];
  for (let n = 0; n < 2 * ALLOWED; n += 1) statuses.push((await ask('sk-few')).status);
  expect(statuses.filter((status) => status === 200).length).toBe(ALLOWED);
  expect(new Set(statuses)).toEqual(new Set([200, 429]));
});

test.skipIf(!LINUX)(
  'a response with an idempotency key is produced once, whichever worker gets the requests',
  async () => {
    // A supervisor that answers too late is not waited for: each try has a key of its own.
    const order = { 'idempotency-key': crypto.randomUUID() };
    const repeated = async (): Promise<{ readonly id: string | null; readonly text: string }> => {
      const response = await ask(KEY, 'sim/chat', false, order);
      return { id: response.headers.get('x-request-id'), text: await response.text() };
    };
    // As many as it takes for both to be asked, at once and one after another.
    const answers = await Promise.all(Array.from({ length: 12 }, repeated));
    for (let n = 0; n < 6; n += 1) answers.push(await repeated());
    expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  },
  BEST_OF_THREE,
);

test.skipIf(!LINUX)('a console session is valid on all workers, until it ends on one', async () => {
  const link = (await runProgram(['console', '--url', program.origin], { folder: at.folder })).out;
  const body = JSON.stringify({ code: /#code=(\S+)/.exec(link)?.[1] });
  const type = { 'content-type': 'application/json' };
  const signIn = (): Promise<Response> =>
    fetch(`${program.origin}/console/session`, { method: 'POST', headers: type, body, keepalive: false });
  // Whichever of them are asked, at once or one after another.
  const signedIn = await Promise.all(Array.from({ length: 6 }, signIn));
  const [good, ...others] = signedIn.filter(({ status }) => status === 200);
  expect(others).toEqual([]);
  if (!good) throw new Error('nobody was signed in');
  expect((await signIn()).status).toBe(401);
  const { csrf } = (await good.json()) as { csrf: string };
  const cookie = good.headers.get('set-cookie')?.split(';')[0] ?? '';
  const session = { cookie, 'x-csrf-token': csrf };
  const console = (path: string, method = 'GET'): Promise<Response> =>
    fetch(`${program.origin}/console${path}`, { method, headers: session, keepalive: false });
  const statuses = async (): Promise<ReadonlySet<number>> => {
    const asked = Array.from({ length: 12 }, () => console('/api/v1/management/keys'));
    return new Set((await Promise.all(asked)).map(({ status }) => status));
  };
  expect(await statuses()).toEqual(new Set([200]));
  expect((await console('/session', 'DELETE')).status).toBe(200);
  expect(await statuses()).toEqual(new Set([401]));
});

test.skipIf(!LINUX)('a killed worker is replaced, and the others continue', async () => {
  const [victim = 0] = workersNow();
  process.kill(victim, 'SIGKILL');
  await eventually('there are as many as before', () => {
    const now = workersNow();
    return now.length === WORKERS && !now.includes(victim);
  });
  expect(program.err()).toContain('a worker died and is being replaced');
  await eventually('all listen', async () => {
    const page = await metrics();
    return [1, 2].every((worker) => page.includes(`process_resident_memory_bytes{worker="${worker}"}`));
  });
  expect((await ask()).status).toBe(200);
});

test.skipIf(!LINUX)('SIGUSR2 replaces all of them, and cuts no answer', async () => {
  const before = workersNow();
  const streams = Array.from({ length: 8 }, async () => (await ask(KEY, 'sim/paced-150', true)).text());
  process.kill(program.pid, 'SIGUSR2');
  const areNew = (): boolean => {
    const now = workersNow();
    return now.length === WORKERS && before.every((pid) => !now.includes(pid));
  };
  await eventually('all are new', areNew, SLOW);
  const texts = await Promise.all(streams);
  expect(texts.filter((text) => !text.endsWith('data: [DONE]\n\n'))).toEqual([]);
  expect((await ask()).status).toBe(200);
});
