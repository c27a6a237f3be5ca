// The simulated provider through the official SDKs and a real socket: its models, and Chat
// Completions. The other protocols and the misbehaviours have files of their own, `sim-*.test.ts`.
import { afterAll, describe, expect, test } from 'bun:test';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { findSimModel, simMisbehaviours, simModels } from '../../../sim/index.ts';
import { simPreset } from '../../../src/catalog/providers/index.ts';
import {
  addressed,
  CHAT,
  drain,
  events,
  GEMINI,
  MESSAGES,
  RESPONSES,
  parameters,
  paths,
  person,
  serveSim,
  streamedText,
  user,
} from '../../support/sim-server.ts';

const server = serveSim();
const openai = new OpenAI({ apiKey: 'sk-test', baseURL: `${server.origin}/openai/v1`, maxRetries: 0 });
const anthropic = new Anthropic({ apiKey: 'sk-test', baseURL: `${server.origin}/anthropic`, maxRetries: 0 });
afterAll(() => server.stop());

const weather = { type: 'function', function: { name: 'get_weather', parameters } } as const;
const clock = {
  type: 'function',
  function: { name: 'get_time', parameters: { type: 'object', properties: {} } },
} as const;

describe('Chat Completions', () => {
  test('echoes the message, with the same response every time', async () => {
    const body = { model: 'chat', messages: [user('Hello there')] };
    const first = await openai.chat.completions.create(body);
    const second = await openai.chat.completions.create(body);
    expect(first.choices[0]?.message.content).toContain('You said: "Hello there"');
    expect({ ...second, created: 0 }).toEqual({ ...first, created: 0 });
    expect(first.usage?.completion_tokens_details?.reasoning_tokens).toBe(64);
    const usage = first.usage;
    expect(usage?.total_tokens).toBe((usage?.prompt_tokens ?? 0) + (usage?.completion_tokens ?? 0));
  });

  test('streams the same answer, ids included, in small pieces', async () => {
    const plain = await openai.chat.completions.create({ model: 'chat', messages: [user('Hello there')] });
    const stream = openai.chat.completions.stream({
      model: 'chat',
      messages: [user('Hello there')],
      stream_options: { include_usage: true },
    });
    let pieces = 0;
    stream.on('content.delta', () => pieces++);
    const streamed = await stream.finalChatCompletion();
    expect(pieces).toBeGreaterThan(5);
    expect(streamed.id).toBe(plain.id);
    expect(streamed.choices[0]?.message.content).toBe(plain.choices[0]?.message.content ?? '');
    expect(streamed.usage).toEqual(plain.usage);
  });

  test('sends usage only on request, and ends with [DONE]', async () => {
    const quiet = events((await drain(await server.ask(CHAT, 'echo', true))).text);
    expect(quiet.at(-1)?.data).toBe('[DONE]');
    expect(quiet.some(({ data }) => data.includes('"usage"') || data.includes('"choices":[]'))).toBe(false);
    const asked = await server.post(CHAT, {
      model: 'echo',
      stream: true,
      stream_options: { include_usage: true },
      messages: [user('x')],
    });
    const last = events(await asked.text()).at(-2);
    expect(JSON.parse(last?.data ?? '')).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 1 },
    });
  });

  test('echo repeats the user', async () => {
    const text = 'äöü 🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊🦊 日本語日本語日本語日本語日本語\n\u2028 end ';
    const answer = await openai.chat.completions.create({ model: 'echo', messages: [user(text)] });
    expect(answer.choices[0]?.message.content).toBe(text);
    const response = await server.post(CHAT, { model: 'echo', stream: true, messages: [user(text)] });
    expect(streamedText(await response.text())).toBe(text);
  });

  test('calls the tool with arguments that fit, then reports the result', async () => {
    const messages: OpenAI.ChatCompletionMessageParam[] = [
      user('What is the weather in Paris over 3 days, in fahrenheit?'),
    ];
    const first = await openai.chat.completions.create({ model: 'chat', messages, tools: [weather] });
    const choice = first.choices[0];
    expect(choice?.finish_reason).toBe('tool_calls');
    expect(choice?.message.content).toBeNull();
    const call = choice?.message.tool_calls?.[0];
    if (call?.type !== 'function') throw new Error('no function call');
    expect(JSON.parse(call.function.arguments)).toEqual({ city: 'Paris', days: 3, unit: 'fahrenheit' });
    messages.push(choice!.message, { role: 'tool', tool_call_id: call.id, content: '18 degrees' });
    const second = await openai.chat.completions.create({ model: 'chat', messages, tools: [weather] });
    expect(second.choices[0]?.message.content).toBe('get_weather returned: 18 degrees');
    expect(second.choices[0]?.finish_reason).toBe('stop');
  });

  test('calls several tools if they are named, and one or none if the request says so', async () => {
    const messages = [user('Use get_weather and get_time for Rome')];
    const names = async (more: object): Promise<string[]> => {
      const answer = await openai.chat.completions.create({
        model: 'chat',
        messages,
        tools: [weather, clock],
        ...more,
      });
      const calls = answer.choices[0]?.message.tool_calls ?? [];
      expect(new Set(calls.map((call) => call.id)).size).toBe(calls.length);
      return calls.map((call) => (call.type === 'function' ? call.function.name : ''));
    };
    expect(await names({})).toEqual(['get_weather', 'get_time']);
    expect(await names({ parallel_tool_calls: false })).toEqual(['get_weather']);
    expect(await names({ tool_choice: { type: 'function', function: { name: 'get_time' } } })).toEqual([
      'get_time',
    ]);
    expect(await names({ tool_choice: 'none' })).toEqual([]);
  });

  test('streams parallel calls of one tool with different arguments', async () => {
    const stream = openai.chat.completions.stream({
      model: 'chat',
      messages: [user('Call it in parallel: weather in Paris and in London')],
      tools: [weather],
    });
    const calls = (await stream.finalChatCompletion()).choices[0]?.message.tool_calls ?? [];
    const cities = calls.map((call) =>
      call.type === 'function' ? (JSON.parse(call.function.arguments) as { city: string }).city : '',
    );
    expect(cities).toEqual(['Paris', 'London']);
  });

  test('gives custom tools free text', async () => {
    const custom = { type: 'custom', custom: { name: 'run_sql' } } as const;
    const answer = await openai.chat.completions.create({
      model: 'chat',
      messages: [user('run_sql: select 1')],
      tools: [custom],
    });
    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      type: 'custom',
      custom: { name: 'run_sql', input: 'run_sql: select 1' },
    });
  });

  test('fills an answer schema', async () => {
    const answer = await openai.chat.completions.create({
      model: 'chat',
      messages: [user('Make a profile of "Ada" who is 36')],
      response_format: { type: 'json_schema', json_schema: { name: 'person', strict: true, schema: person } },
    });
    expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ name: 'Ada', age: 36 });
  });

  test('cites, refuses, stops and obeys limits', async () => {
    const cited = await openai.chat.completions.create({
      model: 'chat',
      messages: [user('News?')],
      web_search_options: {},
    });
    const message = cited.choices[0]?.message;
    const citation = message?.annotations?.[0]?.url_citation;
    expect(citation?.url).toBe('https://example.com/encyclopedia');
    expect(message?.content?.slice(citation?.start_index, citation?.end_index)).toStartWith(
      'The Example Encyclopedia says:',
    );

    const refused = await openai.chat.completions.create({
      model: 'chat',
      messages: [user('Please refuse.')],
    });
    expect(refused.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: null, refusal: "I'm sorry, but I can't help with that." },
    });

    const stopped = await openai.chat.completions.create({
      model: 'echo',
      messages: [user('one two three')],
      stop: ['two'],
    });
    expect(stopped.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'one ' } });

    const limited = await openai.chat.completions.create({
      model: 'echo',
      messages: [user('one two three')],
      max_tokens: 2,
    });
    expect(limited.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'one two ' } });
  });

  test('refuses what OpenAI refuses', async () => {
    const refused = async (more: object, status: number, part: string): Promise<void> => {
      const response = await server.post(CHAT, { model: 'chat', messages: [user('x')], ...more });
      expect(response.status).toBe(status);
      expect(await response.text()).toContain(part);
    };
    await refused({ provider: {} }, 400, 'Unrecognized request argument supplied: provider');
    await refused({ messages: [] }, 400, 'empty_array');
    await refused({ model: 'nobody' }, 404, 'model_not_found');
    await refused({ temperature: 3 }, 400, '"param":"temperature"');
    await refused({ max_tokens: 1, max_completion_tokens: 1 }, 400, 'at the same time');
    await refused({ reasoning_effort: 'lots' }, 400, 'reasoning_effort');
    await refused(
      { messages: [user('x'), { role: 'assistant', content: 'y', reasoning: 'z' }, user('x')] },
      400,
      "Unknown parameter: 'messages[1].reasoning'",
    );
    await refused(
      { messages: [user('x'), { role: 'tool', tool_call_id: 'call_1', content: 'y' }] },
      400,
      "messages with role 'tool'",
    );
    const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } };
    await refused(
      { messages: [user('x'), { role: 'assistant', tool_calls: [call] }, user('y')] },
      400,
      'did not have response messages: call_1',
    );
    const open = { ...person, additionalProperties: true };
    await refused(
      { response_format: { type: 'json_schema', json_schema: { name: 'x', strict: true, schema: open } } },
      400,
      'additionalProperties',
    );
    const text = await fetch(server.origin + CHAT, { method: 'POST', body: '{' });
    expect([text.status, await text.text()]).toEqual([400, expect.stringContaining('could not parse')]);
  });

  test('a model follows a schema in its instructions, also in JSON mode', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
    const instruction = {
      role: 'system',
      content: `It must be valid JSON that satisfies this JSON Schema:\n${JSON.stringify(schema)}`,
    };
    const answer = await server.post(CHAT, {
      model: 'deepseek',
      messages: [instruction, user('Name a city.')],
      response_format: { type: 'json_object' },
    });
    const { choices } = (await answer.json()) as { choices: readonly { message: { content: string } }[] };
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ city: expect.any(String) });
  });

  test('deepseek shows its reasoning and requires it in the next turn', async () => {
    const stream = await server.post(CHAT, {
      model: 'deepseek',
      stream: true,
      messages: [user('What is 6 x 7?')],
    });
    const frames = events(await stream.text());
    expect(
      frames.some(({ data }) => data.includes('"reasoning_content":"The')) &&
        streamedText(frames.map(({ data }) => `data: ${data}`).join('\n\n')),
    ).toBe('6 x 7 = 42.');
    expect(JSON.parse(frames.at(-2)?.data ?? '')).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      usage: { prompt_cache_hit_tokens: 0 },
    });

    const first = (await (
      await server.post(CHAT, { model: 'deepseek', messages: [user('Weather in Oslo?')], tools: [weather] })
    ).json()) as {
      choices: { message: { reasoning_content?: string; tool_calls: { id: string }[] } }[];
    };
    const { reasoning_content, ...message } = first.choices[0]!.message;
    const turn = (assistant: object) =>
      server.post(CHAT, {
        model: 'deepseek',
        tools: [weather],
        messages: [
          user('Weather in Oslo?'),
          assistant,
          { role: 'tool', tool_call_id: message.tool_calls[0]?.id, content: 'snow' },
        ],
      });
    expect((await turn(message)).status).toBe(400);
    const second = await turn({ ...message, reasoning_content });
    expect([second.status, await second.text()]).toEqual([
      200,
      expect.stringContaining('get_weather returned: snow'),
    ]);
  });
});

