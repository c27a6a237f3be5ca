// Mutated requests over real sockets, to every upstream protocol: whatever a client sends, it gets a valid answer or
// a valid error, and never one that is the gateway's own fault. FUZZ_SEED varies the requests, FUZZ_RUNS their number;
// a failure prints the seed and the shortest request that fails.
import { afterAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readChatStream, readCompletion, readError } from '../../support/chat-shape.ts';
import { startGateway } from '../../support/harness.ts';
import { casesOf } from '../../support/share.ts';

const SEED = Number(process.env['FUZZ_SEED'] ?? 20_261_121);
const RUNS = Number(process.env['FUZZ_RUNS'] ?? casesOf(3000));

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const gateway = await startGateway();
afterAll(() => gateway.close());

const MODELS = [
  'sim/chat',
  'sim/responses',
  'sim/messages',
  'sim/claude',
  'sim/deepseek',
  'sim/reasoner-effort',
  'sim/reasoner-budget',
  'sim/text-only',
];

const SCHEMA: Json = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2 },
    days: { type: 'integer', minimum: 1, maximum: 7 },
    unit: { enum: ['c', 'f'] },
    tags: { type: 'array', items: { type: 'string' } },
  },
  required: ['city'],
  additionalProperties: false,
};
const TOOL: Json = {
  type: 'function',
  function: { name: 'get_weather', description: 'Weather', parameters: SCHEMA, strict: false },
};

/** Valid requests that together use every documented field. */
const SEEDS: readonly { [key: string]: Json }[] = [
  {
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'What is 6 x 7?', name: 'ann' },
    ],
    max_completion_tokens: 2000,
    temperature: 0.5,
    stop: ['zzz', 'yyy'],
    metadata: { run: '1' },
    user: 'u',
  },
  {
    messages: [
      {
        role: 'developer',
        content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
      },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Describe' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=', detail: 'low' } },
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' } },
        ],
      },
    ],
    top_p: 0.9,
    seed: 4,
    verbosity: 'low',
    web_search_options: { search_context_size: 'low', user_location: { type: 'approximate', city: 'Paris' } },
    provider: { routing: { type: 'priority', providers: ['sim'] }, fallback: 'true' },
  },
  {
    messages: [{ role: 'user', content: 'explain the weather in Oslo, parallel' }],
    tools: [TOOL, { type: 'custom', custom: { name: 'shell', format: { type: 'text' } } }],
    tool_choice: 'auto',
    parallel_tool_calls: true,
    reasoning: { effort: 'low', exclude: false },
    usage: { include: true },
  },
  {
    messages: [
      { role: 'user', content: 'the weather in Oslo' },
      {
        role: 'assistant',
        content: '',
        reasoning: 'thinking',
        reasoning_details: [
          {
            type: 'reasoning.text',
            text: 'thinking',
            signature: 'c2ln',
            format: 'anthropic-claude-v1',
            index: 0,
          },
          { type: 'reasoning.encrypted', data: 'ZW5j', id: 'rs_1', format: 'openai-responses-v1', index: 1 },
          { type: 'reasoning.summary', summary: 'short', format: 'openai-responses-v1', index: '2' },
        ],
        tool_calls: [
          { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
          { id: 'call_2', type: 'custom', custom: { name: 'shell', input: 'ls' } },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
      { role: 'tool', tool_call_id: 'call_2', content: [{ type: 'text', text: 'a.txt' }] },
    ],
    tools: [TOOL, { type: 'custom', custom: { name: 'shell' } }],
    tool_choice: {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'get_weather' } }] },
    },
    reasoning: { max_tokens: 1500 },
    max_completion_tokens: 4000,
  },
  {
    messages: [{ role: 'user', content: 'the weather in "Oslo"' }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'weather', description: 'Weather', schema: SCHEMA, strict: true },
    },
    reasoning_effort: 'minimal',
    logit_bias: { 5: 1 },
    logprobs: true,
    top_logprobs: 2,
    frequency_penalty: 0.1,
    presence_penalty: -0.1,
    n: 1,
  },
  {
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'no' }] },
      { role: 'user', content: 'refuse, in JSON' },
    ],
    response_format: { type: 'json_object' },
    model_routing_config: {
      available_models: ['sim/chat'],
      task_info: { task_type: 'chat', complexity: 'low' },
    },
    models: ['sim/echo'],
    store: false,
    service_tier: 'auto',
    modalities: ['text'],
    include_reasoning: true,
  },
];

