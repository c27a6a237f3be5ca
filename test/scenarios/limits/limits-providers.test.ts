// Limits that a vendor sets for us: a provider that has used one up is passed over, and comes back when it frees.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { chatBody, opened, whole } from '../../support/upstreams/answers.ts';
import { attemptsOf, providerAt, recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const NAMES = ['first', 'second'] as const;
const MODELS = {
  both: NAMES,
  tokens: ['tokens'],
  busy: ['busy', 'second'],
  reported: ['reported', 'second'],
} as const;
const LIMITS = {
  first: [{ requests: 2, per: 'minute' }],
  second: [{ requests: 3, per: 'minute' }],
  tokens: [{ tokens: 1500, per: 'minute' }],
  busy: [{ concurrent: 1 }],
  reported: [{ requests: 50, per: 'minute' }],
};

const upstream = await startUpstream();
const clock = new ManualClock();
const gateway = await startGateway(
  {
    routing: { retries: 0 },
    providers: Object.fromEntries(
      Object.entries(LIMITS).map(([name, limits]) => [name, { ...providerAt(upstream.origin), limits }]),
    ),
    models: Object.entries(MODELS).map(([id, providers]) => ({
      id,
      endpoints: providers.map((provider) => ({ provider, model: 'm', protocol: 'openai-chat' })),
    })),
  },
  { clock },
);
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});
beforeEach(() => {
  clock.advance(120_000);
  upstream.always(whole(chatBody('Hello')));
});

function ask(model: keyof typeof MODELS, more: object = {}): Promise<Response> {
  return gateway.post('/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...more });
}

async function explained(model: keyof typeof MODELS): Promise<readonly Json[]> {
  const answer = await gateway.post('/route/explain', { model, messages: [{ role: 'user', content: 'Hi' }] });
  return list((await answer.json()) as Json, 'candidates');
}

describe('a provider that is full', () => {
  test('is skipped, marked in the route table, and used again later', async () => {
    const who = async (): Promise<string | null> => (await ask('both')).headers.get('x-dragoman-provider');
    expect([await who(), await who(), await who()]).toEqual(['first', 'first', 'second']);
    const [firstTried, last] = await explained('both');
    expect(at(firstTried, 'endpoint')).toBe('second');
    expect(at(last, 'endpoint')).toBe('first');
    expect(String(at(last, 'reason'))).toMatch(
      /^unavailable: 2 requests per minute \(the limit of provider "first"\) is reached: .*Capacity is available at /,
    );
    clock.advance(60_000);
    expect(await who()).toBe('first');
  });

  test('is a 429 for the client only if all providers are full, with the earliest free time', async () => {
    for (let n = 0; n < 5; n += 1) expect((await ask('both')).status).toBe(200);
    clock.advance(20_000);
    const refused = await ask('both');
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe('40');
    expect(refused.headers.get('x-dragoman-attempts')).toBe('0');
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    expect(error.code).toBe('rate_limit_exceeded');
    expect(error.message).toContain('the limit of provider "first"');
    expect(error.message).toContain('the limit of provider "second"');
    // A request that only passed by has taken nothing.
    clock.advance(40_000);
    for (let n = 0; n < 5; n += 1) expect((await ask('both')).status).toBe(200);
  });

  test('is counted by the requests that it got, and by the tokens that were charged', async () => {
    // A thousand are expected of each answer, and 15 are charged.
    const answers = [await ask('tokens'), await ask('tokens'), await ask('tokens')];
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [refused] = [await ask('tokens', { max_tokens: 1490 })];
    expect(refused?.status).toBe(429);
  });

  test('concurrent requests go to another provider while one runs', async () => {
    upstream.script(opened(), whole(chatBody('Hello')));
    const running = ask('busy', { stream: true });
    await upstream.arrived(1);
    const other = await ask('busy');
    expect(other.headers.get('x-dragoman-provider')).toBe('second');
    expect(attemptsOf(await recordOf(gateway, other))).toHaveLength(1);
    upstream.exchanges[0]?.cut();
    await (await running).text();
    upstream.always(whole(chatBody('Hello')));
    expect((await ask('busy')).headers.get('x-dragoman-provider')).toBe('busy');
  });
});

describe("a vendor's own count", () => {
  const reported = (limit: string, remaining: string): void =>
    upstream.always(
      whole(chatBody('Hello'), 200, {
        'x-ratelimit-limit-requests': limit,
        'x-ratelimit-remaining-requests': remaining,
      }),
    );

  test('is used if it describes the same limit', async () => {
    reported('50', '1');
    expect((await ask('reported')).headers.get('x-dragoman-provider')).toBe('reported');
    expect((await ask('reported')).headers.get('x-dragoman-provider')).toBe('reported');
    expect((await ask('reported')).headers.get('x-dragoman-provider')).toBe('second');
  });

  test('is ignored for a limit of another size', async () => {
    reported('500', '1');
    for (let n = 0; n < 4; n += 1)
      expect((await ask('reported')).headers.get('x-dragoman-provider')).toBe('reported');
  });
});
