// Amazon Bedrock behind the gateway, over real sockets: signatures that the upstream checks, its framing in pieces of
// any size, Claude by its own body, and every way in which a stream can fail.
import { afterAll, describe, expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import { startGateway } from '../../support/harness.ts';
import { missing, readConverseRecordings } from '../../support/recordings/corpus.ts';
import { chunk, event, exception } from '../../support/upstreams/event-stream-frame.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { startUpstream, type Answer, type Arrived } from '../../support/upstreams/scripted-upstream.ts';

const KEY_ID = 'AKIDEXAMPLE';
const SECRET = 'test-secret-of-the-account';
const NOVA = 'bedrock/us.amazon.nova-lite-v1:0';
const CLAUDE = 'bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0';
const ACCOUNT = {
  region: 'eu-west-1',
  access_key_id: KEY_ID,
  secret_access_key: SECRET,
  session_token: 'temporary',
};

const upstream = await startUpstream();
const gateway = await startGateway({
  providers: {
    bedrock: { ...ACCOUNT, base_url: upstream.origin },
    token: {
      preset: 'bedrock',
      region: 'eu-west-1',
      api_key: 'sk-bedrock-test',
      base_url: upstream.origin,
    },
  },
  routing: { retries: 0, breaker: { failures: 1000 } },
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});

const EVENT_STREAM = { 'content-type': 'application/vnd.amazon.eventstream' };

/** Answers with frames, cut into pieces of a few bytes where asked. */
function streams(frames: readonly Buffer[], pieceBytes = 1_000_000, end: 'end' | 'cut' = 'end'): Answer {
  return (exchange) => {
    exchange.openStream(EVENT_STREAM);
    const bytes = Buffer.concat(frames);
    for (let from = 0; from < bytes.length; from += pieceBytes)
      exchange.chunk(bytes.subarray(from, from + pieceBytes));
    if (end === 'end') exchange.endStream();
    else exchange.close();
  };
}

function answers(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (exchange) => {
    const text = JSON.stringify(body);
    exchange.head(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    });
    exchange.raw(text);
  };
}

const HELLO = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße' }, p: 'abc' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: ', 世界' } }),
  event('contentBlockStop', { contentBlockIndex: 0 }),
  event('messageStop', { stopReason: 'end_turn' }),
  event('metadata', {
    usage: { inputTokens: 7, outputTokens: 3, totalTokens: 10 },
    metrics: { latencyMs: 5 },
  }),
];

const ask = (model: string, stream: boolean): Promise<Response> =>
  gateway.post('/chat/completions', { model, stream, messages: [{ role: 'user', content: 'Hello' }] });

/** The data of a stream's events. */
async function eventsOf(response: Response): Promise<Json[]> {
  const text = await response.text();
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
    .map((line) => JSON.parse(line.slice(6)) as Json);
}

const textOf = (events: readonly Json[]): string =>
  events.map((each) => at(each, 'choices', 0, 'delta', 'content') ?? '').join('');

/** The signature that AWS would want, made anew from what arrived. */
function wantedSignature({ method, path, headers, text }: Arrived): string {
  const { authorization = '', 'x-amz-date': date = '' } = headers;
  const names = /SignedHeaders=([^,]+)/.exec(authorization)?.[1] ?? '';
  const [, day = '', region = '', service = ''] =
    /Credential=([^,]+)/.exec(authorization)?.[1]?.split('/') ?? [];
  const hash = (value: string): string => createHash('sha256').update(value).digest('hex');
  const mac = (key: string | Buffer, value: string): Buffer =>
    createHmac('sha256', key).update(value).digest();
  const canonical = [
    method,
    path.split('/').map(encodeURIComponent).join('/'),
    '',
    ...names.split(';').map((name) => `${name}:${headers[name] ?? ''}`),
    '',
    names,
    hash(text),
  ].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', date, `${day}/${region}/${service}/aws4_request`, hash(canonical)].join(
    '\n',
  );
  const key = mac(mac(mac(mac(`AWS4${SECRET}`, day), region), service), 'aws4_request');
  return createHmac('sha256', key).update(toSign).digest('hex');
}

