// Wrong values in every documented field of a Chat Completions request: each is a 400 whose `param` names the field,
// or an answer. The fields come from the gateway's own table, so that a new field is covered by being listed.
import { afterAll, describe, expect, test } from 'bun:test';
import { REQUEST_FIELDS } from '../../../src/protocols/openai-chat/fields.ts';
import { readChatStream, readCompletion, readError } from '../../support/chat-shape.ts';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { jsonRequest, sendRaw } from '../../support/raw-request.ts';

const gateway = await startGateway();
afterAll(async () => {
  expect(gateway.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  await gateway.close();
});

/** One model per upstream protocol, and one whose server is only compatible. */
const MODELS = ['sim/chat', 'sim/responses', 'sim/messages', 'sim/deepseek'];
const ASK = { role: 'user', content: 'hello' };

type Outcome = { readonly status: number; readonly param: string | null; readonly message: string };

/** Sends a body; a string is sent as it is, for numbers that JSON.stringify cannot write. */
async function outcome(body: object | string): Promise<Outcome> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const answer = await sendRaw(gateway.origin, jsonRequest(TEST_KEY, text));
  if (answer.status !== 200) {
    const { message, param } = readError(answer.text);
    return { status: answer.status, param, message };
  }
  if (answer.headers.get('content-type')?.startsWith('text/event-stream')) readChatStream(answer.text);
  else readCompletion(answer.text);
  return { status: 200, param: null, message: '' };
}

const request = (more: object): object => ({ model: 'sim/messages', messages: [ASK], ...more });

/** A 400 that names the member or something in it. */
async function expectRefused(body: object | string, path: string): Promise<void> {
  const { status, param, message } = await outcome(body);
  expect({ body, status }).toEqual({ body, status: 400 });
  expect(param ?? '').toStartWith(path);
  expect(message).toContain(path);
}

/** JSON texts of every type, and of numbers at the edges. */
const BOOLEANS = ['true', 'false'];
const TEXTS = ['""', '"text"', '"\\r\\nx-injected: 1"', '"\\u0000"'];
const NUMBERS = ['0', '-0', '-1', '0.5', '1', '4', '1152921504606846976', '-1152921504606846976', '1e-320'];
const LISTS = ['[]', '[null]', '[[]]', '[{}]', '[""]', '[1]'];
const OBJECTS = [
  '{}',
  '{"":""}',
  '{"type":null}',
  '{"type":"text"}',
  '{"type":[]}',
  '{"length":1,"0":"a"}',
  '{"name":{}}',
];
const VALUES = ['null', ...BOOLEANS, ...TEXTS, ...NUMBERS, '1e999', '-1e999', ...LISTS, ...OBJECTS];

/** Values that would be legal or silently ignored; every other value of the list must be a 400. */
const WORKS: Readonly<Record<string, readonly string[]>> = {
  messages: [],
  model: [],
  max_completion_tokens: ['1', '4', '1152921504606846976'],
  max_tokens: ['1', '4', '1152921504606846976'],
  temperature: ['0', '-0', '0.5', '1', '4', '1152921504606846976', '1e-320'],
  top_p: ['0', '-0', '0.5', '1', '1e-320'],
  n: ['1'],
  frequency_penalty: ['0', '-0', '-1', '0.5', '1', '1e-320'],
  presence_penalty: ['0', '-0', '-1', '0.5', '1', '1e-320'],
  stop: ['"text"', '"\\r\\nx-injected: 1"', '"\\u0000"', '[]'],
  logit_bias: ['{}'],
  logprobs: BOOLEANS,
  top_logprobs: [],
  tools: ['[]'],
  tool_choice: [],
  parallel_tool_calls: BOOLEANS,
  response_format: ['{"type":"text"}'],
  reasoning_effort: [],
  verbosity: [],
  web_search_options: OBJECTS,
  metadata: ['{}', '{"":""}', '{"type":"text"}'],
  stream: BOOLEANS,
  stream_options: [],
  seed: ['0', '-0', '-1', '1', '4', '1152921504606846976', '-1152921504606846976'],
  reasoning: OBJECTS,
  include_reasoning: BOOLEANS,
  usage: [],
  provider: OBJECTS,
  model_routing_config: OBJECTS,
  models: ['[]'],
  user: TEXTS,
  safety_identifier: TEXTS,
  prompt_cache_key: TEXTS,
  prompt_cache_retention: TEXTS,
  service_tier: TEXTS,
  store: BOOLEANS,
  prediction: OBJECTS,
  modalities: ['[]'],
  audio: [],
  functions: [],
  function_call: [],
};
const REQUIRED = new Set(['model', 'messages']);
/** Fields whose strings name something: a wrong word is a 404. */
const NAMES = new Set(['model']);

