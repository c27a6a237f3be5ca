// Outages of PostgreSQL and of the server of counters, as clients of each protocol see them: what needs neither goes on, what
// needs it is refused in the protocol's own shape and says when to ask again, and it heals without a restart.
import { describe, expect, test } from 'bun:test';
import { asObject, type JsonValue } from '../../../src/base/json/index.ts';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { POSTGRES_PROGRAMS, startPostgres } from '../../support/servers/postgres.ts';
import { startValkey, VALKEY_PROGRAM } from '../../support/servers/valkey.ts';
import { undoAfterEach } from '../../support/undo.ts';

const PATIENCE_MS = 60_000;
const TEXT = [{ role: 'user', content: 'hi' }];
const GEMINI_TEXT = { contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

const ends = undoAfterEach();
type Body = Readonly<Record<string, JsonValue>>;

/** A request in each protocol that needs nothing that is stored. */
const STATELESS: Readonly<Record<string, readonly [path: string, body: object]>> = {
  chat: ['/v1/chat/completions', { model: 'sim/echo', messages: TEXT }],
  'chat, streamed': ['/v1/chat/completions', { model: 'sim/echo', messages: TEXT, stream: true }],
  responses: ['/v1/responses', { model: 'sim/echo', input: 'hi', store: false }],
  messages: ['/v1/messages', { model: 'sim/echo', messages: TEXT, max_tokens: 50 }],
  gemini: ['/v1beta/models/sim/echo:generateContent', GEMINI_TEXT],
};

async function ask(
  { origin }: TestGateway,
  path: string,
  body?: object,
): Promise<{ status: number; retryAfter: string | null; json: Body }> {
  const response = await fetch(origin + path, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  const text = await response.text();
  const json = text.startsWith('{') ? (JSON.parse(text) as Body) : {};
  return { status: response.status, retryAfter: response.headers.get('retry-after'), json };
}

async function statuses(gateway: TestGateway): Promise<Readonly<Record<string, number>>> {
  const found: Record<string, number> = {};
  for (const [name, [path, body]] of Object.entries(STATELESS))
    found[name] = (await ask(gateway, path, body)).status;
  return found;
}

async function degraded(gateway: TestGateway): Promise<string> {
  const { json } = await ask(gateway, '/readyz');
  return JSON.stringify(json['degraded']);
}

/** Name of an error in its protocol. */
function errorOf({ error }: Body): JsonValue | undefined {
  const { code, type, status } = asObject(error);
  return typeof code === 'string' ? code : (status ?? type);
}

/** Names that are not the code of OpenAI's shape. */
const SHAPES: Readonly<Record<string, string>> = { messages: 'overloaded_error', gemini: 'UNAVAILABLE' };
const LIMITED: Readonly<Record<string, string>> = {
  messages: 'rate_limit_error',
  gemini: 'RESOURCE_EXHAUSTED',
};

const isEqual = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other);

const all = (status: number): Record<string, number> =>
  Object.fromEntries(Object.keys(STATELESS).map((name) => [name, status]));

describe.skipIf(POSTGRES_PROGRAMS === null)('while PostgreSQL is away', () => {
  test('requests that need no stored data continue, the others get a native error, and nothing is lost', async () => {
    const server = await startPostgres();
    ends.push(() => server.stop());
    const gateway = await startGateway({ database_url: server.url, secret: 'ab'.repeat(32) });
    ends.push(() => gateway.close());
    const stored = await ask(gateway, '/v1/responses', { model: 'sim/echo', input: 'one' });
    const conversation = await ask(gateway, '/v1/conversations', {});
    expect([stored.status, conversation.status]).toEqual([200, 200]);

    await server.kill();
    expect(await statuses(gateway)).toEqual(all(200));
    expect(await degraded(gateway)).toContain('database');

    const responses = { model: 'sim/echo', input: 'two' };
    const file = { type: 'document', source: { type: 'file', file_id: 'file_none' } };
    const refused = {
      previous: ['/v1/responses', { ...responses, previous_response_id: stored.json['id'] }],
      conversation: ['/v1/responses', { ...responses, conversation: conversation.json['id'] }],
      read: [`/v1/responses/${String(stored.json['id'])}`],
      items: [`/v1/conversations/${String(conversation.json['id'])}/items`],
      files: ['/v1/files'],
      messages: [
        '/v1/messages',
        { model: 'sim/echo', max_tokens: 50, messages: [{ role: 'user', content: [file] }] },
      ],
      gemini: [
        '/v1beta/models/sim/echo:generateContent',
        {
          contents: [
            { role: 'user', parts: [{ fileData: { fileUri: 'file_none', mimeType: 'application/pdf' } }] },
          ],
        },
      ],
    } as const;
    for (const [name, [path, body]] of Object.entries(refused)) {
      const { status, retryAfter, json } = await ask(gateway, path, body);
      // Anthropic's own word for a server that cannot now is 529.
      expect([name, status, retryAfter]).toEqual([name, name === 'messages' ? 529 : 503, '5']);
      expect(JSON.stringify(json)).toContain('The database is unreachable');
      expect(errorOf(json)).toBe(SHAPES[name] ?? 'database_unavailable');
    }
    const given = await ask(gateway, '/v1/responses', responses);
    expect(given.status).toBe(200);

    await server.start();
    await eventually('nothing is degraded', async () => (await degraded(gateway)) === '[]', PATIENCE_MS);
    const again = await ask(gateway, `/v1/responses/${String(given.json['id'])}`);
    expect(asObject(again.json)['status']).toBe('completed');
  });
});

describe.skipIf(VALKEY_PROGRAM === null)('while the server of counters is away', () => {
  /** A gateway whose server of counters has gone, and is back when it was looked at. */
  async function withoutServer(
    whenUnreachable: 'local' | 'share' | 'refuse' | 'allow',
    look: (gateway: TestGateway) => Promise<void>,
  ): Promise<void> {
    const server = await startValkey();
    ends.push(() => server.stop());
    const gateway = await startGateway({
      redis_url: server.url,
      counters: { when_unreachable: whenUnreachable },
      keys: [{ name: 'test', key: TEST_KEY, limits: [{ requests: 1000, per: 'hour' }] }],
    });
    ends.push(() => gateway.close());
    // A busy machine may not have asked the server in time.
    await eventually(
      'the server is asked',
      async () => isEqual(await statuses(gateway), all(200)),
      PATIENCE_MS,
    );
    await server.kill();
    await eventually('it is told', async () => (await degraded(gateway)) !== '[]', PATIENCE_MS);
    await look(gateway);
    await server.start();
    // Nothing is granted before everybody has reported again.
    await eventually('all are answered', async () => isEqual(await statuses(gateway), all(200)), PATIENCE_MS);
    await eventually('nothing is degraded', async () => (await degraded(gateway)) === '[]', PATIENCE_MS);
  }

  test.each(['local', 'share', 'allow'] as const)(
    'requests continue with a share of their limit, or without it (%s)',
    (whenUnreachable) =>
      withoutServer(whenUnreachable, async (gateway) => {
        expect(await statuses(gateway)).toEqual(all(200));
        const isAll = whenUnreachable === 'allow';
        expect(await degraded(gateway)).toContain(
          isAll ? 'limits are not checked' : '1/1 of each limit applies locally',
        );
      }),
  );

  test('requests with a limit are refused if it is configured so', () =>
    withoutServer('refuse', async (gateway) => {
      await eventually('all are refused', async () => isEqual(await statuses(gateway), all(429)));
      for (const [name, [path, body]] of Object.entries(STATELESS)) {
        const { status, retryAfter, json } = await ask(gateway, path, body);
        expect([name, status, retryAfter]).toEqual([name, 429, '1']);
        expect(errorOf(json)).toBe(LIMITED[name] ?? 'rate_limit_exceeded');
        expect(JSON.stringify(json)).toContain('is temporarily unavailable to this process');
      }
    }));
});
