// Projects over real sockets: what one key stores is there for the others of its project, and for nobody else. Keys and
// projects are changed while the gateway runs.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyCommands, ProjectCommands } from '../../../src/accounts/auth/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { startGateway } from '../../support/harness.ts';
import { entryOf } from '../../support/storage/audit-entries.ts';
import { eventuallyFound } from '../../support/program.ts';

const A = 'sk-test-search-a';
const B = 'sk-test-search-b';
const STRANGER = 'sk-test-stranger';

interface Answer {
  readonly status: number;
  /** Id of the request. */
  readonly id: string;
  readonly json: Record<string, unknown>;
}

const gateway = await startGateway({
  projects: { search: {} },
  keys: [
    { name: 'a', key: A, project: 'search' },
    { name: 'b', key: B, project: 'search' },
    { name: 'stranger', key: STRANGER },
  ],
});
afterAll(() => gateway.close());

async function call(
  key: string,
  method: string,
  path: string,
  body?: unknown,
  headers = {},
): Promise<Answer> {
  const isForm = body instanceof FormData;
  const response = await fetch(`${gateway.baseURL}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${key}`,
      ...(!isForm && body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const id = response.headers.get('x-request-id') ?? '';
  return { status: response.status, id, json: (await response.json()) as Record<string, unknown> };
}

async function made(key: string, path: string, body: unknown): Promise<string> {
  const { status, json } = await call(key, 'POST', path, body);
  expect(status).toBeLessThan(300);
  return String(json['id']);
}

describe('stored data of a key of a project', () => {
  const TURN = { model: 'sim/echo', input: 'tea' };
  const file = (): FormData => {
    const form = new FormData();
    form.append('purpose', 'user_data');
    form.append('file', new File(['what tea is'], 'tea.txt', { type: 'text/plain' }));
    return form;
  };

  test.each([
    ['a response', '/responses', () => TURN, ''],
    ['the input of a response', '/responses', () => TURN, '/input_items'],
    ['a conversation', '/conversations', () => ({}), ''],
    ['a prompt', '/prompts', () => ({ template: { input: 'Say {{word}}' } }), ''],
    ['a file', '/files', file, ''],
  ])('%s is found by keys of the project, and is a 404 for others', async (_, path, body, below) => {
    const id = await made(A, path, body());
    expect((await call(B, 'GET', `${path}/${id}${below}`)).status).toBe(200);
    expect((await call(STRANGER, 'GET', `${path}/${id}${below}`)).status).toBe(404);
    expect((await call(STRANGER, 'DELETE', `${path}/${id}`)).status).toBe(404);
    expect((await call(B, 'DELETE', `${path}/${id}`)).status).toBe(200);
    expect((await call(A, 'GET', `${path}/${id}${below}`)).status).toBe(404);
  });

  test('is used by another key: earlier turns, conversations, summaries and files', async () => {
    const previous = await made(A, '/responses', TURN);
    const conversation = await made(A, '/conversations', {});
    const id = await made(A, '/files', file());
    const { json } = await call(A, 'POST', '/responses/compact', { model: 'sim/echo', input: 'tea' });
    const summary = (json['output'] as { type: string }[]).filter(({ type }) => type === 'compaction');
    expect(summary).toHaveLength(1);
    const part = { type: 'input_file', file_id: id };
    for (const more of [
      { previous_response_id: previous },
      { conversation },
      { input: [...summary, { role: 'user', content: 'and now?' }] },
      { input: [{ role: 'user', content: [part, { type: 'input_text', text: 'what?' }] }] },
    ]) {
      expect((await call(B, 'POST', '/responses', { ...TURN, ...more })).status).toBe(200);
      expect([400, 404]).toContain((await call(STRANGER, 'POST', '/responses', { ...TURN, ...more })).status);
    }
  });

  test('an answer under an idempotency key is given again to the others alone', async () => {
    const body = { model: 'sim/echo', messages: [{ role: 'user', content: 'once' }] };
    const headers = { 'idempotency-key': 'one' };
    const asked = async (key: string): Promise<unknown> =>
      (await call(key, 'POST', '/chat/completions', body, headers)).json['id'];
    const first = await asked(A);
    expect(await asked(B)).toBe(first);
    expect(await asked(STRANGER)).not.toBe(first);
  });
});

test('reasoning that was sealed for one key is opened for the others of its project', async () => {
  const tools = [{ type: 'function', name: 'weather', parameters: { type: 'object', properties: {} } }];
  const turn = {
    model: 'sim/messages',
    tools,
    reasoning: { effort: 'high' },
    include: ['reasoning.encrypted_content'],
    store: false,
  };
  const input = [{ role: 'user', content: 'How is the weather?' }];
  const { json } = await call(A, 'POST', '/responses', { ...turn, input });
  const output = json['output'] as { type: string; call_id?: string; encrypted_content?: string }[];
  const called = output.find(({ type }) => type === 'function_call');
  expect(output.find(({ type }) => type === 'reasoning')?.encrypted_content).toStartWith('dgm1_');
  const result = { type: 'function_call_output', call_id: called?.call_id, output: 'rain' };
  const reported = async (key: string): Promise<string> => {
    const next = { ...turn, input: [...input, ...output, result] };
    const { json: answer } = await call(key, 'POST', '/responses', next);
    return JSON.stringify((await call(key, 'GET', `/generation?id=${String(answer['id'])}`)).json['report']);
  };
  expect(await reported(B)).not.toContain('encrypted for another');
  expect(await reported(STRANGER)).toContain('encrypted for another');
});

describe('records', () => {
  const BODY = { model: 'sim/echo', messages: [{ role: 'user', content: 'hi' }] };

  async function recordOf(key: string, path: string, body: object): Promise<Record<string, unknown>> {
    const { id, status } = await call(key, 'POST', path, body);
    expect(status).toBe(200);
    const storage = await openSqliteStorage({ path: join(gateway.dataDir, 'dragoman.db') });
    const owner = key === STRANGER ? await keyIdOf(id) : 'search';
    const found = await storage.ledger.find(id, owner);
    await storage.close();
    return { ...found?.generation };
  }

  /** The id of a key that is its own project: as its records say. */
  async function keyIdOf(id: string): Promise<string> {
    const { json } = await call(STRANGER, 'GET', `/generation?id=${id}`);
    return String(json['key_id']);
  }

  test('are found by every key of the project, and by no other key', async () => {
    const { json } = await call(A, 'POST', '/chat/completions', BODY);
    const path = `/generation?id=${String(json['id'])}`;
    expect((await call(B, 'GET', path)).json).toMatchObject({ project_id: 'search' });
    expect((await call(STRANGER, 'GET', path)).status).toBe(404);
  });

  test('contain the project and a hash of the end user, which cannot be reversed', async () => {
    const named = await recordOf(A, '/chat/completions', { ...BODY, user: 'ada@example.com' });
    expect(named['projectId']).toBe('search');
    expect(named['keyId']).toMatch(/^key_/);
    expect(named['endUser']).toMatch(/^[0-9a-f]{32}$/);
    const same = { ...BODY, safety_identifier: 'ada@example.com' };
    expect((await recordOf(B, '/chat/completions', same))['endUser']).toBe(named['endUser']);
    const remote = await recordOf(STRANGER, '/chat/completions', same);
    expect(remote['endUser']).not.toBe(named['endUser']);
    expect(remote['projectId']).toBe(remote['keyId']);
    expect((await recordOf(A, '/chat/completions', BODY))['endUser']).toBeNull();
  });

  test('name the end user of every protocol that has one, and of embeddings', async () => {
    const who = 'ada';
    const expected = (await recordOf(A, '/chat/completions', { ...BODY, user: who }))['endUser'];
    const messages = { ...BODY, max_tokens: 9, metadata: { user_id: who } };
    expect((await recordOf(A, '/messages', messages))['endUser']).toBe(expected);
    const response = { model: 'sim/echo', input: 'hi', safety_identifier: who };
    expect((await recordOf(A, '/responses', response))['endUser']).toBe(expected);
    const embedding = { model: 'sim/embed', input: 'hi', user: who };
    expect((await recordOf(A, '/embeddings', embedding))['endUser']).toBe(expected);
  });
});

test('keys and projects are changed under a running gateway, which follows within two seconds', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-projects-'));
  const storage = await openSqliteStorage({ path: join(dataDir, 'dragoman.db') });
  const pepper = await storage.secret('pepper');
  const tenants = {
    storage,
    pepper,
    configured: () => ({ keys: [] }),
    now: Date.now,
    entryOf,
  };
  const [keys, projects] = [new KeyCommands(tenants), new ProjectCommands(tenants)];
  for (const name of ['shop', 'closed']) await projects.create({ name });
  const till = await keys.create({ name: 'till', projectId: 'shop' });
  const last = await keys.create({ name: 'last', projectId: 'closed' });
  const own = await startGateway({}, { dataDir });
  const asked = async (key: string): Promise<Response> =>
    fetch(`${own.baseURL}/models`, { headers: { authorization: `Bearer ${key}` } });
  try {
    for (const { key } of [till, last]) expect((await asked(key)).status).toBe(200);
    const rotated = await keys.rotate(till.record.id, 3_600_000);
    await projects.archive('closed');
    const refused = await eventuallyFound(
      'the key of an archived project is refused',
      () => asked(last.key),
      ({ status }) => status !== 200,
    );
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain('the project \\"closed\\" has been archived');
    for (const { key } of [till, rotated]) expect((await asked(key)).status).toBe(200);
  } finally {
    await storage.close();
    await own.close();
  }
});

test('a key with only the role admin cannot call models, and the error explains it', async () => {
  await using own = await startGateway({
    server: { admin_key: 'sk-test-root-0123456789' },
    keys: [{ name: 'operator', key: 'sk-test-operator', roles: ['admin'] }],
  });
  // Nobody could call a model otherwise.
  expect(own.firstKey).not.toBeNull();
  for (const key of ['sk-test-root-0123456789', 'sk-test-operator']) {
    const response = await fetch(`${own.baseURL}/models`, { headers: { authorization: `Bearer ${key}` } });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'permission_denied' } });
  }
});
