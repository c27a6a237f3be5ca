// The durability promise at the public seam: the real process is killed without warning while it answers, and after a
// restart every answer that a client had fully received has its record, with its cost, once.
import { expect, test } from 'bun:test';
import { at, list, type Json } from '../support/upstreams/json-path.ts';
import { headers, killProgram, killScene } from './kill-scene.ts';

const { serve } = killScene();

/** One answer, read to its end. @returns its id; null when it was not received in full */
async function receive(origin: string, model: string, stream: boolean): Promise<string | null> {
  const body = JSON.stringify({ model, stream, messages: [{ role: 'user', content: 'count to 30' }] });
  try {
    const response = await fetch(`${origin}/v1/chat/completions`, { method: 'POST', headers, body });
    const text = await response.text();
    const complete = stream ? text.endsWith('data: [DONE]\n\n') : text.endsWith('}');
    return complete && response.status === 200 ? response.headers.get('x-request-id') : null;
  } catch {
    return null;
  }
}

test.skipIf(process.platform !== 'linux')('SIGKILL loses no record of a received response', async () => {
  const received = new Map<string, string>();
  const variants = ['sim/chat', 'sim/responses', 'sim/messages'].flatMap((model) =>
    [true, false].map((stream) => ({ model, stream })),
  );
  for (const enough of [1, 40, 150]) {
    const gateway = await serve();
    let count = 0;
    let dead = false;
    await Promise.all(
      Array.from({ length: 16 }, async (_, client) => {
        for (let turn = client; !dead; turn++) {
          const { model = '', stream = false } = variants[turn % variants.length] ?? {};
          const id = await receive(gateway.origin, model, stream);
          if (id === null) continue;
          received.set(id, model);
          count++;
          // Not awaited: the other clients go on asking while the process dies.
          if (count === enough) void killProgram(gateway).then(() => (dead = true));
        }
      }),
    );
    expect(count).toBeGreaterThanOrEqual(enough);
  }

  const gateway = await serve();
  const records = await Promise.all(
    [...received].map(async ([id, model]) => {
      const response = await fetch(`${gateway.origin}/v1/generation?id=${id}`, { headers });
      const record = (await response.json()) as Json;
      const attempts = list(record, 'attempts');
      return {
        id: at(record, 'id') === id,
        model: at(record, 'model') === model,
        complete: at(record, 'finishReason') === 'stop' && at(record, 'error') === null,
        attempts: attempts.length,
        // The cost of the one attempt, counted once.
        cost: Number(at(record, 'usage')) > 0 && at(record, 'usage') === at(attempts[0], 'cost', 'usd'),
      };
    }),
  );
  const good = { id: true, model: true, complete: true, attempts: 1, cost: true };
  expect(records.filter((record) => JSON.stringify(record) !== JSON.stringify(good))).toEqual([]);
  expect(records.length).toBeGreaterThanOrEqual(191);
  expect((await gateway.stop()).code).toBe(0);
});
