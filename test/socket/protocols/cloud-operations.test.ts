// Operations of the clouds besides answering, over real sockets: embeddings in each of their forms, in as many requests as a
// model needs, and counts of tokens at the addresses that hosts have for them.
import { afterAll, describe, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { whole } from '../../support/upstreams/answers.ts';
import { recordOf } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream, type Answer } from '../../support/upstreams/scripted-upstream.ts';

const PLACE = '/v1/projects/p/locations/us-east5';
const TITAN = 'amazon.titan-embed-text-v2:0';

const upstream = await startUpstream();
const other = await startUpstream();
const price = { input: 1 };
const gateway = await startGateway({
  providers: {
    vertex: { api_key: 'ya29.test', base_url: upstream.origin + PLACE },
    bedrock: {
      region: 'eu-west-1',
      access_key_id: 'AKIDEXAMPLE',
      secret_access_key: 'test-secret',
      base_url: upstream.origin,
    },
    'azure-deployments': { resource: upstream.origin, api_key: 'sk-azure', api_version: '2024-10-21' },
    spare: { api_key: 'sk-spare', protocols: { 'openai-chat': `${other.origin}/v1` } },
  },
  models: [
    {
      id: 'house/titan',
      endpoints: [
        { provider: 'bedrock', model: TITAN, price },
        { provider: 'spare', model: 'text-embed', price },
      ],
    },
    {
      id: 'house/nameless',
      endpoints: [
        { provider: 'vertex', model: '.', protocol: 'gemini', price },
        { provider: 'spare', model: 'text-embed', price: { input: 2 } },
      ],
    },
    {
      id: 'house/claude',
      endpoints: [
        { provider: 'vertex', model: 'claude-embed', protocol: 'anthropic-messages', price },
        { provider: 'bedrock', model: 'claude-embed', protocol: 'anthropic-messages', price },
      ],
    },
  ],
  routing: { retries: 0, breaker: { failures: 1000 } },
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([upstream.stop(), other.stop()]);
});

const embed = (model: string, input: unknown, more: object = {}): Promise<Response> =>
  gateway.post('/embeddings', { model, input, ...more });

async function vectorsOf(response: Response): Promise<unknown[]> {
  const body: unknown = await response.json();
  expect([response.status, at(body, 'error')]).toEqual([200, undefined]);
  return list(body, 'data').map((entry) => at(entry, 'embedding'));
}

const paths = (): string[] => upstream.requests.map(({ path }) => path);
const bodies = (): unknown[] => upstream.requests.map(({ json }) => json);

/** Answers each request by what it asks, with a vector that says which text it was. */
const echo =
  (textOf: (body: unknown) => unknown, answer: (vector: number[], text: string) => unknown): Answer =>
  (exchange) => {
    const text = String(textOf(exchange.request.json));
    whole(answer([text.length, 0.5], text))(exchange);
  };

