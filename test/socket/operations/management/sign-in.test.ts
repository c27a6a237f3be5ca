// Sign-in: who may manage a gateway, and the answer that everybody else gets.
import { afterAll, describe, expect, test } from 'bun:test';
import { isOperatorToken, operatorToken } from '../../../../src/accounts/auth/index.ts';
import { openSqliteStorage } from '../../../../src/storage/sqlite/storage.ts';
import { ADMIN_KEY, startManaged } from '../../../support/management/scene.ts';

const PLACE = '/providers';

const gateway = await startManaged();
afterAll(() => gateway.close());

const ask = (path: string, headers: Record<string, string>, method = 'GET') =>
  fetch(`${gateway.origin}${path}`, { method, headers });

test('an admin gets in under both bases, with any of the three headers', async () => {
  for (const base of ['/v1', '/api/v1'])
    for (const headers of [
      { authorization: `Bearer ${ADMIN_KEY}` },
      { 'x-api-key': ADMIN_KEY },
      { 'x-goog-api-key': ADMIN_KEY },
    ])
      expect((await ask(`${base}/management${PLACE}`, headers)).status).toBe(200);
});

test('a request without a key or with a wrong one is refused, also for paths that do not exist', async () => {
  for (const path of [PLACE, '/nothing', '/config'])
    for (const headers of [{}, { authorization: 'Bearer sk-test-of-somebody-else' }]) {
      const response = await ask(`/v1/management${path}`, headers as Record<string, string>);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
    }
});

test('a key without the role admin gets a 403, and an admin key cannot call models', async () => {
  const refused = await ask(`/v1/management${PLACE}`, { authorization: `Bearer ${gateway.key}` });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'permission_denied' } });
  const body = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] };
  const called = await gateway.post('/chat/completions', body, { authorization: `Bearer ${ADMIN_KEY}` });
  expect(called.status).toBe(403);
  expect(await called.json()).toMatchObject({ error: { code: 'permission_denied' } });
});

test('refused requests are logged without the key, and with a limited rate', async () => {
  const before = gateway.logLines.length;
  const wrong = 'sk-test-wrong-key-of-a-stranger';
  await Promise.all(
    Array.from({ length: 40 }, () => ask(`/v1/management${PLACE}`, { authorization: `Bearer ${wrong}` })),
  );
  const reported = gateway.logLines
    .slice(before)
    .filter((line) => line.includes('management API was refused'));
  expect(reported.length).toBeLessThanOrEqual(20);
  expect(gateway.logLines.join('')).toContain('"address":"127.0.0.1"');
  expect(gateway.logLines.join('')).not.toContain(wrong);
});

test('an unknown path is a 404 for an admin', async () => {
  const { status, body } = await gateway.manage('GET', '/nothing');
  expect(status).toBe(404);
  expect(body).toMatchObject({ error: { type: 'invalid_request_error' } });
  expect((await gateway.manage('PUT', PLACE)).status).toBe(405);
  // The name of a model has segments of its own.
  const deep = await gateway.manage('PUT', '/models/acme/large');
  expect([deep.status, deep.body]).toMatchObject([405, { error: { code: 'method_not_allowed' } }]);
});

describe('an operator token', () => {
  const secret = new Uint8Array(32).fill(7);
  const NOW = 1_700_000_000_000;

  const REQUEST = { method: 'GET', url: 'http://127.0.0.1:4000/v1/management/limits?kind=key' };
  const isGood = (token: string, nowMs: number, with_: Uint8Array = secret, request = REQUEST): boolean =>
    isOperatorToken(token, request, with_, nowMs);

  test('is valid for a minute, with its own secret, unchanged, for its own request', () => {
    const token = operatorToken(REQUEST, secret, NOW);
    expect(isGood(token, NOW)).toBe(true);
    expect(isGood(token, NOW + 59_999)).toBe(true);
    expect(isGood(token, NOW + 60_000)).toBe(false);
    expect(isGood(token, NOW - 60_000)).toBe(false);
    expect(isGood(token, NOW, new Uint8Array(32))).toBe(false);
    expect(isGood(token.slice(0, -1), NOW)).toBe(false);
    expect(isGood(operatorToken(REQUEST, secret, NOW + 10 ** 12), NOW)).toBe(false);
    const forged = token.replace(/^(dm-op-v2-)\w+/, `$1${(NOW + 50_000).toString(36)}`);
    expect(isGood(forged, NOW)).toBe(false);
    for (const url of [
      'http://127.0.0.1:4001/v1/management/limits?kind=key',
      'http://127.0.0.1:4000/v1/management/keys',
      'http://127.0.0.1:4000/v1/management/limits?kind=project',
    ])
      expect(isGood(token, NOW, secret, { method: 'GET', url })).toBe(false);
    expect(isGood(token, NOW, secret, { ...REQUEST, method: 'POST' })).toBe(false);
  });

  test('that was created from the data directory opens the running gateway', async () => {
    const storage = await openSqliteStorage({ path: `${gateway.dataDir}/dragoman.db` });
    const request = { method: 'GET', url: `${gateway.origin}/v1/management${PLACE}` };
    const token = operatorToken(request, await storage.secret('operator'), Date.now());
    await storage.close();
    const authorization = `Bearer ${token}`;
    expect((await ask(`/v1/management${PLACE}`, { authorization })).status).toBe(200);
    expect((await ask('/v1/models', { authorization })).status).toBe(401);
    expect((await ask('/v1/management/keys', { authorization })).status).toBe(401);
    const mistaken = { authorization: `${authorization}x` };
    expect((await ask(`/v1/management${PLACE}`, mistaken)).status).toBe(401);
  });
});
