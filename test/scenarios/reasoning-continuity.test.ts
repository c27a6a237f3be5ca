// A turn that thought and called tools goes on in the next request as if the client had never been in between: the
// signed blocks reach the upstream byte for byte, whatever the client kept of them.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startGateway, type TestGateway } from '../support/harness.ts';
import {
  chatBody,
  messagesBody,
  messagesStream,
  responsesBody,
  responsesStream,
  stream as sse,
  whole,
} from '../support/upstreams/answers.ts';
import { kept, KEEPINGS, resultsFor, takeTurn, TOOLS, type Keeping } from '../support/upstreams/chat-turn.ts';
import { startScene } from '../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../support/upstreams/json-path.ts';

type Block = Readonly<Record<string, unknown>>;
const call = (id: string, name = 'get_weather', city = 'Zürich'): Block => ({
  type: 'tool_use',
  id,
  name,
  input: { city },
});
const thinking = (text: string, signature: string): Block => ({
  type: 'thinking',
  thinking: text,
  signature,
});
// Line breaks, quotes, a character outside the basic plane, and base64 as Anthropic signs with.
const THOUGHT = thinking('First line.\n\n"Quoted" \\ and 🧭 — end', 'EqMDCkYIBxgCKkBq+/3x1mQ==');

const TURNS: Readonly<Record<string, readonly Block[]>> = {
  'one call': [THOUGHT, call('toolu_a')],
  'text before the call': [THOUGHT, { type: 'text', text: 'Let me look.' }, call('toolu_b')],
  'parallel calls': [THOUGHT, call('toolu_c'), call('toolu_d', 'get_time', 'Ålesund')],
  'redacted thinking': [
    { type: 'redacted_thinking', data: 'EmwKAhgBEgy3va3pzix/LafPsn4=' },
    THOUGHT,
    call('toolu_e'),
  ],
  'redacted thinking alone': [{ type: 'redacted_thinking', data: 'EmwKAhgB+/=' }, call('toolu_f')],
  'a signature without text': [thinking('', 'EqMDsignatureonly=='), call('toolu_g')],
  'interleaved thinking': [
    THOUGHT,
    call('toolu_h'),
    thinking('Then the time.', 'sig/two=='),
    call('toolu_i', 'get_time', 'Bern'),
  ],
  'thinking around text': [
    THOUGHT,
    { type: 'text', text: 'So far.' },
    thinking('More.', 'sig/three=='),
    call('toolu_j'),
  ],
};

const QUESTION = { role: 'user', content: 'What is the weather in Zürich?' };

const scene = await startScene(['up'], {
  config: {
    keys: [
      { name: 'a', key: 'sk-test' },
      { name: 'b', key: 'sk-test-other' },
    ],
  },
});
afterAll(() => scene[Symbol.asyncDispose]());

const FINAL = messagesBody([{ type: 'text', text: 'Sunny.' }], 'end_turn');

/** Two turns over a scripted Messages upstream; returns the assistant's blocks as they reach it in the second one. */
async function secondTurn(
  content: readonly Block[],
  stream: boolean,
  keeping: Keeping,
  reasoning: object = { effort: 'medium' },
): Promise<readonly unknown[]> {
  const up = scene.upstream('up');
  up.script(
    stream ? sse(messagesStream(content, 'tool_use')) : whole(messagesBody(content, 'tool_use')),
    whole(FINAL),
  );
  const body = { model: 'one/messages', tools: TOOLS, reasoning };
  const { message, finish } = await takeTurn(scene.gateway, { ...body, messages: [QUESTION] }, stream);
  expect(finish).toBe('tool_calls');
  const messages = [QUESTION, kept(message, keeping), ...resultsFor(message)];
  const second = await takeTurn(scene.gateway, { ...body, messages }, false);
  expect(second.message.content).toBe('Sunny.');
  expect(at(up.requests[1]?.json, 'thinking')).toBeDefined();
  expect(at(up.requests[1]?.json, 'thinking', 'type')).not.toBe('disabled');
  expect(list(up.requests[1]?.json, 'messages').map((entry) => at(entry, 'role'))).toEqual([
    'user',
    'assistant',
    'user',
  ]);
  return list(up.requests[1]?.json, 'messages', 1, 'content');
}

