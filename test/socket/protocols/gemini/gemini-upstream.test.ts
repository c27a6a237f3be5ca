// Clients of every protocol over an upstream of Gemini: a function is called and answered over two turns, and the
// signature that Gemini wants back is there, byte for byte, whether the client keeps it or not.
import { afterAll, describe, expect, test } from 'bun:test';
import { frame, stream as sse, whole } from '../../../support/upstreams/answers.ts';
import type { ClientProtocol } from '../../../support/upstreams/client-dialects.ts';
import { startScene } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';

const SIGNATURE = 'Q3VpcyBtZSBkb21pbmUgcmVxdWlyZXQ/PT8+Zm9v';
const envelope = (parts: object[]): object => ({
  candidates: [{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }],
  usageMetadata: {
    promptTokenCount: 10,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 7,
    totalTokenCount: 22,
  },
  modelVersion: 'm',
  responseId: 'up-1',
});
const CALLING = envelope([
  { text: 'The weather must be looked up.', thought: true },
  { functionCall: { name: 'get_weather', args: { city: 'Paris' } }, thoughtSignature: SIGNATURE },
]);
const SAYING = envelope([{ text: 'It is warm.' }]);

const QUESTION = 'What is the weather in Paris?';
const PARAMETERS = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] };
const NAMED = { name: 'get_weather', description: 'Weather of a city' };

/** One client: its first request, and the one that follows an answer. Forgetful clients keep the call alone. */
interface Client {
  readonly path: string;
  readonly first: Readonly<Record<string, unknown>>;
  readonly next: (answer: Json, forgetful: boolean) => Readonly<Record<string, unknown>>;
  readonly said: (answer: Json) => Json | undefined;
}

