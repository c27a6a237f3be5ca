// Recordings among what a client says: in every client's words, towards every upstream that takes them, and refused by
// name where the upstream's protocol has no place for them.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { TEST_KEY } from '../../support/harness.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { dialect, UPSTREAM_PROTOCOLS, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import { startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { mediaTypeOfFile } from '../../../src/base/lib/media-type.ts';

const WAV_BYTES = Buffer.concat([
  Buffer.from('RIFF'),
  Buffer.from([36, 0, 0, 0]),
  Buffer.from('WAVEfmt '),
  Buffer.alloc(28),
]);
const WAV = WAV_BYTES.toString('base64');
const MP3 = Buffer.concat([Buffer.from('ID3'), Buffer.alloc(30)]).toString('base64');

const MODELS: Readonly<Record<UpstreamProtocol, string>> = {
  'openai-chat': 'one/chat',
  'openai-responses': 'one/responses',
  'anthropic-messages': 'one/messages',
  gemini: 'one/gemini',
};

let upload = '';
/** Bedrock, which has no audio either. */
const bedrock = await startUpstream();
const scene = await startScene(['up', 'down'], {
  config: {
    routing: { retries: 0 },
    providers: { bedrock: { region: 'eu-west-1', api_key: 'sk-bedrock-test', base_url: bedrock.origin } },
    models: [
      {
        id: 'two/mixed',
        endpoints: [
          { provider: 'up', model: 'm', protocol: 'anthropic-messages' },
          { provider: 'down', model: 'm', protocol: 'gemini' },
        ],
      },
    ],
  },
});
const client = new OpenAI({ apiKey: TEST_KEY, baseURL: scene.gateway.baseURL, maxRetries: 0 });
const file = await toFile(WAV_BYTES, 'voice.wav');
upload = (await client.files.create({ file, purpose: 'user_data' })).id;
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await bedrock.stop();
});

/** One recording, asked about in the words of each client. */
const CLIENTS = {
  'Chat Completions': {
    param: 'messages[0].content[1]',
    ask: (model: string) =>
      scene.gateway.post('/chat/completions', {
        model,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What does it say?' },
              { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } },
            ],
          },
        ],
      }),
  },
  Responses: {
    param: 'input[0].content[1]',
    ask: (model: string) =>
      scene.gateway.post('/responses', {
        model,
        store: false,
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'What does it say?' },
              { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } },
            ],
          },
        ],
      }),
  },
  'Messages, by the id of an upload': {
    param: 'messages[0].content[1]',
    ask: (model: string) =>
      scene.gateway.post('/messages', {
        model,
        max_tokens: 10,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'What does it say?' },
              { type: 'document', source: { type: 'file', file_id: upload } },
            ],
          },
        ],
      }),
  },
  Gemini: {
    param: 'contents[0].parts[1]',
    ask: (model: string) =>
      fetch(`${scene.gateway.origin}/v1beta/models/${model}:generateContent`, {
        method: 'POST',
        headers: { 'x-goog-api-key': TEST_KEY, 'content-type': 'application/json' },
        body: JSON.stringify({
          contents: [
            {
              role: 'user',
              parts: [{ text: 'What does it say?' }, { inlineData: { mimeType: 'audio/x-wav', data: WAV } }],
            },
          ],
        }),
      }),
  },
} as const;
type Client = keyof typeof CLIENTS;
const CLIENT_NAMES = Object.keys(CLIENTS) as Client[];

function answering(protocol: UpstreamProtocol, name = 'up'): ScriptedUpstream {
  const upstream = scene.upstream(name);
  upstream.always(whole(dialect(protocol, 'm').whole('ok')));
  return upstream;
}

/** How upstreams that take audio are told. */
const PUBLISHED: Partial<Record<UpstreamProtocol, unknown>> = {
  'openai-chat': { type: 'input_audio', input_audio: { data: WAV, format: 'wav' } },
  gemini: { inlineData: { mimeType: 'audio/wav', data: WAV } },
};

