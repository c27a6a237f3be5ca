// Cases of the Gemini protocol beyond golden files: errors, addresses, counts and lists, and that signatures come
// back as they went through clients that rewrite base64.
import { describe, expect, test } from 'bun:test';
import { ERROR_KINDS, GatewayError, Report } from '../../../src/canonical/index.ts';
import type { CanonicalRequest, ErrorKind, ReasoningItem } from '../../../src/canonical/index.ts';
import { gemini } from '../../../src/protocols/gemini/index.ts';
import { geminiCount } from '../../../src/protocols/gemini/tasks/count/index.ts';
import { codecContext, fillRequest, fillTarget } from '../../support/golden-operations.ts';

const { upstream, server } = gemini;
const { upstream: counting, client: asked } = geminiCount;
if (!asked) throw new Error('Gemini has no server side');

describe('errors of Google', () => {
  const classify = (code: number, status: string | undefined, message: string, details?: unknown): string => {
    const body = JSON.stringify({ error: { code, message, status, details } });
    const error = upstream.decodeError(code, () => null, body);
    expect(error.upstream).toEqual({ status: code, body });
    return `${error.kind} ${error.fault} ${error.retryAfterMs ?? '-'}`;
  };

  test.each([
    [400, 'INVALID_ARGUMENT', 'Please use a valid role: user, model.', 'invalid_request client -'],
    [
      400,
      'INVALID_ARGUMENT',
      'The input token count (1250074) exceeds the maximum number of tokens allowed (1048576).',
      'context_overflow client -',
    ],
    [400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', 'authentication upstream -'],
    [400, 'FAILED_PRECONDITION', 'User location is not supported for the API use.', 'permission upstream -'],
    [401, 'UNAUTHENTICATED', 'Request had invalid credentials.', 'authentication upstream -'],
    [403, 'PERMISSION_DENIED', 'Your API key was reported as leaked.', 'permission upstream -'],
    [404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta', 'not_found client -'],
    [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota', 'rate_limited upstream -'],
    [429, 'RESOURCE_EXHAUSTED', 'Your prepayment credits are depleted.', 'quota upstream -'],
    [499, 'CANCELLED', 'The operation was cancelled.', 'upstream_unavailable upstream -'],
    [500, 'INTERNAL', 'An internal error has occurred.', 'upstream_unavailable upstream -'],
    [503, 'UNAVAILABLE', 'The model is overloaded.', 'upstream_unavailable upstream -'],
    [504, 'DEADLINE_EXCEEDED', 'Deadline expired', 'timeout upstream -'],
    [413, undefined, 'Request payload size exceeds the limit', 'too_large client -'],
    [418, 'constructor', 'x', 'upstream_unavailable upstream -'],
  ])('%i %s %s have their kind, fault and delay', (code, status, message, expected) => {
    expect(classify(code, status, message)).toBe(expected);
  });

  test('the delay is read from the details, also in a list of one error, otherwise from the headers', () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '34.4s' },
    ];
    expect(classify(429, 'RESOURCE_EXHAUSTED', 'slow down', details)).toBe('rate_limited upstream 34400');
    const list = JSON.stringify([
      { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } },
    ]);
    const error = upstream.decodeError(429, (name) => (name === 'retry-after' ? '2' : null), list);
    expect([error.kind, error.message, error.retryAfterMs]).toEqual(['rate_limited', 'slow down', 2000]);
  });

  test('a body that is no JSON is classified by its status', () => {
    const error = upstream.decodeError(502, () => null, '<html>bad gateway</html>');
    expect([error.kind, error.message]).toEqual([
      'upstream_unavailable',
      'The upstream returned status 502 without an error message.',
    ]);
  });
});