const CLIENTS: Readonly<Record<ClientProtocol, Client>> = {
  'openai-chat': (() => {
    const messages = [{ role: 'user', content: QUESTION }];
    const base = {
      model: 'one/gemini',
      reasoning_effort: 'low',
      tools: [{ type: 'function', function: { ...NAMED, parameters: PARAMETERS } }],
    };
    return {
      path: '/chat/completions',
      first: { ...base, messages },
      next(answer, forgetful) {
        const message = at(answer, 'choices', 0, 'message') as Record<string, Json>;
        const { role = null, tool_calls = null } = message;
        const kept = forgetful ? { role, content: null, tool_calls } : message;
        const result = { role: 'tool', tool_call_id: at(tool_calls, 0, 'id'), content: '18 degrees' };
        return { ...base, messages: [...messages, kept, result] };
      },
      said: (answer) => at(answer, 'choices', 0, 'message', 'content'),
    };
  })(),
  'openai-responses': (() => {
    const input = [{ role: 'user', content: QUESTION }];
    const base = {
      model: 'one/gemini',
      store: false,
      reasoning: { effort: 'low' },
      include: ['reasoning.encrypted_content'],
      tools: [{ type: 'function', ...NAMED, parameters: PARAMETERS, strict: false }],
    };
    return {
      path: '/responses',
      first: { ...base, input },
      next(answer, forgetful) {
        const output = list(answer, 'output');
        const calls = output.filter((item) => at(item, 'type') === 'function_call');
        const result = {
          type: 'function_call_output',
          call_id: at(calls, 0, 'call_id'),
          output: '18 degrees',
        };
        return { ...base, input: [...input, ...(forgetful ? calls : output), result] };
      },
      said: (answer) => at(list(answer, 'output').at(-1), 'content', 0, 'text'),
    };
  })(),
  'anthropic-messages': (() => {
    const messages = [{ role: 'user', content: QUESTION }];
    const base = {
      model: 'one/gemini',
      max_tokens: 4000,
      thinking: { type: 'enabled', budget_tokens: 2000 },
      tools: [{ ...NAMED, input_schema: PARAMETERS }],
    };
    return {
      path: '/messages',
      first: { ...base, messages },
      next(answer, forgetful) {
        const content = list(answer, 'content');
        const calls = content.filter((block) => at(block, 'type') === 'tool_use');
        const result = { type: 'tool_result', tool_use_id: at(calls, 0, 'id'), content: '18 degrees' };
        return {
          ...base,
          messages: [
            ...messages,
            { role: 'assistant', content: forgetful ? calls : content },
            { role: 'user', content: [result] },
          ],
        };
      },
      said: (answer) => at(list(answer, 'content').at(-1), 'text'),
    };
  })(),
  gemini: (() => {
    const contents = [{ role: 'user', parts: [{ text: QUESTION }] }];
    const base = {
      tools: [{ functionDeclarations: [{ ...NAMED, parametersJsonSchema: PARAMETERS }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    };
    return {
      path: '/models/one/gemini:generateContent',
      first: { ...base, contents },
      next(answer, forgetful) {
        const content = at(answer, 'candidates', 0, 'content') as Record<string, Json>;
        // The signature is a member of the call itself.
        const calls = list(content, 'parts').filter((part) => at(part, 'functionCall') !== undefined);
        const kept = forgetful ? { role: 'model', parts: calls } : content;
        const functionResponse = { name: 'get_weather', response: { output: '18 degrees' } };
        return { ...base, contents: [...contents, kept, { role: 'user', parts: [{ functionResponse }] }] };
      },
      said: (answer) => at(answer, 'candidates', 0, 'content', 'parts', 0, 'text'),
    };
  })(),
};

const [scene, faithful] = await Promise.all([startScene(['up']), startScene(['up'], { faithful: true })]);
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  await faithful[Symbol.asyncDispose]();
});

/** Parts of a request that arrived, in order. */
const partsOf = (json: unknown): readonly Json[] =>
  list(json, 'contents').flatMap((content) => list(content, 'parts'));

describe.each(Object.keys(CLIENTS) as ClientProtocol[])('%s client', (name) => {
  const { path, first, next, said } = CLIENTS[name];

  test.each([
    ['whole', 'keeps everything', false],
    ['whole', 'keeps the call alone', true],
    ['events', 'keeps everything', false],
  ] as const)('completes a tool turn answered in %s, if it %s', async (form, _, forgetful) => {
    // An upstream may answer in events though none were asked for.
    const answer = (body: object) => (form === 'whole' ? whole(body) : sse(frame(body)));
    const lanes = name === 'gemini' && form === 'whole' ? [scene, faithful] : [scene];
    for (const { gateway, upstream } of lanes) {
      const up = upstream('up');
      up.script(answer(CALLING), answer(SAYING));
      const called = await gateway.post(path, first);
      expect(called.status).toBe(200);
      const answered = await gateway.post(path, next((await called.json()) as Json, forgetful));
      const reported = (await answered.json()) as Json;
      expect([answered.status, said(reported)]).toEqual([200, 'It is warm.']);
      const parts = partsOf(up.requests[1]?.json);
      const call = parts.find((part) => at(part, 'functionCall') !== undefined);
      expect(call).toMatchObject({
        functionCall: { name: 'get_weather', args: { city: 'Paris' } },
        thoughtSignature: SIGNATURE,
      });
      const result = parts.find((part) => at(part, 'functionResponse') !== undefined);
      expect(result).toMatchObject({ functionResponse: { name: 'get_weather' } });
      expect(JSON.stringify(result)).toContain('18 degrees');
      expect(parts.indexOf(result ?? null)).toBeGreaterThan(parts.indexOf(call ?? null));
    }
  });
});

/** Wishes that models before Gemini 3 refuse together with functions, and where they must arrive. */
const TOGETHER: readonly (readonly [name: string, body: object, place: readonly (string | number)[]])[] = [
  ['a hosted tool', { tools: [{ functionDeclarations: [NAMED] }, { googleSearch: {} }] }, ['tools', 1]],
  [
    'a response format',
    {
      tools: [{ functionDeclarations: [NAMED] }],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    },
    ['generationConfig', 'responseMimeType'],
  ],
];

test.each(TOGETHER)(
  'a Gemini client sends %s with functions to a model that nobody knows',
  async (_, wish, place) => {
    const models = ['novel', 'gemini-2.5-flash'].map((model) => ({
      id: `up/${model}`,
      endpoints: [{ provider: 'up', model, protocol: 'gemini' }],
    }));
    await using scene = await startScene(['up'], { config: { models } });
    const upstream = scene.upstream('up');
    upstream.always(whole(envelope([{ text: '{}' }])));
    const post = (model: string): Promise<Response> =>
      scene.gateway.post(`/models/up/${model}:generateContent`, {
        contents: [{ role: 'user', parts: [{ text: QUESTION }] }],
        ...wish,
      });
    const unknown = await post('novel');
    expect([unknown.status, unknown.headers.get('x-dragoman-report')]).toEqual([200, null]);
    expect(at(upstream.requests.at(-1)?.json as Json, ...place)).toBeDefined();
    const earlier = await post('gemini-2.5-flash');
    expect(earlier.headers.get('x-dragoman-report')).toContain(':dropped');
    expect(at(upstream.requests.at(-1)?.json as Json, ...place)).toBeUndefined();
  },
);
