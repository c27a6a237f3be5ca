// Embeddings as Gemini's clients ask for them, by Google's SDK and by hand: on every kind of upstream that makes them, with
// what is said of a text besides, errors in Google's shape, and records like those of all others.
import { afterAll, describe, expect, test } from 'bun:test';
import { ApiError, GoogleGenAI } from '@google/genai';
import { startGateway, TEST_KEY } from '../../../support/harness.ts';
import { chatError, whole } from '../../../support/upstreams/answers.ts';
import { recordOf } from '../../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../../support/upstreams/json-path.ts';
import { startUpstream } from '../../../support/upstreams/scripted-upstream.ts';

const VECTORS = [
  [0.5, -0.25],
  [1, 0],
];
const [FIRST] = VECTORS;
const EMBED = 'gemini-embedding-001';

const upstream = await startUpstream();
const { origin } = upstream;
const gateway = await startGateway({
  providers: {
    googly: { api_key: 'sk-test', protocols: { gemini: `${origin}/v1beta` } },
    chatty: { api_key: 'sk-test', protocols: { 'openai-chat': `${origin}/v1` } },
    talks: { api_key: 'sk-test', protocols: { 'anthropic-messages': origin } },
    vertex: { api_key: 'ya29.test', base_url: `${origin}/v1/projects/p/locations/us-east5` },
    bedrock: {
      region: 'eu-west-1',
      access_key_id: 'AKIDEXAMPLE',
      secret_access_key: 'test-secret',
      base_url: origin,
    },
  },
  models: [
    {
      id: 'house/embed',
      endpoints: [{ provider: 'chatty', model: 'text-embed-1', price: { input: 0.5 } }],
    },
  ],
  routing: { retries: 0, breaker: { failures: 1000 } },
});
const httpOptions = { baseUrl: gateway.origin, retryOptions: { attempts: 1 } };
const ai = new GoogleGenAI({ apiKey: gateway.key, httpOptions });
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

