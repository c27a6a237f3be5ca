// Single features of a request as they reach an upstream of another protocol, and their answers as they come back:
// stop sequences that are cut here, log probabilities, custom tools, broken history, effort and budget.
import { afterAll, describe, expect, test } from 'bun:test';
import {
  chatBody,
  chatStream,
  frame,
  messagesBody,
  messagesStream,
  responsesBody,
  stream as sse,
  whole,
} from '../support/upstreams/answers.ts';
import { takeTurn, TOOLS } from '../support/upstreams/chat-turn.ts';
import { frames, recordOf, startScene, streamedText } from '../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../support/upstreams/json-path.ts';
import type { Answer } from '../support/upstreams/scripted-upstream.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const scene = await startScene(['up'], {
  config: {
    models: [
      {
        id: 'budget/only',
        max_output_tokens: 4000,
        endpoints: [{ provider: 'up', model: 'm', protocol: 'anthropic-messages', reasoning: 'budget' }],
      },
      {
        id: 'effort/only',
        endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-responses', reasoning: 'effort' }],
      },
      {
        id: 'with/custom',
        endpoints: [
          { provider: 'up', model: 'm', protocol: 'openai-responses', quirks: { custom_tools: true } },
        ],
      },
      {
        id: 'no/custom',
        endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-chat', quirks: { custom_tools: false } }],
      },
    ],
  },
});
afterAll(() => scene[Symbol.asyncDispose]());

const sent = (index = 0): unknown => scene.upstream('up').requests[index]?.json;
const message = (text: string, extra: object = {}): object => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], ...extra }],
});

describe('stop sequences over Responses, which has none', () => {
  const delta = (text: string): string =>
    frame({
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: text,
      logprobs: [],
    });
  const opening =
    frame({
      type: 'response.created',
      response: { ...responsesBody([]), status: 'in_progress', usage: null },
    }) +
    frame({
      type: 'response.output_item.added',
      output_index: 0,
      item: { id: 'msg_1', type: 'message', role: 'assistant', status: 'in_progress', content: [] },
    }) +
    frame({
      type: 'response.content_part.added',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    });

  test('streamed: the text is cut at a match across deltas, and the upstream is disconnected', async () => {
    const up = scene.upstream('up');
    up.script((exchange) => {
      exchange.openStream();
      for (const piece of [opening, delta('one EN'), delta('D two'), delta(' three')]) exchange.chunk(piece);
    });
    const response = await scene.gateway.post('/chat/completions', {
      model: 'one/responses',
      messages: MESSAGES,
      stream: true,
      stop: ['END', 'STOP'],
    });
    const text = await response.text();
    expect(streamedText(text)).toBe('one ');
    expect(frames(text).at(-1)).toBe('[DONE]');
    expect(at(frames(text).at(-2), 'choices', 0, 'finish_reason')).toBe('stop');
    await up.exchanges[0]?.closed;
    expect(at(sent(), 'stop')).toBeUndefined();
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'error')).toBeNull();
    expect(at(record, 'estimated')).toBe(true);
  });

  test('whole: the text ends before the sequence', async () => {
    scene.upstream('up').script(whole(responsesBody([message('one END two')])));
    const response = await scene.gateway.post('/chat/completions', {
      model: 'one/responses',
      messages: MESSAGES,
      stop: 'END',
    });
    const body: unknown = await response.json();
    expect(at(body, 'choices', 0, 'message', 'content')).toBe('one ');
    expect(at(body, 'choices', 0, 'finish_reason')).toBe('stop');
    // Counted by the upstream, so nothing has to be estimated.
    expect(at(body, 'usage', 'total_tokens')).toBe(30);
  });
});

