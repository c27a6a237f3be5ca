// Token counts that an upstream reported before its stream was interrupted: they are charged as reported, not estimated.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { CHAT_OPENING, chatChunk, cutAfter, frame, opened } from '../../support/upstreams/answers.ts';
import {
  attemptsOf,
  recordOf,
  startScene,
  StreamReading,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';

const LANES = ['relay', 'translate'] as const;
const scenes: Partial<Record<(typeof LANES)[number], Scene>> = {};
beforeAll(async () => {
  scenes.relay = await startScene(['first'], { faithful: true, config: { routing: { retries: 0 } } });
  scenes.translate = await startScene(['first'], { config: { routing: { retries: 0 } } });
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const MESSAGES = [{ role: 'user', content: 'Tell me a story.' }];
const GEMINI = { promptTokenCount: 120, cachedContentTokenCount: 20, candidatesTokenCount: 30 };

/** Streams that have reported 120 tokens of input, 20 of them cached, and 30 of output, and have not ended. */
const REPORTED = [
  {
    protocol: 'openai-chat',
    path: '/v1/chat/completions',
    body: { model: 'one/chat', messages: MESSAGES, stream: true },
    begun:
      CHAT_OPENING +
      chatChunk({ content: 'Once' }) +
      frame({
        id: 'chatcmpl-up',
        object: 'chat.completion.chunk',
        created: 1_700_000_000,
        model: 'm',
        choices: [{ index: 0, delta: { content: ' upon' }, finish_reason: null }],
        usage: {
          prompt_tokens: 120,
          completion_tokens: 30,
          total_tokens: 150,
          prompt_tokens_details: { cached_tokens: 20 },
        },
      }),
  },
  {
    protocol: 'anthropic-messages',
    path: '/v1/messages',
    body: { model: 'one/messages', max_tokens: 100, messages: MESSAGES, stream: true },
    begun: [
      {
        type: 'message_start',
        message: {
          id: 'msg_up',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 100, cache_read_input_tokens: 20, output_tokens: 1 },
        },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Once upon' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 30 } },
    ]
      .map((event) => `event: ${event.type}\n${frame(event)}`)
      .join(''),
  },
  {
    protocol: 'gemini',
    path: '/v1beta/models/one/gemini:streamGenerateContent?alt=sse',
    body: { contents: [{ role: 'user', parts: [{ text: 'Tell me a story.' }] }] },
    begun: frame({
      candidates: [{ content: { role: 'model', parts: [{ text: 'Once upon' }] }, index: 0 }],
      usageMetadata: { ...GEMINI, totalTokenCount: 150 },
      modelVersion: 'm',
    }),
  },
] as const;

describe.each(LANES)('%s lane', (lane) => {
  let scene: Scene;
  beforeEach(() => {
    const found = scenes[lane];
    if (!found) throw new Error('no scene');
    scene = found;
  });

  const ask = (path: string, body: object, init: RequestInit = {}): Promise<Response> =>
    fetch(new URL(path, scene.gateway.baseURL), {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
      body: JSON.stringify(body),
      ...init,
    });

  function expectReported(record: Json, outcome: string): void {
    expect(attemptsOf(record)).toEqual([`first ${outcome}`]);
    expect(at(record, 'estimated')).toBe(false);
    expect(at(record, 'native_tokens')).toMatchObject({
      prompt_tokens: 120,
      completion_tokens: 30,
      prompt_tokens_details: { cached_tokens: 20 },
    });
  }

  test.each(REPORTED)(
    'counts before a broken connection are charged as reported ($protocol)',
    async ({ path, body, begun }) => {
      scene.upstream('first').script(cutAfter(begun));
      const response = await ask(path, body);
      expect(response.headers.get('x-dragoman-lane')).toBe(lane);
      expect(await response.text()).toContain('Once');
      expectReported(await recordOf(scene.gateway, response), 'failed');
    },
  );

  test.each(REPORTED)(
    'counts before the client disconnects are charged as reported ($protocol)',
    async ({ path, body, begun }) => {
      scene.upstream('first').script(opened(begun));
      const leave = new AbortController();
      const response = await ask(path, body, { signal: leave.signal });
      await new StreamReading(response).until('upon');
      leave.abort();
      await scene.upstream('first').exchanges.at(-1)?.closed;
      expectReported(await recorded(response.headers.get('x-request-id') ?? ''), 'cancelled');
    },
  );

  /** A record that nobody waits for is written soon after the client has left. */
  async function recorded(id: string): Promise<Json> {
    for (;;) {
      const found = await scene.gateway.get(`/generation?id=${id}`);
      if (found.status === 200) return (await found.json()) as Json;
      await found.text();
    }
  }
});
