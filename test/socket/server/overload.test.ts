// A process that cannot keep up says so, refuses what is new, and recovers by itself; and refused keys are slowed.
import { expect, test } from 'bun:test';
import { systemClock, type Clock } from '../../../src/base/runtime/clock.ts';
import { memoryLimitBytes } from '../../../src/base/runtime/machine.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventually } from '../../support/program.ts';
import { undoAfterEach } from '../../support/undo.ts';

const undo = undoAfterEach();

async function start(config: object, clock?: Clock): Promise<TestGateway> {
  const gateway = await startGateway({ ...config, logging: { level: 'info' } }, clock && { clock });
  undo.push(() => gateway.close());
  return gateway;
}

/** The system's clock, which can be made to have lost time: as it is for a loop that was held up. */
class LeapingClock implements Clock {
  #lost = 0;
  readonly now = (): number => systemClock.now() + this.#lost;
  readonly wall = systemClock.wall;
  readonly after = systemClock.after;
  readonly every = systemClock.every;

  leap(ms: number): void {
    this.#lost += ms;
  }
}

const chat = (content = 'hello'): object => ({ model: 'sim/echo', messages: [{ role: 'user', content }] });

test('while the event loop is late, new requests are refused and readiness fails; running requests continue, and the gateway recovers', async () => {
  const clock = new LeapingClock();
  const gateway = await start({ server: { overload: { lag_ms: 1000 } } }, clock);
  const stream = await gateway.post('/chat/completions', {
    ...chat('write 40 words'),
    model: 'sim/paced-40',
    stream: true,
  });
  const ready = (): Promise<Response> => fetch(`${gateway.origin}/readyz`);
  let refused: Response | undefined;
  // A look may fall between a request and the leap.
  await eventually('a request is named that was begun meanwhile', async () => {
    await (await gateway.post('/chat/completions', chat())).arrayBuffer();
    clock.leap(2000);
    await eventually('it is late', async () => (await ready()).status === 503);
    refused = await gateway.post('/messages', { ...chat(), max_tokens: 5 });
    await eventually('it is on time', async () => (await ready()).status === 200);
    return gateway.logLines.some((line) => line.includes('"requests":["chat.completions of key_'));
  });
  expect([refused?.status, refused?.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await refused?.json()).toMatchObject({
    type: 'error',
    error: { type: 'overloaded_error', message: expect.stringContaining('server.overload.lag_ms') },
  });
  expect((await gateway.post('/chat/completions', chat())).status).toBe(200);
  expect(await stream.text()).toContain('[DONE]');
  const { status, counts } = (await (await ready()).json()) as {
    status: string;
    counts: Record<string, number>;
  };
  expect(status).toBe('ready');
  expect(counts['lag_stalls']).toBeGreaterThan(0);
  expect(counts['refused_for_lag']).toBeGreaterThan(0);
  expect(gateway.logLines.join('')).toContain('on time again');
});

test('short memory refuses large requests first', async () => {
  const gateway = await start({ server: { overload: { memory_percent: 0.01 } } });
  const large = chat('x'.repeat(300_000));
  await eventually('the memory was looked at', async () => {
    const answer = await gateway.post('/chat/completions', large);
    await answer.arrayBuffer();
    return answer.status === 503;
  });
  const refused = await gateway.post('/chat/completions', large);
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await refused.text()).toContain('server.overload.memory_percent');
  expect((await gateway.post('/chat/completions', chat())).status).toBe(200);
  expect((await fetch(`${gateway.origin}/readyz`)).status).toBe(503);
  expect(gateway.logLines.join('')).toContain('memory is low');
});

test('the memory that there is, is that of the narrowest control group', () => {
  const files: Record<string, string> = {
    '/proc/self/cgroup': '0::/a/b\n',
    '/sys/fs/cgroup/a/b/memory.max': 'max\n',
    '/sys/fs/cgroup/a/memory.max': '2000\n',
    '/sys/fs/cgroup/memory.max': '3000\n',
  };
  const read = (path: string): string => {
    const text = files[path];
    if (text === undefined) throw new Error(`no ${path}`);
    return text;
  };
  expect(memoryLimitBytes(5000, read)).toBe(2000);
  expect(memoryLimitBytes(1000, read)).toBe(1000);
  files['/proc/self/cgroup'] = '7:cpu:/c\n4:hugetlb,memory:/c\n';
  expect(memoryLimitBytes(5000, read)).toBe(5000);
  files['/sys/fs/cgroup/memory/c/memory.limit_in_bytes'] = '1500\n';
  expect(memoryLimitBytes(5000, read)).toBe(1500);
  delete files['/proc/self/cgroup'];
  expect(memoryLimitBytes(5000, read)).toBe(5000);
});

test('the more keys of an address are refused, the longer its refusals take', async () => {
  const clock = new ManualClock();
  const gateway = await start({}, clock);
  const attempt = (): Promise<number> =>
    fetch(`${gateway.baseURL}/models`, { headers: { authorization: 'Bearer sk-guess' } }).then(
      async (answer) => {
        await answer.text();
        return answer.status;
      },
    );
  const failed = async (): Promise<number> => {
    const { counts } = (await (await fetch(`${gateway.origin}/readyz`)).json()) as {
      counts: Record<string, number>;
    };
    return counts['failed_authentications'] ?? 0;
  };
  let refused = 0;
  for (const more of [100, 100, 100, 100, 99]) {
    const attempts = Array.from({ length: more }, attempt);
    refused += more;
    await eventually('all were refused', async () => (await failed()) === refused);
    clock.advance(1250);
    expect(new Set(await Promise.all(attempts))).toEqual(new Set([401]));
  }
  let isAnswered = false;
  const last = attempt().then((status) => {
    isAnswered = true;
    return status;
  });
  await eventually('it was refused', async () => (await failed()) === 500);
  clock.advance(1250);
  expect((await gateway.get('/models')).status).toBe(200);
  expect(isAnswered).toBe(false);
  clock.advance(1250);
  expect(await last).toBe(401);
});

test('refused keys are slowed after twenty, counted and logged without the key; a right one never is', async () => {
  const clock = new ManualClock();
  const gateway = await start({}, clock);
  const secret = 'sk-guess-0123456789abcdef';
  const attempt = (): Promise<Response> =>
    fetch(`${gateway.baseURL}/models`, { headers: { authorization: `Bearer ${secret}` } });
  for (let count = 0; count < 20; count++) expect((await attempt()).status).toBe(401);
  let isAnswered = false;
  const slowed = attempt().then((answer) => {
    isAnswered = true;
    return answer;
  });
  await eventually('it was refused', () => gateway.logLines.some((line) => line.includes('are delayed')));
  // Somebody else at the same address, and the same address with the right key.
  expect((await gateway.get('/models')).status).toBe(200);
  expect((await gateway.post('/chat/completions', chat())).status).toBe(200);
  expect(isAnswered).toBe(false);
  clock.advance(1100);
  expect((await slowed).status).toBe(401);
  expect(gateway.logLines.filter((line) => line.includes('are delayed'))).toHaveLength(1);
  expect(gateway.logLines.join('')).toContain('"address":"127.0.0.1"');
  expect(gateway.logLines.join('')).not.toContain('guess');
  const { counts } = (await (await fetch(`${gateway.origin}/readyz`)).json()) as {
    counts: Record<string, number>;
  };
  expect(counts).toMatchObject({ failed_authentications: 21, slowed_authentications: 1 });

  clock.advance(60_000);
  expect((await attempt()).status).toBe(401);
});
