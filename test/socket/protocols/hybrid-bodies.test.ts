// Bodies in the forms of the Responses API and of Anthropic's Messages, posted to Chat Completions: whole, in part and
// mixed. What reaches upstreams of each protocol, what the client reads, and in whose words mistakes are told. The
// shapes are those that users of Cursor report (BerriAI/litellm #34029, router-for-me/CLIProxyAPI #3804, 2026).
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import {
  chatBody,
  chatChunk,
  chatStream,
  messagesBody,
  responsesBody,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { frames, recordOf, startScene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

const scene = await startScene(['up'], { faithful: true });
afterAll(() => scene[Symbol.asyncDispose]());

const SCHEMA = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
const FLAT = { type: 'function', name: 'read_file', description: 'Reads.', parameters: SCHEMA };
const FLAT_CUSTOM = { type: 'custom', name: 'ApplyPatch', description: 'Patches.', format: { type: 'text' } };
const BARE = { name: 'read_file', description: 'Reads.', input_schema: SCHEMA };
const NESTED = {
  type: 'function',
  function: { name: 'list_dir', description: 'Lists.', parameters: SCHEMA },
};

async function post(
  model: string,
  body: object,
  answer: Answer = answerOf(model),
  headers: Record<string, string> = {},
): Promise<{ response: Response; sent: unknown; path: string | undefined }> {
  const up = scene.upstream('up');
  up.script(answer);
  const response = await scene.gateway.post('/chat/completions', { model, ...body }, headers);
  return { response, sent: up.requests[0]?.json, path: up.requests[0]?.path };
}

function answerOf(model: string): Answer {
  if (model === 'one/messages') return whole(messagesBody([{ type: 'text', text: 'Done.' }], 'end_turn'));
  if (model === 'one/chat') return whole(chatBody('Done.'));
  return whole(
    responsesBody([
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Done.', annotations: [] }],
      },
    ]),
  );
}

const AGENT = {
  instructions: 'You edit files.',
  input: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Read a.txt' }] },
    { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'opaque' },
    { type: 'function_call', call_id: 'call_1', name: 'read_file', arguments: '{"path":"a.txt"}' },
    { type: 'function_call_output', call_id: 'call_1', output: 'hello' },
    { type: 'custom_tool_call', call_id: 'call_2', name: 'ApplyPatch', input: '*** Begin' },
    { type: 'custom_tool_call_output', call_id: 'call_2', output: 'ok' },
  ],
  tools: [FLAT, FLAT_CUSTOM],
  tool_choice: { type: 'function', name: 'read_file' },
  reasoning: { effort: 'low', summary: 'auto' },
  text: { format: { type: 'json_schema', name: 'out', schema: SCHEMA, strict: true }, verbosity: 'low' },
  max_output_tokens: 900,
  include: ['reasoning.encrypted_content'],
  store: false,
};

