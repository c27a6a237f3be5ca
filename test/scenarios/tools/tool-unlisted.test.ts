// MCP servers whose tools cannot be listed: the request fails before a model is asked, in the words of the client's protocol.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI, { APIError } from 'openai';
import { whole } from '../../support/upstreams/answers.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { serverAt, startToolScene } from '../../support/upstreams/tool-scene.ts';

/** Address of a web server that is no MCP server. */
let gone = '';
const scene = await startToolScene();
gone = `${scene.web.origin}/no-mcp-here`;
afterAll(() => scene[Symbol.asyncDispose]());

const MESSAGES = [{ role: 'user', content: 'Hi' }];
const messagesTools = (): object => ({
  mcp_servers: [{ type: 'url', url: gone, name: 'sums' }],
  tools: [{ type: 'mcp_toolset', mcp_server_name: 'sums' }],
});
const CLIENTS = {
  '/responses': () => ({ input: 'Hi', tools: [serverAt(gone)] }),
  '/chat/completions': () => ({ messages: MESSAGES, tools: [serverAt(gone)] }),
  '/messages': () => ({ messages: MESSAGES, max_tokens: 100, ...messagesTools() }),
} as const;
const HEADERS = { 'anthropic-version': '2023-06-01', 'anthropic-beta': 'mcp-client-2025-11-20' };

describe.each(Object.keys(CLIENTS) as (keyof typeof CLIENTS)[])('%s', (path) => {
  test.each([
    ['chat', false],
    ['chat', true],
    ['gemini', false],
  ] as const)('no model is called (%s, streamed: %p)', async (kind, stream) => {
    scene.upstream.script(() => {
      throw new Error('a model was asked');
    });
    const model = kind === 'gemini' ? 'to/gemini' : 'to/chat';
    const response = await scene.gateway.post(path, { model, stream, ...CLIENTS[path]() }, HEADERS);
    expect(response.status).toBe(424);
    expect(response.headers.get('content-type')).toStartWith('application/json');
    const body: unknown = await response.json();
    const words = "Error retrieving tool list from MCP server: 'sums'.";
    expect(String(at(body, 'error', 'message'))).toContain(words);
    expect(scene.upstream.requests).toHaveLength(0);
    if (path === '/messages')
      expect(body).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    else
      expect(body).toMatchObject({
        error: { type: 'external_connector_error', code: 'http_error', param: 'tools' },
      });
    const record = await scene.gateway.get(`/generation?id=${response.headers.get('x-request-id')}`);
    expect(at(await record.json(), 'data', 'attempts') ?? []).toEqual([]);
  });
});

test("OpenAI's own SDK raises an error with the status", async () => {
  const client = new OpenAI({ baseURL: scene.gateway.baseURL, apiKey: scene.gateway.key, maxRetries: 0 });
  const tools: OpenAI.Responses.Tool[] = [
    { type: 'mcp', server_label: 'sums', server_url: gone, require_approval: 'never' },
  ];
  const error: unknown = await client.responses
    .create({ model: 'to/chat', input: 'Hi', tools })
    .catch((e: unknown) => e);
  expect(error).toBeInstanceOf(APIError);
  expect(error).toMatchObject({ status: 424, type: 'external_connector_error', code: 'http_error' });
});

test('the same refusal of a vendor is returned, and no other endpoint is tried', async () => {
  const own = (provider: string): object => ({
    provider,
    model: 'm',
    protocol: 'openai-responses',
    reasoning: 'none',
    quirks: { runs_mcp: true },
  });
  await using native = await startToolScene({
    models: [{ id: 'native', endpoints: [own('own'), own('up')] }],
  });
  const failure = {
    message: "Error retrieving tool list from MCP server: 'sums'. Http status code: 424 (Failed Dependency)",
    type: 'external_connector_error',
    param: 'tools',
    code: 'http_error',
  };
  native.upstream.always(whole({ error: failure }, 424));
  const tools = [serverAt('https://mcp.example/')];
  const response = await native.gateway.post('/responses', { model: 'native', input: 'Hi', tools });
  expect(response.status).toBe(424);
  expect(at(await response.json(), 'error')).toMatchObject(failure);
  expect(native.upstream.requests).toHaveLength(1);
});
