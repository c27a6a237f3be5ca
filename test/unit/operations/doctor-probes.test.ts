// Findings of the doctor about servers that lack one thing each, over real sockets: the verdict, and the fact that
// follows from it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { listenSim } from '../../../src/app/cli/commands/sim-server.ts';
import { loadConfig, buildSnapshot } from '../../../src/app/config/index.ts';
import { examine, type Diagnosis } from '../../../src/operations/doctor/index.ts';
import { presets } from '../../../src/catalog/providers/index.ts';
import { systemClock, type Clock } from '../../../src/base/runtime/clock.ts';
import { createRedactor } from '../../../src/base/telemetry/redact.ts';
import { UpstreamClient } from '../../../src/upstream/client.ts';
import { chats, doctorServer, type ChatRequest, type Server } from '../../support/doctor-server.ts';
import { chatBody, responsesBody, whole } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const KEY = 'sk-test-of-the-doctor';
const client = new UpstreamClient(systemClock.now);

const upstream = await startUpstream();
afterAll(async () => {
  client.close();
  await upstream.stop();
});

interface Asking {
  readonly protocols?: object;
  readonly endpoint?: object;
  readonly clock?: Clock;
  readonly deep?: boolean;
  readonly model?: string;
}

async function diagnose(asking: Asking = {}): Promise<Diagnosis> {
  const { clock = systemClock, deep = false, model = 'm' } = asking;
  const text = JSON.stringify({
    providers: {
      lab: { api_key: KEY, protocols: asking.protocols ?? { 'openai-chat': `${upstream.origin}/v1` } },
    },
    models: [{ id: `lab/${model}`, endpoints: [{ provider: 'lab', ...asking.endpoint }] }],
  });
  const environment = {};
  const { config } = loadConfig({ environment, flags: { config: 'test.json' }, readFile: () => text });
  const { catalog } = buildSnapshot({ config, presets, sim: null, environment, revision: 1 });
  const endpoint = catalog.find(`lab/${model}`)?.endpoints[0];
  if (!endpoint) throw new Error('no endpoint');
  return examine(
    endpoint,
    { upstream: client, clock, timeoutMs: 10_000, redact: createRedactor(catalog.secrets()) },
    { deep, shared: new Map() },
  );
}

function examineServer(server: Server, asking?: Asking): Promise<Diagnosis> {
  upstream.always(doctorServer(server));
  return diagnose(asking);
}

function verdict({ findings }: Diagnosis, probe: string): string {
  const found = findings.find((finding) => finding.probe === probe);
  return found ? found.outcome : 'not there';
}

function detail({ findings }: Diagnosis, probe: string): string {
  return findings.find((finding) => finding.probe === probe)?.detail ?? '';
}

const has = (body: ChatRequest, member: string): boolean => body[member] !== undefined;
const without =
  (...members: readonly string[]) =>
  (body: ChatRequest): ChatRequest => {
    const seen: Record<string, unknown> = { ...body };
    for (const member of members) delete seen[member];
    return seen as ChatRequest;
  };

test('a server that can do everything is believed to', async () => {
  const diagnosis = await examineServer({
    thinks: (body) => body['reasoning_effort'] !== undefined && body['reasoning_effort'] !== 'none',
  });
  expect(diagnosis.findings.filter(({ outcome }) => outcome !== 'yes').map(({ probe }) => probe)).toEqual([
    'protocols',
  ]);
  expect(diagnosis.facts).toEqual({
    quirks: {
      maxTokensField: 'max_completion_tokens',
      streamUsage: 'include_usage',
      systemRole: 'keep',
      mergeSystem: false,
      textContent: 'parts',
      unknownFields: 'pass',
      prefill: 'plain',
      structuredOutput: 'json_schema',
      requiredToolChoice: 'required',
      namedToolChoice: true,
      strictTools: true,
      reasoningField: 'reasoning_effort',
    },
    parameters: { stop: true, parallelToolCalls: true },
    reasoningStyle: 'effort',
    reasoningMandatory: false,
  });
});

