// Keys: their form, who they belong to, and how they are refused.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  generateKey,
  hashKey,
  isMistyped,
  KEY_PREFIX,
  type ConfiguredTenants,
  KeyCommands,
  KeyIndex,
  keyHint,
  type NewKey,
  presentedKey,
} from '../../../src/accounts/auth/index.ts';
import { type GatewayError } from '../../../src/canonical/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { rejection } from '../../support/rejection.ts';
import { compileNamePatterns } from '../../../src/base/lib/name-patterns.ts';
import { entryOf } from '../../support/storage/audit-entries.ts';
import { casesOf } from '../../support/share.ts';
import { eventually } from '../../support/program.ts';

const NOW = 1_700_000_000_000;

async function setUp(keys: ConfiguredTenants['keys'] = []) {
  const storage = await openSqliteStorage({ path: ':memory:' });
  const pepper = await storage.secret('pepper');
  const index = new KeyIndex({ storage, pepper, configured: { keys } });
  await index.refresh();
  let nowMs = NOW;
  const commands = new KeyCommands({
    storage,
    pepper,
    configured: () => ({ keys }),
    now: () => nowMs,
    entryOf,
  });
  const at = (ms: number): KeyCommands => {
    nowMs = ms;
    return commands;
  };
  return { storage, pepper, index, at };
}
function refusal(run: () => unknown): GatewayError {
  try {
    run();
  } catch (error) {
    return error as GatewayError;
  }
  throw new Error('was not refused');
}

test('a generated key has our prefix, 43 characters and a checksum that fits', () => {
  const key = generateKey();
  expect(key).toMatch(/^sk-dm-v1-[0-9A-Za-z]{49}$/);
  expect(isMistyped(key)).toBe(false);
  expect(generateKey()).not.toBe(key);
  expect(generateKey(new Uint8Array(32))).toHaveLength(key.length);
  expect(generateKey(new Uint8Array(32).fill(255))).toHaveLength(key.length);
});

test('any changed, missing or added character of a generated key is noticed', () => {
  const key = generateKey();
  fc.assert(
    fc.property(
      fc.integer({ min: KEY_PREFIX.length, max: key.length - 1 }),
      fc.constantFrom('0', 'A', 'a', '9', 'Z', 'z'),
      (at, char) => {
        fc.pre(key[at] !== char);
        expect(isMistyped(key.slice(0, at) + char + key.slice(at + 1))).toBe(true);
        expect(isMistyped(key.slice(0, at))).toBe(true);
      },
    ),
  );
  expect(isMistyped(`${key}x`)).toBe(true);
  expect(isMistyped('sk-test')).toBe(false);
});

test('a hint shows the ends of a key and nothing of a short one', () => {
  const key = generateKey();
  expect(keyHint(key)).toBe(`${key.slice(0, 11)}…${key.slice(-4)}`);
  expect(keyHint('sk-test')).toBe('…');
});

test('a hash depends on the pepper', () => {
  expect(hashKey('sk-test', new Uint8Array(32))).toMatch(/^[0-9a-f]{64}$/);
  expect(hashKey('sk-test', new Uint8Array(32))).not.toBe(hashKey('sk-test', new Uint8Array(32).fill(1)));
});

test('a created key opens the door, and only its hash is stored', async () => {
  const { storage, index, at } = await setUp();
  const { key, record } = await at(NOW).create({
    name: 'laptop',
    models: ['openai/*'],
    logContent: true,
    routing: { only: ['openai'], hedge: true },
  });
  expect(JSON.stringify(await storage.keys.find(record.id))).not.toContain(key);
  expect('hash' in record).toBe(false);
  expect(await index.refresh()).toBe(true);
  const principal = index.authenticate(key, NOW);
  expect(principal).toMatchObject({ keyId: record.id, name: 'laptop', logContent: true, expiresAt: null });
  expect(record.routing).toEqual({ only: ['openai'], hedge: true });
  expect(principal.routing).toMatchObject({
    only: { path: 'key.routing.only', names: ['openai'] },
    hedge: true,
  });
  expect(principal.mayUse('openai/gpt-5')).toBe(true);
  expect(principal.mayUse('anthropic/claude')).toBe(false);
  expect(index.authenticate(key, NOW)).toBe(principal);
});

test('each refusal is a 401 with its own explanation', async () => {
  const { index, at } = await setUp();
  const expiring = await at(NOW).create({ name: 'short', expiresAt: NOW + 10 });
  const revoked = await at(NOW).create({ name: 'old' });
  await at(NOW).revoke('old');
  await index.refresh();
  expect(index.authenticate(expiring.key, NOW + 9).name).toBe('short');
  const cases: [string | null, number, RegExp][] = [
    [null, NOW, /No API key was sent.*Authorization: Bearer/],
    ['sk-test-of-somebody-else', NOW, /is unknown/],
    [expiring.key.slice(0, -1), NOW, /incomplete or mistyped/],
    [expiring.key, NOW + 10, /"short" expired on 2023-11-14T22:13:20.010Z/],
    [revoked.key, NOW, /"old" has been revoked/],
    ['', NOW, /is unknown/],
  ];
  for (const [presented, now, message] of cases) {
    const error = refusal(() => index.authenticate(presented, now));
    expect(error).toMatchObject({ kind: 'authentication', status: 401, code: 'invalid_api_key' });
    expect(error.message).toMatch(message);
    if (presented) expect(error.message).not.toContain(presented);
  }
  expect(index.usableKeys(NOW)).toBe(1);
  expect(index.usableKeys(NOW + 10)).toBe(0);
});

