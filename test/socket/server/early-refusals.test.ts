// Requests of keys whose limits have no room are refused before their bodies are parsed: what clients and records get is
// what they get of a request that was read.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readMembers } from '../../../src/base/json/index.ts';
import { WaitingLine } from '../../../src/server/waiting-line.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { startGateway, type TestGateway } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { casesOf } from '../../support/share.ts';

/** Seed of what is random. */
const SEED = 7;
const NOON = Date.UTC(2026, 10, 22, 12);
const SAID = { messages: [{ role: 'user', content: 'Hëllo' }] };
const CHAT = { model: 'sim/chat', ...SAID, stream: true, user: 'somebody', metadata: { ticket: '7' } };

/** A request of each protocol, as its clients send it. */
const ASKED: Readonly<Record<string, { path: string; body: object; endUser: boolean; streamed: boolean }>> = {
  chat: { path: '/v1/chat/completions', body: CHAT, endUser: true, streamed: true },
  'chat with a list of models': {
    path: '/v1/chat/completions',
    body: { ...SAID, models: ['sim/chat', 'sim/echo'] },
    endUser: false,
    streamed: false,
  },
  responses: {
    path: '/v1/responses',
    body: { model: 'sim/chat', input: 'Hëllo', safety_identifier: 'somebody', metadata: { ticket: '7' } },
    endUser: true,
    streamed: false,
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'sim/chat', max_tokens: 100, ...SAID, metadata: { user_id: 'somebody' } },
    endUser: true,
    streamed: false,
  },
  gemini: {
    path: '/v1beta/models/sim/chat:streamGenerateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hëllo' }] }] },
    endUser: false,
    streamed: true,
  },
};

const KEYS = {
  full: { limits: [{ requests: 1, per: 'day' }] },
  busy: { limits: [{ concurrent: 1 }, { tokens: 1_000_000, per: 'minute' }] },
  broke: {
    limits: [{ requests: 1, per: 'minute' }],
    budgets: [{ usd: 0.000001, per: 'day', when_spent: 'finish' }],
  },
  users: {
    limits: [
      { requests: 1, per: 'day', each: 'end_user' },
      { requests: 2, per: 'day' },
    ],
  },
  models: { limits: [{ requests: 1, per: 'day', models: ['sim/chat'] }] },
  both: {
    limits: [
      { requests: 1, per: 'hour' },
      { requests: 1, per: 'day', models: ['sim/chat'] },
    ],
  },
  again: { limits: [{ requests: 1, per: 'day' }] },
};

const time = new ManualClock(NOON);
let gateway: TestGateway;

beforeAll(async () => {
  const keys = Object.entries(KEYS).map(([name, limits]) => ({ name, key: `sk-test-${name}`, ...limits }));
  const projects = { full: { limits: [] } };
  gateway = await startGateway({ keys, projects }, { clock: time });
});
// Nobody waits who asks slowly.
beforeEach(() => time.advance(1000));
afterAll(() => gateway.close());

