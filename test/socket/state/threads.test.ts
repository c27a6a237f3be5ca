// Message threads of Anthropic's SDKs, over every kind of upstream: the model is asked with the whole conversation,
// though the client sends what is new alone. Sources: the SDK's own helpers and types, and "Message threads", 2026-11.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';
import { says, reported, type Way } from '../../support/responses-scene.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { DIALECTS, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';
import { providerAt, UPSTREAM_KEY } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstreams/scripted-upstream.ts';

const BETA = 'message-threads-2026-08-12';
const OTHER_KEY = 'sk-test-other';

/** A client, and what it sent. */
interface Watched {
  readonly client: Anthropic;
  readonly sent: Json[];
  readonly statuses: number[];
}

function watched({ origin }: Pick<TestGateway, 'origin'>, apiKey = TEST_KEY): Watched {
  const sent: Json[] = [];
  const statuses: number[] = [];
  const client = new Anthropic({
    apiKey,
    baseURL: origin,
    maxRetries: 0,
    fetch: async (input, init) => {
      sent.push(JSON.parse(String(init?.body)) as Json);
      const response = await fetch(input as string, init as RequestInit);
      statuses.push(response.status);
      return response;
    },
  });
  return { client, sent, statuses };
}

describe('the tool runner of the official SDK', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startEveryUpstream();
  });
  afterAll(() => gateway.close());

  test.each(DIALECTS.flatMap((model) => [false, true].map((stream) => [model, stream] as const)))(
    'runs a thread over %s, streamed: %p',
    async (model, stream) => {
      const asked: string[] = [];
      const weather = betaTool({
        name: 'get_weather',
        description: 'Weather of a city',
        inputSchema: {
          type: 'object',
          properties: { city: { type: 'string' } },
          required: ['city'],
        } as const,
        run: ({ city }) => {
          asked.push(city);
          return 'sunny, 21 degrees';
        },
      });
      const { client, sent, statuses } = watched(gateway);
      const runner = client.beta.messages.toolRunner({
        model,
        max_tokens: 2000,
        system: 'Be brief.',
        messages: [{ role: 'user', content: 'What is the weather in "Paris"?' }],
        tools: [weather],
        stream,
      });
      const last = await runner.runUntilDone();
      expect(asked).toEqual(['Paris']);
      expect(statuses).toEqual([200, 200]);
      expect(sent.map((body) => at(body, 'thread', 'type'))).toEqual(['create', 'continue']);
      expect(at(sent[1], 'tools')).toBeUndefined();
      expect(list(sent[1], 'messages')).toHaveLength(1);
      expect(JSON.stringify(last.content)).toContain('sunny, 21 degrees');
    },
  );
});

/** Ways to the scripted upstream; `to/<way>` is the model. */
const WAYS = ['relay', 'messages', 'chat', 'responses'] as const;
const MODES = WAYS.flatMap((way) => [false, true].map((stream) => [way, stream] as const));

interface Scene {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
}

async function startThreads(clock?: ManualClock, dataDir?: string): Promise<Scene> {
  const upstream = await startUpstream();
  const own = {
    base_url: upstream.origin,
    faithful: true,
    reasoning_format: 'anthropic-claude-v1',
  };
  const endpoints = {
    relay: { provider: 'own', protocol: 'anthropic-messages', reasoning: 'budget' },
    messages: { provider: 'up', protocol: 'anthropic-messages', reasoning: 'budget' },
    chat: { provider: 'up', protocol: 'openai-chat' },
    responses: { provider: 'up', protocol: 'openai-responses', reasoning: 'effort' },
  };
  const gateway = await startGateway(
    {
      keys: [
        { name: 'test', key: TEST_KEY },
        { name: 'other', key: OTHER_KEY },
      ],
      state: { retention_days: 1 },
      routing: { retries: 0, breaker: { failures: 1000 } },
      providers: {
        up: providerAt(upstream.origin),
        own: { api_key: UPSTREAM_KEY, protocols: { 'anthropic-messages': own } },
      },
      models: WAYS.map((way) => ({
        id: `to/${way}`,
        max_output_tokens: 8000,
        endpoints: [{ model: 'm', ...endpoints[way] }],
      })),
    },
    { ...(clock ? { clock } : {}), ...(dataDir === undefined ? {} : { dataDir }) },
  );
  return { gateway, upstream };
}

/** The upstream's answer, in the words of its protocol. */
const replies = (way: (typeof WAYS)[number], text: string): ReturnType<typeof says> =>
  says((way === 'relay' ? 'messages' : way) satisfies Way, [{ text }]);

