// `Prefer: respond-async` (RFC 7240): a whole answer in the client's own protocol, made without a connection.
import { afterAll, describe, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import { eventuallyFound } from '../../support/program.ts';

const gateway = await startGateway({
  keys: [
    { name: 'test', key: 'sk-test' },
    { name: 'other', key: 'sk-test-other' },
  ],
});
afterAll(() => gateway.close());

const ASYNC = { prefer: 'respond-async', 'content-type': 'application/json' };
const messages = [{ role: 'user', content: 'What is 6 x 7?' }];

const PROTOCOLS = [
  ['Messages', '/v1/messages', 'sim/messages', { max_tokens: 200, messages }, 'message'],
  ['Chat Completions', '/v1/chat/completions', 'sim/chat', { messages }, 'chat.completion'],
  [
    'Gemini',
    '/v1beta/models/sim/gemini:generateContent',
    '',
    { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
    '',
  ],
] as const;

function ask(path: string, body?: object, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(gateway.origin + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
}

function resultAt(path: string): Promise<Response> {
  const look = async (): Promise<Response> => {
    const response = await ask(path);
    if (response.status !== 202) return response;
    expect(response.headers.get('retry-after')).toBe('1');
    await response.text();
    return response;
  };
  return eventuallyFound('there is a result', look, ({ status }) => status !== 202);
}

describe('an asynchronous response', () => {
  test.each(PROTOCOLS)('equals a synchronous one in %s', async (_, path, model, body, object) => {
    const asked = model === '' ? body : { ...body, model };
    const plain = (await (await ask(path, asked, { 'content-type': 'application/json' })).json()) as object;
    const accepted = await ask(path, asked, ASYNC);
    expect(accepted.status).toBe(202);
    expect(accepted.headers.get('preference-applied')).toBe('respond-async');
    const location = accepted.headers.get('location')!;
    const id = accepted.headers.get('x-request-id')!;
    expect(location).toBe(`/v1/generations/${id}/result`);
    const result = await resultAt(location);
    expect([result.status, result.headers.get('x-request-id')]).toEqual([200, id]);
    const made = (await result.json()) as Record<string, unknown>;
    expect(Object.keys(made).toSorted()).toEqual(Object.keys(plain).toSorted());
    if (object !== '') expect([made['object'] ?? made['type']]).toEqual([object]);
    const record = (await (await ask(`/v1/generation?id=${id}`)).json()) as Record<string, unknown>;
    expect(record).toMatchObject({ id, status: 200 });
  });

  test('has the error of a synchronous one if it fails', async () => {
    const body = { model: 'sim/error-400', max_tokens: 10, messages };
    const accepted = await ask('/v1/messages', body, ASYNC);
    const result = await resultAt(accepted.headers.get('location')!);
    expect([result.status, await result.json()]).toMatchObject([400, { type: 'error' }]);
  });

  test('can be cancelled, and is only visible to its key', async () => {
    const accepted = await ask(
      '/v1/messages',
      { model: 'sim/stall-headers', max_tokens: 10, messages },
      ASYNC,
    );
    const id = accepted.headers.get('x-request-id');
    for (const path of ['result', 'cancel']) {
      const headers = { authorization: 'Bearer sk-test-other' };
      const method = path === 'cancel' ? 'POST' : 'GET';
      expect(
        (await fetch(`${gateway.origin}/v1/generations/${id}/${path}`, { method, headers })).status,
      ).toBe(404);
    }
    const cancelled = await ask(`/v1/generations/${id}/cancel`, {});
    expect(await cancelled.json()).toEqual({ id, object: 'generation.result', status: 'cancelled' });
    const gone = await ask(`/v1/generations/${id}/result`);
    expect([gone.status, await gone.json()]).toMatchObject([410, { error: { code: 'no_result' } }]);
  });

  test('is refused at once if it is not supported', async () => {
    const refused = async (body: object): Promise<unknown[]> => {
      const response = await ask('/v1/messages', body, ASYNC);
      return [response.status, ((await response.json()) as { error: { type: string } }).error.type];
    };
    expect(await refused({ model: 'nobody/nothing', max_tokens: 1, messages })).toEqual([
      404,
      'not_found_error',
    ]);
    expect(await refused({ model: 'sim/messages', max_tokens: 1, messages, stream: true })).toEqual([
      400,
      'invalid_request_error',
    ]);
  });
});
