// A conversation that goes on sends the same beginning in every turn: what goes up next begins with what went up before,
// item by item, or prompt caches of the upstreams miss. Over every client protocol, kept or sent again, and every upstream.
import { afterAll, describe, expect, test } from 'bun:test';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { framesOf } from '../../support/recordings/loose.ts';
import { says, type Said } from '../../support/responses-scene.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { CONVERSE_MODEL } from '../../support/upstreams/converse-sim.ts';
import { providerAt } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { type Answer, type Arrived, startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const UPSTREAMS = ['chat', 'responses', 'messages', 'gemini', 'converse', 'relay'] as const;
type Upstream = (typeof UPSTREAMS)[number];

const upstream = await startUpstream();
const endpoints: Readonly<Record<Upstream, object>> = {
  chat: { provider: 'up', protocol: 'openai-chat' },
  responses: { provider: 'up', protocol: 'openai-responses', reasoning: 'effort' },
  messages: { provider: 'up', protocol: 'anthropic-messages', reasoning: 'budget' },
  gemini: { provider: 'up', protocol: 'gemini', reasoning: 'budget' },
  converse: { provider: 'bedrock', protocol: 'bedrock-converse' },
  relay: { provider: 'own', protocol: 'openai-responses', reasoning: 'none' },
};
const gateway = await startGateway({
  routing: { retries: 0, breaker: { failures: 1000 } },
  providers: {
    up: providerAt(upstream.origin),
    own: {
      api_key: 'sk-test',
      protocols: { 'openai-responses': { base_url: `${upstream.origin}/v1`, faithful: true } },
    },
    bedrock: { region: 'eu-west-1', api_key: 'sk-test', base_url: upstream.origin },
  },
  models: UPSTREAMS.map((name) => ({
    id: `to/${name}`,
    max_output_tokens: 8000,
    endpoints: [{ model: name === 'converse' ? CONVERSE_MODEL : 'm', ...endpoints[name] }],
  })),
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

/** Turns of the model: it thinks, asks for a tool, and answers twice. */
let conversations = 0;
function turns(): readonly (readonly Said[])[] {
  // Reasoning before a call is found again by the call: each conversation has its own.
  const call = { call: 'get_weather', id: `call_000000000${++conversations}`, args: { city: 'Oslo' } };
  return [
    [{ thought: 'Weather is asked.', sealed: 'c2VhbGVkLTAwMDE=' }, { text: 'I look.' }, call],
    [{ text: 'Fog in Oslo.' }],
    [{ thought: 'Thanks are due.', sealed: 'c2VhbGVkLTAwMDI=' }, { text: 'You are welcome.' }],
    [{ text: 'Bye.' }],
  ];
}

function answerOf(name: Upstream, said: readonly Said[]): Answer {
  if (name === 'relay')
    return says(
      'relay',
      said.filter((each) => !('thought' in each)),
    );
  if (name !== 'gemini' && name !== 'converse') return says(name, said);
  return whole(name === 'gemini' ? geminiBody(said) : converseBody(said));
}

function geminiBody(said: readonly Said[]): object {
  const parts = said.map((each) => {
    if ('text' in each) return { text: each.text };
    if ('call' in each)
      return { functionCall: { name: each.call, args: each.args }, thoughtSignature: 'c2VhbA==' };
    return { text: each.thought, thought: true };
  });
  const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 };
  return {
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata,
    modelVersion: 'm',
    responseId: 'r',
  };
}

function converseBody(said: readonly Said[]): object {
  const content = said.map((each): object => {
    if ('text' in each) return { text: each.text };
    if ('call' in each) return { toolUse: { toolUseId: each.id, name: each.call, input: each.args } };
    return { reasoningContent: { reasoningText: { text: each.thought, signature: each.sealed } } };
  });
  const isCall = said.some((each) => 'call' in each);
  return {
    output: { message: { role: 'assistant', content } },
    stopReason: isCall ? 'tool_use' : 'end_turn',
    usage: { inputTokens: 9, outputTokens: 3, totalTokens: 12 },
    metrics: { latencyMs: 1 },
  };
}

/** A client of a protocol: how it asks a turn, given its answers so far. */
interface Client {
  readonly path: (model: string) => string;
  /** @param answers bodies of the answers so far */
  readonly body: (model: string, answers: readonly Json[]) => Promise<object> | object;
}

const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const RESPONSES_TOOLS = [{ type: 'function', name: 'get_weather', parameters: PARAMETERS, strict: false }];
const CHAT_TOOLS = [{ type: 'function', function: { name: 'get_weather', parameters: PARAMETERS } }];
const MESSAGES_TOOLS = [{ name: 'get_weather', input_schema: PARAMETERS }];
const ASKED = ['Weather in Oslo?', '', 'Thanks.', 'Bye.'] as const;

/** Input of a Responses client in a turn: it names none of its items. */
function responsesInput(turn: number, answers: readonly Json[]): readonly object[] {
  if (turn !== 1) return [{ role: 'user', content: ASKED[turn] }];
  const call = list(answers[0], 'output').find((item) => at(item, 'type') === 'function_call');
  return [{ type: 'function_call_output', call_id: String(at(call, 'call_id')), output: 'fog' }];
}

function responsesBody(model: string): object {
  return { model, tools: RESPONSES_TOOLS, instructions: 'Be brief.', max_output_tokens: 4000 };
}

let conversation = '';

const CLIENTS: Readonly<Record<string, Client>> = {
  'Responses, by previous_response_id': {
    path: () => '/v1/responses',
    body: (model, answers) => ({
      ...responsesBody(model),
      input: answers.length === 0 ? ASKED[0] : responsesInput(answers.length, answers),
      ...(answers.length === 0 ? {} : { previous_response_id: at(answers.at(-1), 'id') }),
    }),
  },
  'Responses, in a conversation': {
    path: () => '/v1/responses',
    body: async (model, answers) => {
      if (answers.length === 0) {
        const made = await gateway.post('/conversations', {});
        conversation = String(at((await made.json()) as Json, 'id'));
      }
      return {
        ...responsesBody(model),
        input: responsesInput(answers.length, answers),
        conversation,
      };
    },
  },
  'Responses, all sent again': {
    path: () => '/v1/responses',
    body: (model, answers) => ({
      ...responsesBody(model),
      store: false,
      include: ['reasoning.encrypted_content'],
      input: [
        ...answers.flatMap((answer, turn) => [...responsesInput(turn, answers), ...list(answer, 'output')]),
        ...responsesInput(answers.length, answers),
      ],
    }),
  },
  'Messages, in a thread': {
    path: () => '/v1/messages',
    body: (model, answers) => ({
      model,
      max_tokens: 4000,
      messages: [messagesSaid(answers.length)],
      ...(answers.length === 0
        ? { system: 'Be brief.', tools: MESSAGES_TOOLS, thread: { type: 'create' } }
        : { thread: { type: 'continue', previous_message_id: at(answers.at(-1), 'id') } }),
    }),
  },
  'Messages, all sent again': {
    path: () => '/v1/messages',
    body: (model, answers) => ({
      model,
      max_tokens: 4000,
      system: 'Be brief.',
      tools: MESSAGES_TOOLS,
      messages: [
        ...answers.flatMap((answer, turn) => [
          messagesSaid(turn, answers),
          { role: 'assistant', content: at(answer, 'content') },
        ]),
        messagesSaid(answers.length, answers),
      ],
    }),
  },
  'Chat Completions': {
    path: () => '/v1/chat/completions',
    body: (model, answers) => ({
      model,
      max_tokens: 4000,
      tools: CHAT_TOOLS,
      messages: [
        { role: 'system', content: 'Be brief.' },
        ...answers.flatMap((answer, turn) => [
          chatSaid(turn, answers),
          at(answer, 'choices', 0, 'message') as object,
        ]),
        chatSaid(answers.length, answers),
      ],
    }),
  },
  Gemini: {
    path: (model) => `/v1beta/models/${encodeURIComponent(model)}:generateContent`,
    body: (_, answers) => ({
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      tools: [{ functionDeclarations: [{ name: 'get_weather', parametersJsonSchema: PARAMETERS }] }],
      contents: [
        ...answers.flatMap((answer, turn) => [
          geminiSaid(turn),
          at(answer, 'candidates', 0, 'content') as object,
        ]),
        geminiSaid(answers.length),
      ],
    }),
  },
};

/** The last answer's call, which the thread's client knows as well. */
let lastAnswer: Json = null;

function messagesSaid(turn: number, answers: readonly Json[] = [lastAnswer]): object {
  if (turn !== 1) return { role: 'user', content: ASKED[turn] };
  const call = list(answers[0], 'content').find((block) => at(block, 'type') === 'tool_use');
  const result = { type: 'tool_result', tool_use_id: at(call, 'id'), content: 'fog' };
  return { role: 'user', content: [result] };
}

function chatSaid(turn: number, answers: readonly Json[]): object {
  if (turn !== 1) return { role: 'user', content: ASKED[turn] };
  const id = at(answers[0], 'choices', 0, 'message', 'tool_calls', 0, 'id');
  return { role: 'tool', tool_call_id: id, content: 'fog' };
}

function geminiSaid(turn: number): object {
  if (turn !== 1) return { role: 'user', parts: [{ text: ASKED[turn] }] };
  return {
    role: 'user',
    parts: [{ functionResponse: { name: 'get_weather', response: { output: 'fog' } } }],
  };
}

/** Cached part of a request, in the order in which upstreams read it. */
function sentTo(name: Upstream, { json }: Arrived): readonly Json[] {
  const said = list(
    json,
    {
      chat: 'messages',
      responses: 'input',
      relay: 'input',
      gemini: 'contents',
      messages: 'messages',
      converse: 'messages',
    }[name],
  );
  const fixed = ['system', 'instructions', 'systemInstruction', 'tools', 'toolConfig'] as const;
  return [...fixed.map((member) => at(json, member) ?? null), ...said];
}

/** A whole conversation; every turn must begin as the one before did. */
async function expectSamePrefix(client: string, name: Upstream, stream: boolean): Promise<void> {
  const model = `to/${name}`;
  const { path, body } = CLIENTS[client] as Client;
  const said = turns();
  upstream.script(...said.map((each) => answerOf(name, each)));
  const answers: Json[] = [];
  for (const _ of said) {
    lastAnswer = answers.at(-1) ?? null;
    const response = await fetch(gateway.origin + path(model), {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...(await body(model, answers)), ...(stream ? { stream } : {}) }),
    });
    const text = await response.text();
    const answer = stream ? streamed(text) : (JSON.parse(text) as Json);
    expect([response.status, at(answer, 'error', 'message')]).toEqual([200, undefined]);
    answers.push(answer);
  }
  const sent = upstream.requests.map((request) => sentTo(name, request));
  expect(sent).toHaveLength(said.length);
  for (const [turn, before] of sent.slice(0, -1).entries()) {
    const next = sent[turn + 1] ?? [];
    expect(next.length).toBeGreaterThan(before.length);
    expect(next.slice(0, before.length)).toEqual([...before]);
  }
}

