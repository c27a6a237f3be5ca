// The members of a chat request that the API documents as unsupported: what becomes of each in lenient and strict
// mode, over both lanes. And what must never reach an upstream: these, the gateway's own keys, and the client's key.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { chatBody, messagesBody, responsesBody, whole } from '../support/upstreams/answers.ts';
import {
  recordOf,
  startScene,
  UPSTREAM_KEY,
  type Scene,
} from '../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../support/upstreams/json-path.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
/** Says that its server takes what OpenAI brought together with custom tools. */
const KNOWING = {
  id: 'knowing/chat',
  endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-chat', quirks: { custom_tools: true } }],
};
const scenes: { relay?: Scene; translate?: Scene } = {};
beforeAll(async () => {
  [scenes.relay, scenes.translate] = await Promise.all([
    startScene(['up'], { faithful: true }),
    startScene(['up'], { config: { models: [KNOWING] } }),
  ]);
});
afterAll(async () => {
  for (const scene of Object.values(scenes)) await scene[Symbol.asyncDispose]();
});

const STRICT = { 'x-dragoman-strict': 'true' };

/**
 * `passed`: an upstream that may know it gets it, and so in strict mode. `ignored`: the call succeeds and the report says
 * so; strict: 400. `refused`: always a 400 that names it.
 */
const FIELDS: readonly {
  readonly name: string;
  readonly value: unknown;
  readonly outcome: 'passed' | 'ignored' | 'refused';
  readonly wrong: unknown;
}[] = [
  { name: 'audio', value: { voice: 'alloy', format: 'mp3' }, outcome: 'refused', wrong: 'loud' },
  { name: 'modalities', value: ['text'], outcome: 'passed', wrong: 'text' },
  { name: 'functions', value: [{ name: 'f', parameters: {} }], outcome: 'refused', wrong: 'f' },
  { name: 'function_call', value: 'auto', outcome: 'refused', wrong: 7 },
  { name: 'prompt_cache_key', value: 'tenant-1', outcome: 'passed', wrong: 7 },
  { name: 'prompt_cache_retention', value: '24h', outcome: 'passed', wrong: 7 },
  { name: 'safety_identifier', value: 'person-1', outcome: 'passed', wrong: 7 },
  { name: 'store', value: true, outcome: 'ignored', wrong: 'yes' },
  { name: 'service_tier', value: 'flex', outcome: 'passed', wrong: 7 },
  { name: 'prediction', value: { type: 'content', content: 'x' }, outcome: 'passed', wrong: 'x' },
  { name: 'user', value: 'person-1', outcome: 'passed', wrong: 7 },
];

