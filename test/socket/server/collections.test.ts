// Objects of a request go with the collector's next quick collection, whatever it asked for: nothing that stays
// points to it from behind, as tables of a `Set` do that requests join and leave (see `src/base/lib/roster.ts`).
import { afterAll, expect, test } from 'bun:test';
import { edenGC, fullGC, heapStats } from 'bun:jsc';
import { startGateway, TEST_KEY } from '../../support/harness.ts';

const AT_ONCE = 4;
const EACH = 15;
const ROUNDS = 2;
const messages = [{ role: 'user', content: 'hi' }];

const limits = [{ concurrent: 100 }, { tokens: 1_000_000, per: 'minute' }];
const budgets = [{ usd: 1_000, per: 'day' }];
const gateway = await startGateway({ keys: [{ name: 'test', key: TEST_KEY, limits, budgets }] });
afterAll(() => gateway.close());

/** Requests of which the heap has the object that the runtime made for them. */
const remembered = (): number => heapStats().objectTypeCounts['BunRequest'] ?? 0;

test.each<[path: string, body: object, isIdempotent: boolean]>([
  ['/chat/completions', { messages }, false],
  ['/chat/completions', { messages, stream: true }, false],
  // Its answers are kept, and no more of it.
  ['/chat/completions', { messages, stream: true }, true],
  ['/messages', { messages, max_tokens: 50, stream: true }, false],
  ['/responses', { input: 'hi' }, false],
  ['/embeddings', { model: 'sim/embed', input: 'hi' }, false],
])(
  'the request object is released by %s %j, with an idempotency key: %p',
  async (path, body, isIdempotent) => {
    const ask = async (times: number): Promise<void> => {
      for (let each = 0; each < times; each += 1) {
        const headers: Record<string, string> = isIdempotent
          ? { 'idempotency-key': crypto.randomUUID() }
          : {};
        const answer = await gateway.post(path, { model: 'sim/echo', ...body }, headers);
        expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)]);
      }
    };
    await ask(1);
    let least = Infinity;
    // A collection beside the requests, as the runtime has them now and then, keeps all that came while it ran.
    for (let tries = 0; tries < 5 && least > ROUNDS * AT_ONCE; tries += 1) {
      fullGC();
      const before = remembered();
      for (let round = 0; round < ROUNDS; round += 1) {
        await Promise.all(Array.from({ length: AT_ONCE }, () => ask(EACH)));
        edenGC();
      }
      least = Math.min(least, remembered() - before);
    }
    expect(least).toBeLessThan((ROUNDS * AT_ONCE * EACH) / 2);
  },
);
