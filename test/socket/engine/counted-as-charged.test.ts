// Counts of an upstream that contradict each other: its totals hold, and the record says what was made of the rest.
import { afterAll, expect, test } from 'bun:test';
import { chatBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const translated = await startScene(['up']);
const relayed = await startScene(['up'], { faithful: true });
afterAll(async () => {
  await translated[Symbol.asyncDispose]();
  await relayed[Symbol.asyncDispose]();
});

const BODY = { model: 'one/chat', messages: [{ role: 'user', content: 'Hi' }] };
const GROK = {
  prompt_tokens: 10,
  completion_tokens: 4,
  total_tokens: 14,
  prompt_tokens_details: { cached_tokens: 161 },
};
const GROK_CONFLICT = [{ count: 'cache_read', said: 161, counted: 10 }];

test.each(['translate', 'relay'])(
  'more cached than prompt tokens are marked in the record: %s',
  async (lane) => {
    const scene = lane === 'relay' ? relayed : translated;
    scene.upstream('up').script(whole({ ...chatBody('Hello'), usage: GROK }));
    const response = await scene.gateway.post('/chat/completions', BODY);
    const usage = at(await response.json(), 'usage');
    expect(at(usage, 'prompt_tokens')).toBe(10);
    expect(at(usage, 'total_tokens')).toBe(14);
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'lane')).toBe(lane);
    expect(at(record, 'native_tokens', 'total_tokens')).toBe(14);
    expect(at(record, 'native_tokens', 'inconsistent')).toEqual(GROK_CONFLICT);
    expect(at(record, 'attempts', 0, 'tokens', 'inconsistent')).toEqual(GROK_CONFLICT);
  },
);

test('the totals of a Responses answer hold as well', async () => {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 8, cache_write_tokens: 5 },
    output_tokens: 4,
    output_tokens_details: { reasoning_tokens: 9 },
    total_tokens: 14,
  };
  translated.upstream('up').script(whole({ ...responsesBody([]), usage }));
  const response = await translated.gateway.post('/chat/completions', { ...BODY, model: 'one/responses' });
  const record = await recordOf(translated.gateway, response);
  expect(at(record, 'native_tokens', 'total_tokens')).toBe(14);
  expect(at(record, 'native_tokens', 'inconsistent')).toEqual([
    { count: 'cache_write', said: 5, counted: 2 },
    { count: 'reasoning', said: 9, counted: 4 },
  ]);
});

test('equal counts are not marked, and audio next to the prompt is input', async () => {
  const usage = {
    prompt_tokens: 5,
    completion_tokens: 20,
    total_tokens: 400,
    prompt_audio_seconds: 3,
    prompt_tokens_details: { audio_tokens: 375, cached_tokens: 0 },
  };
  translated.upstream('up').script(whole({ ...chatBody('Hello'), usage }));
  const response = await translated.gateway.post('/chat/completions', BODY);
  const record = await recordOf(translated.gateway, response);
  expect(at(record, 'native_tokens')).toMatchObject({
    prompt_tokens: 380,
    completion_tokens: 20,
    prompt_tokens_details: { audio_tokens: 375 },
    completion_tokens_details: { reasoning_tokens: 0 },
  });
  expect(record).not.toHaveProperty('native_tokens.inconsistent');
});
