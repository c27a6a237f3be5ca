// Protection from MCP servers: addresses that requests must not reach, credentials that
// must go to the right place only and appear in no error.
import { describe, expect, test } from 'bun:test';
import { Secret } from '../../../src/base/telemetry/secret.ts';
import type { McpServer, McpSession, OAuthClient } from '../../../src/engine/tools/mcp/session.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import {
  failureOf,
  mcpSessions,
  openMcpSession,
  PATIENT,
  type SessionsSetup,
} from '../../support/upstreams/mcp-server-session.ts';
import {
  startMcpServer,
  type McpServerScript,
  type RunningMcpServer,
} from '../../support/upstreams/mcp-server.ts';
import { undoAfterEach } from '../../support/undo.ts';

const TOKEN = 'sk-test-0123456789abcdef';
const TOOLS: McpServerScript['tools'] = { echo: { run: (args) => JSON.stringify(args) } };
const TRANSPORTS = ['http', 'json', 'sse'] as const;

const started = undoAfterEach();

function serve(script: Partial<McpServerScript> = {}): RunningMcpServer {
  const server = startMcpServer({ tools: TOOLS, ...script });
  started.push(() => server.stop());
  return server;
}

function open(url: string, server: Partial<McpServer> = {}, setup?: SessionsSetup): McpSession {
  const session = openMcpSession(url, setup, server);
  started.push(() => session.close());
  return session;
}

function hostOf(server: RunningMcpServer): string {
  return new URL(server.url).host;
}

const call = (session: McpSession): ReturnType<McpSession['callTool']> =>
  session.callTool('echo', {}, PATIENT);

describe('the address of a server', () => {
  test('that a request brings must be public, unless the operator exempts it', async () => {
    const server = serve();
    const refused = await failureOf(call(open(server.url, { trusted: false })));
    expect([refused.code, refused.kind]).toEqual(['mcp_not_allowed', 'invalid_request']);
    const byName = server.url.replace('127.0.0.1', 'looks-public.example');
    expect((await failureOf(call(open(byName, { trusted: false })))).message).toBe(refused.message);
    expect(server.requests).toEqual([]);
    await call(open(server.url, { trusted: false }, { allow: [hostOf(server)] }));
  });

  test('must be among those that the operator allows, if any', async () => {
    const server = serve();
    const setup = { allow: [hostOf(server)] };
    const only = (hosts: readonly string[]): Promise<unknown> =>
      call(open(server.url, { trusted: false }, { ...setup, limits: { hosts } }));
    await only([hostOf(server)]);
    await only(['127.0.0.1']);
    const refusal = (hosts: readonly string[]): void => void only(hosts);
    expect(() => refusal(['mcp.example'])).toThrow('its host is not among `tools.mcp.allow`');
    expect(() => refusal(['127.0.0.1:1'])).toThrow('its host is not among `tools.mcp.allow`');
    // The operator's own servers need no second permission.
    await call(open(server.url, {}, { limits: { hosts: ['mcp.example'] } }));
  });

  test.each(['not a url', 'file:///etc/passwd', 'ftp://mcp.example/', 'http://user:pass@mcp.example/'])(
    'cannot be %s',
    async (url) => {
      const opened = (async () => call(open(url, { trusted: false })))();
      expect(['mcp_invalid', 'mcp_not_allowed']).toContain((await failureOf(opened)).code ?? '');
    },
  );

  test.each([301, 302, 303, 307, 308])('may not lead to another origin (%s)', async (status) => {
    const inner = serve();
    const server = serve({
      intercept: () => new Response(null, { status, headers: { location: inner.url } }),
    });
    for (const trusted of [false, true]) {
      const session = open(
        server.url,
        { trusted, authorization: new Secret(TOKEN) },
        { allow: [hostOf(server)] },
      );
      expect((await failureOf(call(session))).code).toBe('mcp_unavailable');
    }
    expect(inner.requests).toEqual([]);
  });

  test('may move within its origin', async () => {
    const server = serve({
      intercept: (request) =>
        request.url.endsWith('/old')
          ? new Response(null, { status: 307, headers: { location: '/mcp' } })
          : undefined,
    });
    const session = open(server.url.replace('/mcp', '/old'), { authorization: new Secret(TOKEN) });
    expect((await call(session)).parts).toHaveLength(1);
    expect(new Set(server.requests.map(({ headers }) => headers.get('authorization')))).toEqual(
      new Set([`Bearer ${TOKEN}`]),
    );
  });

  test.each(['http://127.0.0.1:PORT/messages', '//127.0.0.1:PORT/messages', 'file:///etc/passwd', 'http://'])(
    'for messages must be of the same origin: %s',
    async (endpoint) => {
      const inner = serve();
      const announced = endpoint.replace('PORT', new URL(inner.url).port);
      const server = serve({
        transport: 'sse',
        intercept: ({ method }) =>
          method === 'GET'
            ? new Response(`event: endpoint\ndata: ${announced}\n\n`, {
                headers: { 'content-type': 'text/event-stream' },
              })
            : undefined,
      });
      const session = open(server.url, { trusted: false }, { allow: [hostOf(server), hostOf(inner)] });
      expect((await failureOf(call(session))).code).toBe('mcp_unavailable');
      expect(inner.requests).toEqual([]);
    },
  );
});

