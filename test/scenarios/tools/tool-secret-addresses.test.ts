// Keys that stand in the addresses of MCP servers, and credentials in the forms of every protocol: servers get them,
// answers, stores, records and errors do not show them.
import { afterAll, describe, expect, test } from 'bun:test';
import { secretsOfAddress, withoutSecrets } from '../../../src/canonical/index.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { responsesBody, whole } from '../../support/upstreams/answers.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { serverAt, startToolScene } from '../../support/upstreams/tool-scene.ts';
import { ask } from '../../support/responses-scene.ts';

const KEY = 'key-of-the-client-7f3a';
const OPERATOR = 'key-of-the-operator-91bc';

const scene = await startToolScene({
  config: { logging: { level: 'debug', content: true } },
  mcp: (url) => ({ servers: { ops: { url: `${url}?key=${OPERATOR}`, require_approval: 'never' } } }),
});
afterAll(() => scene[Symbol.asyncDispose]());

describe('an address', () => {
  const long = 'a1b2c3d4e5f6a7b8c9d0';
  test.each([
    ['https://mcp.example', 'https://mcp.example', []],
    ['https://mcp.example/v1/mcp', 'https://mcp.example/v1/mcp', []],
    [
      `https://mcp.example/s/${long}/mcp?api_key=k%20y&bare`,
      'https://mcp.example/s/<redacted>/mcp?api_key=<redacted>&<redacted>',
      [long, 'k%20y', 'k y', 'bare'],
    ],
    ['https://me:pass@mcp.example:8443/#t', 'https://<redacted>@mcp.example:8443/', ['me', 'pass']],
    ['mcp.example?key=1', '<redacted>', []],
  ])('%s', (address, shown, secrets) => {
    expect(withoutSecrets(address)).toBe(shown);
    expect(secretsOfAddress(address)).toEqual(secrets);
  });
});

test.each([false, true])('keys in addresses reach the server alone, streamed: %p', async (stream) => {
  const server_url = `${scene.mcp.url}?api_key=${KEY}`;
  const before = scene.mcp.requests.length;
  const body = {
    model: 'sim/chat',
    tools: [serverAt(server_url)],
    input: 'call sums__add {"a": 1, "b": 1}',
  };
  const answer = await ask(scene, 'chat', body, stream);
  expect(scene.mcp.requests.length).toBeGreaterThan(before);
  expect(JSON.stringify(at(answer.body, 'output'))).toContain('the sum is 2');
  expect(at(answer.body, 'tools', 0, 'server_url')).toBe(`${scene.mcp.url}?api_key=<redacted>`);
  const stored = await (await scene.gateway.get(`/responses/${answer.id}`)).text();
  const id = answer.id.slice('resp_'.length);
  const record = await recordOf(scene.gateway, new Response('', { headers: { 'x-request-id': id } }));
  expect(at(record, 'content', 'request', 'tools', 0, 'server_url')).toContain('<redacted>');
  expect(JSON.stringify([answer, stored, record])).not.toContain(KEY);
});

test('secrets in addresses that a relayed upstream repeats are not stored', async () => {
  const tools = [
    { type: 'mcp', server_label: 'l', server_url: `https://m.example/?k=${KEY}`, headers: { key: KEY } },
  ];
  const content = [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [] }];
  const said = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  scene.upstream.script(whole({ ...responsesBody([said]), tools }));
  const answer = await ask(scene, 'relay', { input: 'Hello' }, false);
  expect(at(answer.body, 'tools', 0, 'headers', 'key')).toBe(KEY);
  const stored: unknown = await (await scene.gateway.get(`/responses/${answer.id}`)).json();
  expect(at(stored, 'tools', 0)).toEqual({
    type: 'mcp',
    server_label: 'l',
    server_url: 'https://m.example/?k=<redacted>',
    headers: { key: '<redacted>' },
  });
});

const message = [{ role: 'user', content: 'Hello' }];
const transport = { url: `https://mcp.example/?k=${KEY}`, headers: { Authorization: KEY } };
const schema = { type: 'object', properties: { url: { type: 'string' }, headers: { type: 'object' } } };
const BODIES: readonly (readonly [string, object])[] = [
  [
    '/chat/completions',
    {
      model: 'sim/chat',
      messages: message,
      tools: [
        { type: 'mcp', server_label: 'l', server_url: `https://${KEY}@mcp.example`, headers: { a: KEY } },
        { type: 'function', function: { name: 'f', parameters: schema } },
      ],
    },
  ],
  [
    '/messages',
    {
      model: 'sim/messages',
      max_tokens: 100,
      messages: message,
      mcp_servers: [{ type: 'url', name: 's', url: `https://mcp.example/${KEY}`, authorization_token: KEY }],
      tools: [{ name: 'f', input_schema: schema }],
    },
  ],
  ...['streamableHttpTransport', 'streamable_http_transport'].map((name) => {
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
    const tools = [
      { mcpServers: [{ name: 's', [name]: transport }] },
      { googleMaps: { authConfig: { apiKeyConfig: { apiKeyString: KEY } } } },
      { functionDeclarations: [{ name: 'f', parametersJsonSchema: schema }] },
    ];
    return ['/models/sim%2Fchat:generateContent', { contents, tools }] as const;
  }),
];

test.each(BODIES)('%s: the record of a request hides credentials, and nothing else', async (path, body) => {
  expect(JSON.stringify(body)).toContain(KEY);
  const record = await recordOf(scene.gateway, await scene.gateway.post(path, body));
  const kept = JSON.stringify(at(record, 'content', 'request'));
  expect(kept).toContain('<redacted>');
  expect(kept).not.toContain(KEY);
  expect(kept).toContain(JSON.stringify(schema));
});

test("an upstream that repeats the key of the operator's server does not show it", async () => {
  scene.upstream.always(whole({ error: { message: `what is ${OPERATOR}?`, code: null } }, 400));
  const response = await scene.gateway.post('/responses', { model: 'to/chat', input: 'Hello' });
  const text = await response.text();
  expect(text).toContain('what is [secret]?');
});
