// Who may manage a gateway, and what everybody else is told.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isOperatorToken, operatorToken } from '../../src/auth/index.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { ADMIN_KEY, type ManagedGateway, startManaged } from './scene.ts';

let gateway: ManagedGateway;
const PLACE = '/providers';

beforeAll(async () => {
  gateway = await startManaged();
});
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

test('nobody gets in without a key or with a wrong one, also where there is nothing', async () => {
  for (const path of [PLACE, '/nothing', '/config'])
    for (const headers of [{}, { authorization: 'Bearer sk-test-of-somebody-else' }]) {
      const response = await ask(`/v1/management${path}`, headers as Record<string, string>);
      expect(response.status).toBe(401);
      expect(await response.json()).toMatchObject({ error: { code: 'invalid_api_key' } });
    }
});

test('a key that is no admin gets a 403, and an admin key cannot call models', async () => {
  const refused = await ask(`/v1/management${PLACE}`, { authorization: `Bearer ${gateway.key}` });
  expect(refused.status).toBe(403);
  expect(await refused.json()).toMatchObject({ error: { code: 'permission_denied' } });
  const body = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] };
  const called = await gateway.post('/chat/completions', body, { authorization: `Bearer ${ADMIN_KEY}` });
  expect(called.status).toBe(403);
  expect(await called.json()).toMatchObject({ error: { code: 'permission_denied' } });
});

test('who is refused is told to the log, without the key, and not more often than is bearable', async () => {
  const before = gateway.logLines.length;
  const wrong = 'sk-test-wrong-key-of-a-stranger';
  await Promise.all(
    Array.from({ length: 40 }, () => ask(`/v1/management${PLACE}`, { authorization: `Bearer ${wrong}` })),
  );
  const told = gateway.logLines.slice(before).filter((line) => line.includes('management API was refused'));
  expect(told.length).toBeLessThanOrEqual(20);
  expect(gateway.logLines.join('')).toContain('"address":"127.0.0.1"');
  expect(gateway.logLines.join('')).not.toContain(wrong);
});

test('what is not there is a 404 for an admin', async () => {
  const { status, body } = await gateway.manage('GET', '/nothing');
  expect(status).toBe(404);
  expect(body).toMatchObject({ error: { type: 'not_found_error' } });
  expect((await gateway.manage('PUT', PLACE)).status).toBe(404);
});

describe('an operator token', () => {
  const secret = new Uint8Array(32).fill(7);
  const NOW = 1_700_000_000_000;

  test('is good for a minute, under its own secret, as it was made', () => {
    const token = operatorToken(secret, NOW);
    expect(isOperatorToken(token, secret, NOW)).toBe(true);
    expect(isOperatorToken(token, secret, NOW + 59_999)).toBe(true);
    expect(isOperatorToken(token, secret, NOW + 60_000)).toBe(false);
    expect(isOperatorToken(token, secret, NOW - 60_000)).toBe(false);
    expect(isOperatorToken(token, new Uint8Array(32), NOW)).toBe(false);
    expect(isOperatorToken(token.slice(0, -1), secret, NOW)).toBe(false);
    expect(isOperatorToken(operatorToken(secret, NOW + 10 ** 12), secret, NOW)).toBe(false);
    const forged = token.replace(/^(dm-op-v1-)\w+/, `$1${(NOW + 50_000).toString(36)}`);
    expect(isOperatorToken(forged, secret, NOW)).toBe(false);
  });

  test('made from the data directory opens the running gateway', async () => {
    const storage = await openSqliteStorage({ path: `${gateway.dataDir}/dragoman.db` });
    const token = operatorToken(await storage.secret('operator'), Date.now());
    await storage.close();
    const authorization = `Bearer ${token}`;
    expect((await ask(`/v1/management${PLACE}`, { authorization })).status).toBe(200);
    expect((await ask('/v1/models', { authorization })).status).toBe(401);
    const mistaken = { authorization: `${authorization}x` };
    expect((await ask(`/v1/management${PLACE}`, mistaken)).status).toBe(401);
  });
});
