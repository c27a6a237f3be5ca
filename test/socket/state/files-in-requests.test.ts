// Images and files that requests only point to: uploaded ones by id, in every client's protocol and towards every
// upstream's; addresses, passed on or fetched. The site that is fetched from is a real one on this machine.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { gzipSync } from 'node:zlib';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI, { toFile, type APIError } from 'openai';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { TEST_KEY } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { dialect, UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import { startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import {
  startUpstream,
  type Answer,
  type ScriptedUpstream,
} from '../../support/upstreams/scripted-upstream.ts';
import { PNG, PNG_URL } from '../../support/images.ts';

const PDF = Buffer.from('%PDF-1.7 a paper').toString('base64');
const TEXT = Buffer.from('words').toString('base64');
const OTHER_KEY = 'sk-test-other';

const MODELS: Readonly<Record<UpstreamProtocol, string>> = {
  'openai-chat': 'one/chat',
  'openai-responses': 'one/responses',
  'anthropic-messages': 'one/messages',
  gemini: 'one/gemini',
};

/** How an upstream is told of a picture and of a paper by their bytes. */
const AS_BYTES: Readonly<Record<UpstreamProtocol, { readonly png: unknown; readonly pdf: unknown }>> = {
  'openai-chat': {
    png: { type: 'image_url', image_url: { url: PNG_URL } },
    pdf: { type: 'file', file: { file_data: `data:application/pdf;base64,${PDF}`, filename: 'paper.pdf' } },
  },
  'openai-responses': {
    png: { type: 'input_image', image_url: PNG_URL, detail: 'auto' },
    pdf: { type: 'input_file', file_data: `data:application/pdf;base64,${PDF}`, filename: 'paper.pdf' },
  },
  'anthropic-messages': {
    png: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    pdf: {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: PDF },
      title: 'paper.pdf',
    },
  },
  gemini: {
    png: { inlineData: { mimeType: 'image/png', data: PNG } },
    pdf: { inlineData: { mimeType: 'application/pdf', data: PDF } },
  },
};

/** The parts of the last message that an upstream was sent. */
function partsSent(protocol: UpstreamProtocol, body: unknown): unknown {
  if (protocol === 'gemini') return at(body, 'contents', 0, 'parts');
  return at(body, protocol === 'openai-responses' ? 'input' : 'messages', 0, 'content');
}

const clock = new ManualClock(Date.now());
const ids = { png: '', pdf: '', text: '' };

/** Bedrock and a local server, which fetch nothing. */
const [site, hosts] = await Promise.all([startUpstream(), startUpstream()]);
const scene = await startScene(['up', 'down'], {
  clock,
  quirks: { fetches_urls: true },
  config: {
    keys: [
      { name: 'test', key: TEST_KEY },
      { name: 'other', key: OTHER_KEY },
    ],
    files: { max_mb: 1 },
    vendor_objects: ['file_011CNha8iCJcU1wXNR6q4V8w'],
    // The clock stands still: nobody could wait between two tries.
    routing: { retries: 0 },
    fetch: { allow: [new URL(site.origin).host] },
    providers: {
      local: {
        api_key: 'none',
        protocols: { 'openai-chat': { base_url: hosts.origin, quirks: { fetches_urls: false } } },
      },
      bedrock: { region: 'eu-west-1', api_key: 'sk-bedrock-test', base_url: hosts.origin },
    },
    models: [
      {
        id: 'two/mixed',
        endpoints: [
          { provider: 'up', model: 'm', protocol: 'gemini' },
          { provider: 'down', model: 'm', protocol: 'openai-chat' },
        ],
      },
      {
        id: 'two/gemini',
        endpoints: [
          { provider: 'up', model: 'm', protocol: 'gemini' },
          { provider: 'down', model: 'm', protocol: 'gemini' },
        ],
      },
    ],
  },
});
const clientOf = (apiKey: string): OpenAI =>
  new OpenAI({ apiKey, baseURL: scene.gateway.baseURL, maxRetries: 0 });
const client = clientOf(TEST_KEY);
const stranger = clientOf(OTHER_KEY);
const upload = async (name: string, base64: string): Promise<string> => {
  const file = await toFile(Buffer.from(base64, 'base64'), name);
  return (await client.files.create({ file, purpose: 'user_data' })).id;
};
ids.png = await upload('dot.png', PNG);
ids.pdf = await upload('paper.pdf', PDF);
ids.text = await upload('notes.txt', TEXT);
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await Promise.all([site.stop(), hosts.stop()]);
});

