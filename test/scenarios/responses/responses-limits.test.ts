// Limits and switches of a request to the Responses API, over every way to an upstream: what is left out of a context
// that is too small, answers that are cut, calls that may not be parallel, formats that are enforced, log probabilities.
import { afterAll, describe, expect, test } from 'bun:test';
import {
  chatBody,
  chatChunk,
  CHAT_ENDING,
  CHAT_OPENING,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  ask,
  answered,
  result,
  saidIn,
  says,
  SMALL_CONTEXT,
  startResponses,
  reported,
  WAYS,
  WAYS_AND_MODES,
  WEATHER,
  wordsOf,
  type Way,
} from '../../support/responses-scene.ts';
import { eventuallyFound } from '../../support/program.ts';

const PLAIN = { provider: 'up', model: 'm', protocol: 'openai-chat', price: { input: 1, output: 4 } };

const scene = await startResponses({
  models: [{ id: 'no/formats', endpoints: [{ ...PLAIN, quirks: { structured_output: 'none' } }] }],
});
afterAll(() => scene[Symbol.asyncDispose]());

/** About so many tokens. */
const words = (count: number, word: string): string => Array.from({ length: count }, () => word).join(' ');

describe.each(WAYS_AND_MODES)('truncation over %s, streamed: %p', (way, stream) => {
  const small = { model: `small/${way}`, tools: [WEATHER], instructions: 'Be brief.', max_output_tokens: 20 };
  const history = [
    { role: 'developer', content: 'Rules stay.' },
    { role: 'user', content: `oldest ${words(150, 'tea')}` },
    { type: 'message', role: 'assistant', content: `answered ${words(100, 'milk')}` },
    { role: 'user', content: `middle ${words(100, 'rice')}` },
    { type: 'function_call', call_id: 'call_t', name: 'get_weather', arguments: '{"city":"Rome"}' },
    result('call_t', words(150, 'sun')),
    { type: 'message', role: 'assistant', content: 'Sunny.' },
    { role: 'user', content: `last ${words(100, 'salt')}` },
  ];

  test('auto removes the oldest items, never a call without its output, the system prompt or the last message', async () => {
    for (const [more, left] of [
      [0, ['assistant: answered', 'middle', 'call', 'result', 'assistant: Sunny.', 'last']],
      [60, ['middle', 'call', 'result', 'assistant: Sunny.', 'last']],
      [170, ['call', 'result', 'assistant: Sunny.', 'last']],
      [280, ['assistant: Sunny.', 'last']],
      [1000, ['last']],
    ] as const) {
      scene.upstream.script(says(way, [{ text: 'Yes.' }]));
      const input = [...history.slice(0, -1), { role: 'user', content: `last ${words(100 + more, 'salt')}` }];
      const answer = await ask(scene, way, { ...small, input, truncation: 'auto' }, stream);
      expect(saidIn(answer)).toEqual(['Yes.']);
      expect(at(answer.body, 'truncation')).toBe('auto');
      expect(answer.report).toContain('input:clamped');
      const sent = reported(scene.upstream.requests[0]);
      const system = sent.filter((line) => line.startsWith('system')).join();
      expect(system).toContain('Be brief.');
      expect(system).toContain('Rules stay.');
      // Anthropic wants a user's word first, and gets a note where that was left out.
      const said = sent
        .filter((line) => !line.startsWith('system: ') && !line.startsWith('user: (The'))
        .map((line) => line.replace('user: ', ''));
      expect(said.map((line, place) => line.slice(0, left[place]?.length ?? 99))).toEqual([...left]);
    }
  });

  test('auto never separates a call from its output', async () => {
    scene.upstream.script(says(way, [{ text: 'Yes.' }]));
    const input = [
      { role: 'user', content: `oldest ${words(100, 'tea')}` },
      { type: 'function_call', call_id: 'call_t', name: 'get_weather', arguments: '{"city":"Rome"}' },
      { role: 'user', content: `hurry ${words(200, 'rice')}` },
      result('call_t', words(150, 'sun')),
      { role: 'user', content: `last ${words(200, 'salt')}` },
    ];
    await ask(scene, way, { ...small, input, truncation: 'auto' }, stream);
    const sent = reported(scene.upstream.requests[0]).join('\n');
    expect(sent).toContain('last salt');
    for (const gone of ['oldest', 'call_t', 'hurry']) expect(sent).not.toContain(gone);
  });

  test('auto leaves a conversation alone that fits, and one of unknown size', async () => {
    scene.upstream.script(says(way, [{ text: 'Yes.' }]), says(way, [{ text: 'Yes.' }]));
    const fits = await ask(scene, way, { ...small, input: 'Hi', truncation: 'auto' }, stream);
    expect(fits.report).not.toContain('clamped');
    const body = { ...small, model: `to/${way}`, input: history, truncation: 'auto' };
    expect((await ask(scene, way, body, stream)).report).not.toContain('clamped');
    expect(reported(scene.upstream.requests[1]).join('\n')).toContain('oldest');
  });

  test('auto removes the beginning of a chain, and the stored chain stays complete', async () => {
    scene.upstream.script(...['One.', 'Two.', 'Three.'].map((text) => says(way, [{ text }])));
    let previous_response_id: string | null = null;
    for (const turn of ['first', 'second', 'third']) {
      const input = `${turn} ${words(200, 'tea')}`;
      const body: object = { ...small, input, truncation: 'auto', previous_response_id };
      previous_response_id = (await ask(scene, way, body, stream)).id;
    }
    const last = reported(scene.upstream.requests[2]).join('\n');
    expect(last).not.toContain('first');
    expect(last).toContain('second');
    const kept = await scene.gateway.get(`/responses/${previous_response_id}/input_items?limit=100`);
    expect(list(await kept.json(), 'data')).toHaveLength(5);
  });

  test('disabled sends all items, and returns the refusal of the upstream', async () => {
    scene.upstream.script(wordsOf(way).overflow);
    const refused = await ask(scene, way, { ...small, input: history }, stream);
    expect([refused.status, at(refused.body, 'error', 'code')]).toEqual([400, 'context_length_exceeded']);
    expect(reported(scene.upstream.requests[0]).join('\n')).toContain('oldest');
  });

  test('disabled refuses a request that is certainly longer than the context', async () => {
    scene.upstream.script();
    for (const truncation of ['disabled', undefined]) {
      const input = words(SMALL_CONTEXT * 2, 'tea');
      const refused = await ask(scene, way, { ...small, input, truncation }, stream);
      expect([refused.status, at(refused.body, 'error', 'code'), at(refused.body, 'error', 'param')]).toEqual(
        [400, 'context_length_exceeded', 'input'],
      );
    }
    expect(scene.upstream.requests).toEqual([]);
  });
});

