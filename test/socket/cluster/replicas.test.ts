// Gateways that share a database: what is made on one is there on the others, and whoever may no longer do something may not
// do it anywhere.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { eventually, eventuallyFound } from '../../support/program.ts';

const ADMIN_KEY = 'sk-test-admin-0123456789';
const SECRET = 'ab'.repeat(32);
const NEXT_SECRET = 'cd'.repeat(32);
const TEXT = [{ role: 'user' as const, content: 'hi' }];

describe.skipIf(POSTGRES_PROGRAMS === null)('gateways on one PostgreSQL database', () => {
  let one: TestGateway;
  let two: TestGateway;
  let url: string;

  const start = (over: Record<string, unknown> = {}): Promise<TestGateway> =>
    startGateway({
      database_url: url,
      secret: SECRET,
      server: { admin_key: ADMIN_KEY },
      keys: [{ name: 'test', key: TEST_KEY }],
      ...over,
    });
  const clientOf = (gateway: TestGateway, apiKey = TEST_KEY): OpenAI =>
    new OpenAI({ apiKey, baseURL: gateway.baseURL, maxRetries: 0 });

  async function manage(gateway: TestGateway, method: string, path: string, body?: unknown) {
    const answer = await fetch(`${gateway.baseURL}/management${path}`, {
      method,
      headers: { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return { status: answer.status, json: (await answer.json()) as Record<string, unknown> };
  }

  beforeAll(async () => {
    url = await freshPostgres();
    [one, two] = await Promise.all([start(), start()]);
  });
  afterAll(async () => {
    await one.close();
    await two.close();
  });

  test('a response, a conversation and a file of one are there on the other', async () => {
    const [here, there] = [clientOf(one), clientOf(two)];
    const first = await here.responses.create({ model: 'sim/echo', input: 'one' });
    expect((await there.responses.retrieve(first.id)).output_text).toBe(first.output_text);
    const second = await there.responses.create({
      model: 'sim/echo',
      input: 'two',
      previous_response_id: first.id,
    });
    expect(second.previous_response_id).toBe(first.id);

    const conversation = await there.conversations.create({ metadata: { topic: 'demo' } });
    await here.responses.create({ model: 'sim/echo', input: 'three', conversation: conversation.id });
    const items = await there.conversations.items.list(conversation.id);
    expect(items.data.length).toBe(2);

    const bytes = Buffer.alloc(700_000, 'some words ');
    const file = await here.files.create({ file: await toFile(bytes, 'notes.txt'), purpose: 'user_data' });
    expect(Buffer.from(await (await there.files.content(file.id)).arrayBuffer()).equals(bytes)).toBe(true);
    expect((await there.files.delete(file.id)).deleted).toBe(true);
    expect(await here.files.retrieve(file.id).catch(({ status }: { status: number }) => status)).toBe(404);
  });

  test('a conversation is locked for one turn at a time across replicas', async () => {
    const conversation = await clientOf(one).conversations.create({});
    const turns = await Promise.allSettled(
      Array.from({ length: 6 }, (_, n) =>
        clientOf(n % 2 === 0 ? one : two).responses.create({
          model: 'sim/echo',
          input: `turn ${n}`,
          conversation: conversation.id,
        }),
      ),
    );
    const done = turns.filter(({ status }) => status === 'fulfilled').length;
    expect(done).toBeGreaterThan(0);
    const items = await clientOf(two).conversations.items.list(conversation.id, { order: 'asc', limit: 50 });
    expect(items.data.length).toBe(done * 2);
    // Each question stands right before its answer.
    const roles: string[] = items.data.map((item) => (item.type === 'message' ? item.role : item.type));
    expect(roles).toEqual(Array.from({ length: done }, () => ['user', 'assistant']).flat());
  });

  test('a record of one is found on the other', async () => {
    const answer = await clientOf(one)
      .chat.completions.create({ model: 'sim/echo', messages: TEXT })
      .withResponse();
    const id = answer.response.headers.get('x-request-id') ?? '';
    const found = await eventuallyFound(
      'the other replica has the record',
      () => manage(two, 'GET', `/generations/${id}`),
      ({ status }) => status === 200,
    );
    expect(JSON.stringify(found.json)).toContain('sim/echo');
  });

  test('a new key works on all replicas, and a revoked one on none', async () => {
    const made = await manage(one, 'POST', '/keys', { name: 'worker' });
    const key = String(made.json['key']);
    const id = String(made.json['id']);
    const ask = async (): Promise<number> => {
      const answer = await fetch(`${two.baseURL}/models`, { headers: { authorization: `Bearer ${key}` } });
      await answer.body?.cancel();
      return answer.status;
    };
    await eventually('the key works', async () => (await ask()) === 200);
    expect((await manage(one, 'DELETE', `/keys/${id}`)).status).toBe(200);
    await eventually('the key is refused', async () => (await ask()) === 401);
  });

  test('a new secret keeps keys, owners and stored data valid', async () => {
    const made = await manage(one, 'POST', '/keys', { name: 'kept' });
    const key = String(made.json['key']);
    const stored = await clientOf(one).responses.create({ model: 'sim/echo', input: 'kept' });
    const other = await start({ secret: NEXT_SECRET }).then(
      () => null,
      (error: unknown) => error,
    );
    expect(String(other)).toContain('no stored key would be valid');
    const next = await start({ secret: NEXT_SECRET, earlier_secrets: [SECRET] });
    expect((await clientOf(next, key).models.list()).data.length).toBeGreaterThan(0);
    expect((await clientOf(next).responses.retrieve(stored.id)).id).toBe(stored.id);
    await next.close();
  });
});
