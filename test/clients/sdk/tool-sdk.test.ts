// The gateway's own tools in the hands of official SDKs, unmodified: OpenAI's client and its Agents SDK with hosted MCP
// tools and their approvals, Anthropic's client and Google's.
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import {
  Agent,
  hostedMcpTool,
  OpenAIResponsesModel,
  run,
  RunState,
  setTracingDisabled,
  webSearchTool,
} from '@openai/agents';
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { startToolScene } from '../../support/upstreams/tool-scene.ts';

setTracingDisabled(true);

const scene = await startToolScene();
const openai = new OpenAI({ apiKey: scene.gateway.key, baseURL: scene.gateway.baseURL, maxRetries: 0 });
afterAll(() => scene[Symbol.asyncDispose]());

const SEARCH = 'call web_search {"query": "longest river"}';
const SUM = 'call sums__add {"a": 1, "b": 2}';
const MODELS = ['sim/chat', 'sim/responses', 'sim/messages', 'sim/gemini'];

describe.each(MODELS)('OpenAI’s client, %s', (model) => {
  test('gets the results of a search, whole and streamed', async () => {
    const request = {
      model,
      input: SEARCH,
      tools: [{ type: 'web_search' }],
      include: ['web_search_call.action.sources'],
    } satisfies OpenAI.Responses.ResponseCreateParamsNonStreaming;
    const answers: readonly OpenAI.Responses.Response[] = [
      await openai.responses.create(request),
      await openai.responses.stream(request).finalResponse(),
    ];
    for (const { output, output_text } of answers) {
      const call = output.find((item) => item.type === 'web_search_call');
      if (call?.action.type !== 'search') throw new Error('no search');
      expect(call.action.sources?.map(({ url }) => url)).toEqual([
        `${scene.web.origin}/ounas`,
        `${scene.web.origin}/tenojoki`,
      ]);
      expect(output_text).toContain('The Ounas is 299 km long.');
      const message = output.find((item) => item.type === 'message');
      const part = message?.content[0];
      if (part?.type !== 'output_text') throw new Error('no text');
      const [first] = part.annotations;
      if (first?.type !== 'url_citation') throw new Error('no citation');
      expect(part.text.slice(first.start_index, first.end_index)).toBe('[1]');
    }
  });

  test('approves a call', async () => {
    const tools: OpenAI.Responses.Tool[] = [
      { type: 'mcp', server_label: 'sums', server_url: scene.mcp.url, require_approval: 'always' },
    ];
    const first = await openai.responses.create({ model, input: SUM, tools });
    const question = first.output.find((item) => item.type === 'mcp_approval_request');
    if (!question) throw new Error('no question');
    const input: ResponseInputItem[] = [
      { type: 'mcp_approval_response', approval_request_id: question.id, approve: true },
    ];
    const second = await openai.responses.create({ model, input, tools, previous_response_id: first.id });
    const call = second.output.find((item) => item.type === 'mcp_call');
    expect([call?.output, call?.error ?? null]).toEqual(['the sum is 3', null]);
    expect(second.output_text).toContain('the sum is 3');
  });
});

