// Reasoning tokens in the usage of Chat Completions: there where an upstream has counted them, 0 as well, and nowhere else.
import { afterAll, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';

const CHAT = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
/** Usage as an upstream says it, by the model's name. */
const SAID: Readonly<Record<string, object>> = {
  silent: CHAT,
  counting: { ...CHAT, completion_tokens_details: { reasoning_tokens: 0 } },
};
const upstream = Bun.serve({
  port: 0,
  async fetch(request) {
    const { model } = (await request.json()) as { model: string };
    if (request.url.endsWith('/messages'))
      return Response.json({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model,
        content: [{ type: 'text', text: 'a' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 2 },
      });
    return Response.json({
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'a' }, finish_reason: 'stop' }],
      usage: SAID[model],
    });
  },
});

const origin = `http://127.0.0.1:${upstream.port}`;
const gateway = await startGateway({
  providers: {
    chat: { api_key: 'none', protocols: { 'openai-chat': `${origin}/v1` } },
    messages: { api_key: 'none', protocols: { 'anthropic-messages': origin } },
  },
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop(true);
});

test.each([
  ['chat/silent', undefined],
  ['messages/silent', undefined],
  ['chat/counting', 0],
])('%s says %p', async (model, counted) => {
  const answer = await gateway.post('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'a' }],
  });
  const body = (await answer.json()) as Json;
  expect(at(body, 'usage', 'completion_tokens')).toBe(2);
  expect(at(body, 'usage', 'completion_tokens_details', 'reasoning_tokens')).toBe(counted);
});
