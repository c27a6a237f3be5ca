// Estimates where no upstream counts: they count what the model reads, whatever protocol it was written in and however many
// bytes its images have.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chatBody, cutAfter, stream, whole } from '../../support/upstreams/answers.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { dialect, type UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import { recordOf, startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import { startToolScene } from '../../support/upstreams/tool-scene.ts';

const scenes: Scene[] = [];
const sceneOf = (isRelayed: boolean): Scene => {
  const scene = scenes[isRelayed ? 1 : 0];
  if (!scene) throw new Error('no scene');
  return scene;
};

beforeAll(async () => {
  scenes.push(await startScene(['up']), await startScene(['up'], { faithful: true }));
});
afterAll(() => Promise.all(scenes.map((scene) => scene[Symbol.asyncDispose]())));

const TEXT = 'What does this picture show? '.repeat(40);
/** A megabyte in base64. */
const PNG = `iVBORw0KGgo${'A'.repeat(1_000_000 - 11)}`;
/** A quarter of the text's characters, those of an image, and some around them and for the tool. */
const TOKENS = 1_083;
const schema = { type: 'object', properties: { city: { type: 'string' } } };
const name = 'get_weather';
const description = 'Weather of a city';

/** A text, an image and a tool, as a client of each protocol says it. */
const ASKED: Readonly<Record<ClientProtocol, object>> = {
  'openai-chat': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: TEXT },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
        ],
      },
    ],
    tools: [{ type: 'function', function: { name, description, parameters: schema } }],
  },
  'openai-responses': {
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: TEXT },
          { type: 'input_image', image_url: `data:image/png;base64,${PNG}` },
        ],
      },
    ],
    tools: [{ type: 'function', name, description, parameters: schema, strict: false }],
  },
  'anthropic-messages': {
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: TEXT },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
        ],
      },
    ],
    tools: [{ name, description, input_schema: schema }],
  },
  gemini: {
    contents: [
      { role: 'user', parts: [{ text: TEXT }, { inlineData: { mimeType: 'image/png', data: PNG } }] },
    ],
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: schema }] }],
  },
};

const clients = Object.keys(CLIENTS) as ClientProtocol[];
/** A Responses request of this scene lets its model reason, and such answers are translated. */
const RELAYED: readonly UpstreamProtocol[] = ['openai-chat', 'anthropic-messages', 'gemini'];
const modelOf = (upstream: UpstreamProtocol): string => `one/${upstream.split('-').at(-1)}`;
const promptTokens = (tokens: unknown): number => Number(at(tokens, 'prompt_tokens'));

async function cutShort(
  client: ClientProtocol,
  upstream: UpstreamProtocol,
  isRelayed: boolean,
): Promise<{ text: string; record: Json }> {
  const scene = sceneOf(isRelayed);
  const up = dialect(upstream, 'up-0001');
  scene.upstream('up').script(cutAfter(up.opening + up.piece('It shows a')));
  const model = modelOf(upstream);
  const { path, ask } = CLIENTS[client];
  const response = await scene.gateway.post(path(model, true), { ...ask(model, true), ...ASKED[client] });
  const text = await response.text();
  expect(response.headers.get('x-dragoman-lane')).toBe(isRelayed ? 'relay' : 'translate');
  return { text, record: await recordOf(scene.gateway, response) };
}

describe('an image of a megabyte, in an answer that is cut before anybody counted', () => {
  const ways = clients.flatMap((client) => [
    { client, upstream: 'openai-chat' as UpstreamProtocol, lane: 'translate' },
    ...RELAYED.filter((upstream) => upstream === client).map((upstream) => ({
      client,
      upstream,
      lane: 'relay',
    })),
  ]);
  test.each(ways)('$client client, $upstream upstream, $lane lane', async ({ client, upstream, lane }) => {
    const { record } = await cutShort(client, upstream, lane === 'relay');
    // Anthropic counts the prompt at the beginning, which is better than any estimate; what it wrote is estimated there too.
    const prompt = upstream === 'anthropic-messages' ? 10 : TOKENS;
    // Bytes of images count next to nothing, and the same in every protocol.
    expect(promptTokens(at(record, 'native_tokens'))).toBe(prompt);
    expect(at(record, 'native_tokens', 'completion_tokens')).toBe(3);
    expect(at(record, 'estimated')).toBe(true);
    expect(at(record, 'cost', 'usd')).toBeCloseTo((prompt + 4 * 3) / 1e6, 12);
  });

  test('a Messages client reads the same at the beginning of its stream', async () => {
    const { text } = await cutShort('anthropic-messages', 'openai-chat', false);
    const start = text.split('\n\n').find((block) => block.includes('message_start')) ?? '';
    const message: unknown = JSON.parse(start.slice(start.indexOf('{')));
    expect(at(message, 'message', 'usage', 'input_tokens')).toBe(TOKENS);
  });
});

