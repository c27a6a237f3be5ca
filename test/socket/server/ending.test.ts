// The end of a gateway behind a balancer: it says at once that it will end, and takes requests until others have noticed.
import { afterEach, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const DELAY_MS = 5_000;
const DELAYED = { server: { drain_delay_ms: DELAY_MS } };
const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

async function start(
  config: Readonly<Record<string, unknown>>,
  clock = new ManualClock(),
): Promise<TestGateway> {
  const gateway = await startGateway(config, { clock });
  folders.push(gateway.dataDir);
  return gateway;
}

const ask = (gateway: TestGateway, stream: boolean): Promise<Response> =>
  gateway.post('/chat/completions', {
    model: 'sim/echo',
    stream,
    messages: [{ role: 'user', content: 'Hello' }],
  });

async function readyz({ origin }: TestGateway): Promise<readonly [number, unknown]> {
  const answer = await fetch(`${origin}/readyz`);
  return [answer.status, ((await answer.json()) as { status: unknown }).status];
}

test('with a shutdown delay, requests are served until it ends, each as the last on its connection', async () => {
  const clock = new ManualClock();
  const gateway = await start(DELAYED, clock);
  expect(await readyz(gateway)).toEqual([200, 'ready']);
  expect((await ask(gateway, false)).headers.get('connection')).not.toBe('close');
  let isOver = false;
  const stopped = gateway.stop(true).then(() => (isOver = true));
  expect(await readyz(gateway)).toEqual([503, 'draining']);
  clock.advance(DELAY_MS - 1);
  for (const stream of [false, true]) {
    const answer = await ask(gateway, stream);
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await answer.text()).toContain('Hello');
  }
  expect((await fetch(`${gateway.origin}/healthz`)).status).toBe(200);
  expect(isOver).toBe(false);
  clock.advance(1);
  await stopped;
  expect(await readyz(gateway).catch(() => 'gone')).toBe('gone');
});

test('without a delay, no request is accepted any more', async () => {
  const gateway = await start(DELAYED);
  await gateway.stop();
  expect(await readyz(gateway).catch(() => 'gone')).toBe('gone');
  const usual = await start({});
  await usual.stop(true);
  expect(await readyz(usual).catch(() => 'gone')).toBe('gone');
});