test('configured keys work with stored ones, and keep their tenant across restarts and new names', async () => {
  const { storage, pepper, index } = await setUp([
    { name: 'env', key: 'sk-test', models: ['sim/*'], routing: { factor: 'speed' } },
    { name: 'unset', key: '' },
  ]);
  const principal = index.authenticate('sk-test', NOW);
  expect(principal).toMatchObject({ name: 'env', logContent: null, routing: { factor: 'speed' } });
  expect(principal.mayUse('openai/gpt-5')).toBe(false);
  expect(refusal(() => index.authenticate('', NOW)).status).toBe(401);
  const again = new KeyIndex({
    storage,
    pepper,
    configured: { keys: [{ name: 'renamed', key: 'sk-test' }] },
  });
  await again.refresh();
  expect(again.authenticate('sk-test', NOW)).toMatchObject({
    keyId: principal.keyId,
    name: 'renamed',
    routing: null,
  });
  again.configure({ keys: [] });
  expect(refusal(() => again.authenticate('sk-test', NOW)).status).toBe(401);
});

test('a stored key is unchanged if the configuration has only its secret', async () => {
  const { storage, pepper, at } = await setUp();
  const { key, record } = await at(NOW).create({ name: 'laptop', models: ['sim/*'] });
  const named = async (settings: object): Promise<KeyIndex> => {
    const configured = { keys: [{ name: 'environment', key, ...settings }] };
    const index = new KeyIndex({ storage, pepper, configured });
    await index.refresh();
    return index;
  };
  const bare = { models: null, expiresAt: null, routing: null, project: null, roles: ['models'], limits: [] };
  for (const settings of [{}, bare]) {
    const principal = (await named(settings)).authenticate(key, NOW);
    expect(principal).toMatchObject({ keyId: record.id, name: 'laptop' });
    expect(principal.mayUse('openai/gpt-5')).toBe(false);
  }
  for (const settings of [{ models: ['openai/*'] }, { roles: ['admin'] }, { strict: false }])
    expect((await named(settings)).authenticate(key, NOW).name).toBe('environment');
  await at(NOW).revoke('laptop');
  const index = await named({});
  expect(refusal(() => index.authenticate(key, NOW)).message).toContain('revoked');
});

test('a key from another process is found on its first use, and invented keys cause few queries', async () => {
  const { storage, pepper, at } = await setUp();
  let looks = 0;
  const counted = new Proxy(storage.keys, {
    get(keys, name) {
      if (name === 'mark') looks += 1;
      const member: unknown = Reflect.get(keys, name);
      return typeof member === 'function' ? (member.bind(keys) as unknown) : member;
    },
  });
  const index = new KeyIndex({
    storage: { keys: counted, projects: storage.projects },
    pepper,
    configured: { keys: [] },
  });
  await index.refresh();
  const { key } = await at(NOW).create({ name: 'laptop' });
  expect(refusal(() => index.authenticate(key, NOW)).status).toBe(401);
  await index.lookFor(key, NOW);
  expect(index.authenticate(key, NOW).name).toBe('laptop');
  const before = looks;
  for (const presented of [null, key, 'sk-test', key.slice(0, -1)])
    expect(index.lookFor(presented, NOW)).toBeNull();
  for (let each = 0; each < 100; each += 1) await index.lookFor(generateKey(), NOW + 1_000);
  expect(looks).toBe(before + 1);
  await index.lookFor(generateKey(), NOW + 1_200);
  expect(looks).toBe(before + 2);
});

test('a key revoked by another process is refused after the next refresh, also when it was used before', async () => {
  const { index, at } = await setUp();
  const { key, record } = await at(NOW).create({ name: 'laptop' });
  let tick = (): void => {};
  let stopped = false;
  const stop = index.watch(
    (error) => {
      throw error;
    },
    1_000,
    (task, ms) => {
      expect(ms).toBeLessThan(2_000);
      tick = task;
      return () => (stopped = true);
    },
  );
  tick();
  await eventually('the index is read again', () => index.usableKeys(NOW) === 1);
  expect(index.authenticate(key, NOW).keyId).toBe(record.id);
  await at(NOW).revoke(record.id);
  tick();
  await eventually('the index is read again', () => index.usableKeys(NOW) === 0);
  expect(refusal(() => index.authenticate(key, NOW)).message).toMatch(/revoked/);
  stop();
  expect(stopped).toBe(true);
});