describe.each([false, true])('Messages, turn one streamed: %p', (stream) => {
  describe.each(Object.keys(TURNS))('%s', (name) => {
    const content = TURNS[name] ?? [];
    test.each([...KEEPINGS])('returns reasoning to its upstream (at the client: %s)', async (keeping) => {
      expect(await secondTurn(content, stream, keeping)).toEqual([...content]);
    });
    test('returns reasoning to its upstream if it was hidden from the client', async () => {
      expect(await secondTurn(content, stream, 'as received', { effort: 'medium', exclude: true })).toEqual([
        ...content,
      ]);
    });
  });

  test('three rounds of one tool turn keep all their thinking', async () => {
    const up = scene.upstream('up');
    const rounds = [
      [THOUGHT, call('toolu_r1')],
      [thinking('Second round.', 'sig-r2'), call('toolu_r2', 'get_time')],
    ];
    const answer = (content: readonly Block[]) =>
      stream ? sse(messagesStream(content, 'tool_use')) : whole(messagesBody(content, 'tool_use'));
    up.script(...rounds.map(answer), whole(FINAL));
    const body = { model: 'one/messages', tools: TOOLS, reasoning: { max_tokens: 2000 } };
    const messages: object[] = [QUESTION];
    for (const _ of rounds) {
      const { message } = await takeTurn(scene.gateway, { ...body, messages }, stream);
      messages.push(kept(message, 'lost'), ...resultsFor(message));
    }
    await takeTurn(scene.gateway, { ...body, messages }, false);
    const sent = list(up.requests[2]?.json, 'messages');
    expect(
      sent.filter((entry) => at(entry, 'role') === 'assistant').map((entry) => at(entry, 'content')),
    ).toEqual(rounds as never);
  });
});

test('another key gets nothing from the vault', async () => {
  const up = scene.upstream('up');
  const content = [thinking('Private.', 'sig-private'), call('toolu_private')];
  up.script(whole(messagesBody(content, 'tool_use')), whole(FINAL));
  const body = { model: 'one/messages', tools: TOOLS };
  const { message } = await takeTurn(scene.gateway, { ...body, messages: [QUESTION] }, false);
  const messages = [QUESTION, kept(message, 'lost'), ...resultsFor(message)];
  await takeTurn(scene.gateway, { ...body, messages }, false, { authorization: 'Bearer sk-test-other' });
  expect(up.requests[1]?.text).not.toContain('Private.');
  expect(up.requests[1]?.text).not.toContain('sig-private');
  // Thinking without the signed blocks would be refused in the middle of a tool turn.
  expect(at(up.requests[1]?.json, 'thinking', 'type') ?? 'disabled').toBe('disabled');
});

describe.each([false, true])('Responses, turn one streamed: %p', (stream) => {
  const REASONING = {
    id: 'rs_0a1b2c',
    type: 'reasoning',
    summary: [
      { type: 'summary_text', text: '**Looking** for “weather”' },
      { type: 'summary_text', text: 'and then\nmore' },
    ],
    encrypted_content: 'gAAAAABo+/x=='.repeat(40),
  };
  const CALL = {
    id: 'fc_0a1b2c',
    type: 'function_call',
    status: 'completed',
    call_id: `call_${stream}`,
    name: 'get_weather',
    arguments: '{"city":"Zürich"}',
  };

  test.each([...KEEPINGS, 'hidden'] as const)(
    'encrypted reasoning returns to its upstream (at the client: %s)',
    async (keeping) => {
      const up = scene.upstream('up');
      const output = [REASONING, CALL];
      const done = responsesBody([
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: 'Sunny.', annotations: [] }],
        },
      ]);
      up.script(stream ? sse(responsesStream(output)) : whole(responsesBody(output)), whole(done));
      const hidden = keeping === 'hidden';
      const body = { model: 'one/responses', tools: TOOLS, reasoning: { effort: 'low', exclude: hidden } };
      const { message, finish } = await takeTurn(scene.gateway, { ...body, messages: [QUESTION] }, stream);
      expect(finish).toBe('tool_calls');
      expect(list(up.requests[0]?.json, 'include')).toContain('reasoning.encrypted_content');
      const messages = [QUESTION, kept(message, hidden ? 'as received' : keeping), ...resultsFor(message)];
      expect((await takeTurn(scene.gateway, { ...body, messages }, false)).message.content).toBe('Sunny.');
      const input = list(up.requests[1]?.json, 'input');
      const where = input.findIndex((item) => at(item, 'type') === 'reasoning');
      expect(input[where]).toMatchObject({
        type: 'reasoning',
        id: REASONING.id,
        summary: REASONING.summary,
        encrypted_content: REASONING.encrypted_content,
      });
      expect(input[where + 1]).toMatchObject({
        type: 'function_call',
        call_id: CALL.call_id,
        arguments: CALL.arguments,
      });
      expect(input.filter((item) => at(item, 'type') === 'reasoning')).toHaveLength(1);
    },
  );
});

