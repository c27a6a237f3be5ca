// Answers in a required form: in every client protocol, in front of every upstream protocol, where nobody enforces it,
// where somebody says so and does not, and where the schema itself means harm.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  chatBody,
  chatError,
  chatStream,
  messagesBody,
  silence,
  stream,
  whole,
} from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { dialect, streamOf, UPSTREAM_PROTOCOLS } from '../../support/upstreams/dialects.ts';
import {
  providerAt,
  recordOf,
  startScene,
  streamedText,
  StreamReading,
  type Scene,
} from '../../support/upstreams/gateway-with-upstreams.ts';
import { BEST_OF_THREE } from '../../support/growth.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { startUpstream, type ScriptedUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';

const clock = new ArmedClock();
let faithful: ScriptedUpstream;
let scene: Scene;
beforeAll(async () => {
  faithful = await startUpstream();
  const { protocols } = providerAt(faithful.origin) as {
    readonly protocols: Readonly<Record<string, object>>;
  };
  const at = (name: string, protocol: string, more: object): object => ({
    id: `${name}/${protocol}`,
    max_output_tokens: 8000,
    endpoints: [{ model: 'm', protocol, price: { input: 1, output: 4 }, ...more }],
  });
  scene = await startScene(['up'], {
    clock,
    config: {
      providers: {
        trusted: {
          api_key: 'sk-test-trusted',
          protocols: {
            'openai-chat': { base_url: `${faithful.origin}/v1`, faithful: true },
            'anthropic-messages': { ...protocols['anthropic-messages'], faithful: true },
          },
        },
      },
      models: [
        ...UPSTREAM_PROTOCOLS.flatMap((protocol) => [
          at('none', protocol, { provider: 'up', quirks: { structured_output: 'none' } }),
          at('promised', protocol, { provider: 'up', quirks: { structured_output: 'json_schema' } }),
        ]),
        at('trusted', 'openai-chat', { provider: 'trusted' }),
        at('trusted', 'anthropic-messages', { provider: 'trusted', reasoning: 'both' }),
        at('thinking', 'anthropic-messages', {
          provider: 'up',
          reasoning: 'both',
          quirks: { structured_output: 'none' },
        }),
      ],
    },
  });
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful.stop();
});
beforeEach(() => {
  scene.upstream('up').script();
  faithful.script();
});

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: 'integer' } },
  required: ['city', 'days'],
  additionalProperties: false,
};
const GOOD = '{"city":"Rome","days":3}';
const BAD = '{"city":"Rome"}';

/** How each client asks for JSON of a schema. */
const FORMATS: Readonly<Record<ClientProtocol, (schema: object) => object>> = {
  'openai-chat': (schema) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'trip', strict: true, schema } },
  }),
  'openai-responses': (schema) => ({
    text: { format: { type: 'json_schema', name: 'trip', strict: true, schema } },
  }),
  'anthropic-messages': (schema) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  gemini: (schema) => ({
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
  }),
};
const CLIENT_NAMES = Object.keys(CLIENTS) as ClientProtocol[];

/** A chat request for JSON of a schema. */
function post(model: string, schema: object, more: object = {}, strict = true): Promise<Response> {
  return scene.gateway.post('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Plan a trip.' }],
    response_format: { type: 'json_schema', json_schema: { name: 'trip', strict, schema } },
    ...more,
  });
}
const content = async (response: Response): Promise<unknown> =>
  at(await response.json(), 'choices', 0, 'message', 'content');
const chat = (...texts: readonly string[]): void =>
  scene.upstream('up').script(...texts.map((text) => whole(chatBody(text))));

/** Report on the format, under whatever name its client has for it. */
async function reason(response: Response): Promise<string> {
  return list(await recordOf(scene.gateway, response), 'report')
    .filter((entry) => /format|schema/i.test(String(at(entry, 'path'))))
    .map((entry) => `${at(entry, 'path')}: ${at(entry, 'reason')}`)
    .join('\n');
}

describe.each(
  CLIENT_NAMES.flatMap((client) =>
    UPSTREAM_PROTOCOLS.flatMap((upstream) =>
      [false, true].map((streamed) => ({ client, upstream, streamed })),
    ),
  ),
)('$client client, $upstream upstream, streamed: $streamed', ({ client, upstream, streamed }) => {
  const { path, ask, receive } = CLIENTS[client];
  const words = dialect(upstream, 'up');
  const says = (text: string) =>
    streamed ? stream(streamOf(words, ...halves(text))) : whole(words.whole(text));
  const answer = async (model: string): Promise<{ text: string; complete: boolean; response: Response }> => {
    const id = `${model}/${upstream}`;
    const asked = { ...ask(id, streamed), ...FORMATS[client](SCHEMA) };
    const response = await scene.gateway.post(path(id, streamed), asked);
    const received = receive(streamed, await response.text());
    return { ...received, response };
  };

  test('if the upstream does not enforce the schema, an invalid response is repaired before the client gets any of it', async () => {
    scene.upstream('up').script(says(BAD), says(`Here:\n\`\`\`json\n${GOOD}\n\`\`\``));
    const { text, complete, response } = await answer('none');
    expect(text).toBe(GOOD);
    expect(complete).toBe(true);
    expect(await reason(response)).toContain('repaired by a second call');
    const record = await recordOf(scene.gateway, response);
    const costs = list(record, 'attempts').map((attempt) => Number(at(attempt, 'cost', 'usd')));
    expect(costs).toHaveLength(2);
    expect(Number(at(record, 'usage'))).toBeCloseTo((costs[0] ?? 0) + (costs[1] ?? 0), 12);
  });
});

