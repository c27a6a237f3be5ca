// Addresses in requests, in front of servers that no vendor runs: such a server may stand where private addresses lead
// somewhere, and would fetch for a stranger what the stranger may not reach. In both lanes, for every client.
import { afterAll, describe, expect, test } from 'bun:test';
import { UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { startUpstream, type Answer } from '../../support/upstreams/scripted-upstream.ts';
import { PNG, PNG_URL } from '../../support/images.ts';
import { askOver } from '../../support/upstreams/ask-over.ts';

const METADATA = 'http://169.254.169.254/latest/meta-data/dot.png';
/** By what the operator says of the servers. */
const scenes: Record<'translated' | 'relayed' | 'fetching' | 'calling', Scene> = {} as never;
const site = await startUpstream();
const config = { fetch: { allow: [new URL(site.origin).host] }, routing: { retries: 0 } };
scenes.translated = await startScene(['up'], { config });
scenes.relayed = await startScene(['up'], { config, faithful: true });
scenes.fetching = await startScene(['up'], { config, faithful: true, quirks: { fetches_urls: true } });
scenes.calling = await startScene(['up'], { config, faithful: true, quirks: { runs_mcp: true } });
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
  await site.stop();
});

/** A request of a client whose one picture, or paper, is at an address. */
const ASKING: Readonly<Record<string, readonly [path: string, body: (url: string) => object]>> = {
  'image_url of Chat Completions': [
    '/v1/chat/completions',
    (url) => ({ messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] }),
  ],
  'file_data of Chat Completions': [
    '/v1/chat/completions',
    (file_data) => ({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_data } }] }] }),
  ],
  'image_url of Responses': [
    '/v1/responses',
    (image_url) => ({
      store: false,
      input: [{ role: 'user', content: [{ type: 'input_image', image_url }] }],
    }),
  ],
  'file_url of Responses': [
    '/v1/responses',
    (file_url) => ({ store: false, input: [{ role: 'user', content: [{ type: 'input_file', file_url }] }] }),
  ],
  'source.url of Messages': [
    '/v1/messages',
    (url) => ({
      max_tokens: 9,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url } }] }],
    }),
  ],
  'fileUri of Gemini': [
    '/v1beta/models/one/MODEL:generateContent',
    (fileUri) => ({
      contents: [{ role: 'user', parts: [{ fileData: { fileUri, mimeType: 'image/png' } }] }],
    }),
  ],
  'a result of a tool': [
    '/v1/responses',
    (image_url) => ({
      store: false,
      input: [
        { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c', output: [{ type: 'input_image', image_url }] },
      ],
    }),
  ],
};

const ask = (scene: Scene, protocol: UpstreamProtocol, [path, body]: readonly [string, object]) =>
  askOver(scene, protocol, path, body);

const png = (): Answer => (exchange) => {
  const bytes = Buffer.from(PNG, 'base64');
  exchange.head(200, { 'content-length': String(bytes.length) });
  exchange.raw(bytes);
};

describe.each(Object.keys(ASKING))('%s', (name) => {
  const [path, body] = ASKING[name] ?? ['', () => ({})];

  test.each([METADATA, 'http://localhost/dot.png', 'http://[fd00::1]/dot.png'])(
    'is not left to a server of the operator if it is private: %s',
    async (url) => {
      for (const scene of [scenes.translated, scenes.relayed, scenes.fetching])
        for (const protocol of UPSTREAM_PROTOCOLS) {
          const { status, error, sent } = await ask(scene, protocol, [path, body(url)]);
          expect([protocol, status, sent]).toEqual([protocol, 400, undefined]);
          expect(JSON.stringify(error)).toContain('may not be fetched');
        }
    },
  );

  test('is fetched for the server if it is allowed', async () => {
    for (const scene of [scenes.translated, scenes.relayed])
      for (const protocol of UPSTREAM_PROTOCOLS) {
        site.always(png());
        const { status, sent } = await ask(scene, protocol, [path, body(`${site.origin}/dot.png`)]);
        expect([protocol, status]).toEqual([protocol, 200]);
        expect(sent).toContain(PNG);
        expect(sent).not.toContain(site.origin);
      }
  });
});

