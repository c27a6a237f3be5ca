// Failures of an upstream whose answers are relayed: its own words reach the client as they are, because clients recover
// by them; and what is none of the client's business does not.
import { afterAll, afterEach, describe, expect, test } from 'bun:test';
import { whole } from '../../support/upstreams/answers.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { CLIENTS, type ClientProtocol } from '../../support/upstreams/client-dialects.ts';
import { recordOf, startScene, UPSTREAM_KEY } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';

const clock = new ArmedClock();
const endpoint = (provider: string): object => ({ provider, model: 'm', protocol: 'anthropic-messages' });
const scene = await startScene(['up', 'other'], {
  clock,
  faithful: true,
  config: {
    models: [
      { id: 'two/messages', endpoints: [endpoint('up'), endpoint('other')] },
      // The one of the scene reasons, and such answers are translated where nobody asks to see it.
      {
        id: 'plain/responses',
        endpoints: [{ provider: 'up', model: 'm', protocol: 'openai-responses' }],
      },
    ],
  },
});
clock.impatient = true;
afterEach(() => clock.advance(600_000));
afterAll(() => scene[Symbol.asyncDispose]());

const ask = (client: ClientProtocol, model: string, stream: boolean): Promise<Response> => {
  const { path, ask: body } = CLIENTS[client];
  return scene.gateway.post(path(model, stream), body(model, stream));
};

const modelOf = (client: ClientProtocol): string =>
  client === 'openai-responses' ? 'plain/responses' : `one/${client.split('-').at(-1)}`;

/** As the vendors word them, with spaces, members and an order that nobody else would choose. */
const WORDS: Readonly<Record<ClientProtocol, Readonly<Record<number, string>>>> = {
  'anthropic-messages': {
    402: '{"type": "error", "error": {"type": "billing_error", "message": "Your credit balance ran out"}}',
    429: '{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your limit"},"request_id":"req_1"}',
    500: '{"type":"error","error":{"details":null,"type":"api_error","message":"Internal server error"}}\n',
    529: '{"type":"error", "error":{"type":"overloaded_error","message":"Overlöaded"}, "request_id":"req_2"}',
  },
  'openai-chat': {
    429: '{ "error": { "message": "Rate limit reached for m", "type": "tokens", "param": null, "code": "rate_limit_exceeded" } }',
    503: '{"error":{"message":"Slow down","type":"server_error","code":"slow_down","param":null}}',
  },
  'openai-responses': {
    500: '{"error": {"code": "server_error", "message": "Sorry about that", "type": "server_error"}}',
  },
  gemini: {
    429: '{\n  "error": {\n    "code": 429,\n    "message": "Resource has been exhausted",\n    "status": "RESOURCE_EXHAUSTED"\n  }\n}\n',
    503: '{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}',
  },
};
const rows = (Object.keys(WORDS) as ClientProtocol[]).flatMap((client) =>
  Object.entries(WORDS[client]).flatMap(([status, words]) =>
    [false, true].map((stream) => ({ client, status: Number(status), words, stream })),
  ),
);

test.each(rows)(
  '$client: status $status passes unchanged, stream $stream',
  async ({ client, status, words, stream }) => {
    scene.upstream('up').always(whole(words, status, { 'retry-after': '60', 'x-secret': 'theirs' }));
    const response = await ask(client, modelOf(client), stream);
    expect([response.status, await response.text()]).toEqual([status, words]);
    expect(response.headers.get('retry-after')).toBe('60');
    // Only an empty account is not full again after the wait that the upstream asks for.
    expect(response.headers.get('x-should-retry')).toBe(status === 402 ? 'false' : null);
    expect(response.headers.get('x-secret')).toBeNull();
    expect(response.headers.get('x-dragoman-lane')).toBe('relay');
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'status')).toBe(status);
  },
);