// The simulated models verify what they signed, and refuse a tool turn that comes back without it.
describe('simulated models', () => {
  let gateway: TestGateway;
  beforeAll(async () => {
    gateway = await startGateway();
  });
  afterAll(() => gateway.close());
  const ask = (content: string): object[] => [{ role: 'user', content }];

  describe.each([
    'sim/messages',
    'sim/claude',
    'sim/reasoner-budget',
    'sim/responses',
    'sim/reasoner-effort',
    'sim/deepseek',
  ])('%s', (model) => {
    for (const stream of [false, true]) {
      for (const keeping of [...KEEPINGS, 'hidden'] as const) {
        test(`gets its reasoning back (at the client: ${keeping}, streamed: ${stream})`, async () => {
          const hidden = keeping === 'hidden';
          const body = {
            model,
            tools: TOOLS,
            max_completion_tokens: 6000,
            reasoning: { effort: 'high', exclude: hidden },
          };
          const messages = ask(
            `Explain: in parallel get_weather and get_time in "Riga" ${keeping} ${stream}`,
          );
          const first = await takeTurn(gateway, { ...body, messages }, stream);
          expect(first.message.tool_calls).toHaveLength(2);
          expect('reasoning_details' in first.message).toBe(!hidden);
          const next = [
            ...messages,
            kept(first.message, hidden ? 'as received' : keeping),
            ...resultsFor(first.message),
          ];
          const second = await takeTurn(gateway, { ...body, messages: next }, stream);
          expect(second.message.content).toContain('result of get_weather');
          expect('reasoning' in second.message).toBe(!hidden);
          if (!hidden) expect(second.message.reasoning).toBeTruthy();
        });
      }
    }
  });

  test('redacted thinking returns to its upstream', async () => {
    const body = { model: 'sim/messages', tools: TOOLS, reasoning: { effort: 'high' } };
    const messages = ask('redact: get_weather in "Riga"');
    for (const keeping of ['as received', 'lost'] as const) {
      const first = await takeTurn(gateway, { ...body, messages }, true);
      const next = [...messages, kept(first.message, keeping), ...resultsFor(first.message)];
      expect((await takeTurn(gateway, { ...body, messages: next }, false)).message.content).toContain(
        'result of get_weather',
      );
    }
  });

  test('a conversation that moves to another family and back is never refused', async () => {
    const messages = ask('get_weather in "Riga"');
    for (const model of [
      'sim/responses',
      'sim/messages',
      'sim/deepseek',
      'sim/responses',
      'sim/chat',
      'sim/messages',
    ]) {
      const body = { model, tools: TOOLS, reasoning: { effort: 'high' } };
      const asked = await takeTurn(gateway, { ...body, messages }, true);
      messages.push(asked.message, ...resultsFor(asked.message));
      const reported = await takeTurn(gateway, { ...body, messages }, false);
      expect(reported.message.content).toContain('result of get_weather');
      messages.push(reported.message, {
        role: 'user',
        content: `get_weather in "Riga" again, after ${model}`,
      });
    }
  });

  test('reasoning continues also in the middle of a tool turn', async () => {
    for (const [from, to] of [
      ['sim/responses', 'sim/messages'],
      ['sim/messages', 'sim/responses'],
      ['sim/deepseek', 'sim/messages'],
      ['sim/messages', 'sim/deepseek'],
    ] as const) {
      const messages = ask(`get_weather in "Riga" ${from} ${to}`);
      const body = { tools: TOOLS, reasoning: { effort: 'high' } };
      const first = await takeTurn(gateway, { ...body, model: from, messages }, false);
      const second = await takeTurn(
        gateway,
        { ...body, model: to, messages: [...messages, first.message, ...resultsFor(first.message)] },
        false,
      );
      expect(second.message.content).toContain('result of get_weather');
    }
  });
});