test('while the store cannot be read, the last read keys stay valid', async () => {
  const { storage, index } = await setUp([{ name: 'env', key: 'sk-test' }]);
  storage.keys.mark = () => Promise.reject(new Error('disk full'));
  const errors: unknown[] = [];
  let tick = (): void => {};
  const remember = (task: () => void) => {
    tick = task;
    return () => {};
  };
  index.watch((error) => errors.push(error), 1_000, remember);
  for (let look = 1; look <= 2; look++) {
    tick();
    await eventually('the index is read again', () => errors.length === look);
  }
  expect(index.authenticate('sk-test', NOW).name).toBe('env');
});

test('unchanged keys are not read again', async () => {
  const { index } = await setUp();
  expect(await index.refresh()).toBe(false);
});

test('the key is read from any of three headers', () => {
  const from = (headers: Record<string, string>) => presentedKey((name) => headers[name] ?? null);
  expect(from({ authorization: 'Bearer sk-test' })).toBe('sk-test');
  expect(from({ authorization: 'bearer  sk-test ' })).toBe('sk-test');
  expect(from({ 'x-api-key': 'sk-a' })).toBe('sk-a');
  expect(from({ 'x-goog-api-key': 'sk-g' })).toBe('sk-g');
  expect(from({ authorization: 'Basic abc', 'x-api-key': 'sk-a' })).toBe('sk-a');
  expect(from({ authorization: 'Bearer ', 'x-goog-api-key': 'sk-g' })).toBe('sk-g');
  expect(from({ authorization: 'Bearer sk-test', 'x-api-key': 'sk-a' })).toBe('sk-test');
  expect(from({})).toBeNull();
  expect(from({ 'x-api-key': ' ' })).toBeNull();
});

test('patterns select models', () => {
  const may = (patterns: string[] | null, model: string) => compileNamePatterns(patterns)(model);
  expect(may(null, 'a/b')).toBe(true);
  expect(may([], 'a/b')).toBe(false);
  expect(may(['a/b'], 'a/b')).toBe(true);
  expect(may(['a/b'], 'a/bc')).toBe(false);
  expect(may(['a/*'], 'a/bc')).toBe(true);
  expect(may(['*'], '')).toBe(true);
  expect(may(['*mini*'], 'openai/gpt-5-mini-2025')).toBe(true);
  expect(may(['*/gpt-*-mini'], 'openai/gpt-5-mini')).toBe(true);
  expect(may(['*/gpt-*-mini'], 'openai/gpt-mini')).toBe(false);
  expect(may(['ab*ba'], 'aba')).toBe(false);
  expect(may(['a.c'], 'abc')).toBe(false);
});

test('model patterns agree with the obvious definition', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
  const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), maxLength: 6 });
  fc.assert(
    fc.property(pattern, text, (p, t) => {
      expect(compileNamePatterns([p])(t)).toBe(new RegExp(`^${p.replaceAll('*', '.*')}$`).test(t));
    }),
    { numRuns: casesOf(500) },
  );
});

test('bad requests for keys are refused by name', async () => {
  const { at } = await setUp();
  const make = (input: NewKey) => at(NOW).create(input);
  expect(await rejection(make({ name: ' ' }))).toMatchObject({ kind: 'invalid_request', param: 'name' });
  expect(await rejection(make({ name: 'a', models: [''] }))).toMatchObject({ param: 'models' });
  expect(await rejection(make({ name: 'a', expiresAt: NOW }))).toMatchObject({ param: 'expires_at' });
  expect(await rejection(make({ name: 'a', expiresAt: Number.NaN }))).toMatchObject({ param: 'expires_at' });
  await make({ name: 'a' });
  expect(await rejection(make({ name: 'a' }))).toMatchObject({ kind: 'conflict' });
});

test('keys are listed with their state and revoked by id or name', async () => {
  const { at } = await setUp();
  const first = await at(NOW).create({ name: 'a', expiresAt: NOW + 5 });
  const again = await at(NOW + 5).create({ name: 'a' });
  expect(
    (await at(NOW + 6).list({ limit: 9, order: 'asc' })).entries.map((key) => [key.id, key.state]),
  ).toEqual([
    [first.record.id, 'expired'],
    [again.record.id, 'active'],
  ]);
  expect(await rejection(at(NOW + 6).revoke('a'))).toMatchObject({ kind: 'conflict' });
  expect(await rejection(at(NOW + 6).revoke('b'))).toMatchObject({ kind: 'not_found' });
  expect(await at(NOW + 6).revoke(first.record.id)).toMatchObject({
    state: 'revoked',
    revokedAt: NOW + 6,
  });
  expect(await at(NOW + 7).revoke('a')).toMatchObject({
    id: again.record.id,
    revokedAt: NOW + 7,
  });
  expect(await at(NOW + 9).revoke(again.record.id)).toMatchObject({ revokedAt: NOW + 7 });
});