const CACHE = { type: 'ephemeral' } as const;

describe.each(MODES)('runs a thread over %s, streamed: %p', (way, stream) => {
  let scene: Scene;
  beforeAll(async () => {
    scene = await startThreads();
  });
  afterAll(async () => {
    await scene.gateway.close();
    await scene.upstream.stop();
  });

  async function send(body: object, headers: Record<string, string> = {}): Promise<Response> {
    const response = await scene.gateway.post(
      '/messages?beta=true',
      { model: `to/${way}`, max_tokens: 100, stream, ...body },
      { 'anthropic-beta': `a-feature-2026-01-01,${BETA}`, ...headers },
    );
    const text = await response.text();
    return new Response(text, response);
  }
  const idIn = async (response: Response): Promise<string> =>
    /"id": ?"(msg_[^"]+)"/.exec(await response.text())?.[1] ?? '';
  const user = (content: unknown): object => ({ role: 'user', content });

  test('each turn is sent upstream with all earlier messages', async () => {
    const { upstream } = scene;
    upstream.script(replies(way, 'Hello, Ada.'), replies(way, 'You like tea.'), replies(way, 'Ada, tea.'));
    const first = await send({
      system: 'Be brief.',
      messages: [user([{ type: 'text', text: 'I am Ada.', cache_control: CACHE }])],
      thread: { type: 'create' },
    });
    expect(first.headers.get('x-dragoman-lane')).toBe(way === 'relay' ? 'relay' : 'translate');
    expect(first.headers.get('x-dragoman-report') ?? '').not.toContain('thread');
    const second = await send({
      messages: [user('I like tea.')],
      thread: { type: 'continue', previous_message_id: await idIn(first) },
    });
    const third = await send({
      messages: [user('Who am I?')],
      thread: { type: 'continue', previous_message_id: await idIn(second) },
    });
    expect(third.status).toBe(200);
    const before = ['system: Be brief.', 'user: I am Ada.', 'assistant: Hello, Ada.', 'user: I like tea.'];
    expect(upstream.requests.map(reported)).toEqual([
      before.slice(0, 2),
      before,
      [...before, 'assistant: You like tea.', 'user: Who am I?'],
    ]);
    for (const { text, headers } of upstream.requests) {
      expect(text).not.toContain('"thread"');
      expect(headers['anthropic-beta'] ?? '').not.toContain(BETA);
    }
    if (way === 'relay') expect(upstream.requests[1]?.headers['anthropic-beta']).toBe('a-feature-2026-01-01');
    // Marks of earlier turns would add up beyond what a request may have.
    expect(upstream.requests[1]?.text).not.toContain('cache_control');
  });

  test('thoughts and calls of a turn are restored unchanged', async () => {
    const { upstream } = scene;
    const spoken = way === 'relay' ? 'messages' : way;
    const call = { call: 'look', id: `call_000${way}${stream}`, args: { at: 'tea' } };
    upstream.script(
      says(spoken, [{ thought: 'I must look.', sealed: 'c2VhbGVkLTAwMDE=' }, { text: 'I look.' }, call]),
      replies(way, 'It is tea.'),
    );
    const tools = [
      { name: 'look', input_schema: { type: 'object', properties: { at: { type: 'string' } } } },
    ];
    const thinking = { type: 'enabled', budget_tokens: 2000 };
    const base = { thinking, max_tokens: 4000 };
    const first = await send({ ...base, tools, messages: [user('Look.')], thread: { type: 'create' } });
    const second = await send({
      ...base,
      messages: [user([{ type: 'tool_result', tool_use_id: call.id, content: 'tea' }])],
      thread: { type: 'continue', previous_message_id: await idIn(first) },
    });
    expect(second.status).toBe(200);
    const sent = reported(upstream.requests[1]);
    expect(sent[0]).toBe('user: Look.');
    if (way !== 'chat') expect(sent).toContain('thought I must look. c2VhbGVkLTAwMDE=');
    expect(sent.slice(-3)).toEqual([
      'assistant: I look.',
      `call look {"at":"tea"} ${call.id}`,
      `result ${call.id}: tea`,
    ]);
  });

  // The other model takes no beginning of an answer, with a thread or without.
  test.skipIf(way === 'messages')('an unfinished response continues without a new message', async () => {
    const { upstream } = scene;
    upstream.script(replies(way, 'I wait.'), replies(way, 'Done.'));
    const first = await send({ messages: [user('Go.')], thread: { type: 'create' } });
    const thread = { type: 'continue', previous_message_id: await idIn(first) };
    const second = await send({ messages: [], thread });
    expect(second.status).toBe(200);
    expect(reported(upstream.requests[1]).slice(0, 2)).toEqual(['user: Go.', 'assistant: I wait.']);
  });

  test('the error for an unknown id makes the SDK send the whole conversation', async () => {
    const { gateway, upstream } = scene;
    upstream.script(replies(way, 'Hello.'));
    const id = await idIn(await send({ messages: [user('Hi')], thread: { type: 'create' } }));
    const other = { authorization: `Bearer ${OTHER_KEY}` };
    for (const [previous, headers] of [
      ['msg_none', {}],
      ['foo', {}],
      [id, other],
    ] as const) {
      const thread = { type: 'continue', previous_message_id: previous };
      const refused = await send({ messages: [user('And?')], thread }, headers);
      expect(refused.status).toBe(404);
      expect(await refused.json()).toMatchObject({
        type: 'error',
        error: { type: 'not_found_error', details: { error_code: 'thread_not_found' } },
      });
    }
    expect(upstream.requests).toHaveLength(1);
    // It is no response of the Responses API either.
    expect((await gateway.get(`/responses/${id}`)).status).toBe(404);

    const { client, sent, statuses } = watched(gateway);
    upstream.script(replies(way, 'One.'), replies(way, 'Two.'), replies(way, 'Three.'));
    const thread = client.beta.messages.thread({ model: `to/${way}`, max_tokens: 100, system: 'Be brief.' });
    const say = (text: string): Promise<unknown> =>
      stream
        ? thread.stream({ role: 'user', content: text }).finalMessage()
        : thread.send({ role: 'user', content: text });
    await say('1');
    await say('2');
    // Another project has never heard of it: the SDK begins anew with all that was said.
    client.apiKey = OTHER_KEY;
    await say('3');
    expect(sent.map((body) => at(body, 'thread', 'type'))).toEqual([
      'create',
      'continue',
      'continue',
      'create',
    ]);
    expect(statuses).toEqual([200, 200, 404, 200]);
    expect(reported(upstream.requests.at(-1))).toEqual([
      'system: Be brief.',
      'user: 1',
      'assistant: One.',
      'user: 2',
      'assistant: Two.',
      'user: 3',
    ]);
  });

  test('members that the thread stores can be repeated, but not changed', async () => {
    const { upstream } = scene;
    upstream.script(replies(way, 'Hello.'), replies(way, 'Same.'), replies(way, 'Bare.'));
    const system = [{ type: 'text', text: 'Be brief.', cache_control: CACHE }];
    const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }];
    const first = await send({ system, tools, messages: [user('Hi')], thread: { type: 'create' } });
    const thread = { type: 'continue', previous_message_id: await idIn(first) };
    const messages = [user('And?')];
    const billing = [{ type: 'text', text: 'x-anthropic-billing-header: cch=1' }];
    expect((await send({ system, tools, messages, thread })).status).toBe(200);
    expect((await send({ system: billing, messages, thread })).status).toBe(200);
    for (const { text } of upstream.requests) expect(text).toContain('"look"');
    for (const [changed, names] of [
      [{ system: 'Be long.' }, 'system'],
      [{ tools: [] }, 'tools'],
      [{ system: 'Be long.', tools: [] }, 'system, tools'],
    ] as const) {
      const refused = await send({ ...changed, messages, thread });
      expect(refused.status).toBe(400);
      const body = (await refused.json()) as Json;
      expect(at(body, 'error', 'details')).toEqual({ error_code: 'thread_fingerprint_mismatch' });
      expect(at(body, 'error', 'message')).toContain(`differing field(s): ${names}.`);
    }
  });

  test('mistakes are reported with their path in the request', async () => {
    const { upstream } = scene;
    upstream.script(replies(way, 'Hello.'));
    const first = await send({ messages: [user('Hi'), user('There')], thread: { type: 'create' } });
    const thread = { type: 'continue', previous_message_id: await idIn(first) };
    for (const [body, place] of [
      [{ messages: [{ role: 'nobody', content: 'x' }], thread }, 'messages[0].role'],
      [{ messages: 'x', thread }, 'messages'],
      [{ messages: [user('x')], thread: { type: 'fork' } }, 'thread.type'],
      [{ messages: [user('x')], thread: { type: 'continue' } }, 'thread.previous_message_id'],
      [{ messages: [user('x')], thread: 'create' }, 'thread'],
    ] as const) {
      const refused = await send(body);
      expect(refused.status).toBe(400);
      expect(at((await refused.json()) as Json, 'error', 'message')).toStartWith(`${place}: `);
    }
  });
});