test('errors for clients contain a code, a status, and the details that Google would add', () => {
  for (const kind of Object.keys(ERROR_KINDS) as ErrorKind[]) {
    const { status, body } = server.encodeError(new GatewayError(kind, 'words'), 'gen-1');
    expect(body['error']).toMatchObject({
      code: status,
      message: 'words',
      status: expect.stringMatching(/^[A-Z_]+$/),
    });
    // Google has no 402, and its 502 is 503.
    const own = { quota: 429, upstream_unavailable: 503 }[kind as string];
    expect(status).toBe(own ?? ERROR_KINDS[kind].status);
  }
  const error = new GatewayError('rate_limited', 'slow down', {
    param: 'contents[0]',
    code: 'too_fast',
    retryAfterMs: 1500,
  });
  expect(server.encodeError(error, 'gen-1').body).toEqual({
    error: {
      code: 429,
      message: 'slow down',
      status: 'RESOURCE_EXHAUSTED',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.RequestInfo', requestId: 'gen-1' },
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'contents[0]', description: 'slow down' }],
        },
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'too_fast', domain: 'dragoman' },
        { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '1.5s' },
      ],
    },
  });
});

test('model and mode are in the path', () => {
  expect(upstream.pathFor?.('gemini-3-pro', false)).toBe('/models/gemini-3-pro:generateContent');
  expect(upstream.pathFor?.('gemini-3-pro', true)).toBe('/models/gemini-3-pro:streamGenerateContent?alt=sse');
  expect(upstream.pathFor?.('tunedModels/mine', false)).toBe('/tunedModels/mine:generateContent');
  expect(upstream.pathFor?.('a b?c', false)).toBe('/models/a%20b%3Fc:generateContent');
  for (const name of ['..', '../files', 'models/../files', 'a//b', './a', ''])
    expect(() => upstream.pathFor?.(name, false)).toThrow('No model has this name');
  expect(counting.pathFor?.('gemini-3-pro')).toBe('/models/gemini-3-pro:countTokens');
});

test('tokens are counted for bare contents and for a whole request', () => {
  const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }];
  const tools = [{ functionDeclarations: [{ name: 'f' }] }];
  const route = { model: 'gemini-3-pro', stream: true };
  const bare = asked.decodeRequest({ contents }, route);
  expect([bare.model, bare.stream, bare.items.length]).toEqual(['gemini-3-pro', false, 1]);
  const whole = asked.decodeRequest(
    { generateContentRequest: { model: 'models/gemini-3-pro', contents, tools } },
    route,
  );
  expect(whole.tools.length).toBe(1);
  expect(counting.encodeRequest(whole, fillTarget({ model: 'gemini-3-pro' }), new Report())).toEqual({
    generateContentRequest: { model: 'models/gemini-3-pro', contents, tools },
  });
  expect(counting.decodeCount({ totalTokens: 7, promptTokensDetails: [] })).toBe(7);
  expect(counting.decodeCount({ error: {} })).toBeUndefined();
  expect(asked.encodeCount(7)).toMatchObject({ totalTokens: 7 });
});

test('the list of models is one page in the shape of Google', () => {
  const model = {
    id: 'anthropic/claude',
    displayName: 'Claude',
    createdAt: '2026-11-21T00:00:00.000Z',
    contextLength: 200_000,
    maxOutputTokens: null,
    reasons: true,
    inputModalities: ['text'],
    outputModalities: ['text'],
  };
  expect(server.addresses.models?.encodeList([model], new URLSearchParams())).toEqual({
    models: [
      {
        name: 'models/anthropic/claude',
        baseModelId: 'anthropic/claude',
        version: '001',
        displayName: 'Claude',
        description: 'Claude',
        inputTokenLimit: 200_000,
        supportedGenerationMethods: ['generateContent', 'countTokens'],
        thinking: true,
        inputModalities: ['text'],
        outputModalities: ['text'],
      },
    ],
  });
});