/** As much of a streamed answer as the next turn needs: the response, or id and blocks of a message. */
function streamed(text: string): Json {
  const events = framesOf(text).map(({ data }) => JSON.parse(data) as Json);
  const response = events.findLast((event) => at(event, 'response') !== undefined);
  if (response !== undefined) return at(response, 'response') ?? null;
  const id = at(events[0], 'message', 'id') ?? null;
  return { id, content: events.flatMap((event) => at(event, 'content_block') ?? []) };
}

const KEPT = Object.keys(CLIENTS).filter((client) => /previous|conversation|thread/.test(client));

describe.each(Object.keys(CLIENTS))('%s', (client) => {
  test.each(UPSTREAMS)('sends the same prefix in every turn over %s', (name) =>
    expectSamePrefix(client, name, false),
  );
});

describe.each(KEPT)('%s, streamed', (client) => {
  test.each(['chat', 'responses', 'messages', 'relay'] as const)(
    'sends the same prefix in every turn over %s',
    (name) => expectSamePrefix(client, name, true),
  );
});

/** Items of every kind that a client may send without an id. */
const UNNAMED: readonly object[] = [
  { role: 'user', content: 'Hello' },
  { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.', annotations: [] }] },
  { type: 'reasoning', summary: [], encrypted_content: 'c2VhbGVk' },
  { type: 'function_call', call_id: 'call_1', name: 'get_weather', arguments: '{"city":"Oslo"}' },
  { type: 'function_call_output', call_id: 'call_1', output: 'fog' },
  { type: 'custom_tool_call', call_id: 'call_2', name: 'sing', input: 'la' },
  { type: 'custom_tool_call_output', call_id: 'call_2', output: 'la la' },
  { type: 'shell_call', call_id: 'call_3', action: { commands: ['ls'] } },
  { type: 'shell_call_output', call_id: 'call_3', output: [] },
  { type: 'brand_new', member: 1 },
  { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
];

test.each(['kept', 'in a conversation', 'made into a conversation'])(
  'items that no client named go up unnamed: %s',
  async (how) => {
    upstream.script(...[1, 2, 3].map((turn) => says('responses', [{ text: `Answer ${turn}.` }])));
    const post = async (path: string, body: object): Promise<Json> =>
      (await (await gateway.post(path, body)).json()) as Json;
    const items = how === 'made into a conversation' ? UNNAMED : [];
    const made = how === 'kept' ? null : await post('/conversations', { items });
    const base = { model: 'to/responses', include: ['reasoning.encrypted_content'] };
    let last: Json = null;
    for (const input of [items.length > 0 ? 'Go on.' : UNNAMED, 'Go on.', 'And on.']) {
      const on = made ? { conversation: at(made, 'id') } : { previous_response_id: at(last, 'id') ?? null };
      last = await post('/responses', { ...base, input, ...on });
      expect(at(last, 'error')).toBeNull();
    }
    const sent = upstream.requests.map(({ json }) => list(json, 'input'));
    for (const input of sent) expect(JSON.stringify(input.slice(0, UNNAMED.length))).not.toMatch(/"id":/);
    for (const [turn, before] of sent.slice(0, -1).entries())
      expect(sent[turn + 1]?.slice(0, before.length)).toEqual([...before]);
    // They have ids all the same, by which they are listed and referred to.
    const listed = await (await gateway.get(`/responses/${at(last, 'id')}/input_items?limit=100`)).json();
    const [id] = list(listed as Json, 'data').map((item) => String(at(item, 'id')));
    upstream.script(says('responses', [{ text: 'Referred.' }]));
    const referred = await post('/responses', { ...base, input: [{ type: 'item_reference', id: id ?? '' }] });
    expect(at(referred, 'error')).toBeNull();
    expect(upstream.requests[0]?.text).not.toContain(id ?? '');
  },
);

test.each(['relay', 'responses'])('a compacted conversation is sent upstream unchanged: %s', async (way) => {
  upstream.script(says('responses', [{ text: 'A summary.' }]));
  const input = UNNAMED.filter((item) => !('type' in item) || item.type !== 'reasoning');
  const response = await gateway.post('/responses/compact', { model: `to/${way}`, input });
  const compacted = (await response.json()) as Json;
  expect(at(compacted, 'object')).toBe('response.compaction');
  expect(upstream.requests[0]?.text).not.toContain('"id"');
  // Items have ids, with which a client sends them back.
  for (const item of list(compacted, 'output')) expect(at(item, 'id')).toBeString();
});