const LACKS: readonly (readonly [string, Server, string, string, object])[] = [
  [
    'max_completion_tokens, which it refuses',
    { refuse: (body) => (has(body, 'max_completion_tokens') ? 'unknown member' : undefined) },
    'answers',
    'yes',
    { quirks: { maxTokensField: 'max_tokens' } },
  ],
  [
    'max_completion_tokens, which it ignores',
    { blind: without('max_completion_tokens') },
    'output_limit',
    'yes',
    { quirks: { maxTokensField: 'max_tokens' } },
  ],
  ['an output limit', { blind: without('max_completion_tokens', 'max_tokens') }, 'output_limit', 'no', {}],
  [
    'stream_options, which it refuses',
    { refuse: (body) => (has(body, 'stream_options') ? 'unknown member' : undefined), alwaysCounts: true },
    'streaming',
    'yes',
    { quirks: { streamUsage: 'always' } },
  ],
  [
    'streams',
    { answer: (body) => (body['stream'] === true ? whole(chatBody('1')) : undefined) },
    'streaming',
    'no',
    {},
  ],
  [
    'stop, which it refuses',
    { refuse: (body) => (has(body, 'stop') ? 'stop is not supported' : undefined) },
    'stop',
    'no',
    { parameters: { stop: false } },
  ],
  ['stop, which it ignores', { blind: without('stop') }, 'stop', 'no', { parameters: { stop: false } }],
  [
    'the developer role',
    {
      refuse: ({ messages }) =>
        messages.some(({ role }) => role === 'developer') ? 'unknown role' : undefined,
    },
    'developer_role',
    'no',
    { quirks: { systemRole: 'system' } },
  ],
  [
    'the system role',
    {
      refuse: ({ messages }) => (messages.some(({ role }) => role === 'system') ? 'unknown role' : undefined),
    },
    'system_role',
    'no',
    { quirks: { systemRole: 'developer' } },
  ],
  [
    'room for a second instruction',
    {
      refuse: ({ messages }) =>
        messages.slice(1).some(({ role }) => role === 'system')
          ? 'System message must be at the beginning.'
          : undefined,
    },
    'several_instructions',
    'no',
    { quirks: { mergeSystem: true } },
  ],
  [
    'parts',
    {
      refuse: ({ messages }) =>
        messages.some(({ content }) => Array.isArray(content)) ? 'content must be a string' : undefined,
    },
    'text_parts',
    'no',
    { quirks: { textContent: 'string' } },
  ],
  [
    'tolerance',
    {
      refuse: (body) => (has(body, 'dragoman_unknown_member') ? 'Extra inputs are not permitted' : undefined),
    },
    'unknown_members',
    'no',
    { quirks: { unknownFields: 'drop' } },
  ],
  [
    'prefills, which it refuses',
    {
      refuse: ({ messages }) =>
        messages.at(-1)?.role === 'assistant' ? 'must end with a user message' : undefined,
    },
    'prefill',
    'no',
    { quirks: { prefill: 'none' } },
  ],
  [
    'prefills without a word for it',
    {
      blind: (body) =>
        has(body, 'continue_final_message')
          ? body
          : { ...body, messages: body.messages.filter(({ role }) => role !== 'assistant') },
    },
    'prefill',
    'yes',
    { quirks: { prefill: 'continue_final_message' } },
  ],
  [
    'eyes',
    { refuse: (body) => (JSON.stringify(body.messages).includes('image_url') ? 'no vision' : undefined) },
    'image_input',
    'no',
    {},
  ],
  [
    'schemas, which it refuses',
    {
      refuse: (body) =>
        JSON.stringify(body['response_format'] ?? '').includes('json_schema')
          ? 'json_object only'
          : undefined,
    },
    'json_schema',
    'no',
    { quirks: { structuredOutput: 'json_object' } },
  ],
  [
    'formats, which it ignores',
    { blind: without('response_format') },
    'json_object',
    'no',
    { quirks: { structuredOutput: 'none' } },
  ],
  [
    'the word required',
    {
      refuse: (body) => (body['tool_choice'] === 'required' ? 'must be any' : undefined),
      blind: (body) => (body['tool_choice'] === 'any' ? { ...body, tool_choice: 'required' } : body),
    },
    'tool_required',
    'yes',
    { quirks: { requiredToolChoice: 'any' } },
  ],
  [
    'named tools, which it ignores',
    { blind: (body) => (typeof body['tool_choice'] === 'object' ? without('tool_choice')(body) : body) },
    'tool_named',
    'no',
    { quirks: { namedToolChoice: false } },
  ],
  [
    'strict, which it refuses',
    {
      refuse: (body) =>
        JSON.stringify(body['tools'] ?? '').includes('"strict":true') ? 'strict?' : undefined,
    },
    'tool_strict',
    'no',
    { quirks: { strictTools: false } },
  ],
  [
    'parallel_tool_calls, which it refuses',
    { refuse: (body) => (has(body, 'parallel_tool_calls') ? 'unknown member' : undefined) },
    'tool_one_at_a_time',
    'no',
    { parameters: { parallelToolCalls: false } },
  ],
  [
    'the word for an end with calls',
    { finish: (word) => (word === 'tool_calls' ? 'stop' : word) },
    'end_reason',
    'no',
    {},
  ],
  [
    'reasoning by default, but has it in its template',
    {
      thinks: (body) =>
        (body['chat_template_kwargs'] as { enable_thinking?: boolean } | undefined)?.enable_thinking === true,
    },
    'reasoning',
    'yes',
    { quirks: { reasoningField: 'chat_template_kwargs' }, reasoningStyle: 'effort' },
  ],
  [
    'a way not to think but enable_thinking',
    { thinks: (body) => body['enable_thinking'] !== false },
    'reasoning',
    'yes',
    { quirks: { reasoningField: 'enable_thinking' }, reasoningStyle: 'budget', reasoningMandatory: false },
  ],
  [
    'every member for reasoning',
    {
      refuse: (body) =>
        ['reasoning_effort', 'reasoning', 'thinking', 'enable_thinking', 'chat_template_kwargs'].some(
          (member) => has(body, member),
        )
          ? 'unknown member'
          : undefined,
    },
    'reasoning',
    'no',
    { reasoningStyle: 'none' },
  ],
  [
    'patience with calls whose reasoning is gone',
    {
      thinks: () => true,
      refuse: ({ messages }) =>
        messages.some((message) => 'tool_calls' in message && !('reasoning_content' in message))
          ? 'reasoning_content is missing'
          : undefined,
    },
    'reasoning_replay',
    'no',
    { quirks: { reasoningReplay: 'reasoning_content' } },
  ],
];