describe.each(WAYS_AND_MODES)('over %s, streamed: %p', (way, stream) => {
  test('max_output_tokens truncates the response, which reports it and is stored', async () => {
    scene.upstream.script(says(way, [{ text: 'Once upon a' }], true));
    const cut = await ask(scene, way, { input: 'A story.', max_output_tokens: 16 }, stream);
    expect(at(cut.body, 'status')).toBe('incomplete');
    expect(at(cut.body, 'incomplete_details')).toEqual({ reason: 'max_output_tokens' });
    if (stream) expect(cut.frames.at(-1)?.event).toBe('response.incomplete');
    const { json } = scene.upstream.requests[0] ?? {};
    const limits = ['max_output_tokens', 'max_completion_tokens', 'max_tokens'];
    expect(limits.map((name) => at(json, name)).find((limit) => limit !== undefined)).toBe(16);
    expect(at(await (await scene.gateway.get(`/responses/${cut.id}`)).json(), 'status')).toBe('incomplete');
  });

  test.skipIf(stream)(
    'background: the response shows the parameter, and the upstream does not get it',
    async () => {
      scene.upstream.script(says(way, [{ text: 'Done.' }]));
      const body = { model: `to/${way}`, input: 'Hi', background: true };
      const asked = await scene.gateway.post('/responses', body);
      const queued = (await asked.json()) as Json;
      expect([at(queued, 'status'), at(queued, 'background')]).toEqual(['queued', true]);
      const made = await finished(`/responses/${String(at(queued, 'id'))}`);
      expect([
        at(made, 'status'),
        at(made, 'background'),
        at(made, 'output', 0, 'content', 0, 'text'),
      ]).toEqual(['completed', true, 'Done.']);
      expect(scene.upstream.requests[0]?.text).not.toContain('background');
      expect(asked.headers.get('x-dragoman-report')).toBeNull();
    },
  );

  function finished(path: string): Promise<Json> {
    return eventuallyFound(
      'the response is finished',
      async () => (await (await scene.gateway.get(path)).json()) as Json,
      (answer) => !['queued', 'in_progress'].includes(String(at(answer, 'status'))),
    );
  }
});

