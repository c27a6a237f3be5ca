// Keys and projects over the management API: made, used, changed under versions, rotated, revoked, archived.
import { afterAll, describe, expect, test } from 'bun:test';
import { type Asked, startManaged } from '../../../support/management/scene.ts';

const gateway = await startManaged({ projects: { filed: { limits: [{ requests: 1000, per: 'minute' }] } } });
afterAll(() => gateway.close());

const entries = ({ body }: Asked) => body['data'] as Record<string, unknown>[];
const hello = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] };
const call = async (key: unknown) =>
  (await gateway.post('/chat/completions', hello, { authorization: `Bearer ${String(key)}` })).status;

describe('a key', () => {
  test('is created, shown once, and works at once', async () => {
    const made = await gateway.manage('POST', '/keys', {
      name: 'ci',
      models: ['sim/*'],
      limits: [{ requests: 60, per: 'minute' }],
      budgets: [{ usd: 5, per: 'day' }],
      expires_at: '2099-01-01T00:00:00Z',
    });
    expect(made.status).toBe(201);
    expect(made.headers.get('etag')).toBe('"1"');
    expect(made.body).toMatchObject({
      object: 'key',
      name: 'ci',
      project: null,
      roles: ['models'],
      state: 'active',
      source: 'database',
      version: 1,
      expires_at: '2099-01-01T00:00:00.000Z',
    });
    const { key, id, hint } = made.body;
    expect(await call(key)).toBe(200);
    const shown = await gateway.manage('GET', `/keys/${String(id)}`);
    expect(shown.body).toMatchObject({ id, hint });
    const everything = [shown.body, (await gateway.manage('GET', '/keys?limit=100')).body];
    const audit = (await gateway.manage('GET', `/audit?target=${String(id)}`)).body;
    expect(audit['data']).toMatchObject([{ action: 'key.create', before: null, after: { name: 'ci' } }]);
    for (const body of [...everything, audit]) {
      const text = JSON.stringify(body);
      expect(text).not.toContain(String(key));
      expect(text).not.toMatch(/"[0-9a-f]{64}"/);
    }
    expect((await gateway.manage('GET', '/keys/ci')).body).toMatchObject({ id });
  });

  test('are found by the ids in records, for keys of the file and stored ones only', async () => {
    const stored = await gateway.manage('POST', '/keys', { name: 'by-id' });
    await gateway.manage('POST', '/keys', { name: 'not-by-id' });
    const inFile = entries(await gateway.manage('GET', '/keys')).find(({ name }) => name === 'test');
    const ids = [stored.body['id'], inFile?.['id'], 'key_none'].join(', ');
    const reported = await gateway.manage('GET', `/keys?id=${encodeURIComponent(ids)}`);
    expect(entries(reported).map(({ name }) => name)).toEqual(['test', 'by-id']);
    expect(reported.body['has_more']).toBe(false);
    const called = await gateway.manage('GET', '/keys?name=by-id');
    expect(entries(called).map(({ id }) => id)).toEqual([stored.body['id']]);
    expect(entries(await gateway.manage('GET', '/keys?name=test'))).toHaveLength(1);
    const found = async (text: string) =>
      entries(await gateway.manage('GET', `/keys?search=${encodeURIComponent(text)}`)).map(
        ({ name }) => name,
      );
    expect(await found('BY-ID')).toEqual(['by-id', 'not-by-id']);
    expect(await found(String(stored.body['id']).slice(4))).toEqual(['by-id']);
    expect(await found('tes')).toEqual(['test']);
    expect(await found('b%d')).toEqual([]);
    const many = Array.from({ length: 101 }, (_, at) => `key_${at}`).join();
    expect((await gateway.manage('GET', `/keys?id=${many}`)).status).toBe(400);
  });

  test('is not created with invalid settings', async () => {
    const wrong: [Record<string, unknown>, string][] = [
      [{}, 'name'],
      [{ name: 'x', colour: 1 }, 'colour'],
      [{ name: 'x', roles: ['owner'] }, 'roles[0]'],
      [{ name: 'x', limits: [{ requests: 0, per: 'minute' }] }, 'limits[0].requests'],
      [{ name: 'x', limits: [{ requests: 1, per: 'fortnight' }] }, 'limits[0]'],
      [{ name: 'x', budgets: [{ tokens: 3 }] }, 'budgets[0].usd'],
      [{ name: 'x', expires_at: '2001-01-01T00:00:00Z' }, 'expires_at'],
      [{ name: 'x', expires_at: 'soon' }, 'expires_at'],
      [{ name: 'x', routing: { only: ['nobody'] } }, 'routing.only'],
    ];
    for (const [body, param] of wrong) {
      const refused = await gateway.manage('POST', '/keys', body);
      expect([refused.status, (refused.body['error'] as { param: unknown }).param]).toEqual([400, param]);
    }
    expect((await gateway.manage('POST', '/keys', { name: 'x', project: 'none' })).status).toBe(404);
    expect((await gateway.manage('POST', '/keys', { name: 'test' })).status).toBe(409);
    const names = entries(await gateway.manage('GET', '/keys?limit=100')).map(({ name }) => name);
    expect(names).not.toContain('x');
  });

  test('is created once with an idempotency key', async () => {
    const headers = { 'idempotency-key': 'order-1' };
    const [first, second] = await Promise.all([
      gateway.manage('POST', '/keys', { name: 'once' }, headers),
      gateway.manage('POST', '/keys', { name: 'once' }, headers),
    ]);
    expect(second.body).toEqual(first.body);
    const again = await gateway.manage('POST', '/keys', { name: 'once' }, headers);
    expect(again.body['key']).toBe(first.body['key']);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.status).toBe(201);
    const other = await gateway.manage('POST', '/keys', { name: 'twice' }, headers);
    expect(other.status).toBe(409);
    expect(other.body).toMatchObject({ error: { code: 'idempotency_conflict' } });
    expect(
      (await gateway.manage('POST', '/keys', { name: 'y' }, { 'idempotency-key': 'a b' })).body,
    ).toMatchObject({ error: { param: 'idempotency-key' } });
    // A failed answer is not kept.
    const remote = await gateway.manage('POST', '/projects', { name: 'y' }, headers);
    expect(remote).toMatchObject({ status: 409, body: { error: { code: 'idempotency_conflict' } } });
    const retried = { 'idempotency-key': 'order-2' };
    expect((await gateway.manage('POST', '/keys', { name: 'once' }, retried)).status).toBe(409);
    expect((await gateway.manage('POST', '/keys', { name: 'later' }, retried)).status).toBe(201);
    expect(
      (await gateway.manage('GET', `/audit?target=${String(first.body['id'])}`)).body['data'],
    ).toHaveLength(1);
  });

  test('is changed only in the version that was read', async () => {
    const { body } = await gateway.manage('POST', '/keys', { name: 'versioned' });
    const path = `/keys/${String(body['id'])}`;
    const first = await gateway.manage('PATCH', path, { models: ['sim/chat'] }, { 'if-match': '"1"' });
    expect(first.body).toMatchObject({ version: 2, models: ['sim/chat'] });
    expect(first.headers.get('etag')).toBe('"2"');
    const stale = await gateway.manage('PATCH', path, { models: null }, { 'if-match': '"1"' });
    expect(stale.status).toBe(412);
    expect(stale.body).toMatchObject({ error: { code: 'precondition_failed' } });
    expect((await gateway.manage('DELETE', path, undefined, { 'if-match': 'W/"2"' })).status).toBe(412);
    const any = await gateway.manage('PATCH', path, { name: 'renamed' }, { 'if-match': '*' });
    expect(any.body).toMatchObject({ version: 3, name: 'renamed', models: ['sim/chat'] });
    const several = await gateway.manage('PATCH', path, { strict: true }, { 'if-match': '"1", "3"' });
    expect(several.body).toMatchObject({ version: 4, strict: true });
    const audit = await gateway.manage('GET', `/audit?target=${String(body['id'])}`);
    expect(entries(audit)[0]).toMatchObject({
      action: 'key.change',
      before: { strict: null, version: 3 },
      after: { strict: true, version: 4 },
    });
  });

  test('gets another secret, with or without a grace period, and keeps its id', async () => {
    const made = await gateway.manage('POST', '/keys', { name: 'rotated' });
    const path = `/keys/${String(made.body['id'])}`;
    const graced = await gateway.manage('POST', `${path}/rotate`, { grace_ms: 60_000 });
    expect(graced.body).toMatchObject({ id: made.body['id'] });
    expect(graced.body['previous_valid_until']).toBeString();
    expect(await call(graced.body['key'])).toBe(200);
    expect(await call(made.body['key'])).toBe(200);
    const plain = await gateway.manage('POST', `${path}/rotate`);
    expect(await call(plain.body['key'])).toBe(200);
    expect(await call(graced.body['key'])).toBe(401);
  });

  test('is revoked at once, and only once', async () => {
    const made = await gateway.manage('POST', '/keys', { name: 'revoked' });
    const path = `/keys/${String(made.body['id'])}`;
    const revoked = await gateway.manage('DELETE', path);
    expect(revoked.body).toMatchObject({ state: 'revoked' });
    expect(await call(made.body['key'])).toBe(401);
    expect((await gateway.manage('DELETE', path)).body['revoked_at']).toBe(revoked.body['revoked_at']);
    expect((await gateway.manage('PATCH', path, { strict: true })).status).toBe(409);
    expect((await gateway.manage('POST', `${path}/rotate`)).status).toBe(409);
    expect((await gateway.manage('DELETE', '/keys/key_nobody')).status).toBe(404);
    const list = entries(await gateway.manage('GET', '/keys?state=revoked'));
    expect(list.map(({ name }) => name)).toContain('revoked');
    expect(list.every(({ state }) => state === 'revoked')).toBe(true);
  });

  test('of the role admin manages, and calls models only if it may', async () => {
    const made = await gateway.manage('POST', '/keys', { name: 'second admin', roles: ['admin'] });
    const authorization = `Bearer ${String(made.body['key'])}`;
    expect((await gateway.manage('GET', '/keys', undefined, { authorization })).status).toBe(200);
    expect(await call(made.body['key'])).toBe(403);
    const both = await gateway.manage('PATCH', `/keys/${String(made.body['id'])}`, {
      roles: ['admin', 'models'],
    });
    expect(both.status).toBe(200);
    expect(await call(made.body['key'])).toBe(200);
  });
});