describe('embeddings on Vertex', () => {
  const prediction = (values: number[], tokens: number): Json => ({
    embeddings: { values, statistics: { truncated: false, token_count: tokens } },
  });

  test('are predictions, many at once', async () => {
    upstream.script(whole({ predictions: [prediction([1, 2], 3), prediction([3, 4], 4)] }));
    const response = await embed('vertex/text-embedding-005', ['a cat', 'a dog'], {
      dimensions: 2,
      user: 'u',
    });
    expect(response.headers.get('x-dragoman-report')).toBe('user:dropped');
    const body: unknown = await response.json();
    expect(list(body, 'data').map((entry) => at(entry, 'embedding'))).toEqual([
      [1, 2],
      [3, 4],
    ]);
    expect(at(body, 'usage', 'prompt_tokens')).toBe(7);
    expect(paths()).toEqual([`${PLACE}/publishers/google/models/text-embedding-005:predict`]);
    expect(bodies()).toEqual([
      { instances: [{ content: 'a cat' }, { content: 'a dog' }], parameters: { outputDimensionality: 2 } },
    ]);
    expect(upstream.requests[0]?.headers['authorization']).toBe('Bearer ya29.test');
  });

  test('of a model that accepts one text per request are requested one by one, and stay in order', async () => {
    const input = Array.from({ length: 20 }, (_, place) => 'x'.repeat(place + 1));
    upstream.always(
      echo(
        (body) => at(body, 'instances', 0, 'content'),
        (vector, text) => ({ predictions: [prediction(vector, text.length)] }),
      ),
    );
    const response = await embed('vertex/gemini-embedding-001', input, { usage: { include: true } });
    expect(response.headers.get('x-dragoman-attempts')).toBe('20');
    const body: unknown = await response.json();
    expect(list(body, 'data').map((entry) => at(entry, 'embedding', 0))).toEqual(
      input.map((text) => text.length),
    );
    expect(at(body, 'usage', 'prompt_tokens')).toBe(210);
    expect(new Set(paths())).toEqual(
      new Set([`${PLACE}/publishers/google/models/gemini-embedding-001:predict`]),
    );
    expect(at(await recordOf(gateway, response), 'native_tokens', 'prompt_tokens')).toBe(210);
  });

  test('of newer models have a method of their own', async () => {
    upstream.script(
      whole({ embedding: { values: [0.5] }, usageMetadata: { promptTokenCount: 5 }, truncated: false }),
    );
    const response = await embed('vertex/gemini-embedding-2', 'a cat', { dimensions: 1 });
    expect(await vectorsOf(response)).toEqual([[0.5]]);
    expect(paths()).toEqual([`${PLACE}/publishers/google/models/gemini-embedding-2:embedContent`]);
    expect(bodies()).toEqual([
      { content: { parts: [{ text: 'a cat' }] }, embedContentConfig: { outputDimensionality: 1 } },
    ]);
  });
});

test('embeddings of an older Azure deployment are below its path', async () => {
  upstream.script(
    whole({ object: 'list', data: [{ embedding: [1], index: 0 }], usage: { prompt_tokens: 1 } }),
  );
  expect(await vectorsOf(await embed('azure-deployments/my embed', 'a'))).toEqual([[1]]);
  expect(paths()).toEqual(['/openai/deployments/my%20embed/embeddings?api-version=2024-10-21']);
  expect(upstream.requests[0]?.headers['api-key']).toBe('sk-azure');
});

test('a model that cannot be addressed is passed over', async () => {
  upstream.always(whole({}));
  other.script(whole({ object: 'list', model: 'text-embed', data: [{ index: 0, embedding: [1] }] }));
  const response = await embed('house/nameless', 'a cat');
  expect(await vectorsOf(response)).toEqual([[1]]);
  expect(paths()).toEqual([]);
  const alone = await embed('vertex/.', 'a cat');
  expect([alone.status, at(await alone.json(), 'error', 'message')]).toEqual([
    404,
    expect.stringContaining('No model has this name'),
  ]);
});

test('hosts without embeddings in a protocol are not called', async () => {
  upstream.script();
  const refused = await embed('house/claude', 'a');
  expect(refused.status).toBe(400);
  expect(await refused.text()).toContain('over anthropic-messages, which has no embeddings');
  expect(upstream.requests).toHaveLength(0);
});