// OpenAI itself obeys, and its answers are relayed.
describe.each(WAYS_AND_MODES.filter(([way]) => way !== 'relay'))(
  'calls over %s, streamed: %p',
  (way, stream) => {
    test('without parallel calls, the second call is removed', async () => {
      const said = [
        { text: 'Both.' },
        { call: 'get_weather', id: 'call_one', args: { city: 'Rome' } },
        { call: 'get_weather', id: 'call_two', args: { city: 'Oslo' } },
      ];
      scene.upstream.script(says(way, said), says(way, said), says(way, [{ text: 'Rain.' }]));
      const body = { input: 'Rome and Oslo?', tools: [WEATHER] };
      const both = await ask(scene, way, body, stream);
      expect(saidIn(both)).toHaveLength(3);
      const one = await ask(scene, way, { ...body, parallel_tool_calls: false }, stream);
      expect(saidIn(one)).toEqual(['Both.', 'get_weather {"city":"Rome"}']);
      expect(at(one.body, 'parallel_tool_calls')).toBe(false);
      // Nor does the next turn know of it: every call there has its output.
      const callId = String(at(one.body, 'output', 1, 'call_id'));
      await ask(scene, way, { previous_response_id: one.id, input: [result(callId, 'sun')] }, stream);
      expect(reported(scene.upstream.requests[2]).join('\n')).not.toContain('Oslo"');
    });
  },
);

describe('log probabilities', () => {
  const logprobs = [{ token: 'Hi', logprob: -0.1, bytes: [72, 105], top_logprobs: [] }];
  const chatAnswer = (stream: boolean) =>
    stream
      ? sse(
          CHAT_OPENING +
            chatChunk({ content: 'Hi' }).replace(
              '"logprobs":null',
              `"logprobs":{"content":${JSON.stringify(logprobs)}}`,
            ) +
            CHAT_ENDING,
        )
      : whole(
          JSON.stringify(chatBody('Hi')).replace(
            '"logprobs":null',
            `"logprobs":{"content":${JSON.stringify(logprobs)},"refusal":null}`,
          ),
        );

  test.each([false, true])('are requested and returned with include, streamed: %p', async (stream) => {
    scene.upstream.script(chatAnswer(stream), chatAnswer(stream));
    const include = ['message.output_text.logprobs'];
    const shown = await ask(scene, 'chat', { input: 'Hi', top_logprobs: 2, include }, stream);
    const { json } = scene.upstream.requests[0] ?? {};
    expect([at(json, 'logprobs'), at(json, 'top_logprobs')]).toEqual([true, 2]);
    expect(at(shown.body, 'output', 0, 'content', 0, 'logprobs')).toEqual(logprobs);
    const hidden = await ask(scene, 'chat', { input: 'Hi' }, stream);
    expect(at(hidden.body, 'output', 0, 'content', 0, 'logprobs')).toEqual([]);
  });

  test('are refused by name over a protocol without them, or dropped with a report', async () => {
    scene.upstream.script(says('messages', [{ text: 'Hi' }]));
    const include = ['message.output_text.logprobs'];
    const answer = await ask(scene, 'messages', { input: 'Hi', top_logprobs: 2, include }, false);
    expect(answer.status).toBe(200);
    expect(answer.report).toContain('top_logprobs:dropped');
  });
});

describe('text.format', () => {
  const schema = {
    type: 'object',
    properties: { city: { type: 'string' }, days: { type: 'integer' } },
    required: ['city', 'days'],
    additionalProperties: false,
  };
  const format = { type: 'json_schema', name: 'trip', description: 'A journey', strict: true, schema };
  const body = { input: 'Plan.', text: { format } };
  const GOOD = '{"city":"Rome","days":3}';

  test.each(WAYS)('reaches %s in its own form', async (way) => {
    scene.upstream.script(says(way, [{ text: GOOD }]));
    const answer = await ask(scene, way, body, false);
    expect(saidIn(answer)).toEqual([GOOD]);
    expect(scene.upstream.requests[0]?.text).toContain('"additionalProperties":false');
    if (way !== 'relay') expect(at(answer.body, 'text', 'format')).toEqual(format);
  });

  test.each([false, true])(
    'is validated by the gateway if the model does not support it, streamed: %p',
    async (stream) => {
      const bad = '```json\n{"city":"Rome"}\n```';
      const model = 'no/formats';
      scene.upstream.script(says('chat', [{ text: bad }]), says('chat', [{ text: GOOD }]));
      const mended = await ask(scene, 'chat', { ...body, model }, stream);
      expect(saidIn(mended)).toEqual([GOOD]);
      expect(scene.upstream.requests).toHaveLength(2);
      expect(mended.report).toContain('approximated');
      // Only what the client got is kept.
      const next = { model, input: 'On.', previous_response_id: mended.id };
      scene.upstream.script(says('chat', [{ text: 'Yes.' }]));
      await ask(scene, 'chat', next, false);
      expect(reported(scene.upstream.requests[0])).toEqual([
        'user: Plan.',
        `assistant: ${GOOD}`,
        'user: On.',
      ]);
      scene.upstream.script(says('chat', [{ text: bad }]), says('chat', [{ text: bad }]));
      const failed = await ask(scene, 'chat', { ...body, model }, stream);
      expect(failed.status).toBeGreaterThanOrEqual(400);
      expect(at(failed.body, 'error', 'code')).toBe('structured_output_failed');
    },
  );
});

