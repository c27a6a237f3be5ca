// The simulated Messages service: what it answers, what it takes back, and what it refuses,
// through the official SDK and a real socket.
import { afterAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { MESSAGES, parameters, serveSim, user } from '../../support/sim-server.ts';

const server = serveSim();
const anthropic = new Anthropic({ apiKey: 'sk-test', baseURL: `${server.origin}/anthropic`, maxRetries: 0 });
afterAll(() => server.stop());

describe('Anthropic Messages', () => {
  const tools: Anthropic.Tool[] = [{ name: 'get_weather', input_schema: { ...parameters, type: 'object' } }];
  const thinking = { type: 'enabled', budget_tokens: 2048 } as const;
  const question: Anthropic.MessageParam = user('Weather in Paris?');

  test('thinks, calls, and takes its thinking back only byte for byte', async () => {
    const body = { model: 'claude', max_tokens: 4000, thinking, tools };
    const first = await anthropic.messages.stream({ ...body, messages: [question] }).finalMessage();
    const plain = await anthropic.messages.create({ ...body, messages: [question] });
    expect<unknown>(first.content).toEqual(plain.content);
    expect(first.content.map((block) => block.type)).toEqual(['thinking', 'tool_use']);
    expect(first.stop_reason).toBe('tool_use');
    const [thought, call] = first.content;
    if (thought?.type !== 'thinking' || call?.type !== 'tool_use') throw new Error('no thinking and call');
    expect(call.input).toEqual({ city: 'Paris', days: 1, unit: 'celsius' });

    const result: Anthropic.MessageParam = {
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: call.id, content: 'rain' }],
    };
    const second = (content: Anthropic.ContentBlockParam[]) =>
      server.post(MESSAGES, { ...body, messages: [question, { role: 'assistant', content }, result] });
    expect(await (await second([thought, call])).json()).toMatchObject({
      content: [{ type: 'thinking' }, { type: 'text', text: 'get_weather returned: rain' }],
    });

    const message = async (content: Anthropic.ContentBlockParam[]): Promise<string> => {
      const response = await second(content);
      expect(response.status).toBe(400);
      return ((await response.json()) as { error: { message: string } }).error.message;
    };
    expect(await message([call])).toContain(
      'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    );
    expect(await message([call, thought])).toContain('Expected `thinking`');
    expect(await message([{ ...thought, thinking: `${thought.thinking} ` }, call])).toContain(
      'Invalid `signature`',
    );
    expect(await message([{ ...thought, signature: 'c2ln' }, call])).toContain('Invalid `signature`');
  });

  test('redacts, omits and signs for other models', async () => {
    const body = { model: 'messages', max_tokens: 4000, tools };
    const redacted = await anthropic.messages.create({
      ...body,
      thinking,
      messages: [user('Redact this weather in Rome')],
    });
    expect(redacted.content[0]?.type).toBe('redacted_thinking');
    const omitted = await anthropic.messages
      .stream({ ...body, thinking: { type: 'adaptive', display: 'omitted' }, messages: [question] })
      .finalMessage();
    expect(omitted.content[0]).toMatchObject({ type: 'thinking', thinking: '' });
    for (const answer of [redacted, omitted]) {
      const call = answer.content.find((block) => block.type === 'tool_use');
      const result = {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: call?.id, content: 'rain' }],
      };
      const response = await server.post(MESSAGES, {
        ...body,
        model: 'claude',
        thinking,
        messages: [question, { role: 'assistant', content: answer.content }, result],
      });
      expect([response.status, response.status === 200 ? '' : await response.text()]).toEqual([200, '']);
    }
  });

  test('takes a conversation that the model began, as recorded from Sonnet 4.5', async () => {
    const messages = [{ role: 'assistant', content: 'x' }, question];
    const response = await server.post(MESSAGES, { model: 'claude', max_tokens: 4000, messages });
    expect(response.status).toBe(200);
  });

  test('refuses what Anthropic refuses', async () => {
    const refused = async (more: object, part: string): Promise<void> => {
      const response = await server.post(MESSAGES, {
        model: 'claude',
        max_tokens: 4000,
        messages: [question],
        ...more,
      });
      expect(response.status).toBe(400);
      const body = (await response.json()) as { type: string; error: { type: string; message: string } };
      expect([body.type, body.error.type]).toEqual(['error', 'invalid_request_error']);
      expect(body.error.message).toContain(part);
    };
    await refused({ reasoning: {} }, 'reasoning: Extra inputs are not permitted');
    await refused({ max_tokens: undefined }, 'max_tokens: Field required');
    await refused({ thinking: { type: 'enabled', budget_tokens: 1000 } }, 'greater than or equal to 1024');
    await refused({ thinking: { type: 'enabled', budget_tokens: 4000 } }, '`max_tokens` must be greater');
    await refused({ thinking, temperature: 0.5 }, '`temperature` may only be set to 1');
    await refused({ thinking, tools, tool_choice: { type: 'any' } }, 'Thinking may not be enabled');
    await refused({ thinking: { type: 'adaptive' } }, 'adaptive thinking is not supported');
    await refused({ messages: [{ role: 'system', content: 'x' }, question] }, 'Unexpected role "system"');
    const call = { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} };
    await refused(
      { tools, messages: [question, { role: 'assistant', content: [call] }, question] },
      'without `tool_result` blocks immediately after: toolu_1',
    );
    await refused(
      {
        messages: [
          question,
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_2', content: 'x' }] },
        ],
      },
      'unexpected `tool_use_id`',
    );
    await refused(
      { messages: [{ role: 'user', content: [{ type: 'text', text: '' }] }] },
      'must be non-empty',
    );
    await refused({ tool_choice: { type: 'auto' } }, 'while providing tools');
    await refused({ output_config: { effort: 'low' } }, 'effort parameter');
    const cached = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
    await refused({ system: [cached, cached, cached, cached, cached] }, 'A maximum of 4 blocks');
    const bare = await fetch(server.origin + MESSAGES, { method: 'POST', body: '{"model":"claude"}' });
    expect(await bare.text()).toContain('anthropic-version');
  });

  test('counts what a prompt cache reads and writes', async () => {
    const block = (text: string, ttl: '5m' | '1h') => ({
      type: 'text' as const,
      text,
      cache_control: { type: 'ephemeral' as const, ttl },
    });
    const system = [block('a'.repeat(400), '1h')];
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: [block('b'.repeat(40), '5m')] }];
    const body = { model: 'messages', max_tokens: 100, system };
    const first = (await anthropic.messages.create({ ...body, messages })).usage;
    expect(first).toMatchObject({
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_1h_input_tokens: 102, ephemeral_5m_input_tokens: 14 },
    });
    expect(first.cache_creation_input_tokens).toBe(116);
    messages.push({ role: 'assistant', content: 'ok' }, user('again'));
    const second = (await anthropic.messages.stream({ ...body, messages }).finalMessage()).usage;
    expect(second).toMatchObject({ cache_read_input_tokens: 116, cache_creation_input_tokens: 0 });
    expect(second.input_tokens).toBeGreaterThan(0);
  });

  test('searches with results and citations of its own shape', async () => {
    const web = [{ type: 'web_search_20250305', name: 'web_search' }] as Anthropic.ToolUnion[];
    const answer = await anthropic.messages
      .stream({ model: 'messages', max_tokens: 500, messages: [user('News?')], tools: web })
      .finalMessage();
    expect(answer.content.map((block) => block.type)).toEqual([
      'server_tool_use',
      'web_search_tool_result',
      'text',
      'text',
      'text',
      'text',
    ]);
    expect(answer.content[3]).toMatchObject({
      citations: [{ type: 'web_search_result_location', url: 'https://example.com/encyclopedia' }],
    });
    expect(answer.usage.server_tool_use?.web_search_requests).toBe(1);
    const plain = await anthropic.messages.create({
      model: 'messages',
      max_tokens: 500,
      messages: [user('News?')],
      tools: web,
    });
    expect<unknown>(answer.content).toEqual(plain.content);
  });

  test('reports stop sequences and refusals with its own members', async () => {
    const stopped = await anthropic.messages.create({
      model: 'echo',
      max_tokens: 50,
      messages: [user('one two three')],
      stop_sequences: ['two'],
    });
    expect(stopped).toMatchObject({
      stop_reason: 'stop_sequence',
      stop_sequence: 'two',
      content: [{ text: 'one ' }],
    });
    expect(
      (await anthropic.messages.create({ model: 'messages', max_tokens: 50, messages: [user('refuse')] }))
        .stop_reason,
    ).toBe('refusal');
  });
});
