// Google's official SDK, unmodified, in front of each of the protocols that the simulated service speaks.
import { afterAll, describe, expect, test } from 'bun:test';
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import type { Content, FunctionDeclaration, GenerateContentResponse } from '@google/genai';
import { DIALECTS, startEveryUpstream } from '../../support/upstreams/every-upstream.ts';
import { CITY } from '../../support/city-schema.ts';

const gateway = await startEveryUpstream({ routing: { retries: 0 } });
const httpOptions = { baseUrl: gateway.origin, retryOptions: { attempts: 1 } };
const ai = new GoogleGenAI({ apiKey: gateway.key, httpOptions });
afterAll(() => gateway.close());

const weather: FunctionDeclaration = {
  name: 'get_weather',
  description: 'Weather of a city',
  parametersJsonSchema: CITY,
};

async function drain(stream: AsyncGenerator<GenerateContentResponse>): Promise<GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
const partsOf = (chunks: readonly GenerateContentResponse[]) =>
  chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);

describe.each([...DIALECTS, 'sim/claude'])('%s', (model) => {
  const config = { systemInstruction: 'Be brief.', maxOutputTokens: 4000 };

  test('answers', async () => {
    const response = await ai.models.generateContent({ model, contents: 'Tell me a story.', config });
    expect(response.text?.length).toBeGreaterThan(0);
    expect(response).toMatchObject({
      modelVersion: model,
      responseId: expect.stringMatching(/^[0-9a-f]{32}$/) as string,
      candidates: [{ finishReason: 'STOP', index: 0, content: { role: 'model' } }],
    });
    const usage = response.usageMetadata;
    expect(usage?.promptTokenCount).toBeGreaterThan(0);
    expect(usage?.totalTokenCount).toBe(
      (usage?.promptTokenCount ?? 0) + (usage?.candidatesTokenCount ?? 0) + (usage?.thoughtsTokenCount ?? 0),
    );
  });

  test('streams the same text, in many chunks and with counts in the last', async () => {
    const whole = await ai.models.generateContent({ model, contents: 'Tell me a story.', config });
    const chunks = await drain(
      await ai.models.generateContentStream({ model, contents: 'Tell me a story.', config }),
    );
    expect(chunks.map((chunk) => chunk.text ?? '').join('')).toBe(whole.text ?? '?');
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.slice(0, -1).every((chunk) => chunk.candidates?.[0]?.finishReason === undefined)).toBe(
      true,
    );
    expect(chunks.at(-1)).toMatchObject({ candidates: [{ finishReason: 'STOP' }] });
    expect(chunks.at(-1)?.usageMetadata?.candidatesTokenCount).toBeGreaterThan(0);
  });

  test.each([false, true])('calls a function and takes its result (stream: %p)', async (stream) => {
    const tools = [{ functionDeclarations: [weather] }];
    const asked: Content = { role: 'user', parts: [{ text: 'What is the weather in Paris?' }] };
    const thinkingConfig = { includeThoughts: true };
    const request = { model, contents: [asked], config: { ...config, tools, thinkingConfig } };
    const chunks = stream
      ? await drain(await ai.models.generateContentStream(request))
      : [await ai.models.generateContent(request)];
    const calls = chunks.flatMap((chunk) => chunk.functionCalls ?? []);
    expect(calls).toMatchObject([{ name: 'get_weather', args: { city: expect.any(String) as string } }]);
    expect(calls[0]?.id).toBeString();
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP' as never);
    const parts = partsOf(chunks);
    if (model !== 'sim/chat') {
      expect(parts.some((part) => part.thought === true && (part.text ?? '') !== '')).toBe(true);
      // DeepSeek signs nothing: what it thought comes back from the vault where a client does not keep it.
      expect(parts.some((part) => (part.thoughtSignature ?? '') !== '')).toBe(model !== 'sim/deepseek');
    }

    const result: Content = {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: calls[0]?.id ?? '',
            name: 'get_weather',
            response: { output: '18 degrees' },
          },
        },
      ],
    };
    // Some clients keep no thoughts: what the model needs of them stands on the call.
    for (const kept of [parts, parts.filter((part) => part.thought !== true)]) {
      const contents = [asked, { role: 'model', parts: kept }, result];
      const answered = await ai.models.generateContent({ ...request, contents });
      expect(answered.candidates?.[0]?.finishReason).toBe('STOP' as never);
      expect(answered.text?.length).toBeGreaterThan(0);
      expect(answered.functionCalls).toBeUndefined();
    }
  });

  test('calls a function if the request requires a call', async () => {
    const forced = await ai.models.generateContent({
      model,
      contents: 'Hello.',
      config: {
        tools: [{ functionDeclarations: [weather] }],
        toolConfig: {
          functionCallingConfig: {
            mode: FunctionCallingConfigMode.ANY,
            allowedFunctionNames: ['get_weather'],
          },
        },
      },
    });
    expect(forced.functionCalls?.map((call) => call.name)).toEqual(['get_weather']);
  });

  test('chats over several turns, streamed, with the history that the SDK keeps', async () => {
    const chat = ai.chats.create({ model, config });
    const first = await drain(await chat.sendMessageStream({ message: 'Tell me a story.' }));
    expect(first.length).toBeGreaterThan(3);
    const second = await chat.sendMessage({ message: 'Another one.' });
    expect(second.text?.length).toBeGreaterThan(0);
    // An invalid answer would have left the history empty.
    expect(chat.getHistory(true).filter((content) => content.role === 'model').length).toBeGreaterThan(1);
  });

  // Knows no schemas, and ignores instructions about the form of its answer.
  if (model === 'sim/deepseek') return;

  test('keeps to a schema', async () => {
    const shaped = await ai.models.generateContent({
      model,
      contents: 'Who?',
      config: {
        maxOutputTokens: 4000,
        responseMimeType: 'application/json',
        responseSchema: {
          type: 'OBJECT',
          properties: { name: { type: 'STRING' } },
          required: ['name'],
        } as never,
      },
    });
    expect(JSON.parse(shaped.text ?? '')).toEqual({ name: expect.any(String) });
  });
});

