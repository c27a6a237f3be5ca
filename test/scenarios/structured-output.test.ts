// `response_format` in each upstream's own form, and what happens where an upstream has none.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../support/upstreams/answers.ts';
import { recordOf, startScene, streamedText } from '../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../support/upstreams/json-path.ts';

const plain = (quirks: object): object => ({
  max_output_tokens: 8000,
  endpoints: [
    { provider: 'up', model: 'm', protocol: 'openai-chat', quirks, price: { input: 1, output: 4 } },
  ],
});
const scene = await startScene(['up'], {
  config: {
    models: [
      { id: 'no/formats', ...plain({ structured_output: 'none' }) },
      { id: 'object/only', ...plain({ structured_output: 'json_object' }) },
    ],
  },
});
afterAll(() => scene[Symbol.asyncDispose]());
beforeEach(() => scene.upstream('up').script());

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const format = (strict: boolean): object => ({
  type: 'json_schema',
  json_schema: { name: 'trip', description: 'A journey', strict, schema },
});
const body = (model: string, response_format: object): object => ({
  model,
  messages: [{ role: 'user', content: 'Plan a trip.' }],
  response_format,
});
const GOOD = '{"city":"Rome","days":3}';

describe('native forms', () => {
  test('Chat Completions: unchanged', async () => {
    const up = scene.upstream('up');
    up.script(whole(chatBody(GOOD)));
    const response = await scene.gateway.post('/chat/completions', body('one/chat', format(true)));
    expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe(GOOD);
    expect(at(up.requests[0]?.json, 'response_format')).toEqual(format(true) as never);
  });

  test('Responses: text.format', async () => {
    const up = scene.upstream('up');
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: GOOD, annotations: [] }],
    };
    up.script(whole(responsesBody([message])));
    const response = await scene.gateway.post('/chat/completions', body('one/responses', format(true)));
    expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe(GOOD);
    expect(at(up.requests[0]?.json, 'text', 'format')).toEqual({
      type: 'json_schema',
      name: 'trip',
      description: 'A journey',
      strict: true,
      schema,
    });
  });

  test('Messages: output_config.format', async () => {
    const up = scene.upstream('up');
    up.script(whole(messagesBody([{ type: 'text', text: GOOD }], 'end_turn')));
    const response = await scene.gateway.post('/chat/completions', body('one/messages', format(true)));
    expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe(GOOD);
    expect(at(up.requests[0]?.json, 'output_config', 'format', 'type')).toBe('json_schema');
    expect(at(up.requests[0]?.json, 'output_config', 'format', 'schema')).toMatchObject({
      properties: schema.properties,
      required: schema.required,
    });
    // The API has no place for a description but the schema's own.
    expect(JSON.stringify(at(up.requests[0]?.json))).toContain('A journey');
  });
});

describe('emulation', () => {
  test('a valid response needs one call, and text around the JSON is removed', async () => {
    const up = scene.upstream('up');
    up.script(whole(chatBody(`Here you are:\n\`\`\`json\n${GOOD}\n\`\`\``)));
    const response = await scene.gateway.post('/chat/completions', body('no/formats', format(true)));
    expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe(GOOD);
    expect(response.headers.get('x-dragoman-report')).toContain('response_format:approximated');
    expect(up.requests).toHaveLength(1);
    expect(at(up.requests[0]?.json, 'response_format')).toBeUndefined();
    expect(JSON.stringify(at(up.requests[0]?.json, 'messages', 0))).toContain('additionalProperties');
  });

  test('a bad answer is repaired once, and the record shows both calls', async () => {
    const up = scene.upstream('up');
    up.script(whole(chatBody('{"city":"Rome"}')), whole(chatBody(GOOD)));
    const response = await scene.gateway.post('/chat/completions', body('no/formats', format(true)));
    const answer = await response.json();
    expect(at(answer, 'choices', 0, 'message', 'content')).toBe(GOOD);
    expect(response.headers.get('x-dragoman-attempts')).toBe('2');
    expect(at(up.requests[1]?.json, 'messages', -2)).toMatchObject({
      role: 'assistant',
      content: '{"city":"Rome"}',
    });
    expect(String(at(up.requests[1]?.json, 'messages', -1, 'content'))).toContain('days');
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'attempts')).toHaveLength(2);
    // Both calls were charged, and the answer says what the record says.
    expect(at(record, 'usage')).toBeGreaterThan(Number(at(record, 'attempts', 1, 'cost', 'usd')));
    expect(at(answer, 'usage', 'cost')).toBe(at(record, 'usage'));
    expect(list(record, 'report').map((entry) => at(entry, 'path'))).toContain('response_format');
  });

  test('an upstream that supports JSON but no schemas gets a request for JSON', async () => {
    const up = scene.upstream('up');
    up.script(whole(chatBody(GOOD)));
    await scene.gateway.post('/chat/completions', body('object/only', format(true)));
    expect(at(up.requests[0]?.json, 'response_format')).toEqual({ type: 'json_object' });
    expect(JSON.stringify(at(up.requests[0]?.json, 'messages'))).toContain('"days');
  });

  test('Messages has no json_object: instructed and repaired', async () => {
    const up = scene.upstream('up');
    const say = (text: string): object => messagesBody([{ type: 'text', text }], 'end_turn');
    up.script(whole(say('Rome, three days')), whole(say(GOOD)));
    const response = await scene.gateway.post(
      '/chat/completions',
      body('one/messages', { type: 'json_object' }),
    );
    expect(at(await response.json(), 'choices', 0, 'message', 'content')).toBe(GOOD);
    expect(JSON.stringify(at(up.requests[0]?.json, 'system'))).toContain('JSON');
    expect(response.headers.get('x-dragoman-report')).toContain('response_format:approximated');
  });

  test('strict mode refuses to emulate', async () => {
    const response = await scene.gateway.post('/chat/completions', body('no/formats', format(true)), {
      'x-dragoman-strict': 'true',
    });
    expect(response.status).toBe(400);
    expect(at(await response.json(), 'error', 'param')).toBe('response_format');
    expect(scene.upstream('up').requests).toHaveLength(0);
  });
});

test('the small simulated model follows the instruction, streamed and not', async () => {
  for (const stream of [false, true]) {
    const asked = { ...body('sim/text-only', format(true)), stream };
    const response = await scene.gateway.post('/chat/completions', asked);
    expect(response.headers.get('x-dragoman-report')).toContain('response_format:approximated');
    const text = stream
      ? streamedText(await response.text())
      : String(at(await response.json(), 'choices', 0, 'message', 'content'));
    expect(JSON.parse(text)).toEqual({ city: expect.any(String), days: expect.any(Number) });
  }
});