describe.each(MODELS)('the Agents SDK, %s', (model) => {
  const agentWith = (tools: Agent['tools']): Agent =>
    new Agent({
      name: 'Guide',
      instructions: 'Help.',
      model: new OpenAIResponsesModel(openai, model),
      tools,
    });

  test.each([false, true])('a server that runs at once (stream: %p)', async (stream) => {
    const agent = agentWith([hostedMcpTool({ serverLabel: 'sums', serverUrl: scene.mcp.url })]);
    if (stream) {
      const running = await run(agent, SUM, { stream: true });
      await running.completed;
      expect(running.finalOutput).toContain('the sum is 3');
    } else expect((await run(agent, SUM)).finalOutput).toContain('the sum is 3');
  });

  test('the program asks a person', async () => {
    const asked: string[] = [];
    const agent = agentWith([
      hostedMcpTool({
        serverLabel: 'sums',
        serverUrl: scene.mcp.url,
        requireApproval: 'always',
        onApproval: (_, { rawItem }) => {
          asked.push('name' in rawItem ? rawItem.name : '');
          return Promise.resolve({ approve: true });
        },
      }),
    ]);
    expect((await run(agent, SUM)).finalOutput).toContain('the sum is 3');
    expect(asked).toHaveLength(1);
  });

  test.each([true, false])(
    'continues an approval after a restart of the program, allowed: %p',
    async (isAllowed) => {
      const before = scene.mcp.calls.length;
      const agent = agentWith([
        hostedMcpTool({ serverLabel: 'sums', serverUrl: scene.mcp.url, requireApproval: 'always' }),
      ]);
      const interrupted = await run(agent, SUM);
      expect(interrupted.interruptions).toHaveLength(1);
      const state = await RunState.fromString(agent, interrupted.state.toString());
      const [question] = state.getInterruptions();
      if (!question) throw new Error('no question');
      if (isAllowed) state.approve(question);
      else state.reject(question);
      const done = await run(agent, state);
      expect(done.interruptions).toEqual([]);
      expect(done.finalOutput).toContain(isAllowed ? 'the sum is 3' : 'refused this call');
      expect(scene.mcp.calls.length - before).toBe(isAllowed ? 1 : 0);
    },
  );

  test('gets the results of a search', async () => {
    const done = await run(agentWith([webSearchTool({ searchContextSize: 'low' })]), SEARCH);
    expect(done.finalOutput).toContain('The Ounas is 299 km long.');
  });
});

describe('Anthropic’s client', () => {
  test("gets the results of a search and of a server's tools, streamed", async () => {
    const client = new Anthropic({
      apiKey: scene.gateway.key,
      baseURL: scene.gateway.origin,
      maxRetries: 0,
    });
    const message = await client.beta.messages
      .stream({
        model: 'sim/chat',
        max_tokens: 2000,
        betas: ['mcp-client-2025-11-20'],
        messages: [{ role: 'user', content: `${SEARCH}\n${SUM}` }],
        mcp_servers: [{ type: 'url', name: 'sums', url: scene.mcp.url }],
        tools: [
          { type: 'web_search_20250305', name: 'web_search' },
          { type: 'mcp_toolset', mcp_server_name: 'sums' },
        ],
      })
      .finalMessage();
    expect(message.content.map(({ type }) => type)).toEqual([
      'server_tool_use',
      'web_search_tool_result',
      'mcp_tool_use',
      'mcp_tool_result',
      'text',
    ]);
    const [use, found] = message.content;
    expect(use).toMatchObject({ name: 'web_search', input: { query: 'longest river' } });
    if (found?.type !== 'web_search_tool_result' || !Array.isArray(found.content))
      throw new Error('no result');
    expect(found.content.map(({ title }) => title)).toEqual(['The Ounas', 'Tenojoki']);
    expect(message.usage.server_tool_use?.web_search_requests).toBe(1);
  });
});

describe('Google’s client', () => {
  test('gets the results of a search', async () => {
    const client = new GoogleGenAI({
      apiKey: scene.gateway.key,
      httpOptions: { baseUrl: scene.gateway.origin },
    });
    const answer = await client.models.generateContent({
      model: 'sim/messages',
      contents: SEARCH,
      config: { tools: [{ googleSearch: {} }] },
    });
    const grounding = answer.candidates?.[0]?.groundingMetadata;
    expect(grounding?.groundingChunks?.map(({ web }) => web?.uri)).toEqual([
      `${scene.web.origin}/ounas`,
      `${scene.web.origin}/tenojoki`,
    ]);
    expect(grounding?.groundingSupports?.[0]?.groundingChunkIndices).toEqual([0]);
  });
});