test('the response that a request is compared with has the name of its upstream, for its project alone', async () => {
  const { gateway, upstream } = await startThreads();
  try {
    upstream.always(replies('relay', 'Hello.'));
    const ask = async (previous: string | null, headers: Record<string, string> = {}): Promise<string> => {
      const response = await gateway.post(
        '/messages',
        {
          model: 'to/relay',
          max_tokens: 100,
          diagnostics: { previous_message_id: previous },
          messages: [{ role: 'user', content: 'Grüße' }],
        },
        headers,
      );
      return String(at((await response.json()) as Json, 'id'));
    };
    const first = await ask(null);
    await ask(first);
    await ask(first, { authorization: `Bearer ${OTHER_KEY}` });
    await ask('msg_01VendorsOwn');
    const sent = upstream.requests.map(({ json }) => at(json, 'diagnostics', 'previous_message_id'));
    expect(sent).toEqual([null, 'msg_up', first, 'msg_01VendorsOwn']);
    expect(at(upstream.requests[1]?.json, 'messages', 0, 'content')).toBe('Grüße');
  } finally {
    await gateway.close();
    await upstream.stop();
  }
});

test('a thread lives as long as a stored response, also over a restart', async () => {
  const clock = new ManualClock();
  const first = await startThreads(clock);
  const { client } = watched(first.gateway);
  first.upstream.always(replies('chat', 'Hello.'));
  const ask = {
    model: 'to/chat',
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hi' }],
    betas: [BETA],
  } satisfies Anthropic.Beta.MessageCreateParams;
  const { id } = await client.beta.messages.create({ ...ask, thread: { type: 'create' } });
  const next = { ...ask, thread: { type: 'continue', previous_message_id: id } as const };
  await first.gateway.stop();
  const second = await startThreads(clock, first.gateway.dataDir);
  second.upstream.always(replies('chat', 'Again.'));
  try {
    const { client: later } = watched(second.gateway);
    clock.advance(23 * 3_600_000);
    await later.beta.messages.create(next);
    expect(reported(second.upstream.requests.at(-1))).toEqual(['user: Hi', 'assistant: Hello.', 'user: Hi']);
    clock.advance(3_600_001);
    const lost = await rejection(later.beta.messages.create(next));
    expect(lost).toBeInstanceOf(Anthropic.NotFoundError);
    expect(at((lost as { error?: Json }).error ?? null, 'error', 'details', 'error_code')).toBe(
      'thread_not_found',
    );
  } finally {
    await second.gateway.close();
    await first.upstream.stop();
    await second.upstream.stop();
  }
});

