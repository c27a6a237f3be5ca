// Worth of the console's cookie to a server on another port of the same host, to which browsers send it: none.
import { afterAll, describe, expect, test } from 'bun:test';
import { ADMIN_KEY, startManaged } from '../support/management/scene.ts';

const gateway = await startManaged();
afterAll(() => gateway.close());

interface Session {
  readonly cookie: string;
  readonly csrf: string;
  readonly tab: string;
}

async function signIn(headers: Record<string, string> = {}): Promise<Session> {
  const answer = await at('/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ key: ADMIN_KEY }),
  });
  const { csrf, tab } = (await answer.json()) as { csrf: string; tab: string };
  return { csrf, tab, cookie: answer.headers.get('set-cookie') ?? '' };
}

function at(path: string, init: RequestInit): Promise<Response> {
  return fetch(`${gateway.origin}/console${path}`, init);
}

async function token(
  headers: Record<string, string>,
  body: unknown,
): Promise<{ readonly status: number; readonly csrf: unknown }> {
  const answer = await at('/session/token', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  const { csrf } = (await answer.json()) as { csrf?: unknown };
  return { status: answer.status, csrf };
}

const SAME: Record<string, string> = { 'sec-fetch-site': 'same-origin' };

describe('the cookie alone', () => {
  test('reads nothing and changes nothing, with any headers of a browser', async () => {
    const { cookie } = await signIn();
    for (const extra of [{}, SAME, { origin: gateway.origin }])
      for (const [method, path] of [
        ['GET', '/keys'],
        ['GET', '/generations'],
        ['GET', '/events'],
        ['POST', '/keys'],
      ] as const) {
        const answer = await at(`/api/v1/management${path}`, { method, headers: { cookie, ...extra } });
        expect([path, answer.status]).toEqual([path, 403]);
      }
    const session = await at('/session', { headers: { cookie, ...SAME } });
    expect(await session.text()).not.toContain('csrf');
  });

  test('does not get the token: a page must show a value that only its own origin has', async () => {
    const { cookie, csrf, tab } = await signIn();
    expect(await token({ cookie, ...SAME }, {})).toEqual({ status: 200, csrf: undefined });
    expect(await token({ cookie, ...SAME }, { tab: `${tab}x` })).toEqual({ status: 200, csrf: undefined });
    for (const headers of [
      { cookie },
      { cookie, 'sec-fetch-site': 'same-site' },
      { cookie, 'sec-fetch-site': 'none' },
      { cookie, origin: 'http://127.0.0.1:1' },
    ])
      expect((await token(headers, { tab })).status).toBe(403);
    expect(await token({ cookie, ...SAME }, { tab })).toEqual({ status: 200, csrf });
    expect(await token({ cookie, origin: gateway.origin }, { tab })).toEqual({ status: 200, csrf });
  });

  test('is valid for this host alone under TLS', async () => {
    const tls = { 'x-forwarded-proto': 'https' };
    const { cookie, csrf } = await signIn(tls);
    expect(cookie).toMatch(/^__Host-dragoman_console=[\w-]+; Path=\/; .*; Secure$/);
    const value = cookie.split(';')[0] ?? '';
    const ask = (headers: Record<string, string>): Promise<Response> =>
      at('/api/v1/management/keys', { headers: { ...headers, 'x-csrf-token': csrf } });
    expect((await ask({ ...tls, cookie: value })).status).toBe(200);
    expect((await ask({ ...tls, cookie: value.replace('__Host-', '') })).status).toBe(401);
  });

  test('opens a table by a link of the console, and not by a link of another page', async () => {
    const { cookie } = await signIn();
    const table = (headers: Record<string, string>): Promise<Response> =>
      at('/api/v1/management/usage?format=csv', { headers: { cookie, ...headers } });
    const own = await table(SAME);
    expect(own.headers.get('content-type')).toContain('text/csv');
    expect((await table({ 'sec-fetch-site': 'same-site' })).status).toBe(403);
    expect((await table({})).status).toBe(403);
  });
});