describe('errors that are not relayed unchanged', () => {
  const overloaded = WORDS['anthropic-messages'][529] ?? '';

  test.each([401, 403])('the refusal of the gateway’s own key (%d)', async (status) => {
    const words = '{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}';
    scene.upstream('up').always(whole(words, status));
    const response = await ask('anthropic-messages', 'one/messages', false);
    expect(response.status).toBe(500);
    const error = at(await response.json(), 'error');
    expect(at(error, 'type')).toBe('api_error');
    // Clients would look at their own key otherwise.
    if (status === 401)
      expect(at(error, 'message')).toContain("refused the gateway's API key: invalid x-api-key");
  });

  test('an error that contains a key of the gateway', async () => {
    scene.upstream('up').always(whole(`{"type":"error","error":{"message":"key ${UPSTREAM_KEY}"}}`, 500));
    const response = await ask('anthropic-messages', 'one/messages', false);
    const text = await response.text();
    expect(text).toStartWith('{"type":"error","error":{"message":"key ');
    expect(text).not.toContain(UPSTREAM_KEY);
  });

  test.each(['<html><title>Bad gateway</title></html>', '', '"down"', '{}'])(
    'the page of a proxy on the way: %p',
    async (page) => {
      scene.upstream('up').always(whole(page, 502, { 'content-type': 'text/html' }));
      const response = await ask('anthropic-messages', 'one/messages', false);
      expect(response.status).toBe(500);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(at(await response.json(), 'error', 'type')).toBe('api_error');
    },
  );

  test('the error of one of several endpoints', async () => {
    scene.upstream('up').always(whole(overloaded, 529));
    scene.upstream('other').always(whole(overloaded, 529));
    const both = await ask('anthropic-messages', 'two/messages', false);
    expect(both.status).toBe(529);
    const { error } = (await both.json()) as { error: { type: string; message: string } };
    expect(error.type).toBe('overloaded_error');
    expect(error.message).toMatch(/up.*\(2 attempts\).*other.*\(2 attempts\)/);
    scene.upstream('other').always(whole(WORDS['anthropic-messages'][500] ?? '', 500));
    const one = await ask('anthropic-messages', 'two/messages', false);
    expect([one.status, at(await one.json(), 'error', 'type')]).toEqual([500, 'api_error']);
  });

  test('the error of another protocol, which becomes its native equivalent', async () => {
    const cases = [
      ['anthropic-messages', 503, 529, 'overloaded_error'],
      ['anthropic-messages', 500, 500, 'api_error'],
      ['anthropic-messages', 429, 429, 'rate_limit_error'],
      ['anthropic-messages', 402, 402, 'billing_error'],
      ['gemini', 500, 503, 'UNAVAILABLE'],
      ['gemini', 402, 429, 'RESOURCE_EXHAUSTED'],
      ['gemini', 429, 429, 'RESOURCE_EXHAUSTED'],
      ['openai-responses', 503, 503, 'server_error'],
      ['openai-responses', 402, 402, 'insufficient_quota'],
    ] as const;
    for (const [client, status, reported, word] of cases) {
      scene.upstream('up').always(whole('{"error":{"message":"scripted"}}', status));
      const response = await ask(client, 'one/chat', false);
      const body: unknown = await response.json();
      expect([client, status, response.status]).toEqual([client, status, reported]);
      expect(at(body, 'error', client === 'gemini' ? 'status' : 'type')).toBe(word);
      if (client === 'gemini') expect(at(body, 'error', 'code')).toBe(reported);
    }
  });
});

describe('the request id of an upstream in a refusal', () => {
  const sorry = (id: string): string =>
    `{"error":{"message":"Sorry about that! (Please include the request ID ${id} in your email.)","type":"server_error"}}`;

  test('is not in errors of another protocol, but in a header and the records', async () => {
    scene.upstream('up').always(whole(sorry('req_1a2b3c4d'), 400, { 'x-request-id': 'req_1a2b3c4d' }));
    const response = await ask('anthropic-messages', 'one/chat', false);
    expect(at(await response.json(), 'error', 'message')).toEndWith('Sorry about that!');
    expect(response.headers.get('x-dragoman-upstream-id')).toBe('req_1a2b3c4d');
    const record = await recordOf(scene.gateway, response);
    expect(at(record, 'attempts', 0, 'upstream_id')).toBe('req_1a2b3c4d');
    expect(at(record, 'error', 'message')).not.toContain('req_1a2b3c4d');
  });

  test('stays in relayed errors, byte for byte', async () => {
    scene.upstream('up').always(whole(sorry('req_1a2b3c4d'), 400));
    const response = await ask('openai-chat', 'one/chat', false);
    expect(await response.text()).toBe(sorry('req_1a2b3c4d'));
    expect(response.headers.get('x-dragoman-upstream-id')).toBeNull();
  });
});
