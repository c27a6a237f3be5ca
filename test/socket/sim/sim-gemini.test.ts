// The simulated Gemini API: what it answers, what it takes back, and what it refuses, through Google's own SDK and a
// real socket.
import { afterAll, describe, expect, test } from 'bun:test';
import { FunctionCallingConfigMode, GoogleGenAI, ThinkingLevel } from '@google/genai';
import type { Content, GenerateContentConfig, GenerateContentResponse, Part } from '@google/genai';
import { events, GEMINI, parameters, person, serveSim } from '../../support/sim-server.ts';

const server = serveSim();
const httpOptions = { baseUrl: `${server.origin}/google`, retryOptions: { attempts: 1 } };
const ai = new GoogleGenAI({ apiKey: 'sk-test', httpOptions });
afterAll(() => server.stop());

const weather = { name: 'get_weather', parametersJsonSchema: parameters };
const clock = { name: 'get_time', parameters: { type: 'OBJECT', properties: {} } as never };
const tools = [{ functionDeclarations: [weather, clock] }];
const question: Content = { role: 'user', parts: [{ text: 'Weather in Paris?' }] };
const thoughts = { thinkingConfig: { includeThoughts: true, thinkingLevel: ThinkingLevel.LOW } };

async function ask(
  contents: Content[] | string,
  config: GenerateContentConfig = {},
  model = 'gemini',
): Promise<GenerateContentResponse> {
  return ai.models.generateContent({ model, contents, config });
}

/** The parts of a streamed answer, texts of one kind joined; and its last chunk. */
async function streamed(
  contents: Content[] | string,
  config: GenerateContentConfig = {},
): Promise<{ parts: Part[]; last: GenerateContentResponse | undefined; chunks: number }> {
  const parts: Part[] = [];
  let last: GenerateContentResponse | undefined;
  let chunks = 0;
  for await (const chunk of await ai.models.generateContentStream({ model: 'gemini', contents, config })) {
    chunks++;
    last = chunk;
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      const before = parts.at(-1);
      if (part.text === '' && part.thoughtSignature === undefined) continue;
      if (part.text !== undefined && before?.text !== undefined && before.thought === part.thought) {
        before.text += part.text;
        if (part.thoughtSignature !== undefined) before.thoughtSignature = part.thoughtSignature;
      } else parts.push({ ...part });
    }
  }
  return { parts, last, chunks };
}

const failureOf = (answer: Promise<unknown>): Promise<string> =>
  answer.then(
    () => 'it answered',
    (failure: unknown) => String(failure),
  );
const partsOf = (response: GenerateContentResponse): Part[] => response.candidates?.[0]?.content?.parts ?? [];