describe.each(['relay', 'translate'] as const)('%s lane', (lane) => {
  let scene: Scene;
  const ask = (body: object, headers: Record<string, string> = {}): Promise<Response> =>
    scene.gateway.post('/chat/completions', { model: 'one/chat', messages: MESSAGES, ...body }, headers);
  beforeEach(() => {
    const found = scenes[lane];
    if (!found) throw new Error('no scene');
    scene = found;
    scene.upstream('up').always(whole(chatBody('Hello')));
  });
  const sent = (): unknown => scene.upstream('up').requests.at(-1)?.json;

  test.each([...FIELDS])('$name is $outcome', async ({ name, value, outcome, wrong }) => {
    const lenient = await ask({ [name]: value });
    if (outcome === 'refused') {
      expect(lenient.status).toBe(400);
      expect(at(await lenient.json(), 'error', 'param')).toBe(name);
      expect(scene.upstream('up').requests).toHaveLength(0);
    } else {
      expect(lenient.status).toBe(200);
      await lenient.text();
      expect(lenient.headers.get('x-dragoman-lane')).toBe(lane);
    }
    if (outcome === 'passed') {
      expect(lenient.headers.get('x-dragoman-report')).toBeNull();
      expect(at(sent(), name)).toEqual(value as Json);
    }
    if (outcome === 'ignored') {
      expect(lenient.headers.get('x-dragoman-report')).toBe(`${name}:dropped`);
      expect(at(sent(), name)).toBeUndefined();
      expect(at(await recordOf(scene.gateway, lenient), 'report', 0)).toMatchObject({
        path: name,
        action: 'dropped',
      });
    }

    const before = scene.upstream('up').requests.length;
    const strict = await ask({ [name]: value }, STRICT);
    expect(strict.status).toBe(outcome === 'passed' ? 200 : 400);
    const answer: unknown = await strict.json();
    if (outcome !== 'passed') expect(at(answer, 'error', 'param')).toBe(name);
    const sentBefore = scene.upstream('up').requests.length;
    expect(sentBefore - before).toBe(outcome === 'passed' ? 1 : 0);
    // The right type is demanded even of what is ignored.
    const mistyped = await ask({ [name]: wrong });
    expect(mistyped.status).toBe(400);
    expect(at(await mistyped.json(), 'error', 'param')).toStartWith(name);
    expect(scene.upstream('up').requests).toHaveLength(sentBefore);

    const absent = await ask({ [name]: null }, STRICT);
    expect(absent.status).toBe(200);
    await absent.text();
    expect(at(sent(), name) ?? undefined).toBeUndefined();
  });

  test('a tier at another price than the listed one has an unknown cost', async () => {
    const costs: unknown[] = [];
    for (const service_tier of ['default', 'priority']) {
      const answer = await ask({ service_tier });
      await answer.text();
      costs.push(at(await recordOf(scene.gateway, answer), 'cost', 'usd'));
    }
    expect(costs).toEqual([expect.any(Number), null]);
  });

  test('modalities beyond text are refused', async () => {
    const response = await ask({ modalities: ['text', 'audio'] });
    expect(response.status).toBe(400);
    expect(at(await response.json(), 'error', 'param')).toStartWith('modalities');
  });

  test('max_tokens caps the cost, under one name', async () => {
    const response = await ask({ max_tokens: 77 });
    expect(response.status).toBe(200);
    await response.text();
    expect(response.headers.get('x-dragoman-report')).toBe('max_tokens:approximated');
    // The newer name at OpenAI; the client's own where nothing is known of the server.
    const names = ['max_tokens', 'max_completion_tokens'];
    expect(names.map((name) => at(sent(), name)).filter((limit) => limit !== undefined)).toEqual([77]);
    const both = await ask({ max_tokens: 77, max_completion_tokens: 55 });
    await both.text();
    expect(both.headers.get('x-dragoman-report')).toBe('max_tokens:dropped');
    expect(at(sent(), 'max_completion_tokens')).toBe(55);
    expect(at(sent(), 'max_tokens')).toBeUndefined();
    const strict = await ask({ max_tokens: 77 }, STRICT);
    expect(strict.status).toBe(400);
    expect(at(await strict.json(), 'error', 'param')).toBe('max_tokens');
  });

  test('seed is sent to upstreams that support it', async () => {
    const response = await ask({ seed: 7 }, STRICT);
    expect(response.status).toBe(200);
    await response.text();
    expect(response.headers.get('x-dragoman-report')).toBeNull();
    expect(at(sent(), 'seed')).toBe(7);
  });

  test("keys of the gateway and the client's key do not reach the upstream", async () => {
    const body = {
      reasoning: { effort: 'low' },
      include_reasoning: true,
      usage: { include: true },
      provider: { routing: { type: 'priority', providers: ['up'] }, fallback: 'true' },
      model_routing_config: { available_models: ['one/chat'] },
      models: ['one/responses'],
      metadata: { trace: 'abc' },
    };
    const response = await ask(body);
    expect(response.status).toBe(200);
    await response.text();
    const [arrived] = scene.upstream('up').requests;
    for (const name of Object.keys(body)) expect(at(arrived?.json, name)).toBeUndefined();
    expect(at(arrived?.json, 'model')).toBe('m');
    expect(arrived?.headers['authorization']).toBe(`Bearer ${UPSTREAM_KEY}`);
    expect(JSON.stringify(arrived)).not.toContain('sk-test');
    expect(at(await recordOf(scene.gateway, response), 'metadata')).toEqual({ trace: 'abc' });
  });

  test('headers of the client do not reach the upstream', async () => {
    const own = {
      cookie: 'a=b',
      'x-forwarded-for': '192.0.2.1',
      'openai-organization': 'org-x',
      'x-dragoman-strict': 'false',
      'user-agent': 'somebody/1',
    };
    await (await ask({}, own)).text();
    const { headers = {} } = scene.upstream('up').requests[0] ?? {};
    for (const name of ['cookie', 'x-forwarded-for', 'openai-organization', 'x-dragoman-strict'])
      expect(headers).not.toHaveProperty(name);
    expect(headers['user-agent']).not.toContain('somebody');
  });

  test('unknown members are reported', async () => {
    const response = await ask({ top_k: 40, brand_new: { a: 1 } });
    expect(response.status).toBe(200);
    await response.text();
    const unreported = at(sent(), 'brand_new') === undefined;
    // Passed on or reported, never lost in silence.
    expect(response.headers.get('x-dragoman-report')?.includes('brand_new') ?? false).toBe(unreported);
    expect(response.headers.get('x-dragoman-report')?.includes('top_k') ?? false).toBe(
      at(sent(), 'top_k') === undefined,
    );
  });

  test('the flat form of allowed tools is sent in the nested one, which upstreams know', async () => {
    const tool = { type: 'function', function: { name: 'f' } };
    const choice = { mode: 'required', tools: [tool] };
    const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
    for (const tool_choice of [
      { type: 'allowed_tools', ...choice },
      { type: 'allowed_tools', allowed_tools: choice },
    ]) {
      const response = await ask({ tools, tool_choice, ...(lane === 'translate' && { model: KNOWING.id }) });
      expect(response.status).toBe(200);
      expect(at(sent(), 'tool_choice')).toEqual({ type: 'allowed_tools', allowed_tools: choice });
      expect(response.headers.get('x-dragoman-report')).toBeNull();
    }
  });

  test('if the upstream does not support allowed tools, only those are sent', async () => {
    const named = (name: string): object => ({ type: 'function', function: { name, parameters: {} } });
    const tool_choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [named('f')] } };
    const response = await ask({ tools: [named('f'), named('g')], tool_choice });
    if (lane === 'relay') return expect(at(sent(), 'tool_choice', 'type')).toBe('allowed_tools');
    expect(list(sent(), 'tools').map((tool) => at(tool, 'function', 'name'))).toEqual(['f']);
    expect(at(sent(), 'tool_choice')).toBe('required');
    expect(response.headers.get('x-dragoman-report')).toBe('tool_choice:approximated');
  });

  test('the old role function is refused by its path', async () => {
    const response = await ask({ messages: [...MESSAGES, { role: 'function', name: 'f', content: '1' }] });
    expect(response.status).toBe(400);
    expect(at(await response.json(), 'error', 'param')).toBe('messages[1].role');
  });

  test.each([
    ['tool_choice', 'none'],
    ['parallel_tool_calls', true],
  ])('%s without tools is reported, and dropped indeed', async (name, value) => {
    const answer = await ask({ [name]: value });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-dragoman-report')).toBe(`${name}:dropped`);
    expect(sent()).not.toHaveProperty(name);
  });

  test('a temperature above the maximum of the protocol is clamped', async () => {
    const answer = await ask({ temperature: 3.5 });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-dragoman-report')).toBe('temperature:clamped');
    expect(sent()).toMatchObject({ temperature: 2 });
    expect((await ask({ temperature: 2 })).headers.get('x-dragoman-report')).toBeNull();
  });

  test('an effort for an unknown model is sent to upstreams of the protocol', async () => {
    const answer = await ask({ reasoning_effort: 'high' });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('x-dragoman-report')).toBeNull();
    expect(at(sent() as Json, 'reasoning_effort')).toBe('high');
  });
});