/** A change somewhere in a request; `at` picks the place among all there are. */
type Mutation = {
  readonly kind: 'replace' | 'remove' | 'repeat' | 'wrap' | 'add' | 'rename' | 'swap';
  readonly at: number;
  readonly value: Json;
  readonly name: string;
};

const edgeValues = fc.constantFrom<Json>(
  null, true, false, 0, -1, 1, 0.5, 1e308, -1e308, 2 ** 53, 5e-324, '', ' ', 'text', 'a\r\nb: c', '\u0000', '😀', '{', '{}', '[]', 'null',
  'data:', 'data:image/png;base64,', 'data:text/plain,hi', 'http://', 'https://example.com/a.png', 'file:///etc/passwd',
  [], {}, [null], [[]], [{}], { type: 'text' }, { type: 'text', text: '' }, { type: 'image_url', image_url: '' }, { type: 'custom' },
  { type: 'object' }, { $ref: '#' }, { role: 'user', content: '' }, { role: 'assistant' }, { role: 'tool', tool_call_id: 'call_1', content: '' },
  'assistant', 'tool', 'system', 'developer', 'function', 'custom', 'required', 'none', 'high', 'xhigh', 'json_object', 'reasoning.text',
  'anthropic-claude-v1', 'openai-responses-v1', 'deepseek-reasoner-v1', 'call_1', 'get_weather',
); // prettier-ignore
const names = fc.constantFrom(
  'type', 'role', 'content', 'text', 'name', 'id', 'index', 'function', 'custom', 'tool_calls', 'reasoning', 'reasoning_content', 'reasoning_details', 'signature',
  'cache_control', 'max_tokens', 'enabled', 'exclude', 'strict', 'schema', 'parameters', 'stream', 'stream_options', 'refusal', 'audio', 'function_call', 'constructor', 'length', 'mine', '漢', 'a\r\nb', '',
); // prettier-ignore
const mutation: fc.Arbitrary<Mutation> = fc.record({
  kind: fc.constantFrom('replace', 'replace', 'replace', 'remove', 'repeat', 'wrap', 'add', 'rename', 'swap'),
  at: fc.nat({ max: 10_000 }),
  value: fc.oneof(
    { weight: 4, arbitrary: edgeValues },
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json> },
  ),
  name: names,
});

type Parent = Json[] | { [key: string]: Json };
interface Place {
  readonly parent: Parent;
  readonly key: string;
}

/** Every place in a value that can be changed, in the order of reading. */
function placesIn(value: Json, found: Place[] = []): Place[] {
  if (typeof value !== 'object' || value === null) return found;
  for (const key of Object.keys(value)) {
    found.push({ parent: value, key });
    placesIn(read(value, key), found);
  }
  return found;
}

function read(parent: Parent, key: string): Json {
  return (Array.isArray(parent) ? parent[Number(key)] : parent[key]) ?? null;
}

function write(parent: Parent, key: string, value: Json): void {
  if (Array.isArray(parent)) parent[Number(key)] = value;
  else parent[key] = value;
}

function remove(parent: Parent, key: string): void {
  if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else delete parent[key];
}

function mutate(body: { [key: string]: Json }, { kind, at, value, name }: Mutation): void {
  const places = placesIn(body);
  const place = places[at % Math.max(1, places.length)];
  if (!place) return;
  const { parent, key } = place;
  const before = read(parent, key);
  switch (kind) {
    case 'replace':
      return write(parent, key, structuredClone(value));
    case 'remove':
      return remove(parent, key);
    case 'repeat':
      if (Array.isArray(parent)) parent.splice(Number(key), 0, structuredClone(before));
      else write(parent, key, [before, structuredClone(before)]);
      return;
    case 'wrap':
      return write(parent, key, at % 2 === 0 ? [before] : { [name]: before });
    case 'add':
      if (Array.isArray(parent)) parent.push(structuredClone(value));
      else parent[name] = structuredClone(value);
      return;
    case 'rename':
      remove(parent, key);
      if (!Array.isArray(parent)) parent[name] = before;
      return;
    case 'swap': {
      const other = places[(at * 31) % places.length];
      // Two places of which one holds the other would make a circle.
      if (!other || other.parent !== parent) return;
      write(parent, key, read(other.parent, other.key));
      write(other.parent, other.key, before);
    }
  }
}