describe.each(CLIENT_NAMES.map((name) => [name] as const))('audio from %s', (name) => {
  const { ask, param } = CLIENTS[name];

  test.each(UPSTREAM_PROTOCOLS.map((protocol) => [protocol] as const))(
    'reaches %s or is refused',
    async (protocol) => {
      const upstream = answering(protocol);
      const asked = upstream.requests.length;
      const response = await ask(MODELS[protocol]);
      const reported =
        // Its own protocol gets the client's own words.
        name === 'Gemini' && protocol === 'gemini'
          ? { inlineData: { mimeType: 'audio/x-wav', data: WAV } }
          : PUBLISHED[protocol];
      if (reported === undefined && !(name === 'Responses' && protocol === 'openai-responses')) {
        const text = await response.text();
        expect([response.status, text]).toEqual([400, expect.stringMatching(/audio/)]);
        expect(text).toContain(param);
        expect(upstream.requests.length).toBe(asked);
        return;
      }
      expect(response.status).toBe(200);
      expect(response.headers.get('x-dragoman-report') ?? '').not.toContain(param);
      const body = upstream.requests.at(-1)?.json;
      const parts =
        protocol === 'gemini'
          ? at(body, 'contents', 0, 'parts')
          : at(body, protocol === 'openai-responses' ? 'input' : 'messages', 0, 'content');
      // The SDK's types have it in Responses (`ResponseInputAudio`): whether a model takes it is for the upstream to say.
      expect(at(parts, 1)).toEqual((reported ?? PUBLISHED['openai-chat']) as never);
    },
  );

  test('is refused for Converse', async () => {
    const response = await ask('bedrock/amazon.nova-pro-v1:0');
    const text = await response.text();
    expect([response.status, text]).toEqual([400, expect.stringMatching(/audio/)]);
    expect(text).toContain(param);
    expect(bedrock.requests).toEqual([]);
  });

  test('skips an endpoint without audio for one that supports it', async () => {
    const refused = answering('anthropic-messages');
    const asked = refused.requests.length;
    const upstream = answering('gemini', 'down');
    expect((await ask('two/mixed')).status).toBe(200);
    expect(refused.requests.length).toBe(asked);
    expect(upstream.requests.at(-1)?.text).toContain(WAV);
  });
});

test.each([
  ['audio/mpeg', 'mp3', MP3],
  ['audio/mp3', 'mp3', MP3],
  ['audio/wave', 'wav', WAV],
])('the type %s of Gemini is %s in Chat Completions', async (mimeType, format, data) => {
  const upstream = answering('openai-chat');
  const response = await fetch(`${scene.gateway.origin}/v1beta/models/one/chat:generateContent`, {
    method: 'POST',
    headers: { 'x-goog-api-key': TEST_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ inlineData: { mimeType, data } }] }] }),
  });
  expect(response.status).toBe(200);
  expect(at(upstream.requests.at(-1)?.json, 'messages', 0, 'content', 0)).toEqual({
    type: 'input_audio',
    input_audio: { data, format },
  } as never);
});

test.each([
  ['audio that is an address', { data: 'https://example.com/a.wav', format: 'wav' }, 'input_audio.data'],
  ['audio without its format', { data: WAV }, 'input_audio.format'],
])('%s is refused', async (_, audio, param) => {
  const upstream = answering('openai-chat');
  const asked = upstream.requests.length;
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: audio }] }],
  });
  expect(response.status).toBe(400);
  expect(at(await response.json(), 'error', 'param')).toBe(`messages[0].content[0].${param}`);
  expect(upstream.requests.length).toBe(asked);
});

test.each([
  ['wav', WAV_BYTES, 'audio/wav'],
  ['mp3 with a tag', Buffer.from(MP3, 'base64'), 'audio/mp3'],
  ['mp3 from its first frame on', Buffer.from([0xff, 0xfb, 0x90, 0, 0, 0]), 'audio/mp3'],
  ['flac', Buffer.from('fLaC\0\0\0\0'), 'audio/flac'],
  ['ogg', Buffer.from('OggS\0\0\0\0'), 'audio/ogg'],
])('the type of an upload is detected from its bytes: %s', (_, bytes, type) => {
  expect(mediaTypeOfFile(bytes, 'x.bin')).toBe(type);
});