describe('signatures through clients', () => {
  /** Signature that a client sends back of an answer with this state before a call. @param rewrite of the signature */
  function comeBack(data: string, rewrite: (signature: string) => string): unknown {
    const call = { type: 'tool_call', kind: 'function', callId: 'c1', name: 'f', arguments: '{}' } as const;
    const reasoning: ReasoningItem = {
      type: 'reasoning',
      text: [],
      summary: [],
      opaque: { format: 'google-gemini-v1', kind: 'encrypted', data },
    };
    const answer = server?.encodeResponse(
      {
        start: { type: 'start' },
        items: [reasoning, call],
        usage: undefined,
        finish: { type: 'finish', reason: 'tool_calls' },
        error: undefined,
      },
      {
        id: 'gen-1',
        createdSeconds: 0,
        model: 'm',
        request: fillRequest({ protocol: 'gemini' }),
        reasoningContentMirror: false,
      },
    );
    const text = JSON.stringify(answer?.['candidates']);
    const [candidate] = JSON.parse(
      text.replace(
        /"thoughtSignature":"([^"]*)"/,
        (_, signature: string) => `"thoughtSignature":"${rewrite(signature)}"`,
      ),
    ) as [{ content: unknown }];
    const request: CanonicalRequest | undefined = server?.decodeRequest(
      { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }, candidate.content] },
      { model: 'm' },
    );
    return request?.items.find((item) => item.type === 'reasoning')?.opaque;
  }
  const asBytes = (signature: string): string => Buffer.from(signature, 'base64').toString('base64url');

  test.each([
    ["Gemini's own", 'EpIDCo8DAQw51scL+dHffCC/bg=='],
    ['a sealed one', 'dgm1_-_abc'],
    ['a text that no alphabet holds', 'a.b:c'],
  ])('%s is returned byte for byte', (_, data) => {
    const opaque = { format: 'google-gemini-v1', kind: 'encrypted', data };
    expect(comeBack(data, (signature) => signature)).toMatchObject(opaque);
    expect(comeBack(data, asBytes)).toMatchObject(opaque);
  });
});

test('a call without an id gets one, and its result finds it', () => {
  const request = server.decodeRequest(
    {
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }] },
        {
          role: 'model',
          parts: [
            { functionCall: { name: 'f' } },
            { functionCall: { name: 'g' } },
            { functionCall: { name: 'f' } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { name: 'g', response: { result: 'g' } } },
            { functionResponse: { name: 'f', response: { content: 'f1', name: 'f' } } },
            { functionResponse: { name: 'f', response: { a: 1, b: 2 } } },
          ],
        },
      ],
    },
    { model: 'm' },
  );
  const ids = request.items.flatMap((item) =>
    item.type === 'tool_call' || item.type === 'tool_result' ? [`${item.type} ${item.callId}`] : [],
  );
  expect(ids).toEqual([
    'tool_call gemini_call_1',
    'tool_call gemini_call_2',
    'tool_call gemini_call_3',
    'tool_result gemini_call_2',
    'tool_result gemini_call_1',
    'tool_result gemini_call_3',
  ]);
  const texts = request.items.flatMap((item) => (item.type === 'tool_result' ? item.parts : []));
  expect(texts).toMatchObject([{ text: 'g' }, { text: 'f1' }, { text: '{"a":1,"b":2}' }]);
});

test('pieces of arguments cannot reach a prototype, and broken ones do no harm', () => {
  const lines: string[] = [];
  const decoder = upstream.decodeStream({ on: (event) => lines.push(JSON.stringify(event)) }, codecContext());
  const piece = (jsonPath: string, more: object = {}): void =>
    decoder.frame(
      '',
      JSON.stringify({
        candidates: [
          {
            content: {
              parts: [
                {
                  functionCall: {
                    partialArgs: [{ jsonPath, stringValue: 'x', ...more }],
                    willContinue: true,
                  },
                },
              ],
            },
          },
        ],
      }),
    );
  decoder.frame(
    '',
    JSON.stringify({
      candidates: [{ content: { parts: [{ functionCall: { name: 'f', willContinue: true } }] } }],
    }),
  );
  piece('$.__proto__.polluted');
  piece('$');
  piece('$.a[999999999]');
  piece('$.a[0]');
  piece('$.a.b');
  piece('$.constructor.name');
  decoder.frame('', JSON.stringify({ candidates: [{ finishReason: 'STOP' }] }));
  decoder.end();
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  const args = lines.find((line) => line.includes('"arguments"')) ?? '';
  expect(args).toContain(String.raw`{\"a\":{\"b\":\"x\"},\"constructor\":{\"name\":\"x\"}}`);
  expect(lines.at(-1)).toContain('"reason":"tool_calls"');
});

test('a member that would become the prototype of the body is refused, not removed', () => {
  const body: unknown = JSON.parse('{"__proto__":{"contents":[{"parts":[{"text":"Hi"}]}]}}');
  expect(() => gemini.server?.decodeRequest(body, { model: 'm' })).toThrow(
    '__proto__: is not a valid member name',
  );
});
