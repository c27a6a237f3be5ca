// The official OpenAI SDK, unmodified, in front of each of the three upstream protocols. What it must not see is any
// difference between them.
import { afterAll, describe, expect, test } from 'bun:test';
import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import type {
  ChatCompletionChunk,
  ChatCompletionMessageParam,
  ChatCompletionTool,
} from 'openai/resources/chat/completions';
import { z } from 'zod';
import { CONVERSE, startEveryUpstream, UPSTREAMS } from '../../support/upstreams/every-upstream.ts';
import { CITY } from '../../support/city-schema.ts';
import { PNG_URL } from '../../support/images.ts';

const gateway = await startEveryUpstream();
const client = new OpenAI({ apiKey: gateway.key, baseURL: gateway.baseURL, maxRetries: 0 });
afterAll(() => gateway.close());

const weather: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'Weather of a city',
    parameters: CITY,
  },
};
const time: ChatCompletionTool = {
  type: 'function',
  function: {
    name: 'get_time',
    parameters: { type: 'object', properties: { zone: { type: 'string' } }, required: ['zone'] },
  },
};
const ask = (content: string): ChatCompletionMessageParam[] => [{ role: 'user', content }];

async function collect(stream: AsyncIterable<ChatCompletionChunk>): Promise<ChatCompletionChunk[]> {
  const chunks: ChatCompletionChunk[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}

/** Parameters that the SDK's types do not know, at the top level. */
function unknown(parameters: object): object {
  return parameters;
}

/** Members that the SDK's types do not know. */
function extensions(value: object | undefined): {
  reasoning?: string | null;
  reasoning_content?: string;
  reasoning_details?: unknown[];
} {
  return value ?? {};
}

describe.each(UPSTREAMS)('%s', (model) => {
  const shows = model !== 'sim/chat';
  const isClaude = model === 'sim/messages' || model === CONVERSE;

  test('answers', async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: [{ role: 'system', content: 'Be brief.' }, ...ask('What is 6 x 7?')],
    });
    expect(answer.object).toBe('chat.completion');
    expect(answer.model).toBe(model);
    expect(answer.id).toMatch(/^[0-9a-f]{32}$/);
    expect(answer._request_id).toBe(answer.id);
    expect(answer.choices).toHaveLength(1);
    const [choice] = answer.choices;
    expect(choice).toMatchObject({
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', refusal: null },
    });
    expect(choice?.message.content).toContain('42');
    // Not null: OpenAI leaves the member out.
    expect(choice?.message).not.toHaveProperty('tool_calls');
    const { usage } = answer;
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
    expect(usage?.prompt_tokens).toBeGreaterThan(0);
  });

  test('streams the same text, with usage only on request', async () => {
    const body = { model, messages: ask('count to 20') };
    const plain = await client.chat.completions.create(body);
    const chunks = await collect(await client.chat.completions.create({ ...body, stream: true }));
    const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
    expect(text).toBe(plain.choices[0]?.message.content ?? '');
    expect(
      new Set(chunks.map((chunk) => `${chunk.id} ${chunk.created} ${chunk.model} ${chunk.object}`)).size,
    ).toBe(1);
    expect(chunks.every((chunk) => chunk.choices.length === 1)).toBe(true);
    expect(chunks[0]?.choices[0]?.delta.role).toBe('assistant');
    expect(chunks.map((chunk) => chunk.choices[0]?.finish_reason).filter(Boolean)).toEqual(['stop']);

    const counted = await collect(
      await client.chat.completions.create({
        ...body,
        stream: true,
        stream_options: { include_usage: true },
      }),
    );
    expect(counted.filter((chunk) => chunk.choices.length === 0)).toHaveLength(1);
    expect(counted.at(-1)?.usage).toEqual(plain.usage);
  });

  test('calls one tool, and quotes its result in the next turn', async () => {
    const messages = ask('What is the weather in "Paris"?');
    const tools = [weather, time];
    const first = await client.chat.completions.create({ model, messages, tools });
    const [choice] = first.choices;
    expect(choice?.finish_reason).toBe('tool_calls');
    const [call, ...others] = choice?.message.tool_calls ?? [];
    if (!choice || call?.type !== 'function') throw new Error('no call');
    expect(others).toEqual([]);
    expect(call.function.name).toBe('get_weather');
    expect(Object.keys(JSON.parse(call.function.arguments) as object)).toEqual(['city']);

    messages.push(choice.message, { role: 'tool', tool_call_id: call.id, content: 'sunny, 21 degrees' });
    const second = await client.chat.completions.create({ model, messages, tools });
    expect(second.choices[0]?.finish_reason).toBe('stop');
    expect(second.choices[0]?.message.content).toContain('sunny, 21 degrees');
  });

  test('streams parallel calls that the SDK puts together', async () => {
    const chunks = await collect(
      await client.chat.completions.create({
        model,
        messages: ask('In parallel: get_weather and get_time for "Rome"'),
        tools: [weather, time],
        stream: true,
      }),
    );
    const calls = new Map<number, { id: string; name: string; text: string }>();
    for (const delta of chunks.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? [])) {
      const call = calls.get(delta.index) ?? {
        id: delta.id ?? '',
        name: delta.function?.name ?? '',
        text: '',
      };
      calls.set(delta.index, { ...call, text: call.text + (delta.function?.arguments ?? '') });
    }
    expect([...calls.keys()]).toEqual([0, 1]);
    expect(new Set([...calls.values()].map((call) => call.id)).size).toBe(2);
    expect([...calls.values()].map((call) => call.name).toSorted()).toEqual(['get_time', 'get_weather']);
    for (const call of calls.values()) expect(typeof JSON.parse(call.text)).toBe('object');
    expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('tool_calls');
  });

  test('obeys tool_choice', async () => {
    const tools = [weather, time];
    const named = await client.chat.completions.create({
      model,
      messages: ask('Hello, no tools please.'),
      tools,
      tool_choice: { type: 'function', function: { name: 'get_time' } },
    });
    expect(named.choices[0]?.message.tool_calls).toMatchObject([
      { type: 'function', function: { name: 'get_time' } },
    ]);
    const none = await client.chat.completions.create({
      model,
      messages: ask('get_weather in Oslo'),
      tools,
      tool_choice: 'none',
    });
    expect(none.choices[0]).toMatchObject({ finish_reason: 'stop' });
    expect(none.choices[0]?.message).not.toHaveProperty('tool_calls');
    const required = await client.chat.completions.create({
      model,
      messages: ask('no tools'),
      tools,
      tool_choice: 'required',
    });
    expect(required.choices[0]?.message.tool_calls?.length).toBeGreaterThan(0);
    const allowed = await client.chat.completions.create({
      model,
      messages: ask('get_weather in Oslo'),
      tools,
      tool_choice: {
        type: 'allowed_tools',
        allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'get_time' } }] },
      },
    });
    expect(allowed.choices[0]?.message.tool_calls).toMatchObject([{ function: { name: 'get_time' } }]);
    const single = await client.chat.completions.create({
      model,
      messages: ask('In parallel: get_weather and get_time'),
      tools,
      parallel_tool_calls: false,
    });
    expect(single.choices[0]?.message.tool_calls).toHaveLength(1);
  });

  test('runTools finishes a tool loop', async () => {
    const asked: unknown[] = [];
    const runner = client.chat.completions.runTools({
      model,
      messages: ask('What is the weather in "Lima"?'),
      tools: [
        {
          type: 'function',
          function: {
            name: 'get_weather',
            description: 'Weather of a city',
            parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
            parse: JSON.parse,
            function: (input: unknown) => {
              asked.push(input);
              return 'fog, 12 degrees';
            },
          },
        },
      ],
    });
    expect(await runner.finalContent()).toContain('fog, 12 degrees');
    expect(asked).toHaveLength(1);
  });

  test('structured output is parsed', async () => {
    const person = z.object({ name: z.string(), age: z.number().int(), tags: z.array(z.enum(['a', 'b'])) });
    const body = {
      model,
      messages: ask('Describe "Ada", 36 years old.'),
      response_format: zodResponseFormat(person, 'person'),
    };
    const answer = await client.chat.completions.parse(body);
    const parsed = answer.choices[0]?.message.parsed;
    expect(person.parse(parsed)).toEqual(person.parse(JSON.parse(answer.choices[0]?.message.content ?? '')));
    const streamed = await client.chat.completions.stream(body).finalChatCompletion();
    expect(streamed.choices[0]?.message.parsed).toEqual(parsed);
    // Claude's protocols enforce schemas alone; what takes their place is shown with a scripted upstream.
    if (isClaude) return;
    const object = await client.chat.completions.create({
      model,
      messages: ask('Answer with a JSON object.'),
      response_format: { type: 'json_object' },
    });
    expect(typeof JSON.parse(object.choices[0]?.message.content ?? '')).toBe('object');
  });

  test('a refusal of the model arrives as a refusal', async () => {
    const answer = await client.chat.completions.create({ model, messages: ask('Please refuse this.') });
    const [choice] = answer.choices;
    // Claude refuses by its stop reason, OpenAI by a part of the message.
    if (isClaude) expect(choice?.finish_reason).toBe('content_filter');
    else expect(choice?.message.refusal).toBeTruthy();
  });

  test('reasoning: effort, exclude, off', async () => {
    const messages = ask('What is 12 / 5?');
    const effort = await client.chat.completions.create({ model, messages, reasoning_effort: 'high' });
    const low = await client.chat.completions.create({ model, messages, reasoning_effort: 'low' });
    const tokens = (answer: typeof effort): number =>
      answer.usage?.completion_tokens_details?.reasoning_tokens ?? 0;
    if (!isClaude) expect(tokens(effort)).toBeGreaterThan(tokens(low));
    const message = extensions(effort.choices[0]?.message);
    expect(Boolean(message.reasoning)).toBe(shows);
    expect(message.reasoning_content).toBe(shows ? (message.reasoning ?? undefined) : undefined);
    expect(message.reasoning_details?.length ?? 0)[shows ? 'toBeGreaterThan' : 'toBe'](0);

    // Extension keys stand at the top level, as the Python SDK's extra_body puts them.
    const excluded = await client.chat.completions.create({
      model,
      messages,
      ...unknown({ reasoning: { effort: 'high', exclude: true } }),
    });
    for (const name of ['reasoning', 'reasoning_content', 'reasoning_details'])
      expect(excluded.choices[0]?.message).not.toHaveProperty(name);
    expect(excluded.choices[0]?.message.content).toContain('2.4');
    const off = await client.chat.completions.create({
      model,
      messages,
      ...unknown({ reasoning: { enabled: false } }),
    });
    expect(tokens(off)).toBe(0);
    expect(extensions(off.choices[0]?.message).reasoning ?? '').toBe('');
    const budget = await client.chat.completions.create({
      model,
      messages,
      max_completion_tokens: 8000,
      ...unknown({ reasoning: { max_tokens: 2048 } }),
    });
    expect(budget.choices[0]?.message.content).toContain('2.4');
  });

  test('streamed reasoning equals that of a whole response', async () => {
    const body = { model, messages: ask('What is 12 / 5?'), reasoning_effort: 'high' as const };
    const whole = extensions((await client.chat.completions.create(body)).choices[0]?.message);
    const deltas = (await collect(await client.chat.completions.create({ ...body, stream: true }))).map(
      (chunk) => extensions(chunk.choices[0]?.delta),
    );
    const join = (name: 'reasoning' | 'reasoning_content'): string =>
      deltas.map((delta) => delta[name] ?? '').join('');
    expect(join('reasoning')).toBe(whole.reasoning ?? '');
    expect(join('reasoning_content')).toBe(whole.reasoning_content ?? '');
    expect(deltas.some((delta) => (delta.reasoning_details?.length ?? 0) > 0)).toBe(shows);

    const hidden = await collect(
      await client.chat.completions.create({
        ...body,
        stream: true,
        ...unknown({ reasoning: { exclude: true } }),
      }),
    );
    for (const chunk of hidden)
      for (const name of ['reasoning', 'reasoning_content', 'reasoning_details'])
        expect(chunk.choices[0]?.delta ?? {}).not.toHaveProperty(name);
  });

  test('takes an image', async () => {
    const answer = await client.chat.completions.create({
      model,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'What is this?' },
            { type: 'image_url', image_url: { url: PNG_URL, detail: 'low' } },
          ],
        },
      ],
    });
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.choices[0]?.message.content).toBeTruthy();
  });

  test.each([false, true])('stops at a stop sequence (stream: %p)', async (stream) => {
    const body = { model, messages: ask('count to 20'), stop: ['7'] };
    if (stream) {
      const chunks = await collect(await client.chat.completions.create({ ...body, stream }));
      const text = chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
      expect(text).toMatch(/6\D*$/);
      expect(chunks.at(-1)?.choices[0]?.finish_reason).toBe('stop');
    } else {
      const answer = await client.chat.completions.create({ ...body, stream });
      expect(answer.choices[0]?.message.content).toMatch(/6\D*$/);
      expect(answer.choices[0]?.finish_reason).toBe('stop');
    }
  });

  test('logprobs are returned if the upstream has them; otherwise the loss is reported', async () => {
    const { data, response } = await client.chat.completions
      .create({
        model,
        messages: ask('Hello'),
        logprobs: true,
        top_logprobs: 2,
        ...unknown({ reasoning: { enabled: false } }),
      })
      .withResponse();
    const content = data.choices[0]?.logprobs?.content;
    const report = response.headers.get('x-dragoman-report');
    if (isClaude) {
      expect(content ?? null).toBeNull();
      expect(report).toContain('logprobs:dropped');
    } else if (model === 'sim/responses') {
      // It takes the parameter and has none to give.
      expect(content ?? null).toBeNull();
      expect(report).toBeNull();
    } else {
      expect(content?.map((entry) => entry.token).join('')).toBe(data.choices[0]?.message.content ?? '');
      expect(content?.[0]?.top_logprobs).toHaveLength(2);
    }
  });
});

test('lists and retrieves models', async () => {
  const ids: string[] = [];
  for await (const model of client.models.list()) ids.push(model.id);
  expect(ids).toContain('sim/messages');
  expect(await client.models.retrieve('sim/chat')).toMatchObject({ id: 'sim/chat', object: 'model' });
  expect(await client.models.retrieve('sim/none').catch((error: unknown) => error)).toBeInstanceOf(
    OpenAI.NotFoundError,
  );
});