test('the repair of an answer has more to read than the answer that it repairs', async () => {
  const scene = sceneOf(false);
  const up = dialect('openai-chat', 'up-0001');
  const uncounted = (text: string): object => ({ ...up.whole(text), usage: undefined });
  scene.upstream('up').script(whole(uncounted('{"city": 1}')), whole(uncounted('{"city": "Oslo"}')));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/chat',
    messages: [{ role: 'user', content: 'Which city?' }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'city', schema: { ...schema, required: ['city'] }, strict: true },
    },
  });
  expect(response.status).toBe(200);
  const record = await recordOf(scene.gateway, response);
  const [first, second] = [0, 1].map((place) => promptTokens(at(record, 'attempts', place, 'tokens')));
  expect(first).toBeGreaterThan(0);
  expect(second).toBeGreaterThan((first ?? 0) + 10);
});

test('earlier items count in a turn that only refers to them', async () => {
  const scene = sceneOf(false);
  const up = dialect('openai-chat', 'up-0001');
  const said = 'Once upon a time there was a king. '.repeat(100);
  const answer = stream(up.opening + up.piece('Then') + 'data: [DONE]\n\n');
  scene.upstream('up').script(whole({ ...up.whole(said), usage: undefined }), answer);
  const first = (await (
    await scene.gateway.post('/responses', { model: 'one/chat', input: 'A story.' })
  ).json()) as Json;
  const next = await scene.gateway.post('/responses', {
    model: 'one/chat',
    input: 'Go on.',
    previous_response_id: at(first, 'id'),
    stream: true,
  });
  await next.text();
  const record = await recordOf(scene.gateway, next);
  expect(promptTokens(at(record, 'native_tokens'))).toBeGreaterThan(said.length / 4);
});

test('a later turn of a response has more input: the results of the hosted tool', async () => {
  await using tools = await startToolScene();
  const call = {
    tool_calls: [
      { id: 'c1', type: 'function', function: { name: 'web_search', arguments: '{"query":"q"}' } },
    ],
  };
  tools.upstream.script(
    whole({ ...chatBody(call, 'tool_calls'), usage: undefined }),
    whole({ ...chatBody('It is 299 km long.'), usage: undefined }),
  );
  const response = await tools.gateway.post('/responses', {
    model: 'to/chat',
    input: 'How long is the Ounas?',
    tools: [{ type: 'web_search' }],
  });
  expect(response.status).toBe(200);
  const record = await recordOf(tools.gateway, response);
  const counts = [0, 1].map((place) => promptTokens(at(record, 'attempts', place, 'tokens')));
  expect(counts[0]).toBeGreaterThan(0);
  expect(counts[1]).toBeGreaterThan((counts[0] ?? 0) + 30);
  expect(promptTokens(at(record, 'native_tokens'))).toBe(counts.reduce((sum, count) => sum + count, 0));
});

test('an earlier generated picture counts as one picture, regardless of its bytes', async () => {
  const scene = sceneOf(false);
  const up = dialect('openai-responses', 'up-0001');
  scene.upstream('up').script(whole({ ...up.whole('A cat.'), usage: undefined }));
  const picture = { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: PNG };
  const response = await scene.gateway.post('/responses', {
    model: 'one/responses',
    input: [picture, { role: 'user', content: 'What is it?' }],
  });
  expect(response.status).toBe(200);
  const record = await recordOf(scene.gateway, response);
  const counted = promptTokens(at(record, 'native_tokens'));
  expect([counted > 700, counted < 900]).toEqual([true, true]);
});