describe('Converse', () => {
  test('gets signed requests, whose signature covers body, path and token', async () => {
    upstream.script(
      answers(200, {
        output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
        stopReason: 'end_turn',
        usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      }),
    );
    const response = await ask(NOVA, false);
    expect(response.status).toBe(200);
    expect(response.headers.get('x-dragoman-lane')).toBe('translate');
    expect(at((await response.json()) as Json, 'choices', 0, 'message', 'content')).toBe('Hi');
    const [arrived] = upstream.requests;
    if (!arrived) throw new Error('nothing arrived');
    expect(arrived.path).toBe('/model/us.amazon.nova-lite-v1%3A0/converse');
    expect(arrived.json).toEqual({ messages: [{ role: 'user', content: [{ text: 'Hello' }] }] });
    expect(arrived.headers['x-amz-security-token']).toBe('temporary');
    expect(arrived.headers['authorization']).toStartWith(`AWS4-HMAC-SHA256 Credential=${KEY_ID}/`);
    expect(arrived.headers['authorization']).toContain('/eu-west-1/bedrock/aws4_request');
    expect(arrived.headers['authorization']).toEndWith(`Signature=${wantedSignature(arrived)}`);
  });

  test('gets a Bedrock API key if one is configured', async () => {
    upstream.script(streams(HELLO));
    await (await ask('token/us.amazon.nova-lite-v1:0', true)).text();
    expect(upstream.requests[0]?.headers['authorization']).toBe('Bearer sk-bedrock-test');
    expect(upstream.requests[0]?.headers['x-amz-date']).toBeUndefined();
  });

  test.each([1, 2, 7, 64, 1_000_000])('streams in pieces of %d bytes', async (pieceBytes) => {
    upstream.script(streams(HELLO, pieceBytes));
    const response = await gateway.post('/chat/completions', {
      model: NOVA,
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'Hello' }],
    });
    const events = await eventsOf(response);
    expect(textOf(events)).toBe('Grüße, 世界');
    expect(events.map((each) => at(each, 'choices', 0, 'finish_reason')).filter(Boolean)).toEqual(['stop']);
    expect(at(events.at(-1) ?? null, 'usage', 'total_tokens')).toBe(10);
    expect(upstream.requests[0]?.path).toBe('/model/us.amazon.nova-lite-v1%3A0/converse-stream');
  });

  test.each([
    ['without input', []],
    ['with an empty input', [{ toolUse: { input: '' } }]],
  ])('a streamed call %s has arguments that clients can parse', async (_, deltas) => {
    const start = { toolUse: { toolUseId: 'tooluse_1', name: 'now' } };
    upstream.script(
      streams([
        event('messageStart', { role: 'assistant' }),
        event('contentBlockStart', { contentBlockIndex: 0, start }),
        ...deltas.map((delta) => event('contentBlockDelta', { contentBlockIndex: 0, delta })),
        event('contentBlockStop', { contentBlockIndex: 0 }),
        event('messageStop', { stopReason: 'tool_use' }),
        ...HELLO.slice(-1),
      ]),
    );
    const calls = (await eventsOf(await ask(NOVA, true))).flatMap((each) =>
      list(each, 'choices', 0, 'delta', 'tool_calls'),
    );
    expect(calls.map((call) => at(call, 'function', 'arguments')).join('')).toBe('{}');
  });

  test.skipIf(missing !== undefined)('recorded streams reach a client whole', async () => {
    const recorded = readConverseRecordings().filter(
      ({ res, status }) => res.base64 !== undefined && status === 200,
    );
    let passed = 0;
    for (const { case: name, res } of recorded) {
      const bytes = Buffer.concat([res.base64 ?? []].flat().map((piece) => Buffer.from(piece, 'base64')));
      if (!bytes.includes('messageStop')) continue;
      upstream.script(streams([bytes], 100 + passed * 37));
      const events = await eventsOf(await ask(NOVA, true));
      expect([
        name,
        events.map((each) => at(each, 'choices', 0, 'finish_reason')).filter(Boolean).length,
      ]).toEqual([name, 1]);
      passed++;
    }
    expect(passed).toBeGreaterThan(10);
  });
});

describe('a stream that fails', () => {
  const begun = HELLO.slice(0, 2);

  test('by an exception before content is the error that it names', async () => {
    upstream.script(streams([exception('throttlingException', 'Too many requests')]));
    const response = await ask(NOVA, true);
    expect(response.status).toBe(429);
    expect(at((await response.json()) as Json, 'error', 'message')).toContain('Too many requests');
  });

  test.each([
    [
      'an exception',
      [...begun, exception('modelStreamErrorException', 'The model broke')],
      'end',
      'The model broke',
    ],
    ['a damaged frame', [...begun, Buffer.from(HELLO[2] ?? []).fill(0, 40, 44)], 'end', 'checksum'],
    ['a cut between frames', begun, 'end', 'before the response was complete'],
    [
      'a cut inside of a frame',
      [...begun, (HELLO[2] ?? Buffer.alloc(0)).subarray(0, 50)],
      'end',
      'middle of a message',
    ],
    ['a lost connection', begun, 'cut', 'ended its response early'],
  ] as const)(
    'by %s after content ends with an error after the earlier content',
    async (_, frames, end, words) => {
      upstream.script(streams(frames, 1_000_000, end));
      const events = await eventsOf(await ask(NOVA, true));
      expect(textOf(events)).toBe('Grüße');
      expect(at(events.at(-1) ?? null, 'error', 'message')).toContain(words);
      expect(events.some((each) => at(each, 'choices', 0, 'finish_reason') === 'stop')).toBe(false);
    },
  );

  test('refused credentials are reported as such', async () => {
    upstream.script(
      answers(
        403,
        { message: 'The security token included in the request is expired' },
        {
          'x-amzn-errortype': 'ExpiredTokenException:http://internal.amazon.com/',
        },
      ),
    );
    const response = await ask(NOVA, false);
    expect(response.status).toBe(502);
    expect(JSON.stringify(await response.json())).toContain(
      'The security token included in the request is expired',
    );
  });
});