describe('a server that lacks', () => {
  test.each(LACKS.map(([name, ...rest]) => [name, rest] as const))(
    '%s',
    async (_, [server, probe, outcome, facts]) => {
      const diagnosis = await examineServer(server);
      expect(`${verdict(diagnosis, probe)}: ${detail(diagnosis, probe)}`).toStartWith(outcome);
      expect(diagnosis.facts).toMatchObject(facts);
    },
  );

  test('tools gets no probe of how it calls them', async () => {
    const diagnosis = await examineServer({
      refuse: (body) => (has(body, 'tools') ? 'no tools here' : undefined),
    });
    expect(verdict(diagnosis, 'tools')).toBe('no');
    expect(detail(diagnosis, 'tool_named')).toBe('tools not supported');
    expect(diagnosis.facts.quirks).not.toHaveProperty('namedToolChoice');
    expect(diagnosis.facts.parameters).not.toHaveProperty('parallelToolCalls');
    expect(chats(upstream.requests).filter((body) => has(body, 'tools'))).toHaveLength(1);
  });
});

test.each([429, 500, 503, 529])('a status of %i to one question is no answer to it', async (status) => {
  const diagnosis = await examineServer({
    answer: (body) =>
      has(body, 'response_format') ? whole({ error: { message: 'busy' } }, status) : undefined,
  });
  expect(verdict(diagnosis, 'json_schema')).toBe('unknown');
  expect(diagnosis.facts.quirks).not.toHaveProperty('structuredOutput');
});

test('an empty account is no refusal, with any status, and ends the questions', async () => {
  const diagnosis = await examineServer({
    answer: (body) =>
      has(body, 'stop')
        ? whole({ error: { message: 'You exceeded your current quota', code: 'insufficient_quota' } }, 400)
        : undefined,
  });
  expect(verdict(diagnosis, 'stop')).toBe('unknown');
  expect(diagnosis.facts.parameters).toEqual({});
  expect(detail(diagnosis, 'system_role')).toBe('skipped because of earlier failures');
});

test('a model that always thinks is found out', async () => {
  const diagnosis = await examineServer({ thinks: () => true }, { endpoint: { reasoning: 'effort' } });
  expect(verdict(diagnosis, 'reasoning')).toBe('yes');
  expect(diagnosis.facts).toMatchObject({ reasoningStyle: 'effort', reasoningMandatory: true });
});

test('a server that never counts its streams still gets requests for usage', async () => {
  const diagnosis = await examineServer({ blind: without('stream_options') });
  expect(verdict(diagnosis, 'streaming')).toBe('no');
  expect(diagnosis.facts.quirks).not.toHaveProperty('streamUsage');
});

