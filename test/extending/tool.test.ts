// A hosted tool is one file and one line: a tool of this file's own, added to the list of kinds and used over sockets in
// the protocols that have a place for its work.
import { afterAll, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import type { HostedFacts } from '../../src/canonical/index.ts';
import { TOOL_KINDS } from '../../src/app/cli/compose/open-tools.ts';
import { type GatewayTool, said, type ToolKind } from '../../src/engine/tools/gateway-tool.ts';
import { startGateway } from '../support/harness.ts';

/** Rolls dice, always the same number, for two cents. Requests ask for it by `{"type": "dice"}`. */
const DICE: ToolKind = {
  open(request, { names }): readonly GatewayTool[] {
    const hosted = request.tools.find((tool) => tool.type === 'hosted' && tool.kind === 'dice');
    if (!hosted) return [];
    const name = names.take('roll');
    const parameters = { type: 'object', properties: { sides: { type: 'integer' } } };
    return [
      {
        functions: [{ type: 'function', name, description: 'Rolls a die.', parameters }],
        announced: undefined,
        prices: { dice: 0.02 },
        runsAt: () => true,
        ready: async () => {},
        without: (asked) => ({ ...asked, tools: asked.tools.filter((tool) => tool !== hosted) }),
        chosen: () => [],
        owns: (facts) => facts.type === 'tool' && facts.name === 'dice',
        recall: (facts) => ({
          name,
          arguments: facts.type === 'tool' ? JSON.stringify(facts.input) : '{}',
          parts: [{ type: 'text', text: facts.type === 'tool' ? (facts.output ?? '') : '' }],
          isError: false,
        }),
        call(_, text) {
          const facts: HostedFacts = { type: 'tool', name: 'dice', input: JSON.parse(text) };
          const run = async () => ({ ...said('four', { ...facts, output: 'four' }), uses: { dice: 1 } });
          return { facts, question: null, run };
        },
      },
    ];
  },
};

TOOL_KINDS.push(() => DICE);
const gateway = await startGateway();
afterAll(async () => {
  TOOL_KINDS.pop();
  await gateway.close();
});

const QUESTION = 'Roll.\ncall roll {"sides": 6}';
const WORK = { type: 'dice_call', name: 'dice', input: { sides: 6 }, output: 'four', status: 'completed' };

test.each([false, true])('a Responses client sees its call and its result, streamed: %p', async (stream) => {
  const client = new OpenAI({ baseURL: gateway.baseURL, apiKey: gateway.key });
  const tools = [{ type: 'dice' } as unknown as OpenAI.Responses.Tool];
  const body = { model: 'sim/chat', tools, input: QUESTION };
  const response = stream
    ? await client.responses.stream(body).finalResponse()
    : await client.responses.create(body);
  expect(response.output).toContainEqual(expect.objectContaining(WORK));
  const record = await (await gateway.get(`/generation?id=${response.id.replace('resp_', '')}`)).json();
  expect(record).toMatchObject({
    cost: { items: { tools: 0.02 } },
    nativeTokens: { tool_calls: { dice: 1 } },
  });

  // The tool's work is part of the conversation for a later turn.
  const next = await client.responses.create({ ...body, input: 'Again?', previous_response_id: response.id });
  expect(next.status).toBe('completed');
});

test.each([false, true])('a Messages client sees them as two blocks, streamed: %p', async (stream) => {
  const client = new Anthropic({ baseURL: gateway.origin, apiKey: gateway.key });
  const body = {
    model: 'sim/chat',
    max_tokens: 1_000,
    messages: [{ role: 'user' as const, content: QUESTION }],
    tools: [{ type: 'dice', name: 'dice' } as unknown as Anthropic.Messages.Tool],
  };
  const message = stream
    ? await client.messages.stream(body).finalMessage()
    : await client.messages.create(body);
  expect(message.content).toContainEqual(
    expect.objectContaining({ type: 'server_tool_use', name: 'dice', input: { sides: 6 } }),
  );
  expect(message.content as unknown[]).toContainEqual(
    expect.objectContaining({ type: 'dice_tool_result', content: 'four' }),
  );

  // Given back, they are a call and its result to whatever model goes on.
  const { content } = message;
  const messages = [
    ...body.messages,
    { role: 'assistant' as const, content },
    { role: 'user' as const, content: 'Again?' },
  ];
  const next = await client.messages.create({ ...body, messages });
  expect(next.stop_reason).toBe('end_turn');
});