test('the doubled path of clients that take the operation for the base URL', async () => {
  for (const stream of [false, true]) {
    scene.upstream.script(says('chat', [{ text: 'Here.' }]));
    const body = { model: 'to/chat', input: 'Hi', stream };
    const answer = await answered(await scene.gateway.post('/responses/responses', body));
    expect(saidIn(answer)).toEqual(['Here.']);
    expect((await scene.gateway.get(`/responses/${answer.id}`)).status).toBe(200);
  }
});

describe('a prompt template', () => {
  const PNG = 'data:image/png;base64,iVBORw0KGgo=';
  async function create(template: object): Promise<string> {
    const made = await scene.gateway.post('/prompts', { template });
    return String(at(await made.json(), 'id'));
  }

  test.each(WAYS)('brings texts, images and defaults over %s', async (way: Way) => {
    const id = await create({
      instructions: 'Help {{customer}}.',
      input: [
        { role: 'user', content: [{ type: 'input_text', text: '{{shot}}' }] },
        { role: 'assistant', content: 'I see it.' },
      ],
      temperature: 0.25,
    });
    const prompt = {
      id,
      variables: { customer: 'Ann', shot: { type: 'input_image', image_url: PNG } },
    };
    scene.upstream.script(says(way, [{ text: 'Yes.' }]), says(way, [{ text: 'Again.' }]));
    const answer = await ask(scene, way, { prompt, input: 'And now?' }, true);
    const sent = reported(scene.upstream.requests[0]);
    expect(sent[0]).toBe('system: Help Ann.');
    expect(sent[1]).toContain('iVBORw0KGgo=');
    expect(sent.slice(2)).toEqual(['assistant: I see it.', 'user: And now?']);
    expect(at(scene.upstream.requests[0]?.json, 'temperature')).toBe(0.25);
    expect(at(answer.body, 'prompt', 'id')).toBe(id);
    // The next turn has what was said, not the instructions.
    await ask(scene, way, { input: 'On.', previous_response_id: answer.id }, false);
    const next = reported(scene.upstream.requests[1]);
    expect(next.join('\n')).not.toContain('Help Ann');
    expect(next.slice(1)).toEqual(['assistant: I see it.', 'user: And now?', 'assistant: Yes.', 'user: On.']);
  });

  test('has versions, and values of the request override those of the template', async () => {
    const id = await create({ instructions: 'One {{a}}.', model: 'to/chat' });
    await scene.gateway.post(`/prompts/${id}/versions`, {
      template: { instructions: 'Two.', model: 'to/chat' },
    });
    scene.upstream.always(says('chat', [{ text: 'Yes.' }]));
    const send = async (body: object): Promise<string[]> => {
      scene.upstream.requests.length = 0;
      await answered(await scene.gateway.post('/responses', { input: 'Hi', ...body }));
      return reported(scene.upstream.requests[0]);
    };
    expect(await send({ prompt: { id, variables: { a: 'x' } } })).toEqual(['system: One x.', 'user: Hi']);
    expect(await send({ prompt: { id, version: '2' } })).toEqual(['system: Two.', 'user: Hi']);
    expect(await send({ prompt: { id, version: '2' }, instructions: 'Mine.' })).toEqual([
      'system: Mine.',
      'user: Hi',
    ]);
  });

  test('an invalid template is a 400 with its path, an unknown one a 404', async () => {
    const id = await create({ input: 'Hi {{name}}', model: 'to/chat' });
    for (const [prompt, status, param] of [
      [{ id, variables: { name: 'a', other: 'b' } }, 400, 'prompt.variables.other'],
      [{ id }, 400, 'prompt.variables.name'],
      [{ id, version: '9', variables: { name: 'a' } }, 400, 'prompt.version'],
      [{ id: 'pmpt_nobody' }, 404, 'prompt.id'],
    ] as const) {
      const refused = await answered(await scene.gateway.post('/responses', { prompt, model: 'to/chat' }));
      expect([refused.status, at(refused.body, 'error', 'param')]).toEqual([status, param]);
    }
  });
});
