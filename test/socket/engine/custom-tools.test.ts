// Custom tools with grammars in front of models that know only functions: a call's input is checked after the fact, and
// mended once; nothing else of the answer is lost.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { asks, CUSTOM_CLIENTS, receives, says, type CustomClient, type Said } from './custom-tools-scene.ts';
import { framesOf } from '../../support/recordings/loose.ts';
import { checkResponseStream } from '../../support/rules/responses-stream-rules.ts';
import { chatChunk, chatError, CHAT_OPENING, messagesBody, whole } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { UPSTREAM_PROTOCOLS } from '../../support/upstreams/dialects.ts';
import { recordOf, startScene, StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';

const clock = new ArmedClock();
const loyal = await startUpstream();
const knowing = { provider: 'up', model: 'm', protocol: 'openai-chat', quirks: { custom_tools: true } };
const scene = await startScene(['up'], {
  clock,
  config: {
    providers: {
      loyal: { protocols: { 'openai-chat': { base_url: `${loyal.origin}/v1`, faithful: true } } },
    },
    models: [
      // Nothing is said of them: nobody knows whether a server without a preset has custom tools.
      ...UPSTREAM_PROTOCOLS.map((protocol) => ({
        id: `plain/${protocol}`,
        max_output_tokens: 8000,
        endpoints: [{ provider: 'up', model: 'm', protocol, price: { input: 1, output: 4 } }],
      })),
      { id: 'knowing/chat', endpoints: [knowing] },
    ],
  },
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await loyal.stop();
});
beforeEach(() => scene.upstream('up').script());

const SUMS = {
  syntax: 'lark',
  definition: `start: NUMBER ("+" NUMBER)*
%import common.NUMBER
%import common.WS
%ignore WS`,
};
const DATES = { syntax: 'regex', definition: '\\d{4}-\\d\\d-\\d\\d' };
const BESIDE = ['get_weather', 'call_w', { city: 'Rome' }] as const;
const READ_BESIDE = 'get_weather call_w {"city":"Rome"}';

/** Asks, and reads what the client has in the end. */
async function exchange(
  client: CustomClient,
  model: string,
  streamed: boolean,
  grammar = SUMS,
): Promise<{ received: string[]; response: Response; text: string }> {
  const { path, body } = asks(client, model, streamed, grammar);
  const response = await scene.gateway.post(path, body);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  const problems = client === 'responses' && streamed ? checkResponseStream(framesOf(text)) : [];
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n${text}`);
  return { received: receives(client, streamed, text), response, text };
}

/** Report on the tool's grammar. */
async function reasons(response: Response): Promise<string> {
  return list(await recordOf(scene.gateway, response), 'report')
    .filter((entry) => /format/.test(String(at(entry, 'path'))))
    .map((entry) => `${at(entry, 'path')}: ${at(entry, 'reason')}`)
    .join('\n');
}

describe.each(
  UPSTREAM_PROTOCOLS.flatMap((upstream) =>
    CUSTOM_CLIENTS.flatMap((client) => [false, true].map((streamed) => ({ upstream, client, streamed }))),
  ),
)('$client client, $upstream upstream, streamed: $streamed', ({ upstream, client, streamed }) => {
  const model = `plain/${upstream}`;
  const script = (...turns: readonly Said[]): void =>
    scene.upstream('up').script(...turns.map((turn) => says(upstream, streamed, turn)));

  test('an input that matches needs one call', async () => {
    script({ text: 'Adding.', calls: [['run', 'call_1', { input: '1 + 22' }], BESIDE] });
    const { received, response } = await exchange(client, model, streamed);
    expect(received).toEqual(['Adding.', 'run call_1 1 + 22', READ_BESIDE]);
    expect(response.headers.get('x-dragoman-attempts')).toBe('1');
    expect(response.headers.get('x-dragoman-report')).toContain('tools[0]:approximated');
    expect(await reasons(response)).toContain('does not enforce the grammar');
  });

  test('an input that does not match is mended by a second call; the rest stays', async () => {
    script(
      { text: 'Adding.', calls: [['run', 'call_1', { input: '1 plus 2' }], BESIDE] },
      { text: 'Sorry.', calls: [['run', 'call_9', { input: '1 + 2' }]] },
    );
    const { received, response } = await exchange(client, model, streamed);
    expect(received).toEqual(['Adding.', 'run call_1 1 + 2', READ_BESIDE]);
    const record = await recordOf(scene.gateway, response);
    expect(list(record, 'attempts')).toHaveLength(2);
    expect(await reasons(response)).toContain('corrected by a second call');
    const [, repair] = scene.upstream('up').requests;
    expect(repair?.text).toContain('1 plus 2');
    expect(repair?.text).toContain('does not match the grammar');
    // Both were charged.
    const costs = list(record, 'attempts').map((attempt) => Number(at(attempt, 'cost', 'usd')));
    expect(Number(at(record, 'usage'))).toBeCloseTo((costs[0] ?? 0) + (costs[1] ?? 0), 12);
  });

  test('an input that fails twice is returned unchanged, with a report', async () => {
    script(
      { calls: [['run', 'call_1', { input: 'one' }]] },
      { calls: [['run', 'call_2', { input: 'two' }]] },
    );
    const { received, response } = await exchange(client, model, streamed);
    expect(received).toEqual(['run call_1 one']);
    expect(await reasons(response)).toContain('does not match, even after a second call');
  });
});

describe('a streamed answer', () => {
  test('reaches the client up to the first call that has to be checked, and is kept alive while that is mended', async () => {
    const up = scene.upstream('up');
    const call = (input: string): string =>
      chatChunk({
        tool_calls: [
          {
            index: 0,
            id: 'call_1',
            type: 'function',
            function: { name: 'run', arguments: JSON.stringify({ input }) },
          },
        ],
      });
    const ending = `${chatChunk({}, 'tool_calls')}data: [DONE]\n\n`;
    up.script(
      (exchange) => exchange.openStream(),
      (exchange) => exchange.openStream(),
    );
    const { path, body } = asks('chat', 'plain/openai-chat', true, SUMS);
    const asked = scene.gateway.post(path, body);
    const first = await up.arrived(1);
    first.chunk(CHAT_OPENING + chatChunk({ content: 'Let me add.' }));
    const reading = new StreamReading(await asked);
    await reading.until('Let me add.');
    first.chunk(call('1 plus 2') + ending);
    first.endStream();
    const second = await up.arrived(2);
    clock.advance(10_100);
    await reading.until(': keep-alive');
    expect(reading.text).not.toContain('plus');
    second.chunk(CHAT_OPENING + call('1 + 2') + ending);
    second.endStream();
    const text = await reading.rest();
    expect(text).not.toContain('plus');
    expect(receives('chat', true, text)).toEqual(['Let me add.', 'run call_1 1 + 2']);
  });

  test('is not buffered without a call of a custom tool', async () => {
    const up = scene.upstream('up');
    up.script((exchange) => exchange.openStream());
    const { path, body } = asks('chat', 'plain/openai-chat', true, SUMS);
    const asked = scene.gateway.post(path, body);
    const only = await up.arrived(1);
    only.chunk(CHAT_OPENING + chatChunk({ content: 'No ' }));
    const reading = new StreamReading(await asked);
    await reading.until('No ');
    only.chunk(`${chatChunk({ content: 'need.' })}${chatChunk({}, 'stop')}data: [DONE]\n\n`);
    only.endStream();
    expect(receives('chat', true, await reading.rest())).toEqual(['No need.']);
    expect(up.requests).toHaveLength(1);
  });
});

test('the second request contains the reasoning of the model, and every call has its result', async () => {
  const up = scene.upstream('up');
  const use = (id: string, name: string, input: object): object => ({ type: 'tool_use', id, name, input });
  const think = { type: 'thinking', thinking: 'I add.', signature: 'c2ln' };
  up.script(
    whole(
      messagesBody([think, use('t1', 'run', { input: 'one' }), use('t2', 'get_weather', {})], 'tool_use'),
    ),
    whole(messagesBody([think, use('t3', 'get_weather', {}), use('t4', 'run', { input: '1' })], 'tool_use')),
  );
  const { path, body } = asks('chat', 'one/messages', false, SUMS);
  const response = await scene.gateway.post(path, { ...body, reasoning: { effort: 'low' } });
  const text = await response.text();
  expect(receives('chat', false, text)).toEqual(['run t1 1', 'get_weather t2 {}']);
  expect(at(JSON.parse(text), 'choices', 0, 'message', 'reasoning')).toBe('I add.');
  const [, assistant, results] = list(up.requests[1]?.json, 'messages');
  expect(list(assistant, 'content')).toMatchObject([
    think,
    { type: 'tool_use', id: 't1', input: { input: 'one' } },
    { type: 'tool_use', id: 't2' },
  ]);
  expect(list(results, 'content')).toMatchObject([
    { type: 'tool_result', tool_use_id: 't1', is_error: true },
    { type: 'tool_result', tool_use_id: 't2' },
  ]);
});

describe('limits', () => {
  test('an input that the token limit truncated is not repaired, and the response is marked as truncated', async () => {
    const up = scene.upstream('up');
    up.script(says('openai-chat', false, { calls: [['run', 'call_1', { input: '1 +' }]], isCut: true }));
    const { received, text } = await exchange('chat', 'plain/openai-chat', false);
    expect(received).toEqual(['run call_1 1 +']);
    expect(at(JSON.parse(text), 'choices', 0, 'finish_reason')).toBe('length');
    expect(up.requests).toHaveLength(1);
  });

  test('the first response is returned if the second call fails', async () => {
    const up = scene.upstream('up');
    up.script(says('openai-chat', false, { calls: [['run', 'call_1', { input: 'one' }]] }), chatError(400));
    const { received, response } = await exchange('chat', 'plain/openai-chat', false);
    expect(received).toEqual(['run call_1 one']);
    expect(await reasons(response)).toContain('could not be corrected');
  });

  test('the second call may not be longer than the first', async () => {
    const up = scene.upstream('up');
    const turn = (input: string): Said => ({ calls: [['run', 'call_1', { input }]] });
    up.script(says('openai-chat', false, turn('one')), says('openai-chat', false, turn('1')));
    const { path, body } = asks('chat', 'plain/openai-chat', false, SUMS);
    await scene.gateway.post(path, { ...body, max_completion_tokens: 50 });
    const limits = up.requests.map(({ json }) => at(json, 'max_completion_tokens') ?? at(json, 'max_tokens'));
    expect(limits).toEqual([50, 50]);
  });

  test('many inputs of a hostile grammar cost no more than one', async () => {
    const input = 'a'.repeat(5000);
    const calls = Array.from({ length: 60 }, (_, i) => ['run', `call_${i}`, { input: `${input}b` }] as const);
    scene.upstream('up').script(says('openai-chat', false, { calls }));
    const started = usedMs();
    const definition = 'start: start start | "a" |';
    await exchange('chat', 'plain/openai-chat', false, { syntax: 'lark', definition });
    expect(usedMs() - started).toBeLessThan(1500);
  });

  test('an endless grammar costs milliseconds, and its input counts as unchecked', async () => {
    const up = scene.upstream('up');
    up.script(says('openai-chat', false, { calls: [['run', 'call_1', { input: `${'a'.repeat(5000)}b` }]] }));
    const started = usedMs();
    const { response } = await exchange('chat', 'plain/openai-chat', false, {
      syntax: 'lark',
      definition: 'start: start start | "a" |',
    });
    expect(usedMs() - started).toBeLessThan(2000);
    expect(up.requests).toHaveLength(1);
    expect(await reasons(response)).toContain('was not checked');
  });
});

describe('syntaxes', () => {
  test('a regular expression must match the whole input', async () => {
    const up = scene.upstream('up');
    const turn = (input: string): Said => ({ calls: [['run', 'call_1', { input }]] });
    up.script(
      says('anthropic-messages', false, turn('on 2026-11-21')),
      says('anthropic-messages', false, turn('2026-11-21')),
    );
    const { received } = await exchange('responses', 'plain/anthropic-messages', false, DATES);
    expect(received).toEqual(['run call_1 2026-11-21']);
  });

  test.each([
    ['lark', 'start: "a', 'line 1'],
    ['lark', 'start: missing', 'missing is not defined'],
    ['lark', 'begin: "a"', 'the rule `start` is not defined'],
    ['lark', 'start: A\nA: "a" B\nB: A', 'part of itself'],
    ['regex', '(a', 'has no closing parenthesis'],
    ['regex', 'a{3,1}', 'out of order'],
    ['lark', `start: ${'('.repeat(1000)}`, 'levels deep'],
    ['lark', `start: "${'a'.repeat(100_001)}"`, 'larger than'],
  ])('a broken %s grammar is a 400 that names it: %p', async (syntax, definition, why) => {
    const chat = asks('chat', 'plain/gemini', false, { syntax, definition });
    const inChat = await scene.gateway.post(chat.path, chat.body);
    expect(inChat.status).toBe(400);
    const error = at(await inChat.json(), 'error');
    expect(at(error, 'param')).toBe('tools[0].custom.format.grammar.definition');
    expect(String(at(error, 'message'))).toContain(why);
    const { path, body } = asks('responses', 'plain/gemini', true, { syntax, definition });
    const inResponses = await scene.gateway.post(path, body);
    expect(inResponses.status).toBe(400);
    expect(at(await inResponses.json(), 'error', 'param')).toBe('tools[0].format.definition');
    expect(scene.upstream('up').requests).toHaveLength(0);
  });

  test.each([
    ['regex', '(?=a)a', 'uses lookahead'],
    ['lark', 'start: pair{"a"}\npair{x}: x x', 'templates'],
    ['lark', 'start: "a" <|end|>', 'not valid in Lark'],
    ['regex', '((a{900}){900}){900}', 'too large'],
  ])(
    'a grammar that cannot be checked is reported, and its input passes: %s %p',
    async (syntax, definition, why) => {
      const up = scene.upstream('up');
      up.script(says('openai-chat', false, { calls: [['run', 'call_1', { input: 'x' }]] }));
      const { received, response } = await exchange('chat', 'plain/openai-chat', false, {
        syntax,
        definition,
      });
      expect(received).toEqual(['run call_1 x']);
      expect(await reasons(response)).toContain(
        `not checked: ${why === 'templates' ? 'it has templates' : ''}`,
      );
      expect(await reasons(response)).toContain(why);
    },
  );
});

test.each([
  ['its quirk', 'knowing/chat'],
  ['its faith', 'loyal/m'],
])('an upstream that supports custom tools by %s enforces their grammars itself', async (_how, model) => {
  const up = model === 'loyal/m' ? loyal : scene.upstream('up');
  up.script(says('openai-chat', false, { calls: [['other', 'call_1', {}]] }));
  const { path, body } = asks('chat', model, false, SUMS);
  const response = await scene.gateway.post(path, body);
  expect(response.status).toBe(200);
  expect(response.headers.get('x-dragoman-report')).toBeNull();
  expect(at(up.requests[0]?.json, 'tools', 0, 'type')).toBe('custom');
});
