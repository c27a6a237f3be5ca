// Cost and endpoints that past requests would have had: an estimate from records, for which nothing is sent.
import { afterAll, describe, expect, test } from 'bun:test';
import { ManualClock } from '../../../support/manual-clock.ts';
import { type Asked, startManaged } from '../../../support/management/scene.ts';

interface Part {
  readonly requests: number;
  readonly share: number;
  readonly usd: number;
  readonly unpriced: number;
  readonly duration_ms: number | null;
}
interface WhatIf {
  readonly sampled: number;
  readonly whole: boolean;
  readonly moved: number;
  readonly unserved: Readonly<Record<string, number>>;
  readonly before: Part;
  readonly after: Part;
  readonly groups: readonly { readonly endpoint: string; readonly before: Part; readonly after: Part }[];
  readonly assumptions: readonly string[];
}

/** Each request costs ten cents there, or one. */
const DEAR = { input: 10, output: 10, request: 0.1 };
const CHEAP = { input: 1, output: 1, request: 0.01 };
const REQUESTS = 6;

const clock = new ManualClock();

const gateway = await startManaged(
  {
    models: [
      {
        id: 'house/echo',
        endpoints: [
          { provider: 'sim', name: 'dear', model: 'echo', price: DEAR },
          { provider: 'sim', name: 'cheap', model: 'echo', price: CHEAP },
        ],
      },
    ],
  },
  { clock },
);
const messages = [{ role: 'user', content: 'Hi' }];
for (let at = 0; at < REQUESTS; at += 1) {
  await (await gateway.post('/chat/completions', { model: 'house/echo', messages })).text();
  clock.advance(60_000);
}
await (await gateway.post('/chat/completions', { model: 'no/such', messages })).text();
clock.advance(1);
afterAll(() => gateway.close());

async function whatIf(body: object): Promise<WhatIf> {
  const { status, body: answer } = await ask(body);
  expect(answer).toMatchObject({ object: 'what_if' });
  expect(status).toBe(200);
  return answer as unknown as WhatIf;
}

const ask = (body: object): Promise<Asked> => gateway.manage('POST', '/what-if', body);

const at = ({ groups }: WhatIf, endpoint: string) => groups.find((group) => group.endpoint === endpoint);

describe('an estimate', () => {
  test('without a change equals the past', async () => {
    const made = await whatIf({});
    expect(made).toMatchObject({ sampled: REQUESTS, whole: true, moved: 0, unserved: {} });
    expect(made.before).toEqual(made.after);
    expect(made.before).toMatchObject({ requests: REQUESTS, share: 1, unpriced: 0 });
    expect(made.before.usd).toBeCloseTo(0.6, 2);
    expect(made.assumptions.length).toBeGreaterThan(3);
  });

  test('moves requests under another policy, with their new cost', async () => {
    const made = await whatIf({ policy: { primary_factor: 'cost' } });
    expect(made.moved).toBe(REQUESTS);
    expect(made.after.usd).toBeCloseTo(made.before.usd / 10, 9);
    expect(at(made, 'sim/dear')).toMatchObject({
      before: { requests: REQUESTS, share: 1 },
      after: { requests: 0, share: 0, usd: 0, duration_ms: null },
    });
    expect(at(made, 'sim/cheap')).toMatchObject({
      before: { requests: 0 },
      after: { requests: REQUESTS, usd: made.after.usd },
    });
  });

  test('of round robin distributes requests', async () => {
    const made = await whatIf({ policy: { type: 'round_robin' } });
    expect(at(made, 'sim/dear')?.after.requests).toBe(REQUESTS / 2);
    expect(at(made, 'sim/cheap')?.after.share).toBe(0.5);
    // Its turns are its own: the next real request finds the round as it was.
    expect((await whatIf({ policy: { type: 'round_robin' } })).groups).toEqual(made.groups);
  });

  test('covers other prices and missing providers', async () => {
    const { before } = await whatIf({});
    const halved = await whatIf({ prices: [{ provider: 'sim/dear', factor: 0.5 }] });
    expect(halved.after.usd).toBeCloseTo(before.usd / 2, 9);
    const price = { input: 0, output: 0, request: 1 };
    expect((await whatIf({ prices: [{ model: 'house/echo', price }] })).after.usd).toBe(REQUESTS);
    const unknown = await whatIf({ prices: [{ provider: 'sim', price: { input: 1 } }] });
    expect(unknown.after).toMatchObject({ unpriced: REQUESTS, usd: 0 });
    const without = await whatIf({ without: ['sim/dear'] });
    expect(without.after.requests).toBe(REQUESTS);
    expect(without.after.usd).toBeCloseTo(before.usd / 10, 9);
    const nobody = await whatIf({ without: ['sim'] });
    expect(nobody.after).toMatchObject({ requests: 0, share: 0 });
    expect(Object.values(nobody.unserved)).toEqual([REQUESTS]);
  });

  test('covers another model', async () => {
    const made = await whatIf({ models: { 'house/echo': 'sim/chat' } });
    expect(made.moved).toBe(REQUESTS);
    expect(made.groups.map(({ endpoint }) => endpoint).toSorted()).toEqual(['sim', 'sim/dear']);
    expect(made.after.usd).toBeGreaterThan(0);
  });

  test('uses a sample of many requests, and reports that', async () => {
    const made = await whatIf({ sample: 2 });
    expect(made).toMatchObject({ sampled: 2, whole: false, before: { requests: 2, share: 1 } });
    expect(await whatIf({ filters: { model: ['other/model'] } })).toMatchObject({
      sampled: 0,
      before: { share: 0 },
    });
  });

  test('sends nothing, and is in no record', async () => {
    const { body: before } = await gateway.manage('GET', '/generations?limit=100');
    await whatIf({ policy: { type: 'round_robin' } });
    const { body: after } = await gateway.manage('GET', '/generations?limit=100');
    expect(after).toEqual(before);
  });

  test('of an impossible change is refused', async () => {
    expect((await ask({ policy: { only: ['nobody'] } })).status).toBe(400);
    expect((await ask({ from: '2026-01-02', to: '2026-01-01' })).status).toBe(400);
    expect((await ask({ prizes: [] })).status).toBe(400);
  });
});