async function ask(
  key: keyof typeof KEYS,
  { path = '/v1/chat/completions', body = CHAT as unknown, headers = {} as Record<string, string> } = {},
): Promise<{ status: number; body: string; headers: Record<string, string>; id: string }> {
  const answer = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: { authorization: `Bearer sk-test-${key}`, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const { date: _, 'x-request-id': id, 'request-id': __, ...rest } = Object.fromEntries(answer.headers);
  return { status: answer.status, body: await answer.text(), headers: rest, id: id ?? '' };
}

/** A request with a key of its own is always read as a whole. */
let keys = 0;
const read = (): Record<string, string> => ({ 'idempotency-key': `read-${(keys += 1)}` });

async function recordOf(id: string, key: keyof typeof KEYS): Promise<Record<string, unknown>> {
  const answer = await fetch(`${gateway.origin}/v1/generation?id=${id}`, {
    headers: { authorization: `Bearer sk-test-${key}` },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Record<string, unknown>;
}

/** A record less the members in which two of the same request may differ. */
function timeless(record: Record<string, unknown>): Record<string, unknown> {
  const { id: _, generationId: __, generation_id: ___, report: ____, ...facts } = record;
  return facts;
}

describe('a request of a key whose limits have no room', () => {
  test.each(Object.entries(ASKED))(
    'gets the same error and record as if it had been read: %s',
    async (_, asked) => {
      await ask('full');
      const early = await ask('full', asked);
      const late = await ask('full', { ...asked, headers: read() });
      expect(early.status).toBe(429);
      const { 'x-dragoman-report': report, ...headers } = late.headers;
      expect(early.headers).toEqual(headers);
      expect(report ?? '').not.toContain('limit');
      const [earlyId, lateId] = [early.id, late.id];
      expect(early.body.replaceAll(earlyId, '')).toBe(late.body.replaceAll(lateId, ''));
      const record = timeless(await recordOf(earlyId, 'full'));
      expect(record).toEqual(timeless(await recordOf(lateId, 'full')));
      expect(record).toMatchObject({ model: 'sim/chat', streamed: asked.streamed, status: 429 });
      expect(record['end_user'] !== null).toBe(asked.endUser);
    },
  );

  test('is refused without being parsed, even if it is invalid', async () => {
    await ask('full');
    const wrong = JSON.stringify(CHAT).replace('"Hëllo"', '"Hëllo",,');
    expect((await ask('full', { body: wrong })).status).toBe(429);
    // A body that a few members cannot judge is read.
    expect((await ask('full', { body: wrong, headers: read() })).status).toBe(400);
    expect(
      (await ask('full', { body: '{"model":"sim/chat","model":"sim/chat","messages":[]}' })).status,
    ).toBe(400);
    expect((await ask('full', { body: '{"model":"sim/chat"' })).status).toBe(400);
    expect((await ask('full', { body: '' })).status).toBe(400);
    expect((await ask('full', { body: { ...SAID } })).status).toBe(400);
  });

  test('gets the answer that its idempotency key has', async () => {
    const headers = { 'idempotency-key': 'once' };
    const body = { model: 'sim/chat', ...SAID };
    const first = await ask('again', { body, headers });
    expect(first.status).toBe(200);
    expect((await ask('again', { body })).status).toBe(429);
    const replayed = await ask('again', { body, headers });
    expect([replayed.status, replayed.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(replayed.body).toBe(first.body);
  });

  test('may have its tokens counted', async () => {
    await ask('full');
    const counted = await ask('full', {
      path: '/v1/messages/count_tokens',
      body: { model: 'sim/chat', ...SAID },
    });
    expect(counted.status).toBe(200);
  });

  test('waits for the end of a running request', async () => {
    const running = await fetch(`${gateway.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test-busy', 'content-type': 'application/json' },
      body: JSON.stringify({ ...CHAT, model: 'sim/stall' }),
    });
    expect(running.status).toBe(200);
    const refused = await ask('busy');
    expect(refused.status).toBe(429);
    expect(refused.body).toContain('1 concurrent request (the limit of key \\"busy\\") is reached');
    await running.body?.cancel();
  });
});

describe('a project that keeps sending requests', () => {
  const LIMITED = { limits: [{ requests: 1, per: 'day' }] };
  let clock: ManualClock;
  let flooded: TestGateway;
  let refused: number;

  beforeEach(async () => {
    clock = new ManualClock(NOON);
    refused = 0;
    flooded = await startGateway(
      {
        keys: [
          { name: 'a', key: 'sk-test-a', project: 'one' },
          { name: 'b', key: 'sk-test-b', project: 'two' },
          { name: 'c', key: 'sk-test-c', project: 'three' },
          { name: 'd', key: 'sk-test-d', project: 'four' },
        ],
        projects: {
          one: LIMITED,
          two: LIMITED,
          three: { limits: [{ requests: 1, per: 'day', models: ['sim/chat'] }] },
          four: { budgets: [{ usd: 0.000001, per: 'day', when_spent: 'finish' }] },
        },
        models: [
          {
            id: 'free',
            endpoints: [
              { provider: 'sim', model: 'chat', protocol: 'openai-chat', price: { input: 0, output: 0 } },
            ],
          },
        ],
      },
      { clock },
    );
  });
  afterEach(() => flooded.close());

  const send = async (key: string, signal?: AbortSignal, model = 'sim/chat'): Promise<number> => {
    const answer = await fetch(`${flooded.origin}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...SAID }),
      signal: signal ?? null,
    });
    await answer.text();
    refused += answer.status === 200 ? 0 : 1;
    return answer.status;
  };
  const countOf = async (name: string): Promise<number> => {
    const { counts } = (await (await fetch(`${flooded.origin}/readyz`)).json()) as {
      counts: Record<string, number>;
    };
    return counts[name] ?? 0;
  };
  /** Sends the part of a burst that is answered at once. */
  const burst = async (key: string): Promise<void> => {
    expect(await send(key)).toBe(200);
    for (let sent = 0; sent < 100; sent += 20) await Promise.all(Array.from({ length: 20 }, () => send(key)));
    expect([refused, await countOf('slowed_refusals')]).toEqual([100, 0]);
  };

  test.each([
    ['sk-test-a', 429],
    ['sk-test-c', 429],
    ['sk-test-d', 402],
  ])(
    'gets a hundred refusals at once and the others in turn, and delays no other project: %s',
    async (key, status) => {
      await burst(key);
      const late = Array.from({ length: 4 }, () => send(key));
      await eventually('they wait', async () => (await countOf('slowed_refusals')) === 4);
      expect([await send('sk-test-b'), await send('sk-test-b')]).toEqual([200, 429]);
      expect(refused).toBe(101);
      clock.advance(20);
      await Promise.race(late);
      clock.advance(20);
      await eventually('two have come', () => refused === 103);
      clock.advance(40);
      expect(await Promise.all(late)).toEqual([status, status, status, status]);
      // Requests that come slowly enough are answered at once again.
      clock.advance(1000);
      expect(await send(key)).toBe(status);
    },
  );

  test('still gets responses that cost nothing when its budget is spent', async () => {
    expect([await send('sk-test-d'), await send('sk-test-d')]).toEqual([200, 402]);
    for (let sent = 0; sent < 120; sent += 20) {
      const answers = Array.from({ length: 20 }, () => send('sk-test-d', undefined, 'free'));
      expect(new Set(await Promise.all(answers))).toEqual(new Set([200]));
    }
    expect(await countOf('slowed_refusals')).toBe(0);
  });

  test('a request whose client has disconnected is not processed', async () => {
    await burst('sk-test-a');
    const leaving = new AbortController();
    const left = [send('sk-test-a', leaving.signal), send('sk-test-a', leaving.signal)];
    await eventually('they wait', async () => (await countOf('slowed_refusals')) === 2);
    leaving.abort();
    expect((await Promise.allSettled(left)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await eventually('that was seen', async () => (await countOf('left_before_refusal')) === 2);
    const stayed = send('sk-test-a');
    await eventually('it waits', async () => (await countOf('slowed_refusals')) === 3);
    clock.advance(20);
    expect(await stayed).toBe(429);
  });

  test('is admitted if capacity became free while it waited', async () => {
    clock.advance(12 * 3_600_000 - 10);
    await burst('sk-test-a');
    const waits = send('sk-test-a');
    await eventually('it waits', async () => (await countOf('slowed_refusals')) === 1);
    clock.advance(20);
    expect(await waits).toBe(200);
  });
});

describe('the queue of refusals', () => {
  test('refuses as many at a time as needed, so that none waits longer than allowed', async () => {
    const clock = new ManualClock(0);
    const line = new WaitingLine(clock, { free: 0, apartMs: 10, longestMs: 1_000 });
    expect(line.pass()).toBe(false);
    const passed: number[] = [];
    const waits = Array.from({ length: 250 }, () =>
      line.wait(undefined).then((isThere) => isThere && passed.push(clock.now())),
    );
    for (let steps = 0; steps < 99; steps += 1) {
      const before = passed.length;
      clock.advance(10);
      await Promise.resolve();
      await Promise.resolve();
      expect(passed.length - before).toBeWithin(1, 6);
    }
    clock.advance(10);
    await Promise.all(waits);
    expect(passed.length).toBe(250);
    expect(passed.at(-1)).toBeLessThanOrEqual(1_000);
  });
});

describe('an unused turn', () => {
  test('goes to the longest waiting request at once', async () => {
    const clock = new ManualClock(0);
    const line = new WaitingLine(clock, { free: 0, apartMs: 10, longestMs: 1_000 });
    const leaving = new AbortController();
    const passed: number[] = [];
    const waits = [0, 1, 2, 3].map(async (place) => {
      if (await line.wait(place === 1 ? leaving.signal : undefined)) passed.push(place);
    });
    clock.advance(10);
    await waits[0];
    leaving.abort();
    line.release();
    await Promise.all(waits.slice(0, 3));
    expect(passed).toEqual([0, 2]);
    clock.advance(10);
    await waits[3];
    expect(passed).toEqual([0, 2, 3]);
    // Nobody is left to have it.
    line.release();
    expect(clock.now()).toBe(20);
  });
});

describe('requests that must be parsed for their error', () => {
  test('is a budget that is used up for longer', async () => {
    expect((await ask('broke')).status).toBe(200);
    const refused = await ask('broke');
    expect(refused.status).toBe(402);
    expect(refused.body).toContain('per day');
  });

  test('are refused for a limit of models, and not for other limits', async () => {
    const other = { body: { ...CHAT, model: 'sim/echo' } };
    expect((await ask('models')).status).toBe(200);
    expect((await ask('models')).status).toBe(429);
    expect((await ask('models', other)).status).toBe(200);
    expect((await ask('both')).status).toBe(200);
    expect((await ask('both')).body).toContain('for sim/chat');
    expect((await ask('both', other)).body).toContain('per hour');
  });

  test('is the limit of an end user', async () => {
    const of = (user: string): { body: object } => ({ body: { ...CHAT, user } });
    expect((await ask('users', of('ada'))).status).toBe(200);
    expect((await ask('users', of('ada'))).body).toContain('for each end user');
    expect((await ask('users', of('lin'))).status).toBe(200);
    expect((await ask('users', of('bob'))).body).toContain('2 requests per day');
  });
});

describe('a few members of a JSON object', () => {
  const names = new Set(['model', 'stream', 'metadata']);

  test('are found at any position, as by a parser', () => {
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.constantFrom('"model":"x"', '}]', '\\', 'a "quoted" one', 'ë\u{1f42b}', '\n\u0000'),
    );
    const name = fc.constantFrom('messages', 'model', 'tools', 'stream', 'é', 'metadata', ' ');
    const space = fc.constantFrom(undefined, 2, '\t');
    const body = fc.tuple(fc.dictionary(name, value), space, fc.nat());
    fc.assert(
      fc.property(body, ([object, indent, cut]) => {
        const text = JSON.stringify(object, null, indent);
        const wanted = Object.entries(object).filter(([each]) => names.has(each));
        expect(readMembers(Buffer.from(text), names)).toEqual(
          JSON.parse(JSON.stringify(Object.fromEntries(wanted))),
        );
        // Cut off anywhere, it is no object.
        expect(readMembers(Buffer.from(text.slice(0, cut % text.length)), names)).toBeUndefined();
      }),
      { seed: SEED, numRuns: casesOf(200) },
    );
  });

  test('an escaped name equals its plain form', () => {
    expect(readMembers(Buffer.from('{"\\u006dodel":"a"}'), names)).toEqual({ model: 'a' });
  });

  test.each([
    ['nothing', ''],
    ['no object', '["model"]'],
    ['a name that stands twice', '{"model":"a","model":"b"}'],
    ['a name with an invalid escape', '{"\\x6dodel":"a"}'],
    ['a long value', `{"model":"${'a'.repeat(9000)}"}`],
    ['an invalid value', '{"model":nonsense}'],
    ['no value', '{"model":}'],
    ['no colon', '{"model" "a"}'],
    ['something behind it', '{"model":"a"} {}'],
    ['a comma at its end', '{"model":"a",}'],
    ['a text without an end', '{"model":"a","input":"b\\"'],
    ['a list without an end', '{"model":"a","input":["b"'],
    ['quotes before it', '"{" "a"'],
  ])('are not read from %s', (_, body) => {
    expect(readMembers(Buffer.from(body), names)).toBeUndefined();
  });
});