const mutated = fc
  .record({
    seed: fc.nat({ max: SEEDS.length - 1 }),
    model: fc.constantFrom(...MODELS),
    stream: fc.boolean(),
    mutations: fc.array(mutation, { minLength: 1, maxLength: 4 }),
  })
  .map(({ seed, model, stream, mutations }) => {
    const body: { [key: string]: Json } = structuredClone({ model, stream, ...SEEDS[seed] });
    for (const change of mutations) mutate(body, change);
    return JSON.stringify(body);
  });

interface Verdict {
  readonly status: number;
  readonly lane: string | null;
}

/** Throws unless the answer is one that a client can understand and that is nobody's defect. */
async function judge(body: string): Promise<Verdict> {
  const response = await gateway.post('/chat/completions', body);
  const text = await response.text();
  const { status, headers } = response;
  if (status === 200) {
    if (headers.get('content-type')?.startsWith('text/event-stream')) {
      const { error } = readChatStream(text);
      if (error) throw new Error(`the stream failed: ${error.message}`);
    } else {
      readCompletion(text);
    }
    return { status, lane: headers.get('x-dragoman-lane') };
  }
  const error = readError(text);
  // Models without answer formats may be unable to satisfy a schema: that is said in so many words.
  const isUpstreamsFault = status === 502 && error.message.includes('does not match response_format');
  if (status >= 500 && !isUpstreamsFault) throw new Error(`status ${status}: ${text}`);
  const isOwn = headers.get('x-dragoman-attempts') === '0' || !headers.has('x-dragoman-attempts');
  if (status === 400 && isOwn && error.param === null && !/\bbody\b/.test(error.message)) {
    throw new Error(`a 400 that names nothing: ${text}`);
  }
  return { status, lane: headers.get('x-dragoman-lane') };
}

test('the requests that are mutated are valid, for every model that can do what they ask', async () => {
  for (const [index, seed] of SEEDS.entries()) {
    for (const stream of [false, true]) {
      const { status } = await judge(JSON.stringify({ model: 'sim/messages', stream, ...seed }));
      // One has forged reasoning: the upstream refuses it, and gets the request again without it.
      expect({ index, status }).toEqual({ index, status: 200 });
    }
  }
});

test('mutated requests get a valid answer or a valid error', async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(mutated, async (body) => {
      const { status, lane } = await judge(body);
      for (const what of [String(status), String(lane)]) seen.set(what, (seen.get(what) ?? 0) + 1);
    }),
    { seed: SEED, numRuns: RUNS },
  );
  // A fuzz test that only ever sees refusals tests nothing but the decoder.
  expect(seen.get('200') ?? 0).toBeGreaterThan(RUNS / 20);
  expect(seen.get('400') ?? 0).toBeGreaterThan(RUNS / 20);
  expect(seen.get('translate') ?? 0).toBeGreaterThan(RUNS / 50);
  expect(
    gateway.logLines.filter((line) => line.includes('"level":"error"') || line.includes('"internal"')),
  ).toEqual([]);
});

test('bytes changed anywhere in a request do no harm either', async () => {
  const text = JSON.stringify({ model: 'sim/messages', ...SEEDS[2] });
  const damaged = fc
    .array(
      fc.record({
        at: fc.nat({ max: text.length - 1 }),
        byte: fc.nat({ max: 255 }),
        cut: fc.nat({ max: 30 }),
      }),
      { minLength: 1, maxLength: 5 },
    )
    .map((damages) => {
      let bytes = Buffer.from(text);
      for (const { at, byte, cut } of damages) {
        if (cut > 25) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + cut)]);
        else if (at < bytes.length) bytes[at] = byte;
      }
      return bytes.toString('latin1');
    });
  await fc.assert(
    fc.asyncProperty(damaged, async (latin1) => {
      const response = await gateway.post('/chat/completions', new Uint8Array(Buffer.from(latin1, 'latin1')));
      const answer = await response.text();
      expect(response.status).toBeLessThan(500);
      if (response.status === 200) readCompletion(answer);
      else readError(answer);
    }),
    { seed: SEED, numRuns: Math.ceil(RUNS / 5) },
  );
});
