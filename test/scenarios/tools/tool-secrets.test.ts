// Credentials that clients send for MCP servers reach these servers and nobody else: no answer, no store, no record, no
// log, no error, no upstream that does not call the server itself. The operator's own credentials likewise.
import { afterAll, describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { MCP_TOOLS, serverAt, startToolScene } from '../../support/upstreams/tool-scene.ts';
import { ask, says, reported } from '../../support/responses-scene.ts';

const TOKEN = 'token-of-the-client-7f3a';
const HEADER = 'header-of-the-client-91bc';
const OPERATOR = 'header-of-the-operator-c0de';
const OAUTH_SECRET = 'secret-of-the-oauth-client-5511';
const ACCESS = 'access-token-that-was-fetched-22aa';
const SECRETS = [TOKEN, HEADER, OPERATOR, OAUTH_SECRET, ACCESS];

/** Every request for an access token. */
const asked: string[] = [];
const issuer = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    asked.push(`${request.headers.get('authorization')} ${await request.text()}`);
    return Response.json({ access_token: ACCESS, token_type: 'Bearer', expires_in: 3600 });
  },
});

const scene = await startToolScene({
  tools: {
    ...MCP_TOOLS,
    // As careless servers do.
    reveal: {
      run: () => {
        const { headers } = scene.mcp.requests.at(-1) ?? {};
        throw new Error(`denied for ${headers?.get('authorization')} ${headers?.get('x-own')}`);
      },
    },
    quote: {
      run: () => {
        const { headers } = scene.mcp.requests.at(-1) ?? {};
        const text = `asked by ${headers?.get('authorization')} (${headers?.get('x-api-key')})`;
        return { content: [{ type: 'text', text }], structuredContent: { text } };
      },
    },
  },
  config: {
    logging: { level: 'debug', content: true },
  },
  mcp: (url) => ({
    servers: {
      ops: { url, headers: { authorization: `Bearer ${OPERATOR}` }, require_approval: 'never' },
      oauth: {
        url,
        require_approval: 'never',
        oauth: {
          token_url: `http://127.0.0.1:${issuer.port}/token`,
          client_id: 'dragoman',
          client_secret: OAUTH_SECRET,
          scope: 'tools',
        },
      },
    },
  }),
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await issuer.stop(true);
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile());
}

/** Places where a secret can be read although it should be nowhere. */
function leaks(...texts: readonly string[]): string[] {
  const kept = filesIn(scene.gateway.dataDir).map((path) => readFileSync(path, 'latin1'));
  const all = [...texts, ...kept, scene.gateway.logLines.join('\n')];
  return SECRETS.filter((secret) => all.some((text) => text.includes(secret)));
}

const secretly = (members: object = {}): object =>
  serverAt(scene.mcp.url, { authorization: TOKEN, headers: { 'X-Own': HEADER }, ...members });