describe('what the configuration file defines', () => {
  test('is listed first, and changed there alone', async () => {
    const listed = entries(await gateway.manage('GET', '/keys'));
    expect(listed.slice(0, 2)).toMatchObject([
      { name: 'test', source: 'file', version: null },
      { name: 'admin', id: 'key_admin', source: 'file' },
    ]);
    const { id } = listed[0] ?? {};
    for (const [method, path, body] of [
      ['PATCH', `/keys/${String(id)}`, { strict: true }],
      ['POST', '/keys/test/rotate', {}],
      ['DELETE', '/keys/key_admin', undefined],
      ['PATCH', '/projects/filed', { limits: [] }],
      ['POST', '/projects/filed/archive', undefined],
    ] as const) {
      const refused = await gateway.manage(method, path, body);
      expect(refused.status).toBe(409);
      expect(refused.body).toMatchObject({ error: { code: 'defined_in_file' } });
      expect(JSON.stringify(refused.body)).toContain('configuration file');
    }
  });

  test('does not give its name to a new project, and the error says to choose another one', async () => {
    const refused = await gateway.manage('POST', '/projects', { name: 'filed' });
    expect(refused.status).toBe(409);
    const message = 'The configuration file already defines a project "filed". Choose another name.';
    expect(refused.body).toMatchObject({ error: { message, param: 'name', code: 'defined_in_file' } });
  });
});

