// Habits of agents: they give back all that they got, with results, and send members that only Anthropic knows.
import { afterAll, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import type { Message, MessageParam, Tool } from '@anthropic-ai/sdk/resources/messages';
import { findProtocol } from '../../../../src/protocols/index.ts';
import { fillTarget } from '../../../support/golden-operations.ts';
import { startGateway } from '../../../support/harness.ts';
import { readMessagesStream } from '../../../support/rules/messages-stream-rules.ts';
import { CITY } from '../../../support/city-schema.ts';
import { answered } from '../../../support/messages-turn.ts';

const gateway = await startGateway({ routing: { retries: 0 } });
const client = new Anthropic({ apiKey: gateway.key, baseURL: gateway.origin, maxRetries: 0 });
afterAll(() => gateway.close());

const weather: Tool = {
  name: 'get_weather',
  description: 'Weather of a city',
  input_schema: CITY,
};

test('the items that a client sends back contain all that each family needs, without stored reasoning', async () => {
  for (const [model, protocol, format, expected] of [
    [
      'sim/responses',
      'openai-responses',
      'openai-responses-v1',
      /"type":"reasoning".*"encrypted_content":"[^"]+"/,
    ],
    ['sim/messages', 'anthropic-messages', 'anthropic-claude-v1', /"type":"thinking".*"signature":"[^"]+"/],
    ['sim/deepseek', 'openai-chat', 'deepseek-reasoner-v1', /"reasoning_content":"[^"]{10,}"/],
  ] as const) {
    const messages: MessageParam[] = [{ role: 'user', content: 'What is the weather in "Paris"?' }];
    const body = {
      model,
      max_tokens: 4000,
      thinking: { type: 'enabled' as const, budget_tokens: 2000 },
      tools: [weather],
    };
    const first: Message = await client.messages.stream({ ...body, messages }).finalMessage();
    const second = { ...body, messages: [...messages, ...answered(first, 'sunny')] };
    const request = findProtocol('anthropic-messages')?.server?.decodeRequest(
      JSON.parse(JSON.stringify(second)),
    );
    if (!request) throw new Error('no request');
    const sent = findProtocol(protocol)?.upstream.encodeRequest(
      request,
      fillTarget({ reasoningFormat: format, quirks: { reasoningReplay: 'reasoning_content' } }),
      request.report,
    );
    expect(JSON.stringify(sent)).toMatch(expected);
  }
});

test.each(['sim/chat', 'sim/responses', 'sim/deepseek'])('a coding agent is served by %s', async (model) => {
  const cache_control = { type: 'ephemeral' };
  const response = await gateway.post(
    '/messages?beta=true',
    {
      model,
      max_tokens: 32_000,
      stream: true,
      metadata: { user_id: 'user_1_session_2' },
      system: [{ type: 'text', text: 'You are an agent.', cache_control }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: '<system-reminder>Today is Monday.</system-reminder>' },
            { type: 'text', text: 'What is the weather in "Paris"?', cache_control },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: '', signature: 'c2ln' },
            { type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'weather' } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'toolu_1',
              content: [{ type: 'tool_reference', tool_name: 'get_weather' }],
              cache_control,
            },
          ],
        },
      ],
      tools: [
        { name: 'ToolSearch', input_schema: { type: 'object', properties: { query: { type: 'string' } } } },
        { ...weather, defer_loading: true, strict: true, eager_input_streaming: true },
        { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
      ],
      thinking: { type: 'adaptive' },
      output_config: { effort: 'high' },
      context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    },
    { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'tool-search-tool-2025-10-19' },
  );
  expect(response.status).toBe(200);
  const { stopReason, content } = readMessagesStream(await response.text());
  expect(stopReason).toBe('end_turn');
  expect(JSON.stringify(content)).toContain('The tool get_weather is available.');
  const report = response.headers.get('x-dragoman-report') ?? '';
  for (const lost of ['messages[1].content[0]:dropped', 'context_management:dropped'])
    expect(report).toContain(lost);
  // A server that searches takes the tool without its limit.
  expect(report).toMatch(/tools\[2\](\.max_uses)?:dropped/);
});
