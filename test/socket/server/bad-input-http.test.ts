// Everything around a request's body: keys, methods, paths, headers and content types, over a raw socket. The answer
// is always one in OpenAI's shape, and nothing a client sends can break the head of the answer.
import { afterAll, describe, expect, test } from 'bun:test';
import { KeyCommands } from '../../../src/accounts/auth/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { readCompletion, readError } from '../../support/chat-shape.ts';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { jsonRequest, type RawAnswer, type RawRequest, sendRaw } from '../../support/raw-request.ts';
import { entryOf } from '../../support/storage/audit-entries.ts';

const gateway = await startGateway();
afterAll(async () => {
  expect(gateway.logLines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  await gateway.close();
});

const BODY = JSON.stringify({ model: 'sim/echo', messages: [{ role: 'user', content: 'hello' }] });
const AUTHORIZATION = `authorization: Bearer ${TEST_KEY}`;
const LENGTH = `content-length: ${BODY.length}`;

const raw = (request: RawRequest): Promise<RawAnswer> => sendRaw(gateway.origin, request);
const withHeaders = (...headers: readonly string[]): Promise<RawAnswer> =>
  raw({ headers: [LENGTH, ...headers], body: [BODY] });

function expectUnauthorized(answer: RawAnswer): ReturnType<typeof readError> {
  expect(answer.status).toBe(401);
  const error = readError(answer.text);
  expect(error).toMatchObject({ type: 'invalid_request_error', code: 'invalid_api_key', param: null });
  expect(error.message.length).toBeLessThan(500);
  return error;
}

describe('keys', () => {
  test('are required', async () => {
    expect(expectUnauthorized(await withHeaders()).message).toContain('No API key');
  });

  test.each([
    'authorization: Bearer sk-other',
    'authorization: Bearer',
    'authorization: Bearer ',
    'authorization: Basic c2stdGVzdDo=',
    `authorization: ${TEST_KEY}`,
    `authorization: Bearer ${TEST_KEY}x`,
    `authorization: Bearer ${TEST_KEY.toUpperCase()}`,
    `authorization: Bearer ${TEST_KEY}, Bearer ${TEST_KEY}`,
    'authorization: Bearer \u00e9\u00ff',
    'authorization: Bearer __proto__',
    `authorization: Bearer ${'x'.repeat(10_000)}`,
    'x-api-key: constructor',
    'x-goog-api-key: nope',
  ])('are refused if wrong: %#', async (header) => {
    const error = expectUnauthorized(await withHeaders(header));
    expect(error.message).not.toContain('x'.repeat(50));
  });

  test.each([
    AUTHORIZATION,
    `authorization: bearer   ${TEST_KEY}`,
    `x-api-key: ${TEST_KEY}`,
    `x-goog-api-key: ${TEST_KEY}`,
  ])('are accepted in the form %s', async (header) => {
    readCompletion((await withHeaders(header)).text);
  });

  test('a wrong key is reported before any mistake of the body', async () => {
    expectUnauthorized(
      await raw({ headers: ['authorization: Bearer nope', 'content-length: 3'], body: ['{{{'] }),
    );
  });

  test('in storage are accepted or refused: valid, revoked, expired, and restricted to some models', async () => {
    const clock = new ManualClock();
    const first = await startGateway({}, { clock });
    const keys: Record<string, string> = {};
    const storage = await openSqliteStorage({ path: `${first.dataDir}/dragoman.db` });
    const pepper = await storage.secret('pepper');
    const commands = new KeyCommands({
      storage,
      pepper,
      configured: () => ({ keys: [] }),
      now: clock.now,
      entryOf,
    });
    const create = async (name: string, more: object = {}): Promise<void> => {
      keys[name] = (await commands.create({ name, ...more })).key;
    };
    await create('valid');
    await create('gone');
    await create('brief', { expiresAt: clock.now() + 1000 });
    await create('narrow', { models: ['sim/messages', 'sim/error-*'] });
    await commands.revoke('gone');
    await storage.close();
    await first.stop();
    await using second = await startGateway({}, { clock, dataDir: first.dataDir });
    const ask = (name: string, model = 'sim/echo'): Promise<RawAnswer> =>
      sendRaw(second.origin, jsonRequest(keys[name] ?? '', BODY.replace('sim/echo', model)));
    expect((await ask('valid')).status).toBe(200);
    expect((await ask('brief')).status).toBe(200);
    expect(expectUnauthorized(await ask('gone')).message).toContain('revoked');
    clock.advance(1000);
    expect(expectUnauthorized(await ask('brief')).message).toContain('expired');
    expect((await ask('narrow', 'sim/messages')).status).toBe(200);
    const forbidden = await ask('narrow');
    expect(forbidden.status).toBe(403);
    expect(readError(forbidden.text)).toMatchObject({ param: 'model', code: 'model_not_allowed' });
    const listed = await fetch(`${second.baseURL}/models`, {
      headers: { authorization: `Bearer ${keys['narrow']}` },
    });
    const { data } = (await listed.json()) as { data: { id: string }[] };
    expect(data.some((model) => model.id === 'sim/messages')).toBe(true);
    expect(data.filter((model) => model.id === 'sim/echo')).toEqual([]);
  });

  test.each([
    '/v1/models',
    '/v1/models/sim/echo',
    '/v1/generation?id=x',
    '/api/v1/management/generation?id=x',
  ])('GET %s requires a key, too', async (path) => {
    expectUnauthorized(await raw({ method: 'GET', path }));
  });
});

describe('methods and paths', () => {
  test.each(['GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS'])('%s on a path that takes POST', async (method) => {
    const answer = await raw({ method, headers: [AUTHORIZATION] });
    expect(answer.status).toBe(405);
    expect(readError(answer.text).message).toContain('POST');
  });

  test('HEAD has no body', async () => {
    const answer = await raw({ method: 'HEAD', headers: [AUTHORIZATION] });
    expect(answer.status).toBeLessThan(500);
    expect(answer.text).toBe('');
  });

  test.each(['/', '/v1/embeddings/models'])('%s is read, and not posted to', async (path) => {
    const answer = await raw({ path, headers: [AUTHORIZATION, LENGTH], body: [BODY] });
    expect(answer.status).toBe(405);
    expect(readError(answer.text)).toMatchObject({ code: 'method_not_allowed' });
  });

  test.each([
    '/v1',
    '/v1/',
    '/v1/chat',
    '/v1/chat/completions/',
    '/v1//chat/completions',
    '/v2/chat/completions',
    '/V1/CHAT/COMPLETIONS',
    '/v1/chat/completions/extra',
    '/.env',
    '/v1/../../etc/passwd',
    '/v1/%2e%2e/%2e%2e/etc/passwd',
    `/${'x'.repeat(8000)}`,
    '/v1/\u00e9',
    '/%',
    '/%00',
    '/%ff%fe',
  ])('POST to an unknown path %# is 404', async (path) => {
    const answer = await raw({ path, headers: [AUTHORIZATION, LENGTH], body: [BODY] });
    expect(answer.status).toBe(404);
    const error = readError(answer.text);
    expect(error.type).toBe('invalid_request_error');
    expect(error.message.length).toBeLessThan(500);
  });

  test.each([
    '/v1/models/nope',
    '/v1/models/sim/nope',
    '/v1/models/%',
    '/v1/models/%ff',
    '/v1/models/%00',
    '/v1/models/__proto__',
    `/v1/models/${'x'.repeat(5000)}`,
  ])('no model at GET %#', async (path) => {
    const answer = await raw({ method: 'GET', path, headers: [AUTHORIZATION] });
    expect(answer.status).toBe(404);
    const error = readError(answer.text);
    expect(error.code).toBe('model_not_found');
    expect(error.message.length).toBeLessThan(500);
  });

  test.each(['/v1/generation', '/v1/generation?id=', '/v1/management/generation'])(
    '%s needs an id',
    async (path) => {
      const answer = await raw({ method: 'GET', path, headers: [AUTHORIZATION] });
      expect(answer.status).toBe(400);
      expect(readError(answer.text).param).toBe('id');
    },
  );

  test.each(['nope', '%27%20OR%201=1--', '%00', '%ff', 'x'.repeat(5000), '__proto__'])(
    'an unknown generation %# is 404',
    async (id) => {
      const answer = await raw({ method: 'GET', path: `/v1/generation?id=${id}`, headers: [AUTHORIZATION] });
      expect(answer.status).toBe(404);
      expect(readError(answer.text).message.length).toBeLessThan(500);
    },
  );

  test('both base paths work, and a query is ignored', async () => {
    for (const path of [
      '/v1/chat/completions',
      '/api/v1/chat/completions',
      '/v1/chat/completions?api-version=2026&x=%',
    ]) {
      readCompletion((await raw({ path, headers: [AUTHORIZATION, LENGTH], body: [BODY] })).text);
    }
  });
});

describe('headers', () => {
  test.each([
    [],
    ['content-type: application/json; charset=utf-8'],
    ['content-type: text/plain'],
    ['content-type: application/x-www-form-urlencoded'],
    ['content-type: multipart/form-data; boundary=x'],
    ['content-type: nonsense'],
    ['content-type:'],
    ['accept: text/html'],
    ['accept-encoding: gzip, br, zstd'],
    ['expect: nothing'],
  ])('JSON is read regardless of other headers: %j', async (...headers) => {
    const answer = await withHeaders(AUTHORIZATION, ...headers.flat());
    expect(answer.status).toBe(200);
    readCompletion(answer.text);
  });

  test('form data that is no JSON is a 400', async () => {
    const body = 'model=sim%2Fecho';
    const headers = [
      AUTHORIZATION,
      'content-type: application/x-www-form-urlencoded',
      `content-length: ${body.length}`,
    ];
    const answer = await raw({ headers, body: [body] });
    expect(answer.status).toBe(400);
    expect(readError(answer.text).message).toContain('JSON');
  });

  test.each([
    ['one of 100 kB', [`x-big: ${'x'.repeat(100_000)}`]],
    ['a thousand', Array.from({ length: 1000 }, (_, index) => `x-${index}: y`)],
    ['two lengths', ['content-length: 5']],
    ['a negative length', ['content-length: -5']],
    ['a name with a space', ['x y: z']],
    ['a NUL', ['x-nul: a\0b']],
    ['a folded line', ['x-folded: a\r\n b']],
  ] as const)('%s are refused or ignored, never a 500', async (_, headers) => {
    const answer = await withHeaders(AUTHORIZATION, ...headers).catch((error: unknown) => String(error));
    // The runtime answers by itself, or hangs up, where the bytes are no HTTP.
    if (typeof answer !== 'string')
      expect(answer.status === 200 || (answer.status >= 400 && answer.status < 500)).toBe(true);
    const next = await withHeaders(AUTHORIZATION);
    expect(next.status).toBe(200);
  });
});

describe('the head of the answer', () => {
  const NAMES = [
    'x\r\nx-injected: 1',
    'x\nset-cookie: a=b',
    'x\r\n\r\n<html>',
    '\u0000',
    '\u007f\u001b[31m',
    '漢字',
    '😀',
    'é',
    'a,b:dropped',
    'a b',
    ' ',
    '',
    'x'.repeat(20_000),
  ];

  test.each(NAMES)('is not broken by a field with the name %#', async (name) => {
    for (const model of ['sim/messages', 'sim/responses', 'sim/deepseek']) {
      for (const stream of [false, true]) {
        const body = {
          model,
          stream,
          messages: [{ role: 'user', content: 'hello', [name]: 1 }],
          [name]: 'mine',
          stop: ['zzz'],
        };
        const answer = await sendRaw(gateway.origin, jsonRequest(TEST_KEY, JSON.stringify(body)));
        // A compatible server gets unknown members, and the simulated one is strict.
        expect([200, 400]).toContain(answer.status);
        expect(
          answer.head
            .split('\r\n')
            .slice(1)
            .every((line) => /^[a-z-]+: [\x20-\x7e]*$/i.test(line)),
        ).toBe(true);
        expect(answer.headers.has('x-injected')).toBe(false);
        expect(answer.headers.has('set-cookie')).toBe(false);
        expect(answer.head.length).toBeLessThan(6000);
      }
    }
  });

  test('lists by name the members that were dropped, approximated or clamped', async () => {
    const body = {
      ...JSON.parse(BODY),
      model: 'sim/messages',
      store: true,
      temperature: 1.7,
      reasoning: { enabled: false },
    };
    const answer = await sendRaw(gateway.origin, jsonRequest(TEST_KEY, JSON.stringify(body)));
    const report = answer.headers
      .get('x-dragoman-report')
      ?.split(',')
      .map((entry) => entry.trim());
    expect(report).toContain('store:dropped');
    expect(report).toContain('temperature:clamped');
    expect(report?.every((entry) => /^[^:]+:(dropped|approximated|defaulted|clamped)$/.test(entry))).toBe(
      true,
    );
  });

  test('such a member is a 400 that names it in strict mode', async () => {
    const body = JSON.stringify({ ...JSON.parse(BODY), model: 'sim/messages', store: true });
    const answer = await sendRaw(gateway.origin, jsonRequest(TEST_KEY, body, ['x-dragoman-strict: true']));
    expect(answer.status).toBe(400);
    expect(readError(answer.text).param).toBe('store');
  });
});