describe('a body of the Responses API', () => {
  test('reaches an upstream of Chat Completions as a chat request', async () => {
    const { response, sent } = await post('one/chat', AGENT);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      object: 'chat.completion',
      model: 'one/chat',
      choices: [{ index: 0, message: { role: 'assistant', content: 'Done.' }, finish_reason: 'stop' }],
    });
    expect(response.headers.get('x-dragoman-lane')).toBe('translate');
    expect(response.headers.get('x-dragoman-report')).toContain('input:defaulted');
    expect(list(sent, 'messages').map((message) => at(message, 'role'))).toEqual([
      'system',
      'system',
      'user',
      'assistant',
      'tool',
      'assistant',
      'tool',
    ]);
    expect(at(sent, 'messages', 3, 'tool_calls', 0)).toEqual({
      id: 'call_1',
      type: 'function',
      function: { name: 'read_file', arguments: '{"path":"a.txt"}' },
    });
    expect(at(sent, 'messages', 5, 'tool_calls', 0)).toEqual({
      id: 'call_2',
      type: 'custom',
      custom: { name: 'ApplyPatch', input: '*** Begin' },
    });
    expect(at(sent, 'tools', 0, 'function', 'name')).toBe('read_file');
    expect(at(sent, 'tools', 1, 'custom', 'name')).toBe('ApplyPatch');
    expect(at(sent, 'tool_choice')).toEqual({ type: 'function', function: { name: 'read_file' } });
    expect(at(sent, 'response_format', 'json_schema', 'name')).toBe('out');
    expect(at(sent, 'max_completion_tokens')).toBe(900);
    expect(at(sent, 'input')).toBeUndefined();
  });

  test('reaches an upstream of its own protocol unchanged, and the response is a chat completion', async () => {
    const { response, sent, path } = await post('one/responses', AGENT);
    expect(path).toBe('/v1/responses');
    expect(at(sent, 'tools', 1)).toMatchObject({ type: 'custom', name: 'ApplyPatch' });
    expect(list(sent, 'input').some((item) => at(item, 'encrypted_content') === 'opaque')).toBe(true);
    expect(await response.json()).toMatchObject({ object: 'chat.completion' });
    expect(response.headers.get('x-dragoman-lane')).toBe('translate');
  });

  test.each(['one/chat', 'one/responses', 'one/messages'])(
    'flat tools without a type are functions: %s',
    async (model) => {
      const { type: _, ...untyped } = FLAT;
      for (const body of [{ input: 'Read it.' }, { messages: [{ role: 'user', content: 'Read it.' }] }]) {
        const { response, sent } = await post(model, { ...body, tools: [untyped], max_tokens: 100 });
        expect(response.status).toBe(200);
        const tool = at(sent, 'tools', 0);
        expect(at(tool, 'function', 'name') ?? at(tool, 'name')).toBe('read_file');
        expect(JSON.stringify(tool)).toContain(JSON.stringify(SCHEMA));
      }
      const wrong = await post(model, { input: 'Hi', tools: [{ ...untyped, parameters: 3 }] });
      expect(wrong.response.status).toBe(400);
      expect(at(await wrong.response.json(), 'error', 'param')).toBe('tools[0].parameters');
    },
  );

  test('streams chat chunks, and usage only on request', async () => {
    const chunks = chatStream(chatChunk({ content: 'Hi' }));
    for (const [asked, counts] of [
      [undefined, 0],
      [{ include_usage: true }, 1],
    ] as const) {
      const body = { ...AGENT, stream: true, ...(asked ? { stream_options: asked } : {}) };
      const { response } = await post('one/chat', body, sse(chunks));
      const all = frames(await response.text());
      expect(all.at(-1)).toBe('[DONE]');
      const read = all.filter((each) => each !== '[DONE]');
      expect(read.every((each) => at(each, 'object') === 'chat.completion.chunk')).toBe(true);
      expect(read.filter((each) => list(each, 'choices').length === 0)).toHaveLength(counts);
    }
  });

  test('accepts a text as input, a tool in the form of Chat, and members of Chat', async () => {
    const { sent } = await post('one/chat', {
      input: 'Hello',
      tools: [NESTED, BARE],
      tool_choice: 'required',
      max_tokens: 77,
      reasoning_effort: 'high',
      stop: ['END'],
      seed: 4,
    });
    expect(at(sent, 'messages')).toEqual([{ role: 'user', content: 'Hello' }]);
    expect(list(sent, 'tools').map((tool) => at(tool, 'function', 'name'))).toEqual([
      'list_dir',
      'read_file',
    ]);
    expect(sent).toMatchObject({
      tool_choice: 'required',
      max_completion_tokens: 77,
      stop: ['END'],
      seed: 4,
    });
  });

  test('messages of Chat Completions and of Anthropic among its items keep their order', async () => {
    const { response, sent } = await post('one/chat', {
      input: [
        { role: 'user', content: 'Go' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'read_file', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: 'one' },
        { type: 'function_call', call_id: 'c2', name: 'read_file', arguments: '{}' },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c2', content: 'two' }] },
      ],
      tools: [FLAT],
    });
    expect(response.status).toBe(200);
    const messages = list(sent, 'messages').map((message) => [
      at(message, 'role'),
      at(message, 'tool_call_id') ?? at(message, 'tool_calls', 0, 'id') ?? null,
    ]);
    expect(messages).toEqual([
      ['user', null],
      ['assistant', 'c1'],
      ['tool', 'c1'],
      ['assistant', 'c2'],
      ['tool', 'c2'],
    ]);
  });

  test('members that refer to stored responses are refused by name', async () => {
    const { response } = await post('one/chat', { input: 'Hi', previous_response_id: 'resp_1' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ error: { param: 'previous_response_id' } });
  });
});

const BLOCKS = [
  { role: 'system', content: 'You edit files.' },
  { role: 'user', content: [{ type: 'text', text: 'Read a.txt', cache_control: { type: 'ephemeral' } }] },
  {
    role: 'assistant',
    content: [
      { type: 'thinking', thinking: 'I read it.', signature: 'c2ln' },
      { type: 'text', text: 'Reading.' },
      { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: { path: 'a.txt' } },
    ],
  },
  {
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'hello' }] },
      { type: 'text', text: 'Go on.' },
      { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } },
    ],
  },
];