describe('embeddings on Bedrock', () => {
  const titan = echo(
    (body) => at(body, 'inputText'),
    (embedding, text) => ({ embedding, inputTextTokenCount: text.length }),
  );

  test('of Titan are requested one by one, with signed requests', async () => {
    upstream.always(titan);
    const response = await embed(`bedrock/${TITAN}`, ['a', 'bb', 'ccc'], {
      dimensions: 2,
      normalize: false,
    });
    const body: unknown = await response.json();
    expect(list(body, 'data').map((entry) => at(entry, 'embedding', 0))).toEqual([1, 2, 3]);
    expect(at(body, 'usage', 'prompt_tokens')).toBe(6);
    expect(new Set(paths())).toEqual(new Set(['/model/amazon.titan-embed-text-v2%3A0/invoke']));
    expect(upstream.requests.find(({ text }) => text.includes('ccc'))?.json).toEqual({
      inputText: 'ccc',
      dimensions: 2,
      normalize: false,
    });
    for (const { headers } of upstream.requests)
      expect(headers['authorization']).toContain('Credential=AKIDEXAMPLE/');
  });

  test('of Cohere contain their purpose', async () => {
    const floats = { embeddings: { float: [[1], [2]] }, response_type: 'embeddings_by_type' };
    upstream.script(whole(floats), whole({ embeddings: [[3], [4]], response_type: 'embeddings_floats' }));
    const asked = await embed('bedrock/us.cohere.embed-v4:0', ['a', 'b'], { dimensions: 1 });
    expect(asked.headers.get('x-dragoman-report')).toBe('input_type:defaulted');
    expect(await vectorsOf(asked)).toEqual([[1], [2]]);
    const reported = await embed('bedrock/cohere.embed-english-v3', ['a', 'b'], {
      input_type: 'search_query',
      truncate: 'END',
    });
    expect(reported.headers.get('x-dragoman-report')).toBeNull();
    expect(await vectorsOf(reported)).toEqual([[3], [4]]);
    expect(bodies()).toEqual([
      {
        texts: ['a', 'b'],
        input_type: 'search_document',
        output_dimension: 1,
        embedding_types: ['float'],
      },
      { texts: ['a', 'b'], embedding_types: ['float'], input_type: 'search_query', truncate: 'END' },
    ]);
  });

  test('have the requested number of elements', async () => {
    const bytes = { embeddings: { int8: [[-128, 127]] }, response_type: 'embeddings_by_type' };
    upstream.script(whole(bytes), whole(bytes));
    const types = { input_type: 'search_query', embedding_types: ['int8'] };
    const model = 'bedrock/us.cohere.embed-v4:0';
    expect(await vectorsOf(await embed(model, 'a', types))).toEqual([[-128, 127]]);
    const base64 = await embed(model, 'a', { ...types, encoding_format: 'base64' });
    // The client named the type in the words of the model, which no client of OpenAI reads: floats.
    expect(await vectorsOf(base64)).toEqual([
      Buffer.from(Float32Array.of(-128, 127).buffer).toString('base64'),
    ]);
    const floats = Buffer.from(Float32Array.of(0.5).buffer).toString('base64');
    upstream.script(whole({ embeddings: { base64: [floats] } }));
    expect(await vectorsOf(await embed(model, 'a', { ...types, embedding_types: ['base64'] }))).toEqual([
      [0.5],
    ]);
    upstream.script(whole({ embedding: [0.25], embeddingsByType: { binary: [1, 0, 1] } }));
    expect(await vectorsOf(await embed(`bedrock/${TITAN}`, 'a', { embeddingTypes: ['binary'] }))).toEqual([
      [1, 0, 1],
    ]);
    upstream.script();
    const several = await embed(model, 'a', { ...types, embedding_types: ['int8', 'float'] });
    expect([several.status, await several.text()]).toEqual([
      400,
      expect.stringContaining('must name one type'),
    ]);
  });

  test('use the request of Nova', async () => {
    upstream.script(whole({ embeddings: [{ embeddingType: 'TEXT', embedding: [0.25] }] }));
    const response = await embed('bedrock/amazon.nova-2-multimodal-embeddings-v1:0', 'a', {
      dimensions: 1,
    });
    expect(response.headers.get('x-dragoman-report')).toBe('embeddingPurpose:defaulted');
    expect(await vectorsOf(response)).toEqual([[0.25]]);
    expect(bodies()).toEqual([
      {
        taskType: 'SINGLE_EMBEDDING',
        singleEmbeddingParams: {
          embeddingPurpose: 'GENERIC_INDEX',
          embeddingDimension: 1,
          text: { truncationMode: 'NONE', value: 'a' },
        },
      },
    ]);
  });

  test('are refused if they are not supported', async () => {
    upstream.script();
    for (const [model, more, words] of [
      ['amazon.titan-embed-text-v1', { dimensions: 256 }, 'choice of dimensions'],
      ['cohere.embed-english-v3', { dimensions: 256 }, 'choice of dimensions'],
      [TITAN, { input: [1, 2] }, 'supports only texts'],
      ['arn:aws:bedrock:us-east-1:1:imported-model/embed', {}, 'only Titan, Nova and Cohere'],
    ] as const) {
      const refused = await embed(`bedrock/${model}`, 'a', more);
      expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining(words)]);
    }
    expect(upstream.requests).toHaveLength(0);
  });

  test('a failed part fails all: the next endpoint serves the request, and completed parts are counted', async () => {
    other.script(
      whole({
        object: 'list',
        data: ['a', 'bb', 'ccc'].map((_, index) => ({ index, embedding: [index] })),
        usage: { prompt_tokens: 3, total_tokens: 3 },
      }),
    );
    upstream.always((exchange) => {
      if (at(exchange.request.json, 'inputText') === 'bb')
        whole({ message: 'too busy' }, 503, { 'x-amzn-errortype': 'ServiceUnavailableException' })(exchange);
      else if (at(exchange.request.json, 'inputText') === 'a') titan(exchange);
    });
    const response = await embed('house/titan', ['a', 'bb', 'ccc']);
    expect(response.headers.get('x-dragoman-provider')).toBe('spare');
    expect(response.headers.get('x-dragoman-attempts')).toBe('4');
    expect(await vectorsOf(response)).toEqual([[0], [1], [2]]);
    // The one that got no answer was not waited for.
    const silent = upstream.exchanges.find(({ request }) => at(request.json, 'inputText') === 'ccc');
    await silent?.closed;
    expect(silent).toBeDefined();
  });
});