test('an address of another scheme is not left to it either', async () => {
  const asking = ASKING['source.url of Messages']?.[1] ?? (() => ({}));
  for (const url of ['file:///etc/passwd', 'ftp://10.0.0.1/a', 's3://bucket/a', 'gopher://127.0.0.1/'])
    for (const scene of [scenes.translated, scenes.relayed, scenes.fetching]) {
      const { status, sent } = await ask(scene, 'anthropic-messages', ['/v1/messages', asking(url)]);
      expect([url, status, sent]).toEqual([url, url.startsWith('s3:') ? 404 : 400, undefined]);
    }
});

describe('an address in a part of a type that only the server supports', () => {
  const video = (url: string): readonly [string, object] => [
    '/v1/chat/completions',
    { messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url, fps: 2 } }] }] },
  ];

  test('is refused or fetched as all others', async () => {
    for (const scene of [scenes.translated, scenes.relayed]) {
      const refused = await ask(scene, 'openai-chat', video(METADATA));
      expect([refused.status, refused.sent]).toEqual([400, undefined]);
      expect(at(refused.error, 'param')).toBe('messages[0].content[0]');
      site.always(png());
      const { sent } = await ask(scene, 'openai-chat', video(`${site.origin}/film`));
      expect(JSON.parse(sent ?? '{}')).toMatchObject({
        messages: [{ content: [{ type: 'video_url', video_url: { url: PNG_URL, fps: 2 } }] }],
      });
    }
  });

  test('is checked if the server is configured to fetch itself', async () => {
    expect((await ask(scenes.fetching, 'openai-chat', video(METADATA))).status).toBe(400);
    const { sent } = await ask(scenes.fetching, 'openai-chat', video('https://films.example/film'));
    expect(sent).toContain('"https://films.example/film"');
  });
});

test('a captured screen at an address is fetched, or refused', async () => {
  const screen = (image_url: string): readonly [string, object] => [
    '/v1/responses',
    {
      store: false,
      tools: [{ type: 'computer' }],
      input: [
        {
          type: 'computer_call',
          id: 'cu_1',
          call_id: 'c',
          actions: [],
          pending_safety_checks: [],
          status: 'completed',
        },
        { type: 'computer_call_output', call_id: 'c', output: { type: 'computer_screenshot', image_url } },
      ],
    },
  ];
  const refused = await ask(scenes.relayed, 'openai-responses', screen(METADATA));
  expect([refused.status, refused.sent]).toEqual([400, undefined]);
  site.always(png());
  const { sent } = await ask(scenes.relayed, 'openai-responses', screen(`${site.origin}/screen.png`));
  expect(sent).toContain(PNG);
});

describe('an MCP server that the upstream calls itself', () => {
  const body = (server_url: string): readonly [string, object] => [
    '/v1/responses',
    {
      store: false,
      input: 'Hello',
      tools: [{ type: 'mcp', server_label: 'inner', server_url, require_approval: 'never' }],
    },
  ];

  test('must be one that the gateway may call as well', async () => {
    const { status, error, sent } = await ask(
      scenes.calling,
      'openai-responses',
      body('http://10.0.0.1/mcp'),
    );
    expect([status, sent]).toEqual([400, undefined]);
    expect(error).toMatchObject({ code: 'url_not_allowed', param: 'tools[0].server_url' });
    const passed = await ask(scenes.calling, 'openai-responses', body('https://mcp.example/mcp'));
    expect(passed.sent).toContain('https://mcp.example/mcp');
  });
});

test('a token count does not show an address to it', async () => {
  for (const scene of [scenes.translated, scenes.relayed, scenes.fetching]) {
    const asked = ASKING['source.url of Messages']?.[1](METADATA) ?? {};
    const { sent, status } = await ask(scene, 'anthropic-messages', ['/v1/messages/count_tokens', asked]);
    expect([sent, status]).toEqual([undefined, 200]);
  }
});
