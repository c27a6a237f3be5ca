// Ids as clients of each protocol know them, and the one route that finds a generation by each of them.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

const messages = [{ role: 'user', content: 'Hello' }];

/** With an upstream that is relayed, and one that is translated. */
const ANSWERS: readonly (readonly [path: string, models: readonly string[], body: object, id: RegExp])[] = [
  ['/chat/completions', ['sim/chat', 'sim/messages'], { messages }, /^[0-9a-f]{32}$/],
  ['/responses', ['sim/responses', 'sim/chat'], { input: 'Hello' }, /^resp_[0-9a-f]{32}$/],
  ['/messages', ['sim/messages', 'sim/chat'], { messages, max_tokens: 100 }, /^msg_[0-9a-f]{32}$/],
];

test.each(ANSWERS)('%s', async (path, models, body, id) => {
  for (const model of models)
    for (const stream of [false, true]) {
      const response = await gateway.post(path, { ...body, model, stream });
      const text = await response.text();
      const reported = stream ? firstId(text) : String(at(JSON.parse(text) as Json, 'id'));
      expect(reported).toMatch(id);
      const generation = response.headers.get('x-request-id') ?? '';
      expect(reported).toEndWith(generation);
      for (const form of [reported, generation]) {
        const found = (await (await gateway.get(`/generation?id=${form}`)).json()) as Json;
        expect(at(found, 'data', 'id') ?? at(found, 'id')).toBe(generation);
      }
    }
});

test('ids of files have their prefix', async () => {
  const form = new FormData();
  form.set('purpose', 'user_data');
  form.set('file', new File(['Hello'], 'a.txt', { type: 'text/plain' }));
  const response = await fetch(`${gateway.baseURL}/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}` },
    body: form,
  });
  expect(at((await response.json()) as Json, 'id')).toMatch(/^file-[0-9a-f]{24}$/);
});

/** The id of the answer: its object is the first that has one. */
function firstId(text: string): string {
  return /"id": ?"([^"]+)"/.exec(text)?.[1] ?? '';
}