describe('the Gemini API', () => {
  test('answers the same, whole and streamed, thoughts and counts included', async () => {
    const whole = await ask('What is 6 x 7?', thoughts);
    const { parts, last, chunks } = await streamed('What is 6 x 7?', thoughts);
    expect(chunks).toBeGreaterThan(5);
    expect(parts).toEqual(partsOf(whole));
    expect(parts.map(({ text, thought }) => (thought ? 'thought' : text))).toEqual([
      'thought',
      '6 x 7 = 42.',
    ]);
    expect(last?.usageMetadata).toEqual(whole.usageMetadata);
    expect(last?.candidates?.[0]?.finishReason).toBe('STOP' as never);
    const usage = whole.usageMetadata;
    expect(usage?.thoughtsTokenCount).toBe(32);
    expect(usage?.totalTokenCount).toBe(
      (usage?.promptTokenCount ?? 0) + (usage?.candidatesTokenCount ?? 0) + 32,
    );
    expect(partsOf(await ask('What is 6 x 7?')).map(({ thought }) => thought)).toEqual([undefined]);
  });

  test('calls, and takes its call back only with the signature it was issued with', async () => {
    const config = { ...thoughts, tools };
    const whole = await ask([question], config);
    const { parts } = await streamed([question], config);
    expect(parts).toEqual(partsOf(whole));
    const call = parts.at(-1);
    expect(call?.functionCall).toMatchObject({
      name: 'get_weather',
      args: { city: 'Paris', days: 1, unit: 'celsius' },
    });
    expect(call?.thoughtSignature).toBeString();

    const second = (part: Part | undefined, name = 'get_weather'): Promise<GenerateContentResponse> => {
      const id = call?.functionCall?.id ?? '';
      const result: Part = { functionResponse: { id, name, response: { output: 'rain' } } };
      const answer: Content = { role: 'model', parts: part ? [part] : [{ text: 'x' }] };
      return ask([question, answer, { role: 'user', parts: [result] }], config);
    };
    expect((await second(call)).text).toBe('get_weather returned: rain');
    const urlSafe = call?.thoughtSignature?.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
    expect((await second({ ...call, thoughtSignature: urlSafe ?? '' })).text).toContain('rain');
    const foreign = { ...call, thoughtSignature: 'skip_thought_signature_validator' };
    expect((await second(foreign)).text).toContain('rain');

    const { thoughtSignature = '', ...bare } = call ?? {};
    for (const [given, words, name] of [
      [bare, 'missing a thought_signature'],
      [{ ...bare, thoughtSignature: 'c2ln' }, 'Thought signature is not valid'],
      [
        { functionCall: { ...call?.functionCall, name: 'get_time' }, thoughtSignature },
        'Thought signature is not valid',
        'get_time',
      ],
      [call, 'number of function response parts', 'get_time'],
      [undefined, 'immediately after a function call turn'],
    ] as const)
      expect(await failureOf(second(given, name))).toContain(words);
  });

  test('signs only the first of several calls, and chooses among the allowed', async () => {
    const both: Content[] = [{ role: 'user', parts: [{ text: 'Use get_weather and get_time for Rome' }] }];
    const calls = partsOf(await ask(both, { tools }));
    expect(calls.map(({ functionCall }) => functionCall?.name)).toEqual(['get_weather', 'get_time']);
    expect(calls.map(({ thoughtSignature }) => thoughtSignature !== undefined)).toEqual([true, false]);
    const names = async (mode: FunctionCallingConfigMode, allowedFunctionNames?: string[]) =>
      (
        await ask(both, {
          tools,
          toolConfig: {
            functionCallingConfig: { mode, ...(allowedFunctionNames ? { allowedFunctionNames } : {}) },
          },
        })
      ).functionCalls?.map(({ name }) => name);
    expect(await names(FunctionCallingConfigMode.ANY, ['get_time'])).toEqual(['get_time']);
    expect(await names(FunctionCallingConfigMode.NONE)).toBeUndefined();
  });

  test('fills answer schemas in both languages', async () => {
    const prompt = 'Make a profile of "Ada" who is 36';
    const properties = { name: { type: 'STRING' }, age: { type: 'INTEGER' } };
    for (const schema of [
      { responseJsonSchema: person },
      { responseSchema: { type: 'OBJECT', properties, required: ['name', 'age'] } as never },
    ]) {
      const answer = await ask(prompt, { responseMimeType: 'application/json', ...schema });
      expect(JSON.parse(answer.text ?? '')).toEqual({ name: 'Ada', age: 36 });
    }
  });

  test('cites pages for its text, by byte positions', async () => {
    const config = { tools: [{ googleSearch: {} }] };
    const whole = await ask('Neues aus Zürich?', config);
    const { last } = await streamed('Neues aus Zürich?', config);
    const metadata = whole.candidates?.[0]?.groundingMetadata;
    expect(last?.candidates?.[0]?.groundingMetadata).toEqual(metadata);
    expect(metadata?.webSearchQueries).toEqual(['Neues aus Zürich?']);
    expect(metadata?.groundingChunks?.[0]?.web?.uri).toBe('https://example.com/encyclopedia');
    const bytes = Buffer.from(whole.text ?? '');
    for (const { segment } of metadata?.groundingSupports ?? [])
      expect(bytes.subarray(segment?.startIndex, segment?.endIndex).toString()).toBe(segment?.text ?? '?');
    expect(metadata?.groundingSupports).toHaveLength(2);
  });

  test('returns the probabilities of its tokens', async () => {
    const answer = await ask('What is 6 x 7?', { responseLogprobs: true, logprobs: 2 });
    const { chosenCandidates = [], topCandidates = [] } = answer.candidates?.[0]?.logprobsResult ?? {};
    expect(chosenCandidates.map(({ token }) => token).join('')).toBe('6 x 7 = 42.');
    expect(topCandidates[0]?.candidates).toHaveLength(2);
    expect(answer.candidates?.[0]?.avgLogprobs).toBe(-0.01);
  });

  test('blocks prompts, stops and obeys limits', async () => {
    const blocked = await ask('Please refuse.');
    expect(blocked.candidates).toBeUndefined();
    expect(blocked.promptFeedback).toMatchObject({ blockReason: 'PROHIBITED_CONTENT' });
    const { last, chunks } = await streamed('Please refuse.');
    expect([chunks, last?.promptFeedback]).toEqual([1, blocked.promptFeedback]);
    const stopped = await ask('one two three', { stopSequences: ['two'] }, 'echo');
    expect([stopped.text, stopped.candidates?.[0]?.finishReason]).toEqual(['one ', 'STOP' as never]);
    const limited = await ask('one two three', { maxOutputTokens: 2 }, 'echo');
    expect([limited.text, limited.candidates?.[0]?.finishReason]).toEqual([
      'one two ',
      'MAX_TOKENS' as never,
    ]);
  });

  test('counts as it bills', async () => {
    const { totalTokens } = await ai.models.countTokens({ model: 'gemini', contents: 'Hello there' });
    expect(totalTokens).toBe((await ask('Hello there')).usageMetadata?.promptTokenCount ?? 0);
    const whole = { contents: [question], tools };
    const response = await server.post(`${GEMINI}/gemini:countTokens`, {
      generateContentRequest: { model: 'models/gemini', ...whole },
    });
    const counted = (await response.json()) as { totalTokens: number };
    expect(counted.totalTokens).toBe((await ask([question], { tools })).usageMetadata?.promptTokenCount ?? 0);
    const wrong = await server.post(`${GEMINI}/gemini:countTokens`, whole);
    expect([wrong.status, await wrong.text()]).toEqual([
      400,
      expect.stringContaining('Unknown name \\"tools'),
    ]);
  });

  test('refuses what Google refuses, with the same errors', async () => {
    const refused = async (more: object, part: string): Promise<void> => {
      const response = await server.post(`${GEMINI}/gemini:generateContent`, {
        contents: [question],
        ...more,
      });
      const { error } = (await response.json()) as { error: { status: string; message: string } };
      expect([response.status, error.status, error.message]).toEqual([
        400,
        'INVALID_ARGUMENT',
        expect.stringContaining(part),
      ]);
    };
    await refused({ messages: [] }, 'Unknown name "messages": Cannot find field.');
    await refused({ stream: true }, 'Unknown name "stream"');
    await refused(
      { generation_config: { temprature: 1 } },
      `Unknown name "temprature" at 'generation_config'`,
    );
    await refused({ contents: [] }, 'contents is not specified');
    await refused({ contents: [{ role: 'user', parts: [] }] }, 'must not be empty');
    await refused({ contents: [{ role: 'user', parts: [{}] }] }, "required oneof field 'data'");
    await refused({ contents: [{ role: 'assistant', parts: [{ text: 'x' }] }] }, 'use a valid role');
    await refused({ generationConfig: { temperature: 3 } }, 'temperature must be in the range');
    await refused({ generationConfig: { responseJsonSchema: person } }, 'only allowed when the mimetype');
    await refused(
      { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: 'LOW' } } },
      'only one of thinking budget and thinking level',
    );
    await refused({ tools: [{ functionDeclarations: [weather, weather] }] }, 'Duplicate function');
    await refused({ tools: [...tools, { googleSearch: {} }] }, 'include_server_side_tool_invocations');
    await refused(
      { tools, toolConfig: { functionCallingConfig: { mode: 'ANY', allowedFunctionNames: ['nobody'] } } },
      'is not declared',
    );
    expect(await failureOf(ask('x', {}, 'nobody'))).toContain('NOT_FOUND');
    const unknown = await server.post(`${GEMINI}/gemini:embedContent`, {});
    expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('"NOT_FOUND"')]);
    const escaped = await server.post(`${GEMINI}/%zz:generateContent`, { contents: [question] });
    expect(escaped.status).toBe(404);
  });

  test('has the members under both of their names', async () => {
    const response = await server.post(`${GEMINI}/gemini:streamGenerateContent?alt=sse`, {
      contents: [
        { parts: [{ text: 'What is this?' }, { inline_data: { mime_type: 'image/png', data: 'aGk=' } }] },
      ],
      system_instruction: { parts: [{ text: 'Be brief.' }] },
      generation_config: { max_output_tokens: 500, thinking_config: { include_thoughts: true } },
    });
    const all = events(await response.text()).map(({ data }) => data);
    expect(all.join('')).toContain('"thought":true');
    expect(all.join('')).toContain('image');
  });
});