test('errors are the errors of the SDK, with the field and the reason', async () => {
  const failureOf = async (model: string, temperature = 1): Promise<ApiError> => {
    const answer = ai.models.generateContent({ model, contents: 'Hi', config: { temperature } });
    const failure: unknown = await answer.then(() => undefined).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ApiError);
    return failure as ApiError;
  };
  const unknown = await failureOf('sim/nobody');
  expect(unknown.status).toBe(404);
  expect(JSON.parse(unknown.message)).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
  expect((await failureOf('sim/chat', -1)).message).toContain('generationConfig.temperature');
  const limited = await failureOf('sim/error-429');
  expect(limited.status).toBe(429);
  expect(limited.message).toContain('RESOURCE_EXHAUSTED');
  expect((await failureOf('sim/error-500')).status).toBe(503);
});

test('a failure after content is thrown in the middle of the stream', async () => {
  const texts: string[] = [];
  let failure: unknown;
  try {
    const stream = await ai.models.generateContentStream({
      model: 'sim/cut-after-20',
      contents: 'Tell me a story.',
    });
    for await (const chunk of stream) texts.push(chunk.text ?? '');
  } catch (error) {
    failure = error;
  }
  expect(texts.join('').length).toBe(20);
  expect(failure).toBeInstanceOf(ApiError);
  expect((failure as ApiError).status).toBe(503);
});

test('tokens are counted, and models are listed and found', async () => {
  const { totalTokens } = await ai.models.countTokens({ model: 'sim/claude', contents: 'Tell me a story.' });
  expect(totalTokens).toBeGreaterThan(3);
  const names: string[] = [];
  for await (const { name = '' } of await ai.models.list()) names.push(name);
  // A listed model can be asked for by its name in the list.
  expect((await ai.models.generateContent({ model: 'models/sim/chat', contents: '6 x 7' })).text).toContain(
    '42',
  );
  expect(names).toEqual(expect.arrayContaining(['models/dragoman/auto', 'models/sim/chat']));
  const model = await ai.models.get({ model: 'sim/claude' });
  expect(model).toMatchObject({
    name: 'models/sim/claude',
    inputTokenLimit: 200_000,
    outputTokenLimit: 64_000,
    supportedActions: ['generateContent', 'countTokens'],
  });
});

test('as a client of Vertex, the provider is the publisher', async () => {
  const vertex = new GoogleGenAI({
    vertexai: true,
    apiKey: gateway.key,
    httpOptions: { baseUrl: `${gateway.origin}/api/vertex-ai`, apiVersion: 'v1' },
  });
  const request = { model: 'sim/messages', contents: 'What is 6 x 7?' };
  expect((await vertex.models.get({ model: 'sim/messages' })).name).toBe('models/sim/messages');
  const { totalTokens } = await vertex.models.countTokens(request);
  expect(totalTokens).toBeGreaterThan(3);
  expect((await vertex.models.generateContent(request)).text).toBe('6 x 7 = 42.');
  const chunks = await drain(await vertex.models.generateContentStream(request));
  expect(chunks.map((chunk) => chunk.text ?? '').join('')).toBe('6 x 7 = 42.');
});
