// The console as programs reach it: whom it lets in, what it sends, and that a session is no more than its key.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { writeConsole } from '../../console/build/build.ts';
import { OneTimeCodes, signInCode } from '../../src/accounts/auth/index.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { ADMIN_KEY, type ManagedGateway, startManaged } from '../support/management/scene.ts';
import { freshFolder } from '../support/program.ts';

let gateway: ManagedGateway;
let clock: ManualClock;

beforeAll(async () => {
  clock = new ManualClock();
  gateway = await startManaged({}, { clock });
});
afterAll(() => gateway.close());

interface SignedIn {
  readonly cookie: string;
  readonly csrf: string;
}

async function at(path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${gateway.origin}/console${path}`, init);
}

async function signIn(body: unknown = { key: ADMIN_KEY }): Promise<Response> {
  return at('/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

async function signedIn(body?: unknown): Promise<SignedIn> {
  const answer = await signIn(body);
  expect(answer.status).toBe(200);
  const { csrf } = (await answer.json()) as { csrf: string };
  return { csrf, cookie: answer.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

const manage = (path: string, { cookie, csrf }: SignedIn, init: RequestInit = {}): Promise<Response> =>
  at(`/api/v1/management${path}`, { ...init, headers: { cookie, 'x-csrf-token': csrf, ...init.headers } });

async function statusOf(answer: Promise<Response>): Promise<readonly [number, unknown]> {
  const { status, ...rest } = await answer.then(async (response) => ({
    status: response.status,
    body: (await response.json()) as { error?: { code?: unknown } },
  }));
  return [status, rest.body.error?.code];
}

test('the page and all its resources come from the gateway, and its policy allows nothing else', async () => {
  const page = await at('/requests/any');
  const text = await page.text();
  expect(page.headers.get('content-security-policy')).toMatch(
    /default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self';.* frame-ancestors 'none'$/,
  );
  expect(page.headers.get('x-frame-options')).toBe('DENY');
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(text).not.toMatch(/<script>|<style|style=|\son\w+=|https?:/);
  const loaded = [...text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path = '']) => path);
  expect(loaded).toHaveLength(3);
  for (const path of loaded) {
    const file = await fetch(gateway.origin + path);
    expect(file.headers.get('cache-control')).toContain('immutable');
    expect(file.headers.get('x-content-type-options')).toBe('nosniff');
  }
  for (const path of ['/assets/none.js', '/assets/..%2findex.html', '/assets/../../package.json'])
    expect((await at(path)).headers.get('content-type')).not.toContain('javascript');
});

test('a key without management rights cannot sign in, and each refusal is in the log', async () => {
  expect(await statusOf(signIn({ key: 'sk-wrong' }))).toEqual([401, 'invalid_api_key']);
  expect(await statusOf(signIn({ key: gateway.key }))).toEqual([403, 'permission_denied']);
  expect(await statusOf(signIn({ code: 'guessed' }))).toEqual([401, 'invalid_code']);
  expect(await statusOf(signIn({}))).toEqual([401, 'invalid_api_key']);
  expect(gateway.logLines.join('')).toContain('a sign-in to the management API was refused');
  expect(gateway.logLines.join('')).not.toContain('sk-wrong');
  expect((await at('/session', { method: 'POST', body: `key=${ADMIN_KEY}` })).status).toBe(400);
});

test('a session has the rights of its key for management alone, and its answers contain no secret', async () => {
  const session = await signedIn();
  const answer = await manage('/keys', session);
  expect(answer.status).toBe(200);
  expect(await answer.text()).not.toContain(ADMIN_KEY);
  const made = await manage('/keys', session, {
    method: 'POST',
    body: JSON.stringify({ name: 'by-console' }),
  });
  expect(made.status).toBe(201);
  const audit = await gateway.manage('GET', '/audit?action=key.create&limit=1');
  expect(audit.body).toMatchObject({ data: [{ actor: { name: 'admin' }, after: { name: 'by-console' } }] });
  // Calls of models are not behind it.
  expect(
    (await at('/api/v1/models', { headers: { cookie: session.cookie, 'x-csrf-token': session.csrf } }))
      .status,
  ).toBe(404);
  // The cookie is worth nothing elsewhere.
  const remote = await fetch(`${gateway.origin}/v1/management/keys`, {
    headers: { cookie: session.cookie },
  });
  expect(remote.status).toBe(401);
});

test('other sites cannot use a session', async () => {
  const session = await signedIn();
  const { cookie, csrf } = session;
  const create = { method: 'POST', body: '{"name":"forged"}' };
  expect(await statusOf(at('/api/v1/management/keys', { ...create, headers: { cookie } }))).toEqual([
    403,
    'csrf_token',
  ]);
  expect(
    await statusOf(
      at('/api/v1/management/keys', { ...create, headers: { cookie, 'x-csrf-token': `${csrf}x` } }),
    ),
  ).toEqual([403, 'csrf_token']);
  for (const headers of [
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'http://evil.example' },
  ])
    for (const init of [{}, create])
      expect(await statusOf(manage('/keys', session, { ...init, headers }))).toEqual([403, 'cross_site']);
  expect(await statusOf(at('/session', { method: 'DELETE', headers: { cookie } }))).toEqual([
    403,
    'csrf_token',
  ]);
  expect(await statusOf(at('/session', { headers: { cookie, 'sec-fetch-site': 'cross-site' } }))).toEqual([
    403,
    'cross_site',
  ]);
  const own = await manage('/keys', session, {
    headers: { origin: gateway.origin, 'sec-fetch-site': 'same-origin' },
  });
  expect(own.status).toBe(200);
});

test('sessions end at sign-out, after idle hours, after a day, and with their key', async () => {
  const ended = [401, 'session_ended'] as const;
  const left = await signedIn();
  await at('/session', { method: 'DELETE', headers: { cookie: left.cookie, 'x-csrf-token': left.csrf } });
  expect(await statusOf(manage('/keys', left))).toEqual(ended);

  const idle = await signedIn();
  clock.advance(2 * 3_600_000 - 1);
  expect((await manage('/keys', idle)).status).toBe(200);
  clock.advance(2 * 3_600_000);
  expect(await statusOf(manage('/keys', idle))).toEqual(ended);

  const busy = await signedIn();
  for (let hour = 1; hour < 12; hour++) {
    clock.advance(3_600_000);
    expect((await manage('/keys', busy)).status).toBe(200);
  }
  clock.advance(3_600_000);
  expect(await statusOf(manage('/keys', busy))).toEqual(ended);

  const { body } = await gateway.manage('POST', '/keys', { name: 'operator', roles: ['admin'] });
  const held = await signedIn({ key: body['key'] });
  expect((await manage('/keys', held)).status).toBe(200);
  await gateway.manage('DELETE', `/keys/${String(body['id'])}`);
  expect(await statusOf(manage('/keys', held))).toEqual(ended);
  expect(await (await at('/session', { headers: { cookie: held.cookie } })).json()).toEqual({
    signed_in: false,
  });
});

test('sessions are listed with key and origin, and another one can be ended', async () => {
  const { body: key } = await gateway.manage('POST', '/keys', { name: 'second admin', roles: ['admin'] });
  const other = await signedIn({ key: key['key'] });
  const own = await signedIn();
  const read = async () => {
    const { body } = await gateway.manage('GET', '/sessions');
    return body['data'] as Record<string, string>[];
  };
  const ownId = async ({ cookie }: SignedIn): Promise<string> => {
    const answer = await at('/session', { headers: { cookie } });
    return ((await answer.json()) as { session_id: string }).session_id;
  };
  const id = await ownId(other);
  const found = (await read()).find((each) => each['id'] === id);
  expect(found).toMatchObject({
    actor: { id: key['id'], name: 'second admin' },
    address: '127.0.0.1',
    user_agent: expect.stringContaining('Bun'),
    created_at: new Date(clock.wall()).toISOString(),
    last_used_at: new Date(clock.wall()).toISOString(),
    expires_at: new Date(clock.wall() + 2 * 3_600_000).toISOString(),
  });
  expect((await read()).map((each) => each['id'])).toContain(await ownId(own));
  expect(JSON.stringify(await read())).not.toContain(String(key['key']));

  const ended = await manage(`/sessions/${id}`, own, { method: 'DELETE' });
  expect([ended.status, await ended.json()]).toEqual([200, { object: 'console.session.ended', id }]);
  expect(await statusOf(manage('/keys', other))).toEqual([401, 'session_ended']);
  expect((await read()).map((each) => each['id'])).not.toContain(id);
  expect((await manage('/keys', own)).status).toBe(200);
  expect((await gateway.manage('DELETE', `/sessions/${id}`)).status).toBe(404);
  const { body: audit } = await gateway.manage('GET', '/audit?action=console.session.end');
  expect(audit['data']).toMatchObject([{ actor: { name: 'admin' }, target: id }]);

  // A session whose key was revoked is no session any more, though nobody has used it since.
  const revoked = await signedIn({ key: key['key'] });
  const revokedId = await ownId(revoked);
  await gateway.manage('DELETE', `/keys/${String(key['id'])}`);
  expect((await read()).map((each) => each['id'])).not.toContain(revokedId);
});

test('a sign-in link works once, and for 15 minutes', async () => {
  const code = gateway.signInLink().split('#code=')[1];
  const session = await signedIn({ code });
  expect((await manage('/keys', session)).status).toBe(200);
  // Longer than the tokens that it stands for.
  clock.advance(3_600_000);
  expect((await manage('/keys', session)).status).toBe(200);
  expect(await statusOf(signIn({ code }))).toEqual([401, 'invalid_code']);
  const late = gateway.signInLink().split('#code=')[1];
  clock.advance(15 * 60_000 + 1);
  expect(await statusOf(signIn({ code: late }))).toEqual([401, 'invalid_code']);
});

test('a sign-in code of a command on this machine works once, in whichever process gets it', async () => {
  const operatorSecret = Buffer.alloc(32, 7);
  const claimed = new Set<string>();
  const claim = async (what: string): Promise<boolean> => claimed.size < claimed.add(what).size;
  const [first, second] = [1, 2].map(() => new OneTimeCodes({ operatorSecret, now: clock.now, claim }));
  const until = clock.now() + 60_000;
  for (const code of [signInCode(operatorSecret, until), first?.issue() ?? '']) {
    expect(await second?.take(code)).toBe(true);
    expect(await first?.take(code)).toBe(false);
  }
  expect(await first?.take(signInCode(Buffer.alloc(32, 8), until))).toBe(false);
  expect(claimed.size).toBe(2);
});

test('over TLS the cookie is valid for TLS alone', async () => {
  const answer = await at('/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-proto': 'https' },
    body: JSON.stringify({ key: ADMIN_KEY }),
  });
  expect(answer.headers.get('set-cookie')).toMatch(
    /^__Host-dragoman_console=[\w-]{43}; Path=\/; Max-Age=43200; HttpOnly; SameSite=Strict; Secure$/,
  );
});

/** Compressed, in bytes: what the first page loads, and all files together. */
const MOST = { scripts: 170_000, styles: 15_000, font: 60_000, all: 500_000 };

test('all files together are small, and built for production', async () => {
  const { folder, remove } = freshFolder();
  try {
    await writeConsole(join(folder, 'built'));
    const assets = join(folder, 'built', 'assets');
    const files = readdirSync(assets).map((name) => ({ name, bytes: readFileSync(join(assets, name)) }));
    expect(files.length).toBeGreaterThan(2);
    expect(files.reduce((sum, { bytes }) => sum + bytes.length, 0)).toBeLessThan(MOST.all);
    const sizeOf = (type: string): number =>
      files
        .filter(({ name }) => name.endsWith(`.${type}.gz`))
        .reduce((sum, { bytes }) => sum + bytes.length, 0);
    expect(sizeOf('css')).toBeLessThan(MOST.styles);
    expect(sizeOf('woff2')).toBeLessThan(MOST.font);
    const scripts = files.filter(({ name }) => name.endsWith('.js.gz'));
    const text = scripts.map(({ bytes }) => gunzipSync(bytes).toString()).join('');
    expect(text.includes('NODE_ENV')).toBe(false);
  } finally {
    remove();
  }
});