test('log probabilities of Responses are returned', async () => {
  const logprobs = [
    {
      token: 'Hi',
      bytes: [72, 105],
      logprob: -0.1,
      top_logprobs: [{ token: 'Hi', bytes: [72, 105], logprob: -0.1 }],
    },
  ];
  scene.upstream('up').script(whole(responsesBody([message('Hi', { logprobs })])));
  const response = await scene.gateway.post('/chat/completions', {
    model: 'one/responses',
    messages: MESSAGES,
    logprobs: true,
    top_logprobs: 1,
  });
  expect(at(await response.json(), 'choices', 0, 'logprobs', 'content')).toEqual(logprobs);
  expect(list(sent(), 'include')).toContain('message.output_text.logprobs');
  expect(at(sent(), 'top_logprobs')).toBe(1);
});

describe('custom tools where the upstream has only functions', () => {
  const tool = {
    type: 'custom',
    custom: { name: 'run_sql', description: 'Runs SQL', format: { type: 'text' } },
  };
  test.each([
    [
      'no/custom',
      whole(
        chatBody(
          {
            tool_calls: [
              {
                id: 'call_1',
                type: 'function',
                function: { name: 'run_sql', arguments: '{"input":"select 1;"}' },
              },
            ],
          },
          'tool_calls',
        ),
      ),
    ],
    [
      'one/messages',
      whole(
        messagesBody(
          [{ type: 'tool_use', id: 'call_1', name: 'run_sql', input: { input: 'select 1;' } }],
          'tool_use',
        ),
      ),
    ],
    [
      'with/custom',
      whole(
        responsesBody([
          { id: 'ctc_1', type: 'custom_tool_call', call_id: 'call_1', name: 'run_sql', input: 'select 1;' },
        ]),
      ),
    ],
  ] as const)('%s', async (model, answer: Answer) => {
    scene.upstream('up').script(answer);
    const { message: said } = await takeTurn(
      scene.gateway,
      { model, messages: MESSAGES, tools: [tool] },
      false,
    );
    expect(said.tool_calls).toEqual([
      { id: 'call_1', type: 'custom', custom: { name: 'run_sql', input: 'select 1;' } },
    ] as never);
    if (model === 'with/custom')
      expect(at(sent(), 'tools', 0)).toMatchObject({ type: 'custom', name: 'run_sql' });
    else if (model === 'one/messages')
      expect(at(sent(), 'tools', 0)).toMatchObject({ name: 'run_sql', input_schema: { type: 'object' } });
    else expect(at(sent(), 'tools', 0)).toMatchObject({ type: 'function', function: { name: 'run_sql' } });
  });
});

test.each(['one/chat', 'one/responses', 'one/messages'])(
  '%s: malformed arguments in the history are accepted',
  async (model) => {
    const up = scene.upstream('up');
    for (const text of ['{"city": "Par', '', '[]', '"text"', 'not json']) {
      up.always((exchange) => {
        const { path } = exchange.request;
        const answer = path.endsWith('/messages')
          ? messagesBody([{ type: 'text', text: 'Fine.' }], 'end_turn')
          : path.endsWith('/responses')
            ? responsesBody([message('Fine.')])
            : chatBody('Fine.');
        whole(answer)(exchange);
      });
      const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: text } };
      const messages = [
        ...MESSAGES,
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'call_1', content: 'bad arguments' },
      ];
      const { message: said } = await takeTurn(scene.gateway, { model, messages, tools: TOOLS }, false);
      expect(said.content).toBe('Fine.');
      // The model must see what it did: its broken text is not replaced by nothing.
      if (text !== '') expect(up.requests[0]?.text).toContain(JSON.stringify(text).slice(1, -1).slice(0, 8));
    }
  },
);