describe('counts on Vertex', () => {
  const message = { role: 'user', content: 'Hello' };

  test('of Claude are requested at one address for all models, with the model in the body', async () => {
    upstream.script(whole({ input_tokens: 11 }));
    const counted = await gateway.post(
      '/messages/count_tokens',
      { model: 'vertex/claude-sonnet-4-5@20250929', messages: [message], system: 'Be brief.' },
      { 'anthropic-version': '2023-06-01' },
    );
    expect(await counted.json()).toEqual({ input_tokens: 11 });
    expect(counted.headers.get('x-dragoman-estimated')).toBeNull();
    expect(paths()).toEqual([`${PLACE}/publishers/anthropic/models/count-tokens:rawPredict`]);
    expect(bodies()).toEqual([
      {
        model: 'claude-sonnet-4-5@20250929',
        messages: [{ role: 'user', content: [{ type: 'text', text: 'Hello' }] }],
        system: 'Be brief.',
        anthropic_version: 'vertex-2023-10-16',
      },
    ]);
  });

  test('that the host refuses are estimates', async () => {
    upstream.script(whole({ error: { code: 400, message: 'not in this region', status: 'X' } }, 400));
    const asked = { model: 'vertex/claude-sonnet-4-5', messages: [message] };
    const counted = await gateway.post('/messages/count_tokens', asked, {
      'anthropic-version': '2023-06-01',
    });
    expect([counted.status, counted.headers.get('x-dragoman-estimated')]).toEqual([200, 'true']);
    expect(upstream.requests).toHaveLength(1);
  });

  test('of Gemini contain the request without members that only shape the response', async () => {
    upstream.script(whole({ totalTokens: 12, totalBillableCharacters: 40 }));
    const contents = [{ role: 'user', parts: [{ text: 'Hello' }] }];
    const counted = await gateway.post('/models/vertex%2Fgemini-2.5-pro:countTokens', {
      generateContentRequest: {
        model: 'models/vertex/gemini-2.5-pro',
        contents,
        systemInstruction: { parts: [{ text: 'Be brief.' }] },
        toolConfig: { functionCallingConfig: { mode: 'NONE' } },
      },
    });
    expect(at(await counted.json(), 'totalTokens')).toBe(12);
    expect(paths()).toEqual([`${PLACE}/publishers/google/models/gemini-2.5-pro:countTokens`]);
    expect(bodies()).toEqual([{ contents, systemInstruction: { parts: [{ text: 'Be brief.' }] } }]);
  });
});
