// Google's official SDK, unmodified, in front of the Gemini codecs on a real socket. Behind them stands the simulated
// service, in each of the three other protocols. Of what lies between the codecs only the sealing of reasoning is there.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import type { Content, FunctionDeclaration, GenerateContentResponse } from '@google/genai';
import type { CanonicalRequest, EventSink, ProtocolName, Target } from '../src/canonical/index.ts';
import { Collector, GatewayError } from '../src/canonical/index.ts';
import { ReasoningSeal } from '../src/engine/reasoning-seal.ts';
import { gemini } from '../src/protocols/gemini/index.ts';
import { findProtocol, type AnswerContext } from '../src/protocols/index.ts';
import { Envelope } from '../src/state/envelope.ts';
import { SseParser } from '../src/upstream/sse.ts';
import { codecContext, fillTarget } from './golden-operations.ts';
import { serveSim, type SimServer } from './sim-server.ts';

interface Upstream {
  readonly protocol: ProtocolName;
  readonly path: string;
  readonly target: Target;
}

/** What a model name stands for: a simulated model behind each of the other protocols. */
const UPSTREAMS: Readonly<Record<string, Upstream>> = {
  chat: {
    protocol: 'openai-chat',
    path: '/openai/v1/chat/completions',
    target: fillTarget({ model: 'chat' }),
  },
  responses: {
    protocol: 'openai-responses',
    path: '/openai/v1/responses',
    target: fillTarget({ model: 'responses' }),
  },
  claude: {
    protocol: 'anthropic-messages',
    path: '/anthropic/v1/messages',
    target: fillTarget({
      model: 'claude',
      reasoningStyle: 'budget',
      reasoning: { mode: 'on', effort: undefined, budgetTokens: 1024, summary: undefined },
      reasoningFormat: 'anthropic-claude-v1',
    }),
  },
};
const ROUTE = /^\/v1(?:beta)?\/models\/([^:]+):(generateContent|streamGenerateContent)$/;

let sim: SimServer;
let front: ReturnType<typeof Bun.serve>;
let ai: GoogleGenAI;

beforeAll(() => {
  sim = serveSim();
  front = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: serve });
  const baseUrl = `http://127.0.0.1:${front.port}`;
  ai = new GoogleGenAI({ apiKey: 'sk-test', httpOptions: { baseUrl, retryOptions: { attempts: 1 } } });
});
afterAll(async () => {
  await front.stop(true);
  await sim.stop();
});

const server = (() => {
  if (!gemini.server?.nativeReasoning) throw new Error('Gemini has no server side');
  return { ...gemini.server, nativeReasoning: gemini.server.nativeReasoning };
})();
const envelope = new Envelope(new Uint8Array(32).fill(7), 'reasoning');
const seal = new ReasoningSeal(envelope, 'key-1', server.nativeReasoning);

/** The codecs on a socket: one request in, one answer out. */
async function serve(request: Request): Promise<Response> {
  try {
    const url = new URL(request.url);
    const [, model = '', method] = ROUTE.exec(url.pathname) ?? [];
    const stream = method === 'streamGenerateContent';
    const given = server.decodeRequest(await request.json(), { model, stream });
    const decoded = { ...given, items: seal.opened(given.items, given.report) };
    const context: AnswerContext = {
      id: 'gen-1',
      createdSeconds: 1_700_000_000,
      model: `sim/${model}`,
      request: decoded,
      reasoningContentMirror: false,
      streamAsArray: stream && url.searchParams.get('alt') !== 'sse',
    };
    if (!stream) {
      const collector = new Collector();
      await answer(decoded, collector);
      return Response.json(server.encodeResponse(collector.result(), context));
    }
    let frames = '';
    await answer(
      decoded,
      server.encodeStream((written) => (frames += written), context),
    );
    const type = context.streamAsArray ? 'application/json' : 'text/event-stream';
    return new Response(frames, { headers: { 'content-type': type } });
  } catch (error) {
    const { status, body } = server.encodeError(GatewayError.from(error), 'gen-1');
    return Response.json(body, { status });
  }
}

/** Asks the simulated service, and pushes its answer. */
async function answer(request: CanonicalRequest, sink: EventSink): Promise<void> {
  const upstream = UPSTREAMS[request.model];
  const protocol = upstream && findProtocol(upstream.protocol);
  if (!protocol) throw new GatewayError('not_found', `no model ${request.model}`, { param: 'model' });
  const body = protocol.upstream.encodeRequest(request, upstream.target, request.report);
  const response = await sim.post(upstream.path, body);
  const text = await response.text();
  if (!response.ok) throw protocol.upstream.decodeError(response.status, () => null, text);
  const sealed = seal.sink(sink);
  if (!request.stream) {
    protocol.upstream.decodeResponse(JSON.parse(text), sealed, codecContext());
    return;
  }
  const decoder = protocol.upstream.decodeStream(sealed, codecContext());
  const parser = new SseParser((event, data) => decoder.frame(event, data));
  parser.push(text);
  parser.end();
  decoder.end();
}