const openaiAnswer = (vectors: readonly unknown[]): unknown => ({
  data: vectors.map((embedding, index) => ({ index, embedding })),
  usage: { prompt_tokens: 8, total_tokens: 8 },
});
const geminiAnswer = (count: number): unknown => ({
  embeddings: VECTORS.slice(0, count).map((values) => ({ values })),
  usageMetadata: {
    promptTokenCount: 6,
    promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 6 }],
  },
});
function post(path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${gateway.origin}/v1beta/models/${path}`, {
    method: 'POST',
    headers: { 'x-goog-api-key': TEST_KEY, ...headers },
    body: JSON.stringify(body),
  });
}
const content = (...texts: readonly string[]): Json => ({ parts: texts.map((text) => ({ text })) });
const sent = (): unknown[] => upstream.requests.map(({ json }) => json);

describe("Google's SDK", () => {
  test('reads the vectors of an OpenAI-compatible upstream, and losses are reported', async () => {
    upstream.script(whole(openaiAnswer(VECTORS)));
    const answer = await ai.models.embedContent({
      model: 'house/embed',
      contents: ['a cat', 'a dog'],
      config: { outputDimensionality: 2, taskType: 'RETRIEVAL_QUERY' },
    });
    expect(answer.embeddings).toEqual(VECTORS.map((values) => ({ values })));
    expect(at(answer, 'usageMetadata')).toEqual({ promptTokenCount: 8 });
    expect(sent()).toEqual([
      { model: 'text-embed-1', input: ['a cat', 'a dog'], encoding_format: 'float', dimensions: 2 },
    ]);
    const headers = answer.sdkHttpResponse?.headers;
    expect(headers?.['x-dragoman-report']).toBe('requests[0].taskType:dropped');
    expect(headers?.['x-dragoman-model']).toBe('house/embed');
  });

  test('sends everything to Google itself', async () => {
    upstream.script(whole(geminiAnswer(1)));
    const answer = await ai.models.embedContent({
      model: `googly/${EMBED}`,
      contents: 'a cat',
      config: { outputDimensionality: 2, taskType: 'RETRIEVAL_DOCUMENT', title: 'Cats' },
    });
    expect(answer.embeddings).toEqual([{ values: FIRST ?? [] }]);
    expect(at(answer, 'usageMetadata', 'promptTokensDetails', 0, 'modality')).toBe('IMAGE');
    expect(answer.sdkHttpResponse?.headers?.['x-dragoman-report']).toBeUndefined();
    expect(sent()).toMatchObject([
      {
        requests: [
          {
            model: `models/${EMBED}`,
            content: { parts: [{ text: 'a cat' }] },
            outputDimensionality: 2,
            taskType: 'RETRIEVAL_DOCUMENT',
            title: 'Cats',
          },
        ],
      },
    ]);
  });

  test('gets errors in its own form', async () => {
    const failureOf = (model: string, contents = 'a cat'): Promise<unknown> =>
      ai.models.embedContent({ model, contents }).then(
        () => 'no failure',
        (thrown: unknown) => thrown,
      );
    upstream.script();
    const unknown = await failureOf('house/embeb');
    expect(unknown).toBeInstanceOf(ApiError);
    expect((unknown as ApiError).status).toBe(404);
    expect(await failureOf('talks/text-embed-1')).toMatchObject({
      status: 400,
      message: expect.stringContaining('INVALID_ARGUMENT') as string,
    });
    upstream.script(chatError(429));
    expect(await failureOf('house/embed')).toMatchObject({
      status: 429,
      message: expect.stringContaining('RESOURCE_EXHAUSTED') as string,
    });
  });
});

describe('by hand', () => {
  test('one content gets one vector, in either spelling', async () => {
    upstream.script(whole(openaiAnswer([FIRST])));
    const response = await post('house/embed:embedContent', {
      content: content('a cat'),
      output_dimensionality: 2,
      usage: { include: true },
    });
    expect(response.headers.get('x-dragoman-report')).toBeNull();
    const cost = (8 * 0.5) / 1_000_000;
    expect(await response.json()).toEqual({
      embedding: { values: FIRST },
      usageMetadata: { promptTokenCount: 8, cost },
    });
    expect(sent()).toMatchObject([{ input: ['a cat'], dimensions: 2 }]);
    expect(await recordOf(gateway, response)).toMatchObject({
      api: 'embeddings',
      model: 'house/embed',
      status: 200,
      cost: { usd: cost },
      native_tokens: { prompt_tokens: 8 },
    });
  });

  test('the newer form of settings takes precedence, and unknown settings pass to Google', async () => {
    upstream.script(whole(geminiAnswer(1)));
    const response = await post(`googly/${EMBED}:embedContent`, {
      content: { parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
      taskType: 'CLUSTERING',
      embedContentConfig: { taskType: 'CLASSIFICATION', autoTruncate: false, documentOcr: true },
      store: 'projects/p/stores/s',
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-report')).toBe('store:dropped');
    expect(sent()).toEqual([
      {
        requests: [
          {
            model: `models/${EMBED}`,
            content: { parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'aGk=' } }] },
            taskType: 'CLASSIFICATION',
            embedContentConfig: { autoTruncate: false, documentOcr: true },
          },
        ],
      },
    ]);
  });

  test('inputs with different settings are sent separately, and returned in order', async () => {
    const each = (vector: unknown): unknown => openaiAnswer([vector]);
    upstream.always((exchange) => {
      const [text] = list(exchange.request.json, 'input');
      const length = Number(at(exchange.request.json, 'dimensions'));
      whole(each([String(text).length, ...Array<number>(length - 1).fill(0)]))(exchange);
    });
    const response = await post('house/embed:batchEmbedContents', {
      requests: [
        { content: content('four'), outputDimensionality: 2 },
        { content: content('sixsix'), outputDimensionality: 3 },
      ],
    });
    expect(await response.json()).toMatchObject({
      embeddings: [{ values: [4, 0] }, { values: [6, 0, 0] }],
    });
    expect(
      sent()
        .map((body) => at(body, 'dimensions'))
        .toSorted(),
    ).toEqual([2, 3]);
    upstream.script();
  });

  test('members that other upstreams do not have are reported once, and refused in strict mode', async () => {
    upstream.script(whole(openaiAnswer(VECTORS)));
    const body = {
      requests: [
        { content: content('a', 'b'), title: 'One', embedContentConfig: { autoTruncate: true } },
        { content: content('c', 'd'), title: 'Two', embedContentConfig: { autoTruncate: true } },
      ],
    };
    const response = await post('house/embed:batchEmbedContents', body);
    expect(response.headers.get('x-dragoman-report')).toBe(
      'requests[0].content.parts:approximated, requests[0].title:dropped, requests[0].embedContentConfig:dropped',
    );
    expect(sent()).toMatchObject([{ input: ['a\nb', 'c\nd'] }]);
    upstream.script();
    const strict = await post('house/embed:batchEmbedContents', body, { 'x-dragoman-strict': 'true' });
    expect(strict.status).toBe(400);
    expect(upstream.requests).toEqual([]);
  });

  test.each([
    ['RETRIEVAL_QUERY', 'cohere.embed-english-v3', 'input_type', 'search_query', null],
    [
      'SEMANTIC_SIMILARITY',
      'cohere.embed-english-v3',
      'input_type',
      'search_document',
      'taskType:dropped, input_type:defaulted',
    ],
    ['CLUSTERING', 'amazon.titan-embed-text-v2:0', 'inputText', 'a cat', 'taskType:dropped'],
  ])('the task type %s is translated for %s on Bedrock', async (taskType, model, member, word, report) => {
    upstream.script(
      whole({ embeddings: { float: [FIRST] }, ...(model.includes('titan') && { embedding: FIRST }) }),
    );
    const response = await post(`bedrock/${model}:embedContent`, { content: content('a cat'), taskType });
    expect(await response.json()).toMatchObject({ embedding: { values: FIRST } });
    expect(at(sent()[0], member)).toBe(word);
    expect(response.headers.get('x-dragoman-report')).toBe(report);
  });

  test('on Vertex, in both of its forms', async () => {
    const asked = {
      content: content('a cat'),
      taskType: 'CLUSTERING',
      title: 'Cats',
      outputDimensionality: 2,
    };
    const usageMetadata = { promptTokenCount: 5 };
    upstream.script(
      whole({ predictions: [{ embeddings: { values: FIRST, statistics: { token_count: 3 } } }] }),
      whole({ embedding: { values: FIRST }, usageMetadata }),
    );
    for (const model of ['text-embedding-005', 'gemini-embedding-2']) {
      const response = await post(`vertex/${model}:embedContent`, asked);
      expect(response.headers.get('x-dragoman-report')).toBeNull();
      expect(await response.json()).toMatchObject({ embedding: { values: FIRST } });
    }
    expect(sent()).toEqual([
      {
        instances: [{ content: 'a cat', task_type: 'CLUSTERING', title: 'Cats' }],
        parameters: { outputDimensionality: 2 },
      },
      {
        content: content('a cat'),
        embedContentConfig: { taskType: 'CLUSTERING', title: 'Cats', outputDimensionality: 2 },
      },
    ]);
  });
});

describe('a wrong request is a 400 that names the member', () => {
  const one = { content: content('a cat') };
  test.each([
    ['no content', 'embedContent', {}, 'content'],
    ['no parts', 'embedContent', { content: {} }, 'content.parts'],
    ['an empty text', 'embedContent', { content: content('') }, 'content.parts'],
    [
      'a part of another kind',
      'embedContent',
      { content: { parts: [{ fileData: {} }] } },
      'content.parts[0]',
    ],
    ['half a dimension', 'embedContent', { ...one, outputDimensionality: 1.5 }, 'outputDimensionality'],
    ['a numbered title', 'embedContent', { ...one, title: 7 }, 'title'],
    ['no requests', 'batchEmbedContents', { requests: [] }, 'requests'],
    ['a text for a request', 'batchEmbedContents', { requests: ['a'] }, 'requests[0]'],
    ['too many', 'batchEmbedContents', { requests: Array.from({ length: 2049 }, () => one) }, 'requests'],
    ['one among others', 'batchEmbedContents', { requests: [one, {}] }, 'requests[1].content'],
    [
      'a picture for a model of texts',
      'embedContent',
      { content: { parts: [{ inlineData: { mimeType: 'image/png', data: 'aGk=' } }] } },
      'content.parts[0].inlineData',
    ],
  ])('%s', async (_, method, body, field) => {
    upstream.script();
    const response = await post(`house/embed:${method}`, body);
    const reported = (await response.json()) as Json;
    expect([response.status, at(reported, 'error', 'status')]).toEqual([400, 'INVALID_ARGUMENT']);
    expect(JSON.stringify(at(reported, 'error', 'details'))).toContain(`"field":"${field}"`);
    expect(upstream.requests).toEqual([]);
  });

  test('and a wrong key a 401', async () => {
    const response = await post('house/embed:embedContent', one, { 'x-goog-api-key': 'sk-test-wrong' });
    expect(response.status).toBe(401);
    expect(at(await response.json(), 'error', 'status')).toBe('UNAUTHENTICATED');
  });
});