/** Asks Chat Completions, and gives back what the upstream was sent. */
async function chat(model: string, content: readonly object[], asker = client): Promise<void> {
  await asker.chat.completions.create({
    model,
    messages: [{ role: 'user', content: content as OpenAI.ChatCompletionContentPart[] }],
  });
}

function answering(protocol: UpstreamProtocol): ScriptedUpstream {
  const upstream = scene.upstream('up');
  upstream.always(whole(dialect(protocol, 'm').whole('ok')));
  return upstream;
}

describe.each(UPSTREAM_PROTOCOLS.map((protocol) => [protocol]))('an uploaded file reaches %s', (protocol) => {
  test('from Chat Completions', async () => {
    const upstream = answering(protocol);
    await chat(MODELS[protocol], [
      { type: 'file', file: { file_id: ids.png } },
      { type: 'file', file: { file_id: ids.pdf } },
    ]);
    expect(partsSent(protocol, upstream.requests[0]?.json)).toEqual([
      AS_BYTES[protocol].png,
      AS_BYTES[protocol].pdf,
    ] as never);
    expect(upstream.requests.length).toBe(1);
  });

  test('from Responses', async () => {
    const upstream = answering(protocol);
    const answer = await client.responses.create({
      model: MODELS[protocol],
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', file_id: ids.png, detail: 'auto' },
            { type: 'input_file', file_id: ids.pdf },
          ],
        },
      ],
    });
    const sent = partsSent(protocol, upstream.requests[0]?.json);
    expect(JSON.stringify(sent)).toContain(PNG);
    expect(sent).toMatchObject([{}, AS_BYTES[protocol].pdf as object]);
    // The stored turn names the file; the next turn reads it again.
    const { data } = await client.responses.inputItems.list(answer.id);
    expect(data[0]).toMatchObject({ content: [{ file_id: ids.png }, { file_id: ids.pdf }] });
    await client.responses.create({
      model: MODELS[protocol],
      previous_response_id: answer.id,
      input: 'And now?',
    });
    expect(upstream.requests[1]?.text).toContain(PDF);
    expect(upstream.requests[1]?.text).not.toContain(ids.pdf);
  });

  test('from Messages with the type of its bytes', async () => {
    const upstream = answering(protocol);
    const anthropic = new Anthropic({ apiKey: TEST_KEY, baseURL: scene.gateway.origin, maxRetries: 0 });
    await anthropic.beta.messages.create({
      model: MODELS[protocol],
      max_tokens: 100,
      messages: [
        { role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: ids.png } }] },
      ],
    });
    expect(partsSent(protocol, upstream.requests[0]?.json)).toMatchObject([AS_BYTES[protocol].png as object]);
  });

  test('from Gemini, in the place of an address at Google', async () => {
    const upstream = answering(protocol);
    const response = await fetch(
      `${scene.gateway.origin}/v1beta/models/${MODELS[protocol]}:generateContent`,
      {
        method: 'POST',
        headers: { 'x-goog-api-key': TEST_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({
          contents: [
            {
              role: 'user',
              parts: [
                { fileData: { fileUri: ids.png, mimeType: 'image/png' } },
                { fileData: { fileUri: ids.pdf, mimeType: 'application/pdf' } },
              ],
            },
          ],
        }),
      },
    );
    expect(response.status).toBe(200);
    const sent = partsSent(protocol, upstream.requests[0]?.json);
    expect(sent).toEqual([AS_BYTES[protocol].png, AS_BYTES[protocol].pdf] as never);
  });

  test('in the result of a tool', async () => {
    const upstream = answering(protocol);
    const response = await scene.gateway.post('/responses', {
      model: MODELS[protocol],
      store: false,
      input: [
        { role: 'user', content: 'Fetch it.' },
        { type: 'function_call', call_id: 'c1', name: 'fetch', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c1',
          output: [
            { type: 'input_file', file_id: ids.pdf },
            { type: 'input_image', file_id: ids.png },
          ],
        },
      ],
    });
    expect(response.status).toBe(200);
    const sent = upstream.requests[0]?.text;
    expect(sent).toContain(PNG);
    expect(sent).toContain(PDF);
    expect(sent).not.toContain(ids.png);
  });

  test('no loss is reported, also in strict mode', async () => {
    answering(protocol);
    const response = await scene.gateway.post(
      '/chat/completions',
      {
        model: MODELS[protocol],
        messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: ids.pdf } }] }],
      },
      { 'x-dragoman-strict': 'true' },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-report')).toBeNull();
  });
});