describe.each(TRANSPORTS)('credentials over %s', (transport) => {
  test('go with every request, the last one too', async () => {
    const server = serve({ transport, authorize: (header) => header === `Bearer ${TOKEN}` });
    const session = open(server.url, {
      authorization: new Secret(TOKEN),
      headers: { 'X-Team': 'blue', 'x-key': new Secret('k-12345678') },
    });
    await call(session);
    await session.close();
    await server.ended();
    expect(server.requests.length).toBeGreaterThan(2);
    for (const { headers } of server.requests) {
      expect(headers.get('authorization')).toBe(`Bearer ${TOKEN}`);
      expect(headers.get('x-team')).toBe('blue');
      expect(headers.get('x-key')).toBe('k-12345678');
    }
  });

  test('that are refused are reported, and not shown', async () => {
    const server = serve({ transport, authorize: () => false });
    const error = await failureOf(call(open(server.url, { authorization: new Secret(TOKEN) })));
    expect([error.code, error.kind]).toEqual(['mcp_unauthorized', 'invalid_request']);
    expect(error.message).toBe('MCP server "things" refused the authorization (status 401)');
    expect((await failureOf(call(open(server.url)))).code).toBe('mcp_unauthorized');
  });

  test('that a server repeats are masked in errors', async () => {
    const key = 'path-key-0123456789abcdef';
    const server = serve({
      transport,
      tools: {
        echo: {
          run() {
            throw new Error(`bad token ${TOKEN}, key k-12345678, ${server.requests.at(-1)?.path} ${key}`);
          },
        },
      },
    });
    const secrets = { authorization: new Secret(TOKEN), headers: { 'x-key': new Secret('k-12345678') } };
    const error = await failureOf(call(open(`${server.url}?key=${key}`, secrets)));
    expect(error.code).toBe('mcp_protocol_error');
    expect(error.message).toContain('bad token [secret], key [secret],');
    expect(
      JSON.stringify({ ...error, message: error.message, cause: error.cause, stack: error.stack }),
    ).not.toMatch(/sk-test-0123|k-12345678|path-key/);
    const other = serve({ transport, intercept: () => new Response(`no ${TOKEN} here`, { status: 500 }) });
    expect((await failureOf(call(open(other.url, secrets)))).message).not.toContain(TOKEN);
  });
});

describe('a header', () => {
  test('with a scheme is sent unchanged', async () => {
    const server = serve({ authorize: (header) => header === 'Basic dTpw' });
    await call(open(server.url, { authorization: new Secret('Basic dTpw') }));
  });

  test.each([
    ['Host', 'evil.example'],
    ['content-length', '0'],
    ['Transfer-Encoding', 'chunked'],
    ['Mcp-Session-Id', 'stolen'],
    ['a b', 'value'],
    ['x-evil', `${TOKEN}\r\nhost: evil`],
    ['x-evil', 'ключ'],
  ])('%s cannot be sent', (name, value) => {
    const opening = (): McpSession =>
      open('https://mcp.example/mcp', { headers: { [name]: new Secret(value) } });
    expect(opening).toThrow('MCP server "things"');
    expect(opening).not.toThrow(value);
  });
});

