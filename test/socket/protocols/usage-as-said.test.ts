// Usage of an upstream that speaks its client's protocol, where the answer is translated: it passes as the vendor said it,
// unless its counts contradict each other.
import { afterAll, describe, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';

const scene = await startScene(['up']);
afterAll(() => scene[Symbol.asyncDispose]());

const CHAT = {
  prompt_tokens: 20,
  completion_tokens: 7,
  total_tokens: 27,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0, video_tokens: 6 },
  completion_tokens_details: { reasoning_tokens: 2, image_tokens: 1 },
  queue_time: 0.25,
};
const RESPONSES = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 4, context_details: [{ input_tokens: 20 }] },
  output_tokens: 7,
  output_tokens_details: { reasoning_tokens: 2, tool_output_tokens: 1 },
  total_tokens: 27,
  num_sources_used: 3,
};
const MESSAGES = {
  input_tokens: 16,
  cache_read_input_tokens: 4,
  cache_creation_input_tokens: 0,
  cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
  output_tokens: 7,
  service_tier: 'priority',
  iterations: [{ type: 'message', input_tokens: 16 }],
};
const HI = { role: 'user', content: 'Hi' };
const LANES = [
  ['/chat/completions', { model: 'one/chat', messages: [HI] }, { ...chatBody('Hi'), usage: CHAT }, CHAT],
  [
    '/responses',
    { model: 'one/responses', input: 'Hi', store: false },
    {
      ...responsesBody([
        { id: 'msg_1', type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi' }] },
      ]),
      usage: RESPONSES,
    },
    RESPONSES,
  ],
  [
    '/messages',
    { model: 'one/messages', max_tokens: 100, messages: [HI] },
    { ...messagesBody([{ type: 'text', text: 'Hi' }], 'end_turn'), usage: MESSAGES },
    MESSAGES,
  ],
] as const;

describe.each(LANES)('%s', (path, body, answer, usage) => {
  const ask = async (upstream: object): Promise<Record<string, unknown>> => {
    scene.upstream('up').script(whole(upstream));
    const response = await scene.gateway.post(path, body);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-lane')).toBe('translate');
    return ((await response.json()) as { usage: Record<string, unknown> }).usage;
  };

  test('is returned as the vendor sent it', async () => {
    expect(await ask(answer)).toMatchObject(usage);
  });

  test('is clamped if the counts contradict each other', async () => {
    const details = path === '/chat/completions' ? 'completion_tokens_details' : 'output_tokens_details';
    const member = path === '/messages' ? 'thinking_tokens' : 'reasoning_tokens';
    const wrong = {
      ...usage,
      ...(path === '/chat/completions' ? { completion_tokens: 7 } : { output_tokens: 7 }),
    };
    const said = await ask({ ...answer, usage: { ...wrong, [details]: { [member]: 99 } } });
    expect((said[details] as Record<string, unknown>)[member]).not.toBe(99);
  });
});