test('a rate limit ends the questions', async () => {
  const diagnosis = await examineServer({
    answer: (body) => (has(body, 'stop') ? whole({ error: { message: 'slow down' } }, 429) : undefined),
  });
  expect(verdict(diagnosis, 'stop')).toBe('unknown');
  expect(detail(diagnosis, 'system_role')).toBe('skipped because of earlier failures');
  expect(has(chats(upstream.requests).at(-1) ?? { messages: [] }, 'stop')).toBe(true);
});

test('a refused key ends them at once, and is not repeated', async () => {
  upstream.always(
    whole({ error: { message: `Incorrect API key provided: ${KEY}.`, code: 'invalid_api_key' } }, 401),
  );
  const diagnosis = await diagnose();
  expect(verdict(diagnosis, 'answers')).toBe('no');
  expect(detail(diagnosis, 'answers')).toBe('key rejected: 401: Incorrect API key provided: [secret].');
  expect(upstream.requests).toHaveLength(1);
  expect(JSON.stringify(diagnosis)).not.toContain(KEY);
  expect(diagnosis.facts).toEqual({ quirks: {}, parameters: {} });
});

test('a silent server costs one timeout', async () => {
  upstream.always(() => {});
  const clock = new ArmedClock();
  const running = diagnose({ clock });
  const exchange = await upstream.arrived(1);
  clock.advance(10_000);
  const diagnosis = await running;
  expect(detail(diagnosis, 'answers')).toBe('silent: no complete response within 10000 ms');
  expect(upstream.requests).toHaveLength(1);
  await exchange.closed;
});

test('a server that stops responding later costs two timeouts', async () => {
  const clock = new ArmedClock();
  let silences = 0;
  upstream.always(
    doctorServer({
      answer: (body) =>
        has(body, 'response_format')
          ? () => {
              silences += 1;
              clock.advance(10_000);
            }
          : undefined,
    }),
  );
  const diagnosis = await diagnose({ clock });
  expect(silences).toBe(2);
  expect(verdict(diagnosis, 'json_schema')).toBe('unknown');
  expect(detail(diagnosis, 'json_schema')).toBe('no complete response within 10000 ms');
  expect(detail(diagnosis, 'tools')).toBe('skipped because of earlier failures');
  expect(diagnosis.facts.quirks).not.toHaveProperty('structuredOutput');
});

test.each([
  ['an HTML page', whole('<html>Sign in</html>', 200, { 'content-type': 'text/html' })],
  ['nothing', whole('', 200)],
  ['a number', whole('7', 200)],
  ['a list of nothing', whole({ choices: [] }, 200)],
  ['invalid choices', whole({ choices: 'all of them', usage: [] }, 200)],
  ['too much', whole(JSON.stringify(chatBody('x'.repeat(2_000_000))), 200)],
])('a server that answers everything with %s teaches nothing', async (_, answer) => {
  upstream.always(answer);
  const diagnosis = await diagnose();
  expect(verdict(diagnosis, 'answers')).not.toBe('yes');
  expect(diagnosis.facts).toEqual({ quirks: {}, parameters: {} });
});

test('control sequences of an upstream do not reach the terminal', async () => {
  const diagnosis = await examineServer({
    refuse: (body) => (has(body, 'stop') ? `no \u001b[2J\r\n\u202eevil ${'long '.repeat(500)}` : undefined),
  });
  expect(detail(diagnosis, 'stop')).toStartWith(
    'rejected; the gateway truncates instead: 400: no [2J evil long',
  );
  expect(detail(diagnosis, 'stop').length).toBeLessThan(300);
});

test('the context length is read from the list of models', async () => {
  const listed = whole({ data: [{ id: 'other' }, { id: 'm', max_model_len: 32_768 }] });
  expect((await examineServer({ list: listed })).facts.contextLength).toBe(32_768);
  const absent = await examineServer({ list: whole({ data: [{ id: 'other', max_model_len: 1 }] }) });
  expect(verdict(absent, 'models_list')).toBe('no');
  expect(absent.facts).not.toHaveProperty('contextLength');
  for (const list of [
    whole('[]'),
    whole({ data: 'x' }),
    whole({}, 404),
    whole({ data: [null, 7, { id: {} }] }),
  ])
    expect(['unknown', 'no']).toContain(verdict(await examineServer({ list }), 'models_list'));
});

test('a model that is listed with the usual tag is the one without it', async () => {
  const tagged = await examineServer({ list: whole({ data: [{ id: 'm:latest' }, { id: 'm:7b' }] }) });
  expect(verdict(tagged, 'models_list')).toBe('yes');
  const other = await examineServer({ list: whole({ data: [{ id: 'm:7b' }] }) });
  expect(verdict(other, 'models_list')).toBe('no');
});

