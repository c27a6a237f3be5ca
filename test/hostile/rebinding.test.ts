// Names whose addresses change between the check and the connection: public when they are asked for first, of this machine
// from then on. What is fetched goes to the address that was checked, as the proxy in between sees.
import { afterAll, afterEach, expect, test } from 'bun:test';
import { startGateway } from '../support/harness.ts';
import { chatBody, whole } from '../support/upstreams/answers.ts';
import { startProxy } from '../support/upstreams/proxy.ts';
import { startUpstream, type Answer } from '../support/upstreams/scripted-upstream.ts';

const PUBLIC = '93.184.215.14';
const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==',
  'base64',
);

/** How often each name was asked for. */
const asked = new Map<string, number>();

/** On the port that the attacker names, on this machine. */
const inside = await startUpstream();
/** Target of the public address. */
const outside = await startUpstream();
const model = await startUpstream();
inside.always(whole({ secret: 'of this machine' }));
model.always(whole(chatBody({ text: 'hi' })));
const proxy = await startProxy({ [`${PUBLIC}:${inside.port}`]: outside.port });
const gateway = await startGateway(
  {
    upstream: { reuse: 'never' },
    providers: { up: { protocols: { 'openai-chat': `${model.origin}/v1` }, api_key: 'sk-test-up' } },
    models: [{ id: 'up/m' }],
  },
  {
    environment: { http_proxy: proxy.address() },
    async resolve(host) {
      const before = asked.get(host) ?? 0;
      asked.set(host, before + 1);
      return before === 0 ? [PUBLIC] : ['127.0.0.1'];
    },
  },
);
afterEach(() => expect(inside.requests).toEqual([]));
afterAll(async () => {
  await gateway.close();
  await Promise.all([inside, outside, model].map((server) => server.stop()));
  await proxy.stop();
});

const picture: Answer = (exchange) => {
  exchange.head(200, { 'content-type': 'image/png', 'content-length': String(PICTURE.length) });
  exchange.raw(PICTURE);
};

const at = (host: string): string => `http://${host}:${inside.port}/a.png`;

async function ask(path: string, body: object): Promise<{ status: number; text: string }> {
  const answer = await gateway.post(path, { model: 'up/m', ...body });
  return { status: answer.status, text: await answer.text() };
}

const shown = (url: string): object => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
});

test('a picture comes from the checked address, and its name is resolved once', async () => {
  outside.always(picture);
  expect((await ask('/chat/completions', shown(at('picture.rebind')))).status).toBe(200);
  expect(asked.get('picture.rebind')).toBe(1);
  expect(proxy.asked).toEqual([`CONNECT ${PUBLIC}:${inside.port}`]);
  // The same again: every fetch is checked.
  expect((await ask('/chat/completions', shown(at('picture.rebind')))).status).toBe(400);
  expect(proxy.heads).toHaveLength(1);
});

test('a file of Responses comes from the checked address, and the target of a redirect is checked again', async () => {
  outside.always((exchange) => {
    exchange.head(302, { location: at('file.rebind'), 'content-length': '0' });
    exchange.raw('');
  });
  const input = [{ role: 'user', content: [{ type: 'input_file', file_url: at('file.rebind') }] }];
  const { status, text } = await ask('/responses', { input });
  expect([status, text]).toEqual([400, expect.stringContaining('may not be fetched')]);
  expect(asked.get('file.rebind')).toBe(2);
});

test('an MCP server whose name moves to this machine after its first response is not called', async () => {
  outside.always((exchange) => {
    const { id, method } = exchange.request.json as { id?: number; method?: string };
    if (id === undefined) return whole({}, 202)(exchange);
    const result =
      method === 'initialize'
        ? {
            protocolVersion: '2025-06-18',
            capabilities: { tools: {} },
            serverInfo: { name: 's', version: '1' },
          }
        : { tools: [] };
    return whole({ jsonrpc: '2.0', id, result })(exchange);
  });
  const server_url = `http://mcp.rebind:${inside.port}/mcp`;
  const tools = [{ type: 'mcp', server_label: 's', server_url, require_approval: 'never' }];
  const { text } = await ask('/responses', { input: 'hi', tools });
  expect(outside.requests.filter(({ path }) => path === '/mcp').length).toBeGreaterThan(0);
  expect(asked.get('mcp.rebind')).toBeGreaterThan(1);
  expect(text).not.toContain('of this machine');
});
