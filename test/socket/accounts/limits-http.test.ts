// Limits and budgets through real sockets: what a client is told before its request begins, in its own protocol.
import { afterAll, describe, expect, test } from 'bun:test';
import { ManualClock } from '../../support/manual-clock.ts';
import { startGateway } from '../../support/harness.ts';

const NOON = Date.UTC(2026, 10, 22, 12);
const BASES = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const;
const GEMINI = '/v1beta/models/sim/chat:generateContent';

const KEYS = {
  requests: { limits: [{ requests: 2, per: 'minute' }] },
  tokens: { limits: [{ tokens: 3000, per: 'minute' }] },
  budget: { budgets: [{ usd: 0.000001, per: 'day' }] },
  free: {},
};

const clock = new ManualClock(NOON);
const keys = Object.entries(KEYS).map(([name, limits]) => ({ name, key: `sk-test-${name}`, ...limits }));
const gateway = await startGateway({ keys }, { clock });
afterAll(() => gateway.close());

function ask(key: keyof typeof KEYS, path: string = BASES.chat, more: object = {}): Promise<Response> {
  const input =
    path === BASES.responses ? { input: 'Hello' } : { messages: [{ role: 'user', content: 'Hello' }] };
  const body = {
    model: 'sim/chat',
    max_tokens: path === BASES.messages ? 100 : undefined,
    ...input,
    ...more,
  };
  return gateway.post(path, body, { authorization: `Bearer sk-test-${key}` });
}

describe('a limit of requests', () => {
  test('refuses requests over the limit with the limit and the time, and admits them at that time', async () => {
    const first = await ask('requests');
    expect(first.status).toBe(200);
    expect(first.headers.get('x-ratelimit-limit-requests')).toBe('2');
    expect(first.headers.get('x-ratelimit-remaining-requests')).toBe('1');
    expect(first.headers.get('x-ratelimit-reset-requests')).toBe('1m0s');
    expect(first.headers.get('x-ratelimit-limit-tokens')).toBeNull();
    clock.advance(20_000);
    expect((await ask('requests')).status).toBe(200);
    const refused = await ask('requests');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('40');
    expect(refused.headers.get('x-ratelimit-remaining-requests')).toBe('0');
    expect(await refused.json()).toEqual({
      error: {
        message:
          '2 requests per minute (the limit of key "requests") is reached: 2 requests used, 1 request needed. Capacity is available at 2026-11-22T12:01:00.000Z.',
        type: 'requests',
        param: null,
        code: 'rate_limit_exceeded',
      },
    });
    clock.advance(40_000);
    expect((await ask('requests')).status).toBe(200);
  });
});

describe('a budget', () => {
  test('refuses in the shape of each protocol', async () => {
    const chat = await ask('budget');
    expect(chat.status).toBe(402);
    expect(await chat.json()).toMatchObject({
      error: { type: 'insufficient_quota', code: 'budget_exceeded' },
    });
    const responses = await ask('budget', BASES.responses);
    expect(responses.status).toBe(402);
    expect(await responses.json()).toMatchObject({ error: { code: 'budget_exceeded' } });
    const messages = await ask('budget', BASES.messages);
    expect(messages.status).toBe(402);
    expect(await messages.json()).toMatchObject({ type: 'error', error: { type: 'billing_error' } });
    const gemini = await fetch(`${gateway.origin}${GEMINI}`, {
      method: 'POST',
      headers: { 'x-goog-api-key': 'sk-test-budget' },
      body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
    });
    expect(gemini.status).toBe(429);
    expect(await gemini.json()).toMatchObject({ error: { status: 'RESOURCE_EXHAUSTED' } });
  });
});

describe('limits of tokens', () => {
  test('are sent to Messages clients under their native names', async () => {
    const answer = await ask('tokens', BASES.messages);
    expect(answer.status).toBe(200);
    expect(answer.headers.get('anthropic-ratelimit-tokens-limit')).toBe('3000');
    expect(Number(answer.headers.get('anthropic-ratelimit-tokens-remaining'))).toBeLessThan(3000);
    expect(answer.headers.get('anthropic-ratelimit-tokens-reset')).toBe('2026-11-22T12:02:00Z');
    expect(answer.headers.get('x-ratelimit-limit-tokens')).toBeNull();
  });
});

describe('an explanation', () => {
  const explain = (key: keyof typeof KEYS): Promise<Response> =>
    gateway.post(
      '/route/explain',
      { model: 'sim/chat', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
      { authorization: `Bearer sk-test-${key}` },
    );

  test('has the limits that count the request, and says whether it would begin', async () => {
    expect(await (await explain('budget')).json()).toMatchObject({
      limits: {
        refused: { status: 402, code: 'budget_exceeded' },
        expected: { tokens: 106, usd: 0.000406 },
        limits: [{ owner: 'key', name: 'budget', limit: '$0.000001 per day', used: 0, remaining: 0.000001 }],
      },
    });
    clock.advance(60_000);
    expect(await (await explain('requests')).json()).toMatchObject({ limits: { refused: null } });
    expect(await (await explain('free')).json()).not.toHaveProperty('limits');
  });
});

test('no limits are sent if none apply', async () => {
  const answer = await ask('free');
  expect([...answer.headers.keys()].filter((name) => name.includes('ratelimit'))).toEqual([]);
});