describe('other protocols', () => {
  const ask = async (
    model: string,
    body: object,
    headers: Record<string, string> = {},
  ): Promise<{ response: Response; sent: unknown }> => {
    const { relay: scene } = scenes;
    if (!scene) throw new Error('no scene');
    const text = { type: 'text', text: 'Hello' };
    scene.upstream('up').always((exchange) => {
      const message = {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [{ type: 'output_text', text: 'Hello', annotations: [] }],
      };
      whole(
        exchange.request.path.endsWith('/messages')
          ? messagesBody([text], 'end_turn')
          : responsesBody([message]),
      )(exchange);
    });
    const response = await scene.gateway.post(
      '/chat/completions',
      { model, messages: MESSAGES, ...body },
      headers,
    );
    await response.text();
    return { response, sent: scene.upstream('up').requests[0]?.json };
  };

  test.each(['one/responses', 'one/messages'])('%s: nothing unsupported arrives', async (model) => {
    const ignored = Object.fromEntries(
      FIELDS.filter((field) => field.outcome === 'ignored').map((field) => [field.name, field.value]),
    );
    const { response, sent } = await ask(model, { ...ignored, seed: 7, max_tokens: 500 });
    expect(response.status).toBe(200);
    const report = response.headers.get('x-dragoman-report') ?? '';
    for (const name of [...Object.keys(ignored), 'seed']) {
      expect(report).toContain(`${name}:dropped`);
      // Responses is asked not to store, whatever the client says.
      if (name !== 'store') expect(at(sent, name)).toBeUndefined();
    }
    expect(at(sent, 'store') ?? false).toBe(false);
    expect(at(sent, model === 'one/messages' ? 'max_tokens' : 'max_output_tokens')).toBe(500);
    expect((await ask(model, { seed: 7 }, STRICT)).response.status).toBe(400);
  });

  test('parameters that a protocol lacks are dropped and reported, or refused', async () => {
    const body = { frequency_penalty: 0.5, logit_bias: { '50256': -100 }, logprobs: true, verbosity: 'low' };
    const { response, sent } = await ask('one/messages', body);
    expect(response.status).toBe(200);
    for (const name of Object.keys(body)) {
      expect(response.headers.get('x-dragoman-report')).toContain(`${name}:dropped`);
      expect(at(sent, name)).toBeUndefined();
    }
    expect((await ask('one/messages', body, STRICT)).response.status).toBe(400);
    // A value that asks for nothing is no loss.
    expect(
      (await ask('one/messages', { frequency_penalty: 0, logprobs: false }, STRICT)).response.status,
    ).toBe(200);
  });

  test('Messages gets its key and version as Anthropic requires', async () => {
    await ask('one/messages', {});
    const [arrived] = scenes.relay?.upstream('up').requests ?? [];
    expect(arrived?.path).toBe('/v1/messages');
    expect(arrived?.headers['anthropic-version']).toBe('2023-06-01');
    expect(Object.values(arrived?.headers ?? {}).join(' ')).toContain(UPSTREAM_KEY);
    expect(list(arrived?.json, 'messages')).toHaveLength(1);
  });
});