test.skipIf(POSTGRES_PROGRAMS === null)('a thread continues at another replica', async () => {
  const shared = { database_url: await freshPostgres(), secret: 'ab'.repeat(32) };
  const gateways = [await startGateway(shared), await startGateway(shared)] as const;
  try {
    const [one, two] = gateways.map((gateway) => watched(gateway));
    const ask = { model: 'sim/echo', max_tokens: 100, betas: [BETA] };
    const first = await one?.client.beta.messages.create({
      ...ask,
      messages: [{ role: 'user', content: 'Hello' }],
      thread: { type: 'create' },
    });
    const second = await two?.client.beta.messages.create({
      ...ask,
      messages: [{ role: 'user', content: 'Again' }],
      thread: { type: 'continue', previous_message_id: first?.id ?? '' },
    });
    expect(second?.usage.input_tokens).toBeGreaterThan(first?.usage.input_tokens ?? Infinity);
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.close()));
  }
});

test('details of an upstream’s error are kept in translation', async () => {
  const { gateway, upstream } = await startThreads();
  try {
    const details = { error_code: 'image_dimensions_too_large', paths: ['messages.0.content.0'] };
    const error = { type: 'invalid_request_error', message: 'too large', details };
    upstream.always(whole({ type: 'error', error }, 400));
    const { client } = watched(gateway);
    for (const model of ['to/messages', 'to/relay']) {
      const refused = await rejection(
        client.messages.create({ model, max_tokens: 100, messages: [{ role: 'user', content: 'Hi' }] }),
      );
      expect(at((refused as { error?: Json }).error ?? null, 'error', 'details')).toEqual(details);
    }
  } finally {
    await gateway.close();
    await upstream.stop();
  }
});