/** The text of a request in which one member has this JSON text. */
function withMember(name: string, value: string, model = 'sim/messages'): string {
  const members = Object.entries(request({ model })).filter(([key]) => key !== name);
  const own = members.map(([key, member]) => `${JSON.stringify(key)}:${JSON.stringify(member)},`).join('');
  return `{${own}${JSON.stringify(name)}:${value}}`;
}

test('every documented field has its list of values that work', () => {
  expect(Object.keys(WORKS).toSorted()).toEqual(REQUEST_FIELDS.map((field) => field.name).toSorted());
});

describe.each(REQUEST_FIELDS.map((field) => field.name))('%s', (name) => {
  test('takes legal values and refuses all others by name', async () => {
    for (const value of VALUES) {
      const body = withMember(name, value);
      const { status, param, message } = await outcome(body);
      const works = (value === 'null' && !REQUIRED.has(name)) || WORKS[name]?.includes(value);
      if (works) {
        expect({ value, status, message }).toEqual({ value, status: 200, message: '' });
        continue;
      }
      // A name with control characters is none, whatever is served.
      const isUnknownName = NAMES.has(name) && /^"(?!"$|\\)/.test(value);
      expect({ value, status }).toEqual({ value, status: isUnknownName ? 404 : 400 });
      expect({ value, param }).toEqual({
        value,
        param: expect.stringMatching(new RegExp(`^${name}([.[]|$)`)),
      });
      expect(message).toContain(name === 'model' && isUnknownName ? 'model' : (param ?? name));
    }
  });

  test('is judged alike for every upstream', async () => {
    for (const value of ['"text"', '-1', '[1]', '{"type":[]}']) {
      const refused: boolean[] = [];
      for (const model of MODELS) {
        const { status } = await outcome(
          name === 'model' ? withMember(name, value) : withMember(name, value, model),
        );
        expect(status).toBeLessThan(500);
        refused.push(status !== 200);
      }
      expect({ value, refused }).toEqual({ value, refused: refused.map(() => refused[0] ?? false) });
    }
  });
});