describe('a body of Anthropic Messages', () => {
  test('blocks, bare tools and their choice reach Chat Completions as its own', async () => {
    const { response, sent } = await post('one/chat', {
      messages: BLOCKS,
      tools: [BARE],
      tool_choice: { type: 'any', disable_parallel_tool_use: true },
      stop_sequences: ['END'],
    });
    expect(response.status).toBe(200);
    expect(list(sent, 'messages').map((message) => at(message, 'role'))).toEqual([
      'system',
      'user',
      'assistant',
      'tool',
      'user',
    ]);
    expect(at(sent, 'messages', 2, 'tool_calls', 0)).toEqual({
      id: 'toolu_1',
      type: 'function',
      function: { name: 'read_file', arguments: '{"path":"a.txt"}' },
    });
    expect(at(sent, 'messages', 4, 'content', 1, 'type')).toBe('image_url');
    expect(at(sent, 'tools', 0)).toEqual({
      type: 'function',
      function: { name: 'read_file', description: 'Reads.', parameters: SCHEMA },
    });
    expect(sent).toMatchObject({ tool_choice: 'required', parallel_tool_calls: false, stop: ['END'] });
  });

  test('reaches an Anthropic upstream with its signatures and marks', async () => {
    const { response, sent } = await post('one/messages', {
      system: [{ type: 'text', text: 'You edit files.', cache_control: { type: 'ephemeral' } }],
      messages: BLOCKS.slice(1),
      tools: [BARE],
      tool_choice: { type: 'tool', name: 'read_file' },
      max_tokens: 500,
    });
    expect(await response.json()).toMatchObject({ object: 'chat.completion' });
    expect(at(sent, 'system', 0)).toMatchObject({ cache_control: { type: 'ephemeral' } });
    expect(at(sent, 'messages', 0, 'content', 0)).toMatchObject({ cache_control: { type: 'ephemeral' } });
    expect(at(sent, 'messages', 1, 'content', 0)).toEqual({
      type: 'thinking',
      thinking: 'I read it.',
      signature: 'c2ln',
    });
    expect(at(sent, 'messages', 2, 'content', 0)).toMatchObject({
      type: 'tool_result',
      tool_use_id: 'toolu_1',
    });
    expect(at(sent, 'tools', 0)).toMatchObject({ name: 'read_file', input_schema: SCHEMA });
    expect(sent).toMatchObject({ tool_choice: { type: 'tool', name: 'read_file' }, max_tokens: 500 });
  });

  test('thinking is requested in the form of Anthropic', async () => {
    const { sent } = await post('one/messages', {
      messages: [{ role: 'user', content: 'Think.' }],
      tools: [BARE],
      thinking: { type: 'enabled', budget_tokens: 2048 },
      max_tokens: 6000,
    });
    expect(sent).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2048 }, max_tokens: 6000 });
  });
});

describe('members that only Messages has', () => {
  const SOURCE = { type: 'search_result', source: 'https://example.com', title: 'Page' };
  const MESSAGES = [{ role: 'user', content: [{ ...SOURCE, content: [{ type: 'text', text: 'Words.' }] }] }];
  const CONFIG = { effort: 'low', later_option: 1 };
  const LOST = ['0].content[0]', 'output_config.later_option'];

  test('is no loss at an Anthropic upstream, strict or not', async () => {
    const { response, sent } = await post(
      'one/messages',
      { messages: MESSAGES, system: 'Cite.', output_config: CONFIG, max_tokens: 500 },
      undefined,
      { 'x-dragoman-strict': 'true' },
    );
    expect(response.status).toBe(200);
    const report = response.headers.get('x-dragoman-report');
    for (const path of LOST) expect(report).not.toContain(path);
    expect(at(sent, 'messages', 0, 'content', 0)).toMatchObject(SOURCE);
    expect(sent).toMatchObject({ max_tokens: 500, output_config: { later_option: 1 } });
  });

  test.each([
    ['one/chat', 'messages', { messages: MESSAGES, system: 'Cite.' }],
    ['one/responses', 'input', { input: MESSAGES, system: 'Cite.' }],
  ])('is reported at %s, with its path in %s', async (model, place, body) => {
    const { response } = await post(model, { ...body, output_config: CONFIG });
    expect(response.status).toBe(200);
    const report = response.headers.get('x-dragoman-report');
    expect(report).toContain(`${place}[0].content[0]`);
    expect(report).toContain('output_config.later_option');
  });
});