const weather: FunctionDeclaration = {
  name: 'get_weather',
  description: 'Weather of a city',
  parametersJsonSchema: {
    type: 'object',
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  },
};

async function drain(stream: AsyncGenerator<GenerateContentResponse>): Promise<GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return chunks;
}
const partsOf = (chunks: readonly GenerateContentResponse[]) =>
  chunks.flatMap((chunk) => chunk.candidates?.[0]?.content?.parts ?? []);

describe.each(Object.keys(UPSTREAMS))('%s', (model) => {
  const config = { systemInstruction: 'Be brief.', maxOutputTokens: 4000 };

  test('answers', async () => {
    const response = await ai.models.generateContent({ model, contents: 'Tell me a story.', config });
    expect(response.text?.length).toBeGreaterThan(0);
    expect(response).toMatchObject({
      modelVersion: `sim/${model}`,
      responseId: 'gen-1',
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
    if (model === 'claude') {
      expect(parts.some((part) => part.thought === true && (part.text ?? '') !== '')).toBe(true);
      expect(parts.some((part) => (part.thoughtSignature ?? '') !== '')).toBe(true);
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

  test('is forced to call, and keeps to a schema', async () => {
    const forced = await ai.models.generateContent({
      model: model === 'claude' ? 'chat' : model,
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

  test('chats over several turns, streamed, with the history that the SDK keeps', async () => {
    const chat = ai.chats.create({ model, config });
    const first = await drain(await chat.sendMessageStream({ message: 'Tell me a story.' }));
    expect(first.length).toBeGreaterThan(3);
    const second = await chat.sendMessage({ message: 'Another one.' });
    expect(second.text?.length).toBeGreaterThan(0);
    // An invalid answer would have left the history empty.
    expect(chat.getHistory(true).filter((content) => content.role === 'model').length).toBeGreaterThan(1);
  });
});

test('errors are the errors of the SDK, with the field and the reason', async () => {
  const failure = await ai.models
    .generateContent({ model: 'nobody', contents: 'Hi' })
    .then(() => undefined)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(ApiError);
  expect((failure as ApiError).status).toBe(404);
  expect(JSON.parse((failure as ApiError).message)).toMatchObject({
    error: { code: 404, status: 'NOT_FOUND' },
  });
  const bad = await ai.models
    .generateContent({ model: 'chat', contents: 'Hi', config: { temperature: -1 } })
    .catch((error: unknown) => error);
  expect((bad as ApiError).message).toContain('generationConfig.temperature');
});

test('a failure after content is thrown in the middle of the stream', async () => {
  const broken = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: async (request) => {
      const decoded = server.decodeRequest(await request.json(), { model: 'm', stream: true });
      let frames = '';
      const sink = server.encodeStream((written) => (frames += written), {
        id: 'gen-1',
        createdSeconds: 0,
        model: 'm',
        request: decoded,
        reasoningContentMirror: false,
      });
      sink.on({ type: 'open', index: 0, item: { type: 'message' } });
      sink.on({ type: 'text', index: 0, part: 0, kind: 'text', text: 'Hel' });
      sink.on({ type: 'error', error: new GatewayError('upstream_unavailable', 'gone') });
      return new Response(frames, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const client = new GoogleGenAI({
    apiKey: 'sk-test',
    httpOptions: { baseUrl: `http://127.0.0.1:${broken.port}` },
  });
  const texts: string[] = [];
  let failure: unknown;
  try {
    for await (const chunk of await client.models.generateContentStream({ model: 'm', contents: 'Hi' }))
      texts.push(chunk.text ?? '');
  } catch (error) {
    failure = error;
  }
  await broken.stop(true);
  expect(texts).toEqual(['Hel']);
  expect(failure).toBeInstanceOf(ApiError);
  expect((failure as ApiError).status).toBe(502);
});

test('without alt=sse a stream is one JSON array', async () => {
  const response = await fetch(`http://127.0.0.1:${front.port}/v1beta/models/chat:streamGenerateContent`, {
    method: 'POST',
    body: JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Tell me a story.' }] }] }),
  });
  const chunks = (await response.json()) as GenerateContentResponse[];
  expect(chunks.length).toBeGreaterThan(3);
  expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP' as never);
});