test('an uploaded file is counted by the upstream that counts', async () => {
  const upstream = scene.upstream('up');
  upstream.always(whole({ input_tokens: 77 }));
  const anthropic = new Anthropic({ apiKey: TEST_KEY, baseURL: scene.gateway.origin, maxRetries: 0 });
  const counted = await anthropic.beta.messages.countTokens({
    model: 'one/messages',
    messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: ids.pdf } }] }],
  });
  expect(counted.input_tokens).toBe(77);
  expect(partsSent('anthropic-messages', upstream.requests[0]?.json)).toEqual([
    AS_BYTES['anthropic-messages'].pdf,
  ] as never);
});

describe('a screenshot that was uploaded', () => {
  const ask = (model: string, id: string): Promise<unknown> =>
    client.responses.create({
      model,
      tools: [{ type: 'computer_use_preview', display_width: 8, display_height: 6, environment: 'browser' }],
      input: [
        { role: 'user', content: 'Look.' },
        {
          type: 'computer_call',
          id: 'cu_1',
          call_id: 'c1',
          status: 'completed',
          action: { type: 'screenshot' },
          pending_safety_checks: [],
        },
        {
          type: 'computer_call_output',
          call_id: 'c1',
          output: { type: 'computer_screenshot', file_id: id },
        },
      ] as OpenAI.Responses.ResponseInput,
    });

  test.each([
    ['openai-responses', [`"image_url":"data:image/png;base64,${PNG}"`]],
    ['anthropic-messages', [`"data":"${PNG}"`]],
    ['gemini', [`"data":"${PNG}"`]],
  ] as const)('reaches %s', async (protocol, [expected]) => {
    const upstream = answering(protocol);
    await ask(MODELS[protocol], ids.png);
    expect(upstream.requests[0]?.text).toContain(expected);
    expect(upstream.requests[0]?.text).not.toContain(ids.png);
  });

  test('must be a picture, and must be there', async () => {
    const upstream = answering('openai-responses');
    expect((await rejection(ask('one/responses', ids.pdf))) as APIError).toMatchObject({
      status: 400,
      param: 'input[2]',
    });
    expect((await rejection(ask('one/responses', 'file_none'))) as APIError).toMatchObject({
      status: 404,
      param: 'input[2]',
    });
    expect(upstream.requests).toEqual([]);
  });
});

describe('a file id that is unknown for this key', () => {
  test.each([['file_000000000000000000000000'], ['file-abc123'], ['x']])('is a 404: %s', async (id) => {
    const upstream = answering('openai-chat');
    const content = [
      { type: 'text', text: 'Read.' },
      { type: 'file', file: { file_id: id } },
    ];
    expect((await rejection(chat('one/chat', content))) as APIError).toMatchObject({
      status: 404,
      param: 'messages[0].content[1]',
    });
    const input = [{ role: 'user', content: [{ type: 'input_image', file_id: id }] }];
    expect(
      (await rejection(
        client.responses.create({ model: 'one/chat', input: input as OpenAI.Responses.ResponseInput }),
      )) as APIError,
    ).toMatchObject({ status: 404, param: 'input[0].content[0]' });
    expect(upstream.requests).toEqual([]);
  });

  test('is a 404 if it belongs to another key', async () => {
    const upstream = answering('openai-chat');
    const content = [{ type: 'file', file: { file_id: ids.pdf } }];
    expect((await rejection(chat('one/chat', content, stranger))) as APIError).toMatchObject({ status: 404 });
    expect(upstream.requests).toEqual([]);
  });

  test('is sent to an upstream with its own files if the operator shares that file', async () => {
    const upstream = answering('anthropic-messages');
    const anthropic = new Anthropic({ apiKey: TEST_KEY, baseURL: scene.gateway.origin, maxRetries: 0 });
    const source = { type: 'file', file_id: 'file_011CNha8iCJcU1wXNR6q4V8w' } as const;
    await anthropic.beta.messages.create({
      model: 'one/messages',
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'document', source }] }],
    });
    expect(partsSent('anthropic-messages', upstream.requests[0]?.json)).toEqual([
      { type: 'document', source },
    ] as never);
  });
});