test.each([
  [NOVA, SECRET],
  ['token/us.amazon.nova-lite-v1:0', 'sk-bedrock-test'],
])('%s: no secret that an upstream repeats reaches a client', async (model, secret) => {
  upstream.script(answers(400, { message: `What is ${secret} worth?` }));
  const response = await ask(model, false);
  expect(response.status).toBe(400);
  expect(await response.text()).toContain('What is [secret] worth?');
});

describe("Claude by Anthropic's own body", () => {
  const BODY = {
    model: CLAUDE,
    max_tokens: 50,
    messages: [{ role: 'user', content: 'Hello' }],
  };
  const MESSAGE = {
    id: 'msg_bdrk_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
  };
  const FRAMES = [
    chunk({
      type: 'message_start',
      message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 4, output_tokens: 1 } },
    }),
    chunk({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    chunk({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße' } }),
    chunk({ type: 'content_block_stop', index: 0 }),
    chunk({
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 2 },
    }),
    chunk({ type: 'message_stop', 'amazon-bedrock-invocationMetrics': { inputTokenCount: 4 } }),
  ];

  test.each([1, 13, 1_000_000])(
    'is relayed to a client of the Messages API, in pieces of %d bytes',
    async (pieceBytes) => {
      upstream.script(streams(FRAMES, pieceBytes));
      const response = await gateway.post(
        '/messages',
        { ...BODY, stream: true },
        {
          'anthropic-version': '2023-06-01',
          'anthropic-beta': 'context-1m-2025-08-07, interleaved-thinking-2025-05-14',
        },
      );
      expect(response.headers.get('x-dragoman-lane')).toBe('relay');
      const text = await response.text();
      const names = [...text.matchAll(/^event: (\w+)$/gm)].map(([, name]) => name);
      expect(names).toEqual([
        'message_start',
        'content_block_start',
        'content_block_delta',
        'content_block_stop',
        'message_delta',
        'message_stop',
      ]);
      expect(text).toContain('"text":"Grüße"');
      const [arrived] = upstream.requests;
      if (!arrived) throw new Error('nothing arrived');
      expect(arrived.path).toBe(
        '/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream',
      );
      expect(arrived.json).toEqual({
        max_tokens: 50,
        messages: [{ role: 'user', content: 'Hello' }],
        anthropic_version: 'bedrock-2023-05-31',
        anthropic_beta: ['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'],
      });
      expect(arrived.headers['anthropic-beta']).toBeUndefined();
      expect(arrived.headers['authorization']).toEndWith(`Signature=${wantedSignature(arrived)}`);
    },
  );

  test('is translated for a client of Chat Completions, whole and streamed', async () => {
    upstream.script(
      streams(FRAMES),
      answers(200, {
        ...MESSAGE,
        content: [{ type: 'text', text: 'Hi' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: { input_tokens: 4, output_tokens: 2 },
      }),
    );
    expect(textOf(await eventsOf(await ask(CLAUDE, true)))).toBe('Grüße');
    const whole = (await (await ask(CLAUDE, false)).json()) as Json;
    expect(at(whole, 'choices', 0, 'message', 'content')).toBe('Hi');
    expect(upstream.requests.map(({ path }) => path.split('/').at(-1))).toEqual([
      'invoke-with-response-stream',
      'invoke',
    ]);
    for (const { json } of upstream.requests) expect(Object.keys(json as object)).not.toContain('model');
  });

  test("an exception after content is an error of the Messages API's", async () => {
    upstream.script(
      streams([...FRAMES.slice(0, 3), exception('modelStreamErrorException', 'The model broke')]),
    );
    const text = await (await gateway.post('/messages', { ...BODY, stream: true })).text();
    expect(text).toContain('"text":"Grüße"');
    expect(text).toContain('event: error');
    expect(text).toContain('The model broke');
    expect(text).not.toContain('message_stop');
  });

  test('error texts of Bedrock reach the client in the form of the Messages API', async () => {
    upstream.script(answers(400, { message: 'Input is too long for requested model.' }));
    const response = await gateway.post('/messages', BODY);
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: {
        type: 'invalid_request_error',
        message: 'prompt is too long: Input is too long for requested model.',
      },
    });
  });

  test('uses Converse if it is configured so', async () => {
    await using other = await startGateway({
      providers: { bedrock: { ...ACCOUNT, base_url: upstream.origin } },
      models: [
        {
          id: 'claude',
          endpoints: [
            { provider: 'bedrock', model: CLAUDE.slice('bedrock/'.length), protocol: 'bedrock-converse' },
          ],
        },
      ],
    });
    upstream.script(streams(HELLO));
    const response = await other.post('/chat/completions', {
      model: 'claude',
      stream: true,
      reasoning: { max_tokens: 2000 },
      messages: [{ role: 'user', content: 'Hello' }],
    });
    expect(textOf(await eventsOf(response))).toBe('Grüße, 世界');
    const body = upstream.requests[0]?.json as Json;
    expect(at(body, 'additionalModelRequestFields', 'thinking')).toEqual({
      type: 'enabled',
      budget_tokens: 2000,
    });
    expect(list(at(body, 'messages'))).toHaveLength(1);
  });
});