function halves(text: string): [string, string] {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
}

describe('an upstream that promises schemas', () => {
  test.each(UPSTREAM_PROTOCOLS)(
    '%s: a whole strict response is checked nevertheless, and repaired',
    async (upstream) => {
      const words = dialect(upstream, 'up');
      scene.upstream('up').script(whole(words.whole(BAD)), whole(words.whole(GOOD)));
      const response = await post(`promised/${upstream}`, SCHEMA);
      expect(await content(response)).toBe(GOOD);
      expect(await reason(response)).toContain('repaired by a second call');
      expect(response.headers.get('x-dragoman-attempts')).toBe('2');
    },
  );

  test('a valid response adds nothing to the report', async () => {
    chat(GOOD);
    const response = await post('promised/openai-chat', SCHEMA);
    expect(await content(response)).toBe(GOOD);
    expect(response.headers.get('x-dragoman-report')).toBeNull();
  });

  test('its streams are believed, and not held', async () => {
    const up = scene.upstream('up');
    up.script((exchange) => exchange.openStream());
    const asked = post('promised/openai-chat', SCHEMA, { stream: true });
    const upstream = await up.arrived(1);
    const [head, tail = ''] = chatStream(...halves(GOOD)).split('"days"');
    const cut = (head ?? '').lastIndexOf('data:');
    upstream.chunk((head ?? '').slice(0, cut));
    const reading = new StreamReading(await asked);
    await reading.until('city');
    upstream.chunk(`${(head ?? '').slice(cut)}"days"${tail}`);
    upstream.endStream();
    expect(streamedText(await reading.rest())).toBe(GOOD);
  });

  test('a format that is not strict is left to the upstream', async () => {
    chat(BAD);
    expect(await content(await post('promised/openai-chat', SCHEMA, {}, false))).toBe(BAD);
  });

  test('a schema that only it can use is left to it', async () => {
    chat(BAD);
    const response = await post('promised/openai-chat', { $ref: 'https://example.com/schema.json' });
    expect(await content(response)).toBe(BAD);
  });

  test('a faithful upstream is relayed and never checked', async () => {
    faithful.script(whole(chatBody(BAD)));
    const relayed = await post('trusted/openai-chat', SCHEMA);
    expect(relayed.headers.get('x-dragoman-lane')).toBe('relay');
    expect(await content(relayed)).toBe(BAD);
    faithful.script(whole(messagesBody([{ type: 'text', text: BAD }], 'end_turn')));
    const translated = await post('trusted/anthropic-messages', SCHEMA);
    expect(translated.headers.get('x-dragoman-lane')).toBe('translate');
    expect(await content(translated)).toBe(BAD);
    expect(faithful.requests).toHaveLength(1);
  });
});