test('an invalid image, and too many bytes, are refused with their path', async () => {
  const upstream = answering('openai-chat');
  const input = [{ role: 'user', content: [{ type: 'input_image', file_id: ids.pdf }] }];
  const error = (await rejection(
    client.responses.create({ model: 'one/chat', input: input as OpenAI.Responses.ResponseInput }),
  )) as APIError;
  expect(error).toMatchObject({ status: 400, param: 'input[0].content[0]' });
  expect(error.message).toContain('application/pdf');

  const file = await toFile(Buffer.alloc(400_000, 'a'), 'large.txt');
  const { id } = await client.files.create({ file, purpose: 'user_data' });
  const large = { type: 'file', file: { file_id: id } };
  await chat('one/chat', [large, large]);
  expect((await rejection(chat('one/chat', [large, large, large]))) as APIError).toMatchObject({
    status: 413,
    param: 'messages[0].content[2]',
  });
  expect(upstream.requests.length).toBe(1);
});

describe('an address', () => {
  const serve = (body: Uint8Array, headers: Readonly<Record<string, string>> = {}, status = 200): Answer => {
    return (exchange) => {
      exchange.head(status, { 'content-length': String(body.length), ...headers });
      exchange.raw(body);
    };
  };
  const png = Buffer.from(PNG, 'base64');
  const pdf = Buffer.from(PDF, 'base64');
  const image = (url: string): object => ({ type: 'image_url', image_url: { url } });
  const document = (url: string): object => ({ type: 'file', file: { file_data: url } });

  test.each([
    ['openai-chat', (url: string) => image(url)],
    ['openai-responses', (url: string) => ({ type: 'input_image', image_url: url, detail: 'auto' })],
    ['anthropic-messages', (url: string) => ({ type: 'image', source: { type: 'url', url } })],
  ] as const)('of an image is sent to %s, which fetches it', async (protocol, expected) => {
    const upstream = answering(protocol);
    site.script();
    const url = 'https://pictures.example/dot.png';
    await chat(MODELS[protocol], [image(url)]);
    expect(partsSent(protocol, upstream.requests[0]?.json)).toEqual([expected(url)] as never);
  });

  test('is fetched for an upstream that requires bytes, and its type is detected from the bytes', async () => {
    const upstream = answering('gemini');
    site.script(
      serve(png, { 'content-type': 'text/html' }),
      serve(gzipSync(pdf), { 'content-encoding': 'gzip' }),
      serve(Buffer.from('a,b'), { 'content-type': 'text/csv; charset=utf-8' }),
    );
    await chat('one/gemini', [
      image(`${site.origin}/a`),
      image(`${site.origin}/a`),
      document(`${site.origin}/paper.pdf`),
      document(`${site.origin}/table`),
      image('https://www.youtube.com/watch?v=x'),
    ]);
    expect(site.requests.length).toBe(3);
    expect(at(upstream.requests[0]?.json, 'contents', 0, 'parts')).toEqual([
      AS_BYTES.gemini.png,
      AS_BYTES.gemini.png,
      AS_BYTES.gemini.pdf,
      { inlineData: { mimeType: 'text/csv', data: Buffer.from('a,b').toString('base64') } },
      { fileData: { fileUri: 'https://www.youtube.com/watch?v=x' } },
    ] as never);
  });

  test('of a file is fetched for Chat Completions, which take images by address only', async () => {
    const upstream = answering('openai-chat');
    site.script(serve(pdf));
    await chat('one/chat', [document(`${site.origin}/paper.pdf?token=1`)]);
    expect(partsSent('openai-chat', upstream.requests[0]?.json)).toEqual([
      AS_BYTES['openai-chat'].pdf,
    ] as never);
  });

  test('is fetched for hosts that fetch nothing, even if the vendor of their protocol does', async () => {
    site.script(serve(png), serve(png), serve(pdf), serve(png));
    hosts.always(whole({ message: 'scripted' }, 400));
    const ask = (model: string): Promise<unknown> => rejection(chat(model, [image(`${site.origin}/a.png`)]));
    await ask('bedrock/us.amazon.nova-lite-v1:0');
    expect(at(hosts.requests[0]?.json, 'messages', 0, 'content')).toEqual([
      { image: { format: 'png', source: { bytes: PNG } } },
    ] as never);
    hosts.requests.length = 0;
    await ask('bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0');
    expect(at(hosts.requests[0]?.json, 'messages', 0, 'content')).toMatchObject([
      AS_BYTES['anthropic-messages'].png as object,
    ]);
    hosts.requests.length = 0;
    // Also where the client speaks that protocol, and its own bytes could have been relayed.
    const anthropic = new Anthropic({ apiKey: TEST_KEY, baseURL: scene.gateway.origin, maxRetries: 0 });
    const source = { type: 'url', url: `${site.origin}/paper.pdf` } as const;
    await rejection(
      anthropic.messages.create({
        model: 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
        max_tokens: 10,
        messages: [{ role: 'user', content: [{ type: 'document', source }] }],
      }),
    );
    expect(at(hosts.requests[0]?.json, 'messages', 0, 'content')).toMatchObject([
      AS_BYTES['anthropic-messages'].pdf as object,
    ]);
    hosts.requests.length = 0;
    await ask('local/llava');
    expect(at(hosts.requests[0]?.json, 'messages', 0, 'content')).toEqual([
      AS_BYTES['openai-chat'].png,
    ] as never);
  });

  test('is fetched once for all endpoints of a request', async () => {
    site.script(serve(png), serve(png));
    scene.upstream('up').always(dialect('gemini', 'm').error(503));
    scene.upstream('down').always(whole(dialect('gemini', 'm').whole('ok')));
    await chat('two/gemini', [image(`${site.origin}/a.png`)]);
    expect(scene.upstream('up').requests.length).toBeGreaterThan(0);
    expect(scene.upstream('down').requests[0]?.text).toContain(PNG);
    expect(site.requests.length).toBe(1);
  });

  test.each([
    ['http://127.0.0.1:1/a.png'],
    ['http://169.254.169.254/latest/meta-data/'],
    ['http://[::1]/'],
    ['http://localhost/a.png'],
  ])('is never fetched if it is not public: %s', async (url) => {
    const upstream = answering('gemini');
    expect(
      (await rejection(chat('one/gemini', [{ type: 'text', text: 'Look.' }, image(url)]))) as APIError,
    ).toMatchObject({
      status: 400,
      code: 'url_not_allowed',
      param: 'messages[0].content[1]',
    });
    expect(upstream.requests).toEqual([]);
  });

  test('that redirects to a private one is not followed', async () => {
    const upstream = answering('gemini');
    site.script(serve(Buffer.alloc(0), { location: 'http://127.0.0.1:1/' }, 302));
    expect((await rejection(chat('one/gemini', [image(`${site.origin}/a.png`)]))) as APIError).toMatchObject({
      status: 400,
      code: 'url_not_allowed',
    });
    expect(upstream.requests).toEqual([]);
  });

  test('that cannot be fetched is left to an endpoint that fetches itself', async () => {
    const url = `${site.origin}/a.png`;
    const missing = serve(Buffer.from('no'), {}, 404);
    site.script(missing);
    scene.upstream('up').script();
    scene.upstream('down').always(whole(dialect('openai-chat', 'm').whole('ok')));
    await chat('two/mixed', [image(url)]);
    expect(partsSent('openai-chat', scene.upstream('down').requests[0]?.json)).toEqual([image(url)] as never);
    expect(scene.upstream('up').requests).toEqual([]);
    site.script(missing);
    const error = (await rejection(chat('one/gemini', [image(url)]))) as APIError;
    expect(error).toMatchObject({ status: 400, param: 'messages[0].content[0]', code: 'url_not_fetched' });
    expect(error.message).toContain('404');
  });

  test('of content that is no image or too large is refused', async () => {
    const upstream = answering('gemini');
    site.script(serve(Buffer.from('<html>'), { 'content-type': 'text/html' }));
    const error = (await rejection(chat('one/gemini', [image(`${site.origin}/a.png`)]))) as APIError;
    expect(error).toMatchObject({ status: 400, param: 'messages[0].content[0]' });
    expect(error.message).toContain('text/html');
    site.script(serve(Buffer.alloc(2_000_000)));
    expect((await rejection(chat('one/gemini', [image(`${site.origin}/b.png`)]))) as APIError).toMatchObject({
      status: 413,
      param: 'messages[0].content[0]',
    });
    expect(upstream.requests).toEqual([]);
  });

  test('that responds too slowly is abandoned', async () => {
    answering('gemini');
    site.script(() => {});
    const failed = rejection(chat('one/gemini', [image(`${site.origin}/slow.png`)]));
    await site.arrived(1);
    clock.advance(20_000);
    expect((await failed) as APIError).toMatchObject({ status: 400, code: 'url_not_fetched' });
  });

  test('is not fetched further when the client has disconnected', async () => {
    answering('gemini');
    site.script(() => {});
    const { id: conversation } = await client.conversations.create({});
    const turn = (content: string | readonly object[], signal?: AbortSignal): Promise<unknown> =>
      client.responses.create(
        {
          model: 'one/gemini',
          conversation,
          input: [{ role: 'user', content }] as OpenAI.Responses.ResponseInput,
        },
        { signal },
      );
    const leaving = new AbortController();
    const left = rejection(
      turn([{ type: 'input_image', image_url: `${site.origin}/x.png` }], leaving.signal),
    );
    await site.arrived(1);
    clock.advance(100);
    leaving.abort();
    await left;
    // The conversation is free again, although the site still says nothing.
    let last: unknown = 'never asked';
    for (let round = 0; round < 200 && last !== undefined; round++) {
      clock.advance(1);
      last = await turn('Hello?').then(
        () => undefined,
        (error: unknown) => error,
      );
    }
    expect(last).toBeUndefined();
  });
});