describe('a project', () => {
  test('is created, has keys, and is changed with versions', async () => {
    const made = await gateway.manage('POST', '/projects', {
      name: 'search',
      budgets: [{ usd: 40, per: 'day' }],
    });
    expect([made.status, made.headers.get('etag')]).toEqual([201, '"1"']);
    expect(made.body).toMatchObject({ object: 'project', id: 'search', state: 'active', limits: [] });
    expect((await gateway.manage('POST', '/projects', { name: 'search' })).status).toBe(409);
    expect((await gateway.manage('POST', '/projects', { name: 'key_x' })).body).toMatchObject({
      error: { param: 'name' },
    });
    const key = await gateway.manage('POST', '/keys', { name: 'searcher', project: 'search' });
    expect(key.body['project']).toBe('search');
    expect(await call(key.body['key'])).toBe(200);
    const ofProject = entries(await gateway.manage('GET', '/keys?project=search'));
    expect(ofProject.map(({ name }) => name)).toEqual(['searcher']);
    const limits = [{ concurrent: 5 }];
    const changed = await gateway.manage('PATCH', '/projects/search', { limits }, { 'if-match': '"1"' });
    expect(changed.body).toMatchObject({ version: 2, limits, budgets: [{ usd: 40, per: 'day' }] });
    expect((await gateway.manage('PATCH', '/projects/search', {}, { 'if-match': '"1"' })).status).toBe(412);

    for (const [text, ids] of [
      ['EARC', ['search']],
      ['file', ['filed']],
      ['_', []],
    ])
      expect(
        entries(await gateway.manage('GET', `/projects?search=${String(text)}`)).map(({ id }) => id),
      ).toEqual(ids as string[]);

    const archived = await gateway.manage('POST', '/projects/search/archive', undefined, {
      'if-match': '"2"',
    });
    expect(archived.body).toMatchObject({ state: 'archived' });
    expect([401, 403]).toContain(await call(key.body['key']));
    expect(entries(await gateway.manage('GET', '/projects?state=archived'))).toMatchObject([
      { id: 'search' },
    ]);
    await gateway.manage('POST', '/projects/search/restore');
    expect(await call(key.body['key'])).toBe(200);
    const audit = entries(await gateway.manage('GET', '/audit?target=search'));
    expect(audit.map(({ action }) => action)).toEqual([
      'project.restore',
      'project.archive',
      'project.change',
      'project.create',
    ]);
  });

  test('is listed in pages that go on from the file to the database and back', async () => {
    for (const name of ['a', 'b', 'c']) await gateway.manage('POST', '/projects', { name });
    const all = entries(await gateway.manage('GET', '/projects?limit=100')).map(({ id }) => id);
    expect(all[0]).toBe('filed');
    expect(all.slice(-3)).toEqual(['a', 'b', 'c']);
    for (const limit of [1, 2, 3]) {
      const forwards: unknown[] = [];
      for (let after = ''; ;) {
        const page = await gateway.manage('GET', `/projects?limit=${limit}${after}`);
        forwards.push(...entries(page).map(({ id }) => id));
        if (page.body['has_more'] !== true) break;
        after = `&after=${String(page.body['last_id'])}`;
      }
      expect(forwards).toEqual(all);
      const backwards: unknown[] = [];
      for (let before = 'c'; ;) {
        const page = await gateway.manage('GET', `/projects?limit=${limit}&before=${before}`);
        backwards.unshift(...entries(page).map(({ id }) => id));
        if (page.body['has_more'] !== true) break;
        before = String(page.body['first_id']);
      }
      expect(backwards).toEqual(all.slice(0, -1));
    }
    expect((await gateway.manage('GET', '/projects?after=nobody')).body).toMatchObject({
      error: { param: 'after' },
    });
  });
});