describe('effort and budget (requirement 6.10)', () => {
  const ask = async (model: string, body: object): Promise<unknown> => {
    scene.upstream('up').always((exchange) => {
      const isMessages = exchange.request.path.endsWith('/messages');
      whole(
        isMessages ? messagesBody([{ type: 'text', text: 'x' }], 'end_turn') : responsesBody([message('x')]),
      )(exchange);
    });
    await takeTurn(scene.gateway, { model, messages: MESSAGES, ...body }, false);
    return sent();
  };

  test.each([
    ['low', 1024],
    ['medium', 2000],
    ['high', 3200],
  ] as const)('M = 4000, %s becomes %p tokens at a budget upstream', async (effort, budget) => {
    // 20 % of 4000 is below the least that Anthropic takes.
    expect(at(await ask('budget/only', { reasoning: { effort } }), 'thinking')).toEqual({
      type: 'enabled',
      budget_tokens: budget,
    });
    expect(
      at(
        await ask('budget/only', { reasoning_effort: effort, max_completion_tokens: 4000 }),
        'thinking',
        'budget_tokens',
      ),
    ).toBe(budget);
  });

  test('low of 8000 is 1600', async () => {
    expect(
      at(
        await ask('budget/only', { reasoning: { effort: 'low' }, max_completion_tokens: 8000 }),
        'thinking',
        'budget_tokens',
      ),
    ).toBe(1600);
  });

  test.each([
    [300, 'low'],
    [340, 'low'],
    [350, 'low'],
    [360, 'medium'],
    [640, 'medium'],
    [650, 'medium'],
    [660, 'high'],
    [1, 'low'],
    [5000, 'high'],
  ] as const)('M = 1000, %p tokens become %s at an effort upstream', async (budget, effort) => {
    expect(
      at(
        await ask('effort/only', { reasoning: { max_tokens: budget }, max_completion_tokens: 1000 }),
        'reasoning',
        'effort',
      ),
    ).toBe(effort);
  });

  test('no room for a legal budget: thinking is off, not an error', async () => {
    expect(
      at(
        await ask('budget/only', { reasoning: { effort: 'high' }, max_completion_tokens: 900 }),
        'thinking',
        'type',
      ) ?? 'disabled',
    ).toBe('disabled');
  });

  test('the default effort is medium where it has no disadvantage', async () => {
    expect(at(await ask('budget/only', {}), 'thinking', 'budget_tokens')).toBe(2000);
    expect(at(await ask('effort/only', {}), 'reasoning', 'effort')).toBe('medium');
    for (const conflict of [
      { temperature: 0.2 },
      { top_p: 0.5 },
      { tools: TOOLS, tool_choice: 'required' },
      { messages: [...MESSAGES, { role: 'assistant', content: 'It is' }] },
    ]) {
      const body = await ask('budget/only', conflict);
      expect(at(body, 'thinking', 'type') ?? 'disabled').toBe('disabled');
      if ('temperature' in conflict) expect(at(body, 'temperature')).toBe(0.2);
    }
  });
});

test.each(['one/chat', 'one/messages'])(
  '%s: parallel calls keep dense indices and ids of their own',
  async (model) => {
    const content = [
      { type: 'text', text: 'Both.' },
      { type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Bern' } },
      { type: 'tool_use', id: 'toolu_2', name: 'get_time', input: { city: 'Bern' } },
    ];
    const calls = content.slice(1).map((block, index) => ({
      index,
      id: block.id,
      type: 'function',
      function: { name: block.name, arguments: JSON.stringify(block.input) },
    }));
    const chat = chatStream('Both.').replace(
      '"delta":{}',
      `"delta":${JSON.stringify({ tool_calls: calls })}`,
    );
    // This upstream says `stop` although it calls: the client would end its loop.
    scene.upstream('up').script(sse(model === 'one/messages' ? messagesStream(content, 'end_turn') : chat));
    const response = await scene.gateway.post('/chat/completions', {
      model,
      messages: MESSAGES,
      tools: TOOLS,
      stream: true,
    });
    const all = frames(await response.text());
    const deltas = all.flatMap((chunk) => list(chunk, 'choices', 0, 'delta', 'tool_calls'));
    expect([...new Set(deltas.map((delta) => at(delta, 'index')))]).toEqual([0, 1]);
    expect(deltas.map((delta) => at(delta, 'id')).filter(Boolean)).toEqual(['toolu_1', 'toolu_2']);
    expect(all.map((chunk) => at(chunk, 'choices', 0, 'finish_reason')).filter(Boolean)).toEqual([
      'tool_calls',
    ]);
  },
);