describe('models', () => {
  test('are listed by three SDKs, and each one answers over every protocol', async () => {
    const names = [...simModels, ...simMisbehaviours].map((model) => model.name);
    expect((await openai.models.list()).data.map((model) => model.id)).toEqual(names);
    expect((await anthropic.models.list()).data.map((model) => model.id)).toEqual(names);
    const google = new GoogleGenAI({
      apiKey: 'sk-test',
      httpOptions: { baseUrl: `${server.origin}/google` },
    });
    const listed: (string | undefined)[] = [];
    for await (const model of await google.models.list()) listed.push(model.name);
    expect(listed).toEqual(names.map((name) => `models/${name}`));
    for (const { name } of simModels) {
      for (const path of paths) {
        const response = await server.ask(path, `sim/${name}`, false);
        expect([name, path, response.status]).toEqual([name, path, 200]);
      }
    }
    expect(findSimModel('cut-after-7')?.name).toBe('cut-after-7');
    expect(findSimModel('cut-after')).toBeNull();
    expect(findSimModel('gpt-5')).toBeNull();
    expect(simPreset('http://h').protocols['anthropic-messages']?.baseUrl).toBe('http://h/anthropic');
  });

  test('refuse the unsupported features of a small model over every protocol', async () => {
    const schema = { type: 'object', properties: {} };
    const format = { type: 'json_schema', name: 'x', schema };
    const refused = async (path: string, body: object): Promise<void> => {
      const response = await server.post(path, { model: 'text-only', ...body });
      expect([path, response.status]).toEqual([path, 400]);
    };
    const messages = [user('x')];
    await refused(CHAT, { messages, tools: [weather] });
    await refused(CHAT, { messages, response_format: { type: 'json_schema', json_schema: format } });
    await refused(RESPONSES, { input: 'x', tools: [{ type: 'function', name: 'f', parameters: schema }] });
    await refused(RESPONSES, { input: 'x', text: { format } });
    await refused(MESSAGES, { max_tokens: 9, messages, tools: [{ name: 'f', input_schema: schema }] });
    await refused(MESSAGES, { max_tokens: 9, messages, thinking: { type: 'adaptive' } });
    const contents = [{ parts: [{ text: 'x' }] }];
    for (const more of [
      { tools: [{ functionDeclarations: [{ name: 'f' }] }] },
      { generationConfig: { responseMimeType: 'application/json' } },
      { generationConfig: { thinkingConfig: { thinkingLevel: 'LOW' } } },
    ]) {
      const response = await server.post(`${GEMINI}/text-only:generateContent`, { contents, ...more });
      expect([more, response.status]).toEqual([more, 400]);
    }
  });

  test('survive bodies nested beyond reason', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const path of paths) {
      const text = `{"model":"chat","max_tokens":9,"messages":[{"role":"user","content":${deep}}],"input":${deep},"contents":${deep}}`;
      const response = await fetch(server.origin + addressed(path, 'chat', false).path, {
        method: 'POST',
        body: text,
        headers: { 'anthropic-version': 'x' },
      });
      expect([path, response.status]).toEqual([path, 400]);
    }
  });
});