describe('limits', () => {
  test.each([false, true])(
    'an answer that the limit of tokens cut is delivered as cut, streamed: %p',
    async (streamed) => {
      const half = '{"city":"Ro';
      const cut = chatStream(half).replace('"finish_reason":"stop"', '"finish_reason":"length"');
      scene.upstream('up').script(streamed ? stream(cut) : whole(chatBody(half, 'length')));
      const response = await post('none/openai-chat', SCHEMA, { stream: streamed, max_completion_tokens: 4 });
      const text = await response.text();
      expect(text).toContain('"finish_reason":"length"');
      expect(streamed ? streamedText(text) : at(JSON.parse(text), 'choices', 0, 'message', 'content')).toBe(
        half,
      );
      expect(scene.upstream('up').requests).toHaveLength(1);
    },
  );

  test('the repair may not be longer than the first response', async () => {
    chat(BAD, GOOD);
    await post('none/openai-chat', SCHEMA, { max_completion_tokens: 77 });
    const limits = scene
      .upstream('up')
      .requests.map(({ json }) => at(json, 'max_completion_tokens') ?? at(json, 'max_tokens'));
    expect(limits).toEqual([77, 77]);
  });

  test('a held stream is kept alive, and ends in valid JSON', async () => {
    const up = scene.upstream('up');
    up.script(stream(chatStream(...halves(BAD))), (exchange) => exchange.openStream());
    const asked = post('none/openai-chat', SCHEMA, { stream: true });
    const repair = await up.arrived(2);
    clock.advance(10_100);
    const reading = new StreamReading(await asked);
    await reading.until(': keep-alive');
    expect(reading.text).not.toContain('Rome');
    repair.chunk(chatStream(...halves(GOOD)));
    repair.endStream();
    expect(JSON.parse(streamedText(await reading.rest()))).toEqual({ city: 'Rome', days: 3 });
  });

  test('if a repair fails, a lenient response is returned unchanged, and a strict one is an error', async () => {
    scene.upstream('up').script(whole(chatBody(BAD)), chatError(400));
    const lenient = await post('none/openai-chat', SCHEMA, {}, false);
    expect(await content(lenient)).toBe(BAD);
    expect(await reason(lenient)).toContain('could not be repaired');
    scene.upstream('up').script(whole(chatBody(BAD)), chatError(400));
    expect((await post('none/openai-chat', SCHEMA)).status).toBe(400);
  });

  test('the repair ends with the deadline of the request', async () => {
    const up = scene.upstream('up');
    up.script(whole(chatBody(BAD)), silence);
    const asked = post('none/openai-chat', SCHEMA, {}, false);
    await up.arrived(2);
    clock.advance(600_100);
    expect(await content(await asked)).toBe(BAD);
  });

  test('reasoning is returned with the checked response', async () => {
    const think = { type: 'thinking', thinking: 'Rome it is.', signature: 'c2ln' };
    const say = (text: string): object => messagesBody([think, { type: 'text', text }], 'end_turn');
    scene.upstream('up').script(whole(say(BAD)), whole(say(GOOD)));
    const response = await post('thinking/anthropic-messages', SCHEMA, { reasoning: { effort: 'low' } });
    const message = at(await response.json(), 'choices', 0, 'message');
    expect(at(message, 'content')).toBe(GOOD);
    expect(at(message, 'reasoning')).toBe('Rome it is.');
    for (const { json } of scene.upstream('up').requests)
      expect(at(json, 'thinking', 'type') ?? at(json, 'output_config', 'effort')).toBeDefined();
  });
});