test('reasoning signed by one family is not sent to another, and that is reported', async () => {
  const up = scene.upstream('up');
  const body = { tools: TOOLS, reasoning: { effort: 'high' } };
  up.script(
    whole(messagesBody([thinking('Signed thought.', 'sig-foreign'), call('toolu_x')], 'tool_use')),
    whole(responsesBody([])),
    whole(FINAL),
  );
  const { message } = await takeTurn(
    scene.gateway,
    { ...body, model: 'one/messages', messages: [QUESTION] },
    false,
  );
  const messages = [QUESTION, message, ...resultsFor(message)];
  const moved = await scene.gateway.post('/chat/completions', { ...body, model: 'one/responses', messages });
  expect(up.requests[1]?.text).not.toContain('sig-foreign');
  expect(moved.headers.get('x-dragoman-report')).toContain('reasoning_details');
  await takeTurn(scene.gateway, { ...body, model: 'one/messages', messages }, false);
  expect(up.requests[2]?.text).toContain('sig-foreign');
});

describe('lost reasoning of a turn that continues at a model that reads none', () => {
  const up = scene.upstream('up');
  const moved = async (callId: string, wishes: object): Promise<Response> => {
    const { message } = await takeTurn(
      scene.gateway,
      { model: 'one/messages', tools: TOOLS, reasoning: { effort: 'high' }, messages: [QUESTION] },
      false,
    );
    const messages = [QUESTION, kept(message, 'lost'), ...resultsFor(message)];
    const body = { model: 'one/chat', tools: TOOLS, messages, ...wishes };
    const answer = await scene.gateway.post('/chat/completions', body);
    expect(answer.status).toBe(200);
    expect(up.requests[1]?.text).toContain(callId);
    expect(up.requests[1]?.text).not.toContain('Thought of');
    return answer;
  };

  test('is not sent to this model', async () => {
    const turn = [thinking('Thought of one.', 'sig-one'), call('toolu_one')];
    up.script(whole(messagesBody(turn, 'tool_use')), whole(chatBody('Sunny.')));
    const answer = await moved('toolu_one', {});
    expect(answer.headers.get('x-dragoman-report')).toBeNull();
  });

  test('is restored for a fallback model that reads it', async () => {
    const turn = [thinking('Thought of two.', 'sig-two'), call('toolu_two')];
    up.script(whole(messagesBody(turn, 'tool_use')), whole({}, 401), whole(FINAL));
    await moved('toolu_two', {
      reasoning: { effort: 'high' },
      provider: { fallback: ['one/messages'] },
    });
    expect(list(up.requests[2]?.json, 'messages', 1, 'content')).toEqual([...turn] as never);
  });
});

test('reasoning survives a restart', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
  const body = {
    model: 'sim/claude',
    tools: TOOLS,
    max_completion_tokens: 6000,
    reasoning: { effort: 'high' },
  };
  const messages = [{ role: 'user', content: 'get_weather in "Riga", before the restart' }];
  const before = await startGateway({}, { dataDir });
  const { message } = await takeTurn(before, { ...body, messages }, true);
  await before.stop();
  await using after = await startGateway({}, { dataDir });
  const next = [...messages, kept(message, 'lost'), ...resultsFor(message)];
  const second = await takeTurn(after, { ...body, messages: next }, false);
  expect(second.message.content).toContain('result of get_weather');
  // Thinking goes on, which the model would refuse had its signed block not come back.
  expect(second.message.reasoning).toBeTruthy();
});