describe('inside messages', () => {
  const at = (message: unknown): object => request({ messages: [ASK, message] });
  const CALL = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
  const part = (only: object): object => at({ role: 'user', content: [only] });
  const assistant = (more: object): object => at({ role: 'assistant', content: 'a', ...more });
  const call = (more: object): object => assistant({ tool_calls: [{ ...CALL, ...more }] });

  test.each<[string, object]>([
    ['messages[1]', at(null)],
    ['messages[1]', at('hello')],
    ['messages[1]', at([])],
    ['messages[1].role', at({})],
    ['messages[1].role', at({ role: 'robot', content: 'a' })],
    ['messages[1].role', at({ role: 1, content: 'a' })],
    ['messages[1].role', at({ role: 'function', name: 'f', content: 'a' })],
    ['messages[1].content', at({ role: 'user' })],
    ['messages[1].content', at({ role: 'user', content: null })],
    ['messages[1].content', at({ role: 'user', content: [] })],
    ['messages[1].content', at({ role: 'user', content: 5 })],
    ['messages[1].content', at({ role: 'user', content: { type: 'text', text: 'a' } })],
    ['messages[1].content[0]', at({ role: 'user', content: ['a'] })],
    ['messages[1].content[0].type', part({})],
    ['messages[1].content[0].type', part({ type: 3 })],
    ['messages[1].content[0].text', part({ type: 'text' })],
    ['messages[1].content[0].text', part({ type: 'text', text: 7 })],
    ['messages[1].content[0].image_url', part({ type: 'image_url' })],
    ['messages[1].content[0].image_url.url', part({ type: 'image_url', image_url: {} })],
    ['messages[1].content[0].image_url.url', part({ type: 'image_url', image_url: { url: 1 } })],
    [
      'messages[1].content[0].image_url.detail',
      part({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==', detail: 9 } }),
    ],
    ['messages[1].content[0].input_audio', part({ type: 'input_audio' })],
    [
      'messages[1].content[0].input_audio.data',
      part({ type: 'input_audio', input_audio: { format: 'wav' } }),
    ],
    ['messages[1].content[0].file', part({ type: 'file' })],
    ['messages[1].content[0].file', part({ type: 'file', file: { filename: 'a.pdf' } })],
    [
      'messages[1].content[0].type',
      at({ role: 'system', content: [{ type: 'image_url', image_url: { url: 'x' } }] }),
    ],
    ['messages[1].content[0].cache_control', part({ type: 'text', text: 'a', cache_control: 'ephemeral' })],
    ['messages[1].name', at({ role: 'user', content: 'a', name: 5 })],
    ['messages[1].content', at({ role: 'assistant' })],
    [
      'messages[1].content',
      at({
        role: 'assistant',
        content: [
          { type: 'refusal', refusal: 'a' },
          { type: 'text', text: 'b' },
        ],
      }),
    ],
    ['messages[1].refusal', assistant({ refusal: 1 })],
    ['messages[1].audio', assistant({ audio: 'a' })],
    ['messages[1].tool_calls', assistant({ tool_calls: {} })],
    ['messages[1].tool_calls[0]', assistant({ tool_calls: [null] })],
    ['messages[1].tool_calls[0].id', call({ id: 5 })],
    ['messages[1].tool_calls[0].type', call({ type: 'magic' })],
    ['messages[1].tool_calls[0].function', call({ function: undefined })],
    ['messages[1].tool_calls[0].function.name', call({ function: { arguments: '{}' } })],
    ['messages[1].tool_calls[0].function.arguments', call({ function: { name: 'f', arguments: {} } })],
    ['messages[1].tool_calls[0].custom.input', call({ type: 'custom', custom: { name: 'f' } })],
    ['messages[1].reasoning', assistant({ reasoning: 5 })],
    ['messages[1].reasoning_content', assistant({ reasoning_content: {} })],
    ['messages[1].reasoning_details', assistant({ reasoning_details: 'text' })],
    ['messages[1].reasoning_details[0]', assistant({ reasoning_details: ['text'] })],
    ['messages[1].tool_call_id', at({ role: 'tool', content: 'a' })],
    ['messages[1].tool_call_id', at({ role: 'tool', content: 'a', tool_call_id: 5 })],
    ['messages[1].content', at({ role: 'tool', tool_call_id: 'call_1' })],
    ['messages[1].function_call.name', assistant({ function_call: { arguments: '{}' } })],
  ])('%s', (path, body) => expectRefused(body, path));

  test('malformed tool arguments in history are history, not an error of the gateway', async () => {
    for (const model of MODELS) {
      for (const args of ['', '{', 'null', '[1]', '"text"', '{"a":1}}', '\u0000']) {
        const messages = [
          ASK,
          {
            role: 'assistant',
            content: null,
            tool_calls: [{ ...CALL, function: { name: 'f', arguments: args } }],
            reasoning_content: 'r',
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'result' },
        ];
        const { status, message } = await outcome({
          model,
          messages,
          tools: [{ type: 'function', function: { name: 'f' } }],
          reasoning: { enabled: false },
        });
        expect({ model, args, status, message }).toEqual({ model, args, status: 200, message: '' });
      }
    }
  });

  test('a result without its call is the caller’s mistake', async () => {
    for (const model of MODELS) {
      const { status } = await outcome({
        model,
        messages: [ASK, { role: 'tool', tool_call_id: 'call_9', content: 'a' }],
      });
      expect({ model, status }).toEqual({ model, status: 400 });
    }
  });
});

describe('inside tools and tool_choice', () => {
  const tool = (more: object): object =>
    request({ tools: [{ type: 'function', function: { name: 'f', ...more } }] });
  const F = { type: 'function', function: { name: 'f' } };
  const choose = (tool_choice: unknown): object => request({ tools: [F], tool_choice });

  test.each<[string, object]>([
    ['tools[0]', request({ tools: ['f'] })],
    ['tools[0].type', request({ tools: [{ name: 'f' }] })],
    ['tools[0].function', request({ tools: [{ type: 'function' }] })],
    ['tools[0].function.name', tool({ name: undefined })],
    ['tools[0].function.name', tool({ name: '' })],
    ['tools[0].function.name', tool({ name: 'a b' })],
    ['tools[0].function.name', tool({ name: 'a\r\nx-injected: 1' })],
    ['tools[0].function.name', tool({ name: 'é' })],
    ['tools[0].function.name', tool({ name: 'x'.repeat(65) })],
    ['tools[0].function.description', tool({ description: {} })],
    ['tools[0].function.strict', tool({ strict: 'yes' })],
    ['tools[0].function.parameters', tool({ parameters: 'object' })],
    ['tools[0].function.parameters', tool({ parameters: [] })],
    ['tools[0].function.parameters.type', tool({ parameters: { type: 'string' } })],
    ['tools[0].cache_control', request({ tools: [{ ...F, cache_control: true }] })],
    ['tools[1].function.name', request({ tools: [F, F] })],
    ['tools[1].custom.name', request({ tools: [F, { type: 'custom', custom: { name: 'f' } }] })],
    [
      'tools[0].custom.format',
      request({ tools: [{ type: 'custom', custom: { name: 'f', format: 'text' } }] }),
    ],
    [
      'tools[0].custom.format.type',
      request({ tools: [{ type: 'custom', custom: { name: 'f', format: { type: 'csv' } } }] }),
    ],
    ['tool_choice', choose('sometimes')],
    ['tool_choice', request({ tool_choice: 'required' })],
    ['tool_choice.type', choose({})],
    ['tool_choice.type', choose({ type: 'magic' })],
    ['tool_choice.function', choose({ type: 'function' })],
    ['tool_choice.function.name', choose({ type: 'function', function: {} })],
    ['tool_choice.function.name', choose({ type: 'function', function: { name: 'g' } })],
    ['tool_choice.custom.name', choose({ type: 'custom', custom: { name: 'f' } })],
    ['tool_choice.allowed_tools', choose({ type: 'allowed_tools', allowed_tools: null })],
    ['tool_choice.allowed_tools.mode', choose({ type: 'allowed_tools', allowed_tools: { tools: [F] } })],
    [
      'tool_choice.allowed_tools.tools',
      choose({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }),
    ],
    [
      'tool_choice.allowed_tools.tools[0]',
      choose({ type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [1] } }),
    ],
  ])('%s', (path, body) => expectRefused(body, path));

  /** Schemas that no validator can compile. */
  const SCHEMAS: readonly object[] = [
    { type: 'object', properties: 5 },
    { type: 'object', properties: { a: 5 } },
    { type: 'object', properties: { a: { type: 'magic' } } },
    { type: 'object', required: 'a' },
    { type: 'object', properties: { a: { $ref: '#/$defs/missing' } } },
    { type: 'object', properties: { a: { $ref: 'http://127.0.0.1:1/schema.json' } } },
    { $ref: '#' },
    { type: 'object', properties: { a: { type: 'string', pattern: '(((' } } },
    { type: 'object', properties: { a: { enum: 'x' } } },
    { type: 'object', allOf: { a: 1 } },
    { type: 'object', additionalProperties: 'no' },
    { type: 'object', $schema: 7 },
    { type: 'object', properties: { a: { minimum: 'low' } } },
    { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
  ];

  test.each(SCHEMAS)('an unusable schema never breaks the gateway: %j', async (schema) => {
    for (const model of [...MODELS, 'sim/text-only']) {
      const asTool = {
        model,
        messages: [ASK],
        tools: [{ type: 'function', function: { name: 'f', parameters: schema, strict: true } }],
      };
      const format = { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } };
      for (const body of [asTool, { model, messages: [ASK], response_format: format }]) {
        const { status, message } = await outcome(body);
        // The small model writes no JSON, which is the upstream's failure.
        const isAnswerAtFault = status === 502 && message.includes('does not match response_format');
        const isReported = status === 200 || status === 400 || isAnswerAtFault;
        expect({ model, isReported, message }).toEqual({ model, isReported: true, message });
      }
    }
  });
});

describe('inside the other objects', () => {
  test.each<[string, object]>([
    ['response_format.type', request({ response_format: {} })],
    ['response_format.type', request({ response_format: { type: 'yaml' } })],
    ['response_format.json_schema', request({ response_format: { type: 'json_schema' } })],
    ['response_format.json_schema', request({ response_format: { type: 'json_schema', json_schema: [] } })],
    [
      'response_format.json_schema.name',
      request({ response_format: { type: 'json_schema', json_schema: { schema: {} } } }),
    ],
    [
      'response_format.json_schema.name',
      request({ response_format: { type: 'json_schema', json_schema: { name: 'a b' } } }),
    ],
    [
      'response_format.json_schema.schema',
      request({ response_format: { type: 'json_schema', json_schema: { name: 'a', schema: 'x' } } }),
    ],
    [
      'response_format.json_schema.strict',
      request({ response_format: { type: 'json_schema', json_schema: { name: 'a', strict: 1 } } }),
    ],
    [
      'response_format.json_schema.description',
      request({ response_format: { type: 'json_schema', json_schema: { name: 'a', description: 1 } } }),
    ],
    ['reasoning.enabled', request({ reasoning: { enabled: 'yes' } })],
    ['reasoning.effort', request({ reasoning: { effort: 'extreme' } })],
    ['reasoning.effort', request({ reasoning: { effort: 3 } })],
    ['reasoning.max_tokens', request({ reasoning: { max_tokens: 0 } })],
    ['reasoning.max_tokens', request({ reasoning: { max_tokens: -1 } })],
    ['reasoning.max_tokens', request({ reasoning: { max_tokens: '1' } })],
    ['reasoning.max_tokens', request({ reasoning: { max_tokens: 1.5 } })],
    ['reasoning.exclude', request({ reasoning: { exclude: 'no' } })],
    ['reasoning.summary', request({ reasoning: { summary: 'long' } })],
    ['reasoning.usage', request({ reasoning: { usage: true } })],
    ['reasoning.usage.include', request({ reasoning: { usage: { include: 1 } } })],
    ['include_reasoning', request({ include_reasoning: true, reasoning: { exclude: true } })],
    ['usage.include', request({ usage: {} })],
    ['usage.include', request({ usage: { include: 'yes' } })],
    ['provider.routing', request({ provider: { routing: 'priority' } })],
    ['provider.routing.type', request({ provider: { routing: { type: 'random' } } })],
    ['provider.routing.providers', request({ provider: { routing: { type: 'priority', providers: [] } } })],
    [
      'provider.routing.providers',
      request({ provider: { routing: { type: 'priority', providers: 'sim' } } }),
    ],
    [
      'provider.routing.providers[0]',
      request({ provider: { routing: { type: 'priority', providers: [1] } } }),
    ],
    [
      'provider.routing.providers',
      request({ provider: { routing: { type: 'priority', providers: ['nobody'] } } }),
    ],
    ['models[0]', request({ models: [5] })],
    ['models[1]', request({ models: ['sim/echo', ''] })],
    ['stream_options', request({ stream_options: { include_usage: true } })],
    ['stream_options.include_usage', request({ stream: true, stream_options: { include_usage: 'yes' } })],
    [
      'stream_options.include_usage',
      request({ stream: true, stream_options: { include_usage: false }, usage: { include: true } }),
    ],
    ['stop', request({ stop: ['a', 'b', 'c', 'd', 'e'] })],
    ['stop[1]', request({ stop: ['a', ''] })],
    ['stop[0]', request({ stop: [null] })],
    ['logit_bias.a', request({ logit_bias: { a: 1 } })],
    ['logit_bias.5', request({ logit_bias: { 5: 101 } })],
    ['logit_bias.5', request({ logit_bias: { 5: null } })],
    ['top_logprobs', request({ top_logprobs: 2 })],
    ['top_logprobs', request({ top_logprobs: 21, logprobs: true })],
    [
      'web_search_options.search_context_size',
      request({ web_search_options: { search_context_size: 'huge' } }),
    ],
    ['web_search_options.user_location', request({ web_search_options: { user_location: 'Paris' } })],
    [
      'web_search_options.user_location.type',
      request({ web_search_options: { user_location: { type: 'exact' } } }),
    ],
    [
      'web_search_options.user_location.city',
      request({ web_search_options: { user_location: { type: 'approximate', city: 5 } } }),
    ],
    [
      'metadata',
      request({ metadata: Object.fromEntries(Array.from({ length: 17 }, (_, index) => [`k${index}`, 'v'])) }),
    ],
    ['metadata.', request({ metadata: { ['k'.repeat(65)]: 'v' } })],
    ['metadata.k', request({ metadata: { k: 'v'.repeat(513) } })],
    ['metadata.k', request({ metadata: { k: 1 } })],
    ['modalities', request({ modalities: ['text', 'audio'] })],
    ['n', request({ n: 2 })],
  ])('%s', (path, body) => expectRefused(body, path));

  test('metadata at its limits is fine', async () => {
    const metadata = Object.fromEntries(
      Array.from({ length: 16 }, (_, index) => [`${index}`.padEnd(64, 'k'), 'v'.repeat(512)]),
    );
    expect(await outcome(request({ metadata }))).toMatchObject({ status: 200 });
  });

  test('several mistakes are reported at once, and the first one is in param', async () => {
    const { param, message } = await outcome(request({ temperature: -1, top_p: 2, stop: 5 }));
    expect(param).toBe('temperature');
    expect(message).toContain('top_p');
    expect(message).toContain('stop');
  });
});

describe('models', () => {
  test.each([
    'nope',
    'sim/nope',
    'nobody/echo',
    'sim/',
    '/echo',
    '/',
    '../sim/echo',
    'constructor',
    '__proto__',
    'sim/constructor',
    'toString/hasOwnProperty',
    '模型/测试',
    'x'.repeat(100_000),
    `sim/${'x'.repeat(1_000_000)}`,
  ])('an unknown model is a 404 with a short message: %#', async (model) => {
    const answer = await sendRaw(gateway.origin, jsonRequest(TEST_KEY, JSON.stringify(request({ model }))));
    expect(answer.status).toBe(404);
    const error = readError(answer.text);
    expect(error).toMatchObject({ param: 'model', code: 'model_not_found' });
    expect(error.message.length).toBeLessThan(600);
    expect(answer.headers.has('x-injected')).toBe(false);
  });

  test.each([' sim/echo', 'sim/echo ', 'sim/echo\r\nx-injected: 1', 'sim/\u0000'])(
    'a name with white space at its ends or control characters is a 400: %j',
    async (model) => {
      const answer = await sendRaw(gateway.origin, jsonRequest(TEST_KEY, JSON.stringify(request({ model }))));
      expect(answer.status).toBe(400);
      expect(readError(answer.text)).toMatchObject({ param: 'model' });
      expect(answer.headers.has('x-injected')).toBe(false);
    },
  );
});

test.each([
  [
    '/chat/completions',
    'messages[0].content[0].file',
    { type: 'file', file: { file_data: 'JVBERi0=', file_id: 'file-1' } },
  ],
  [
    '/responses',
    'input[0].content[0]',
    { type: 'input_image', image_url: 'https://a.example/a.png', file_id: 'file-1' },
  ],
  ['/responses', 'input[0].content[0]', { type: 'input_file', file_data: 'JVBERi0=', file_id: 'file-1' }],
  [
    '/responses',
    'input[0].content[0]',
    { type: 'input_file', file_data: 'JVBERi0=', file_url: 'https://a.example/a.pdf' },
  ],
  [
    '/responses',
    'input[0].content[0]',
    { type: 'input_file', file_id: 'file-1', file_url: 'https://a.example/a.pdf' },
  ],
  [
    '/messages',
    'messages[0].content[0].source',
    { type: 'image', source: { type: 'url', url: 'https://a.example/a.png', file_id: 'file-1' } },
  ],
  [
    '/models/sim/echo:generateContent',
    'contents[0].parts[0]',
    {
      inlineData: { mimeType: 'image/png', data: 'iVBORw0=' },
      fileData: { fileUri: 'https://a.example/a.png' },
    },
  ],
])('a part of two sources to %s is refused: %s', async (path, where, part) => {
  const messages = [{ role: 'user', content: [part], parts: [part] }];
  const body = { model: 'sim/echo', max_tokens: 9, messages, input: messages, contents: messages };
  const answer = await sendRaw(gateway.origin, {
    ...jsonRequest(TEST_KEY, JSON.stringify(body)),
    path: path.includes(':') ? `/v1beta${path}` : `/v1${path}`,
  });
  expect([answer.status, answer.text]).toEqual([
    400,
    expect.stringContaining(`${where}: must have only one of`),
  ]);
});