describe('client credentials', () => {
  const SECRET = 'client secret/0123456789';

  /** A server that takes the tokens that it issues, until they are revoked. */
  function authorizing(transport: McpServerScript['transport'], issue?: () => Response) {
    const asked: { readonly authorization: string | null; readonly form: string }[] = [];
    let valid = '';
    const server = serve({
      ...(transport && { transport }),
      authorize: (header) => header === `Bearer ${valid}`,
      async intercept(request) {
        if (!request.url.endsWith('/token')) return undefined;
        asked.push({ authorization: request.headers.get('authorization'), form: await request.text() });
        valid = `token-number-${asked.length}`;
        return issue?.() ?? Response.json({ access_token: valid, token_type: 'Bearer', expires_in: 3600 });
      },
    });
    const oauth: OAuthClient = {
      tokenUrl: server.url.replace('/mcp', '/token'),
      clientId: 'gateway',
      clientSecret: new Secret(SECRET),
      scope: 'tools:read tools:call',
    };
    return { server, oauth, asked, revoke: () => (valid = 'nothing') };
  }

  const tokensSent = (server: RunningMcpServer): readonly (string | null)[] =>
    server.requests
      .filter(({ path }) => path !== '/token')
      .map(({ headers }) => headers.get('authorization'));

  test.each(TRANSPORTS)('get a token that all sessions share, over %s', async (transport) => {
    const { server, oauth, asked } = authorizing(transport);
    const whole = { label: 'things', url: server.url, headers: {}, trusted: true, oauth };
    const sessions = mcpSessions([whole]);
    const both = [sessions.open(whole), sessions.open(whole)];
    await Promise.all(both.map(call));
    await Promise.all(both.map((session) => session.close()));
    await server.ended();
    const basic = Buffer.from('gateway:client+secret%2F0123456789').toString('base64');
    const form = new URLSearchParams({
      grant_type: 'client_credentials',
      resource: server.url,
      scope: 'tools:read tools:call',
    });
    expect(asked).toEqual([{ authorization: `Basic ${basic}`, form: form.toString() }]);
    expect(new Set(tokensSent(server))).toEqual(new Set(['Bearer token-number-1']));
  });

  test.each(TRANSPORTS)('get another token after a refusal, once, over %s', async (transport) => {
    const clock = new ManualClock();
    const { server, oauth, asked, revoke } = authorizing(transport);
    const session = open(server.url, { oauth }, { clock });
    await call(session);
    revoke();
    // However young it is: it may have been revoked.
    await call(session);
    expect(asked.length).toBe(2);
    expect(tokensSent(server).at(-1)).toBe('Bearer token-number-2');
    revoke();
    // A server that refuses what took the place of a refused token would refuse every other one.
    clock.advance(59_000);
    expect((await failureOf(call(session))).code).toBe('mcp_unauthorized');
    expect(asked.length).toBe(2);
    clock.advance(1_000);
    await call(session);
    expect(asked.length).toBe(3);
  });

  test('are requested again if the first token is refused, and not with every request', async () => {
    const clock = new ManualClock();
    const { server, oauth, asked } = authorizing('json', () => {
      clock.advance(1_000);
      return Response.json({ access_token: 'never-valid', token_type: 'Bearer', expires_in: 3600 });
    });
    const whole = { label: 'things', url: server.url, headers: {}, trusted: true, oauth };
    const sessions = mcpSessions([whole], { clock });
    for (const attempt of [1, 2, 3]) {
      expect((await failureOf(call(sessions.open(whole)))).code).toBe('mcp_unauthorized');
      expect(asked.length).toBe(2);
      expect(tokensSent(server).length).toBe(attempt + 1);
    }
  });

  test('get another token before the old one expires', async () => {
    const clock = new ManualClock();
    const { server, oauth, asked } = authorizing('json');
    const session = open(server.url, { oauth }, { clock });
    await call(session);
    clock.advance(3_590_000);
    await call(session);
    expect(asked.length).toBe(2);
    expect(tokensSent(server).at(-1)).toBe('Bearer token-number-2');
  });

  test.each([
    [
      'refuses',
      () => Response.json({ error: 'invalid_client', error_description: `no ${SECRET}` }, { status: 401 }),
    ],
    ['answers nonsense', () => new Response('<html>')],
    ['fails', () => new Response('', { status: 500 })],
    [
      'redirects to another server',
      () => new Response(null, { status: 307, headers: { location: 'http://127.0.0.2/' } }),
    ],
  ])('are reported when the token endpoint %s', async (_, issue) => {
    const { server, oauth } = authorizing('http', issue);
    const error = await failureOf(call(open(server.url, { oauth })));
    expect(['mcp_unauthorized', 'mcp_unavailable']).toContain(error.code ?? '');
    expect(error.message).toContain('token');
    expect(error.message).not.toContain(SECRET);
    expect(tokensSent(server)).toEqual([]);
  });

  test("are replaced by a request's own token", async () => {
    const { server, oauth, asked } = authorizing('http');
    const error = await failureOf(call(open(server.url, { oauth, authorization: new Secret(TOKEN) })));
    expect(error.code).toBe('mcp_unauthorized');
    expect(asked).toEqual([]);
    expect(new Set(tokensSent(server))).toEqual(new Set([`Bearer ${TOKEN}`]));
  });

  test('are masked if a server repeats the token', async () => {
    const { oauth, server } = authorizing('http');
    const session = open(server.url, { oauth });
    const { message } = await failureOf(session.callTool('token-number-1', {}, PATIENT));
    expect(message).toContain('no tool is called [secret]');
  });
});