describe('schemas', () => {
  const holding = (value: object): object => ({ type: 'object', properties: { value }, required: ['value'] });
  /** True when the gateway holds `value` to a schema: two answers that hold it are asked for, or one. */
  const holds = async (schema: object, value: unknown): Promise<boolean> => {
    const text = JSON.stringify({ value });
    chat(text, text);
    const response = await post('none/openai-chat', holding(schema), {}, false);
    if (response.status !== 200) throw new Error(await response.text());
    return (await response.text(), scene.upstream('up').requests.length === 2);
  };

  test.each([
    [{ type: 'string', pattern: '^[A-Z]{3}-\\d+$' }, 'ABC-12', 'abc-12'],
    [{ type: 'string', format: 'date' }, '2024-02-29', '2023-02-29'],
    [{ type: 'string', format: 'date-time' }, '2026-11-21T17:00:00.5+01:00', '2026-11-21'],
    [{ type: 'string', format: 'time' }, '23:59:60Z', '24:00:00Z'],
    [{ type: 'string', format: 'duration' }, 'P1DT2H', 'P'],
    [{ type: 'string', format: 'email' }, 'a.b@example.com', 'a@b@c d'],
    [{ type: 'string', format: 'hostname' }, 'a.example.com', '-a.com'],
    [{ type: 'string', format: 'ipv4' }, '127.0.0.1', '256.0.0.1'],
    [{ type: 'string', format: 'ipv6' }, '::ffff:1.2.3.4', '1::2::3'],
    [{ type: 'string', format: 'uuid' }, '00000000-0000-4000-8000-000000000000', '0-0'],
    [
      { type: 'array', uniqueItems: true },
      [{ a: 1, b: 2 }, { a: 2 }],
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
    ],
    [
      { type: 'object', patternProperties: { '^x': { type: 'number' } }, additionalProperties: false },
      { x1: 1 },
      { y: 1 },
    ],
    [{ type: 'number', multipleOf: 0.01 }, 19.99, 19.995],
    [{ type: 'number', multipleOf: 0.01 }, 123456789.01, 123456789.015],
    [{ type: 'number', multipleOf: 0.1 }, 0.3, 0.35],
    [{ type: 'number', multipleOf: 2.5 }, -7.5, -7.4],
    [{ type: 'integer', multipleOf: 2 }, 9007199254740990, 9007199254740991],
    [{ prefixItems: [{ type: 'string' }] }, ['a'], [1]],
    [{ items: [{ type: 'string' }] }, ['a'], [1]],
  ])('%j accepts %j and rejects %j', async (schema, good, bad) => {
    expect(await holds(schema, good)).toBe(false);
    expect(await holds(schema, bad)).toBe(true);
  });

  test('a schema may refer to itself, and name its draft', async () => {
    const tree = (draft: string): object => ({
      $schema: draft,
      $defs: {
        tree: {
          type: 'object',
          properties: { child: { anyOf: [{ $ref: '#/$defs/tree' }, { type: 'null' }] } },
          required: ['child'],
          additionalProperties: false,
        },
      },
      $ref: '#/$defs/tree',
    });
    for (const draft of [
      'https://json-schema.org/draft/2020-12/schema',
      'http://json-schema.org/draft-07/schema#',
    ]) {
      chat('{"child":{"child":{}}}', '{"child":{"child":null}}');
      expect(await content(await post('none/openai-chat', tree(draft)))).toBe('{"child":{"child":null}}');
    }
  });

  test('an endlessly nested response is repaired', async () => {
    const tree = { type: 'object', properties: { child: { $ref: '#' } }, additionalProperties: false };
    chat(`${'{"child":'.repeat(40_000)}{}${'}'.repeat(40_000)}`, '{"child":{}}');
    const response = await post('none/openai-chat', tree);
    expect(await content(response)).toBe('{"child":{}}');
    expect(await reason(response)).toContain('nested too deeply');
  });

  test('a pattern with lookaround is not checked, with a report', async () => {
    const text = '{"value":"x"}';
    chat(text);
    const response = await post('none/openai-chat', holding({ type: 'string', pattern: '^(?!x)' }));
    expect(await content(response)).toBe(text);
    expect(await reason(response)).toContain(
      'not checked: the pattern ^(?!x) (it uses lookahead or lookbehind)',
    );
  });

  test.each([
    ['one', holding({ type: 'string', pattern: '^(a+)+$' })],
    [
      'one for names',
      { type: 'object', patternProperties: { '^(a+)+$': {} }, additionalProperties: { type: 'string' } },
    ],
    // In processes of their own, while others are served.
    ['two thousand', { allOf: Array.from({ length: 2000 }, (_, i) => ({ pattern: `a{999}${i}` })) }],
  ] as const)(
    'hostile patterns end soon: %s',
    async (_which, schema) => {
      const text = JSON.stringify({ value: `${'a'.repeat(20_000)}!`, [`${'a'.repeat(20_000)}!`]: 'x' });
      chat(text, text);
      const started = usedMs();
      await (await post('none/openai-chat', schema, {}, false)).text();
      expect(usedMs() - started).toBeLessThan(2_500);
    },
    BEST_OF_THREE,
  );

  const doubling = Object.fromEntries(
    Array.from({ length: 40 }, (_, level) => [
      `d${level}`,
      level === 0
        ? { type: 'string' }
        : { anyOf: [{ $ref: `#/$defs/d${level - 1}` }, { $ref: `#/$defs/d${level - 1}` }] },
    ]),
  );
  let deep: object = {};
  for (let i = 0; i < 110; i++) deep = { not: deep };
  test.each([
    ['another host', { $ref: 'http://169.254.169.254/schema.json' }, 'resolve'],
    ['endless references to itself', { $ref: '#' }, 'it refers to itself endlessly'],
    [
      'itself, in a member, by a name',
      holding({ $anchor: 'a', anyOf: [{ not: { $ref: '#a' } }] }),
      'it refers to itself endlessly',
    ],
    ['itself, twice at each level', { $defs: doubling, $ref: '#/$defs/d39' }, 'too often'],
    ['itself, thirty times twice', { $defs: doubling, items: { $ref: '#/$defs/d30' } }, 'too often'],
    [
      'itself by its own address',
      { allOf: [{ $id: 'https://example.com/a', $ref: '#' }] },
      'it refers to itself endlessly',
    ],
    ['many levels', deep, 'levels deep'],
    ['too many parts', { enum: Array.from({ length: 3001 }, () => ({})) }, 'objects'],
    ['no pattern', { pattern: '(' }, 'no closing parenthesis'],
    ['promises', { properties: { a: { $async: true, type: 'string' } } }, 'async'],
    ['too much', { description: 'x'.repeat(100_001) }, 'larger than'],
  ])('a schema of %s is a 400 that names it, and delays no other request', async (_what, schema, why) => {
    chat('{}', '{}');
    const started = usedMs();
    const response = await post('none/openai-chat', schema);
    expect(response.status).toBe(400);
    const error = at(await response.json(), 'error');
    expect(at(error, 'param')).toBe('response_format.json_schema.schema');
    expect(String(at(error, 'message'))).toContain(why);
    expect(scene.upstream('up').requests).toEqual([]);
    expect(usedMs() - started).toBeLessThan(2500);
  });
});