describe.each([false, true])('streamed: %p', (stream) => {
  test.each(['sim/chat', 'sim/responses', 'sim/messages'])(
    'over %s, the server alone has them',
    async (model) => {
      const before = scene.mcp.requests.length;
      const body = {
        model,
        tools: [secretly()],
        input: 'call sums__add {"a": 1, "b": 1}\ncall sums__reveal {}',
      };
      const answer = await ask(scene, 'chat', body, stream);
      // The end of an earlier session may come late.
      const first = scene.mcp.requests.slice(before).find(({ method }) => method === 'POST');
      expect(first?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`);
      expect(first?.headers.get('x-own')).toBe(HEADER);
      const [, failed] = list(answer.body, 'output').filter((item) => at(item, 'type') === 'mcp_call');
      expect(String(at(failed, 'error', 'message'))).toContain('denied for');
      expect(at(answer.body, 'tools', 0, 'server_url')).toBe(scene.mcp.url);
      expect(at(answer.body, 'tools', 0, 'authorization')).toBe('<redacted>');
      const stored = await (await scene.gateway.get(`/responses/${answer.id}`)).text();
      const inputs = await (await scene.gateway.get(`/responses/${answer.id}/input_items`)).text();
      const record = await recordOf(
        scene.gateway,
        new Response('', { headers: { 'x-request-id': answer.id.slice('resp_'.length) } }),
      );
      expect(at(record, 'content', 'request')).toBeObject();
      expect(leaks(JSON.stringify([answer, record]), stored, inputs)).toEqual([]);
    },
  );

  test.each(['sums', 'ops', 'oauth'])(
    'a result that quotes the secrets that were sent to %s does not show them',
    async (label) => {
      const own = secretly({ headers: { 'X-Api-Key': HEADER } });
      const body = {
        model: 'sim/chat',
        tools: [label === 'sums' ? own : { type: 'mcp', server_label: label }],
        input: `call ${label}__quote {}`,
      };
      const answer = await ask(scene, 'chat', body, stream);
      const output = JSON.stringify(at(answer.body, 'output'));
      expect(output).toContain(`asked by Bearer [secret] (${label === 'sums' ? '[secret]' : 'null'})`);
      const stored = await (await scene.gateway.get(`/responses/${answer.id}`)).text();
      expect(leaks(JSON.stringify(answer), stored)).toEqual([]);
    },
  );

  test('credentials are sent again with the next turn, because they are not stored', async () => {
    const model = 'sim/chat';
    const first = await ask(scene, 'chat', { model, tools: [secretly()], input: 'Hello, no tools' }, stream);
    const input = 'call sums__add {"a": 1, "b": 1}';
    const second = await ask(
      scene,
      'chat',
      { model, tools: [serverAt(scene.mcp.url)], input, previous_response_id: first.id },
      stream,
    );
    expect(at(second.body, 'status')).toBe('completed');
    expect(scene.mcp.requests.at(-1)?.headers.get('authorization')).toBeNull();
  });

  test('an upstream that gets functions instead gets none of them', async () => {
    for (const way of ['chat', 'responses', 'messages'] as const) {
      scene.upstream.script(says(way, [{ text: 'Hello.' }]));
      await ask(scene, way, { tools: [secretly()], input: 'Hi' }, stream);
      const [request] = scene.upstream.requests;
      expect(reported(request)).toContain('user: Hi');
      expect(request?.text).toContain('sums__add');
      expect(SECRETS.filter((secret) => request?.text.includes(secret))).toEqual([]);
      expect(request?.text).not.toContain(new URL(scene.mcp.url).host);
    }
  });

  test('no secret of the server reaches clients of Messages', async () => {
    const response = await scene.gateway.post('/messages', {
      model: 'sim/chat',
      max_tokens: 2000,
      stream,
      messages: [{ role: 'user', content: 'call sums__add {"a": 1, "b": 1}\ncall sums__reveal {}' }],
      mcp_servers: [{ type: 'url', name: 'sums', url: scene.mcp.url, authorization_token: TOKEN }],
      tools: [{ type: 'mcp_toolset', mcp_server_name: 'sums' }],
    });
    const text = await response.text();
    expect(text).toContain('denied for');
    expect(scene.mcp.requests.at(-1)?.headers.get('authorization')).toBe(`Bearer ${TOKEN}`);
    const record = await recordOf(scene.gateway, response);
    expect(leaks(text, JSON.stringify(record))).toEqual([]);
  });

  test('credentials of the operator are used and never shown', async () => {
    for (const label of ['ops', 'oauth']) {
      const body = {
        model: 'sim/chat',
        tools: [{ type: 'mcp', server_label: label }],
        input: `call ${label}__add {"a": 1, "b": 1}\ncall ${label}__reveal {}`,
      };
      const answer = await ask(scene, 'chat', body, stream);
      const sent = scene.mcp.requests.at(-1)?.headers.get('authorization');
      expect(sent).toBe(`Bearer ${label === 'ops' ? OPERATOR : ACCESS}`);
      expect(JSON.stringify(at(answer.body, 'output'))).toContain('denied for');
      expect(leaks(JSON.stringify(answer))).toEqual([]);
    }
  });
});

test('a request that sends credentials to a server of the operator is refused with the reason', async () => {
  const tool = { type: 'mcp', server_label: 'ops', authorization: TOKEN, headers: { 'X-Own': HEADER } };
  const answer = await ask(scene, 'chat', { model: 'sim/chat', tools: [tool], input: 'Hello' }, false);
  expect(answer.report).toBe('tools[0].authorization:dropped, tools[0].headers:dropped');
  const { headers } = scene.mcp.requests.at(-1) ?? {};
  expect([headers?.get('authorization'), headers?.get('x-own')]).toEqual([`Bearer ${OPERATOR}`, null]);
  const strictly = { 'x-dragoman-strict': 'true' };
  const refused = await ask(
    scene,
    'chat',
    { model: 'sim/chat', tools: [tool], input: 'Hello' },
    false,
    strictly,
  );
  expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([400, 'tools[0].authorization']);
});

test('one token is used by all sessions until it expires, and names its resource', () => {
  expect(asked).toHaveLength(1);
  expect(asked[0]).toStartWith('Basic ');
  expect(asked[0]).toContain(`resource=${encodeURIComponent(scene.mcp.url)}`);
  expect(asked[0]).toContain('scope=tools');
});

test('a refused credential is reported without being shown', async () => {
  await using strict = await startToolScene({
    server: { authorize: (authorization) => authorization === 'Bearer right' },
  });
  const wrong = serverAt(strict.mcp.url, { authorization: TOKEN });
  const answer = await ask(strict, 'chat', { model: 'sim/chat', tools: [wrong], input: 'Hi' }, false);
  expect(answer.status).toBe(424);
  const error = String(at(answer.body, 'error', 'message'));
  expect(error).toContain('refused the authorization (status 401)');
  expect(error).not.toContain(TOKEN);
  const bad = serverAt(strict.mcp.url, { authorization: 'line\nbreak' });
  const refused = await ask(strict, 'chat', { model: 'sim/chat', tools: [bad], input: 'Hi' }, false);
  expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([400, 'tools[0]']);
  expect(JSON.stringify(refused.body)).not.toContain('break');
});

test('an upstream that calls MCP servers itself gets the tool unchanged, and the response contains no token', async () => {
  const own = {
    provider: 'own',
    model: 'm',
    protocol: 'openai-responses',
    reasoning: 'none',
    quirks: { runs_mcp: true },
  };
  for (const native of ['prefer', 'never'] as const) {
    await using other = await startToolScene({
      models: [{ id: 'native', endpoints: [own] }],
      mcp: () => ({ native }),
      config: { logging: { level: 'debug', content: true } },
    });
    const tool = serverAt(other.mcp.url, { authorization: TOKEN });
    for (const stream of [false, true]) {
      other.upstream.script(says('relay', [{ text: 'Hello.' }]));
      const answer = await ask(other, 'relay', { model: 'native', tools: [tool], input: 'Hi' }, stream);
      const sent = other.upstream.requests[0]?.text ?? '';
      expect(sent.includes(TOKEN)).toBe(native === 'prefer');
      expect(other.mcp.requests.length > 0).toBe(native === 'never');
      const record = await recordOf(
        other.gateway,
        new Response('', { headers: { 'x-request-id': answer.id.slice('resp_'.length) } }),
      );
      expect(JSON.stringify([record, at(answer.body, 'tools'), other.gateway.logLines])).not.toContain(TOKEN);
    }
  }
});