test('the type of a text file is detected from its name', async () => {
  const upstream = answering('anthropic-messages');
  await chat('one/messages', [{ type: 'file', file: { file_id: ids.text } }]);
  expect(partsSent('anthropic-messages', upstream.requests[0]?.json) as unknown as JsonObject[]).toEqual([
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'words' },
      title: 'notes.txt',
    },
  ]);
});

describe('an upstream whose answers are relayed', () => {
  let faithful: Scene;
  let id = '';
  const headers = { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' };
  beforeAll(async () => {
    faithful = await startScene(['up'], { faithful: true, quirks: { fetches_urls: true } });
    const own = new OpenAI({ apiKey: TEST_KEY, baseURL: faithful.gateway.baseURL, maxRetries: 0 });
    const file = await toFile(Buffer.from(PDF, 'base64'), 'paper.pdf');
    ({ id } = await own.files.create({ file, purpose: 'user_data' }));
  });
  afterAll(() => faithful[Symbol.asyncDispose]());

  const ask = (protocol: UpstreamProtocol, path: string, body: object): Promise<Response> => {
    faithful.upstream('up').always(whole(dialect(protocol, 'm').whole('ok')));
    return fetch(faithful.gateway.origin + path, { method: 'POST', headers, body: JSON.stringify(body) });
  };

  test.each([
    [
      'openai-chat',
      '/v1/chat/completions',
      () => ({ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }] }),
    ],
    [
      'openai-responses',
      '/v1/responses',
      () => ({ store: false, input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }] }),
    ],
    [
      'anthropic-messages',
      '/v1/messages',
      () => ({
        max_tokens: 10,
        messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'file', file_id: id } }] }],
      }),
    ],
  ] as const)(
    '%s gets the bytes of a file, not the id that the client sent',
    async (protocol, path, body) => {
      const response = await ask(protocol, path, { model: MODELS[protocol], ...body() });
      expect(response.status).toBe(200);
      expect(response.headers.get('x-dragoman-lane')).toBe('translate');
      expect(partsSent(protocol, faithful.upstream('up').requests[0]?.json)).toEqual([
        AS_BYTES[protocol].pdf,
      ] as never);
    },
  );

  test('gets the unchanged members of a client of its own protocol, addresses included', async () => {
    const part = { fileData: { mimeType: 'image/png', fileUri: 'https://public.example/dot.png' } };
    const contents = [{ role: 'user', parts: [part] }];
    const response = await ask('gemini', '/v1beta/models/one/gemini:generateContent', { contents });
    expect(response.headers.get('x-dragoman-lane')).toBe('relay');
    expect(faithful.upstream('up').requests[0]?.json).toMatchObject({ contents });
  });
});