test.each([
  ['completed', false],
  ['incomplete', true],
])('a server of Responses that reports a truncated response as %s is detected', async (status, named) => {
  upstream.always((exchange) => {
    if (exchange.request.method === 'GET') return whole({ data: [{ id: 'm' }] })(exchange);
    const { max_output_tokens: limit = 100 } = exchange.request.json as { max_output_tokens?: number };
    const answer = responsesBody([
      {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: '1 2 3', annotations: [] }],
      },
    ]);
    const details = { input_tokens: 5, output_tokens: limit, total_tokens: 5 + limit };
    const cut =
      limit > 16 ? {} : { status, incomplete_details: named ? { reason: 'max_output_tokens' } : null };
    return whole({ ...answer, ...cut, usage: details })(exchange);
  });
  const { facts } = await diagnose({ protocols: { 'openai-responses': `${upstream.origin}/v1` } });
  expect(facts.quirks?.namesCutAnswers).toBe(named);
});

test('an overlong prompt is only sent on request, and its refusal contains the limit', async () => {
  const refuse = (body: ChatRequest): string | undefined =>
    JSON.stringify(body).length > 5_000
      ? "This model's maximum context length is 4,096 tokens. However, you requested 6,144 tokens."
      : undefined;
  const asking = { endpoint: { context_length: 4000 } };
  const shallow = await examineServer({ refuse }, asking);
  expect(verdict(shallow, 'context_limit')).toBe('not there');
  const deep = await examineServer({ refuse }, { ...asking, deep: true });
  expect(deep.facts.contextLength).toBe(4096);
});

test('a context that no model has is not believed, and no prompt is made as long', async () => {
  const list = whole({ data: [{ id: 'm', max_model_len: 1e15 }] });
  expect((await examineServer({ list })).facts).not.toHaveProperty('contextLength');
  const deep = await examineServer({ list }, { endpoint: { context_length: 50_000_000 }, deep: true });
  expect(detail(deep, 'context_limit')).toContain('skipped');
});

describe('the simulated provider', () => {
  let sim: ReturnType<typeof listenSim>;
  beforeAll(() => {
    sim = listenSim('127.0.0.1', 0);
  });
  afterAll(() => sim.stop());

  test.each([
    ['openai-responses', 'responses', '/openai/v1', 'effort'],
    ['anthropic-messages', 'messages', '/anthropic', 'both'],
    ['anthropic-messages', 'claude', '/anthropic', 'budget'],
  ] as const)('passes the probes over %s as %s', async (protocol, model, path, style) => {
    const diagnosis = await diagnose({
      model,
      protocols: { [protocol]: `http://127.0.0.1:${sim.port}${path}` },
    });
    expect(diagnosis.findings.filter(({ outcome }) => outcome !== 'yes').map(({ probe }) => probe)).toEqual(
      expect.arrayContaining(['system_role', 'unknown_members', 'image_input']),
    );
    for (const probe of [
      'answers',
      'streaming',
      'json_schema',
      'tool_required',
      'tool_parallel',
      'reasoning',
    ])
      expect(`${probe} ${verdict(diagnosis, probe)} ${detail(diagnosis, probe)}`).toStartWith(`${probe} yes`);
    expect(diagnosis.facts.reasoningStyle).toBe(style);
  });
});

test.each([
  [
    'gemini',
    '/v1beta',
    {
      candidates: [
        { content: { role: 'model', parts: [{ text: 'Hello.' }] }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
    },
  ],
  [
    'bedrock-converse',
    '',
    {
      output: { message: { role: 'assistant', content: [{ text: 'Hello.' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 3, outputTokens: 2, totalTokens: 5 },
    },
  ],
] as const)(
  'a server of %s that only greets gets probes of its own protocol',
  async (protocol, path, body) => {
    upstream.always(whole(body));
    const diagnosis = await diagnose({ protocols: { [protocol]: `${upstream.origin}${path}` } });
    expect(verdict(diagnosis, 'answers')).toBe('yes');
    expect(verdict(diagnosis, 'streaming')).toBe('no');
    expect(verdict(diagnosis, 'json_schema')).toBe('no');
    expect(verdict(diagnosis, 'tool_required')).toBe('no');
    expect(diagnosis.findings.map((finding) => finding.detail).join()).not.toMatch(/internal error/i);
  },
);