describe('chat messages with tools of several forms', () => {
  test('as Ask mode sends them: nested and flat', async () => {
    const { response, sent } = await post('one/chat', {
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [NESTED, FLAT_CUSTOM, BARE],
      tool_choice: { type: 'custom', name: 'ApplyPatch' },
    });
    expect(response.status).toBe(200);
    expect(list(sent, 'tools').map((tool) => at(tool, 'type'))).toEqual(['function', 'custom', 'function']);
    expect(at(sent, 'tool_choice')).toEqual({ type: 'custom', custom: { name: 'ApplyPatch' } });
  });

  test('a call of a flat custom tool is returned as a custom call', async () => {
    const call = {
      id: 'ctc_1',
      type: 'custom_tool_call',
      status: 'completed',
      call_id: 'call_9',
      name: 'ApplyPatch',
      input: '*** Begin',
    };
    const client = new OpenAI({ baseURL: scene.gateway.baseURL, apiKey: 'sk-test', maxRetries: 0 });
    scene.upstream('up').script(whole(responsesBody([call])));
    const body = {
      model: 'one/responses',
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [FLAT_CUSTOM],
    };
    const answer = await client.chat.completions.create(
      body as unknown as OpenAI.ChatCompletionCreateParamsNonStreaming,
    );
    expect(answer.choices[0]?.message.tool_calls).toEqual([
      { id: 'call_9', type: 'custom', custom: { name: 'ApplyPatch', input: '*** Begin' } },
    ]);
    expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('if messages are given, input is removed and reported', async () => {
    const { response, sent } = await post('one/chat', {
      messages: [{ role: 'user', content: 'Hi' }],
      input: 'ignored',
    });
    expect(at(sent, 'messages')).toEqual([{ role: 'user', content: 'Hi' }]);
    expect(at(sent, 'input')).toBeUndefined();
    const report = at(await recordOf(scene.gateway, response), 'report');
    expect(report).toContainEqual(expect.objectContaining({ path: 'input', action: 'dropped' }));
  });

  test('a chat body without other forms is relayed', async () => {
    const { response } = await post('one/chat', {
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [NESTED],
    });
    expect(response.headers.get('x-dragoman-lane')).toBe('relay');
    expect(response.headers.get('x-dragoman-report')).toBeNull();
  });

  test('another form of the body is no loss', async () => {
    const { response } = await post(
      'one/chat',
      { input: [{ role: 'user', content: 'Hi' }], tools: [FLAT] },
      undefined,
      { 'x-dragoman-strict': 'true' },
    );
    expect(response.status).toBe(200);
  });
});

describe("mistakes are reported with the client's member names", () => {
  const USER = { role: 'user', content: 'Hi' };
  test.each([
    ['input[1].call_id', { input: [USER, { type: 'function_call', name: 'f', arguments: '{}' }] }],
    ['input[1].tool_call_id', { input: [USER, { role: 'tool', content: 'x' }] }],
    ['input[0].content[0].tool_use_id', { input: [{ role: 'user', content: [{ type: 'tool_result' }] }] }],
    [
      'messages[1].content[0].input',
      {
        messages: [USER, { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f' }] }],
      },
    ],
    ['messages[1].call_id', { messages: [USER, { type: 'function_call_output', output: 'x' }] }],
    ['tools[1].name', { messages: [USER], tools: [FLAT, { ...FLAT, name: 'no spaces' }] }],
    [
      'tools[0].input_schema.type',
      { messages: [USER], tools: [{ name: 'f', input_schema: { type: 'array' } }] },
    ],
    [
      'tools[0].function.parameters',
      {
        input: 'Hi',
        tools: [{ type: 'function', function: { name: 'f', parameters: 'none' } }],
      },
    ],
    ['max_output_tokens', { input: 'Hi', max_output_tokens: 0 }],
    ['system', { system: 5, messages: [USER] }],
    ['thinking.budget_tokens', { system: 'x', messages: [USER], thinking: { type: 'enabled' } }],
    ['text.format.type', { input: 'Hi', text: { format: { type: 'yaml' } } }],
    ['stop[0]', { input: 'Hi', stop: [1] }],
  ])('%s', async (param, body) => {
    const { response } = await post('one/chat', body);
    const error = at(await response.json(), 'error');
    expect([response.status, at(error, 'param')]).toEqual([400, param]);
    expect(String(at(error, 'message'))).toStartWith(param);
  });
});
