// Schemas that take long: they are compiled, and answers are checked by them, while others are served. One that takes too
// long is refused by its name.
import { afterAll, expect, test } from 'bun:test';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const scene = await startScene(['up'], {
  quirks: { structured_output: 'none' },
  config: { routing: { retries: 0 } },
});
afterAll(() => scene[Symbol.asyncDispose]());

const sample = { model: 'one/chat', messages: [{ role: 'user', content: 'Numbers, please.' }] };
const asking = (schema: object, strict = true): Promise<Response> =>
  scene.gateway.post('/chat/completions', {
    ...sample,
    response_format: { type: 'json_schema', json_schema: { name: 'numbers', strict, schema } },
  });
const choices = (count: number, mark: string): object => ({
  title: mark,
  type: 'array',
  items: { anyOf: Array.from({ length: count }, (_, n) => ({ const: `${mark}${n}` })) },
});

/** The longest that this process computed without a turn of its loop meanwhile, in milliseconds: nobody else makes it late. */
async function longestStall(work: Promise<unknown>): Promise<number> {
  let [longest, last, isOver] = [0, usedMs(), false];
  const look = (): void => {
    const now = usedMs();
    longest = Math.max(longest, now - last);
    last = now;
    if (!isOver) setImmediate(look);
  };
  setImmediate(look);
  await work.finally(() => (isOver = true));
  return longest;
}

test('a schema of thousands of objects does not delay other requests', async () => {
  scene.upstream('up').always(whole(chatBody({ content: '["a1","a2899"]' })));
  const response = asking(choices(2_900, 'a'));
  expect(await longestStall(response)).toBeLessThan(300);
  expect((await response).status).toBe(200);
});

test('a long response that is checked by many parts of a schema does not delay other requests', async () => {
  const answer = JSON.stringify(Array.from({ length: 4_000 }, () => 'b299'));
  scene.upstream('up').always(whole(chatBody({ content: answer })));
  const response = asking(choices(300, 'b'));
  expect(await longestStall(response)).toBeLessThan(300);
  expect(at(await (await response).json(), 'choices', 0, 'message', 'content')).toBe(answer);
});

test('errors in a response are still found and repaired', async () => {
  const answers = ['["c1","d"]', '["c1","c2"]'];
  scene.upstream('up').always((exchange) => whole(chatBody({ content: answers.shift() ?? '' }))(exchange));
  const response = await asking(choices(200, 'c'));
  expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe('["c1","c2"]');
  expect(response.headers.get('x-dragoman-report')).toContain('response_format:approximated');
});

test('an unusable large schema is refused with its path before any upstream is called', async () => {
  scene.upstream('up').always((exchange) => exchange.cut());
  const parts = Array.from({ length: 300 }, (_, n) => ({ const: n }));
  for (const repeated of [0, 1]) {
    const response = await asking({ anyOf: [...parts, { type: 'nothing' }] });
    const error = at(await response.json(), 'error');
    expect([repeated, response.status]).toEqual([repeated, 400]);
    expect(error).toMatchObject({ param: 'response_format.json_schema.schema' });
    expect(String(at(error, 'message'))).toContain('the schema cannot be used');
  }
  expect(scene.upstream('up').requests).toEqual([]);
});
