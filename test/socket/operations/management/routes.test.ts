// The configuration, models and providers as an admin sees and changes them.
import { afterAll, describe, expect, test } from 'bun:test';
import { startManaged } from '../../../support/management/scene.ts';

const SECRET = 'sk-test-upstream-secret-0123456789';

const gateway = await startManaged({
  providers: {
    vendor: {
      api_key: SECRET,
      headers: { 'x-tenant': 'a-header-that-is-secret' },
      protocols: { 'openai-chat': 'http://user:hunter22@127.0.0.1:9/v1' },
    },
  },
  models: [
    {
      id: 'vendor/large',
      endpoints: [{ provider: 'vendor', model: 'large', price: { input: 1, output: 2 } }],
    },
  ],
  aliases: { big: 'vendor/large' },
});
afterAll(() => gateway.close());

const entries = (body: Record<string, unknown>) => body['data'] as Record<string, unknown>[];

describe('the configuration', () => {
  test('is shown in the format of the file, with its defaults and without its secrets', async () => {
    const { status, body } = await gateway.manage('GET', '/config');
    expect(status).toBe(200);
    expect(body).toMatchObject({ object: 'config', revision: 1 });
    const config = body['config'] as Record<string, Record<string, unknown>>;
    expect(config['server']).toMatchObject({ host: '127.0.0.1', body_limit_mb: 32, admin_key: '[secret]' });
    expect(config['keys']).toMatchObject([{ name: 'test', key: '[secret]' }]);
    expect(config['providers']?.['vendor']).toMatchObject({
      api_key: '[secret]',
      headers: { 'x-tenant': '[secret]' },
    });
    expect(config['routing']).toMatchObject({ retries: 1, breaker: { failures: 5 } });
    const text = JSON.stringify(body);
    for (const secret of [SECRET, 'hunter22', 'a-header-that-is-secret', gateway.key])
      expect(text).not.toContain(`"${secret}`);
    expect(text).not.toContain('hunter22');
  });

  test('a draft is checked and not used', async () => {
    const good = await gateway.manage('POST', '/config/check', { config: 'strict: true' });
    expect(good.body).toMatchObject({ valid: true, problems: [] });
    const bad = await gateway.manage('POST', '/config/check', {
      config: 'server: { prot: 1 }\nkeys: 3\n',
    });
    expect(bad.body).toMatchObject({ valid: false });
    const problems = bad.body['problems'] as string[];
    expect(problems.join('\n')).toContain('server.prot: unknown key; did you mean "port"?');
    expect(problems.some((problem) => problem.startsWith('keys: '))).toBe(true);
    const unknown = await gateway.manage('POST', '/config/check', {
      config: 'aliases: { x: nobody/nothing }',
    });
    expect(unknown.body['valid']).toBe(false);
    const yaml = await gateway.manage('POST', '/config/check', { config: 'a: [' });
    expect(yaml.body['valid']).toBe(false);
    expect((await gateway.manage('GET', '/config')).body['revision']).toBe(1);
  });

  test('a wrong member of a request is named, with the one that was meant', async () => {
    const typo = await gateway.manage('POST', '/config/check', { confgi: 'strict: true' });
    expect(typo.status).toBe(400);
    expect(typo.body).toMatchObject({ error: { type: 'invalid_request_error', param: 'config' } });
    expect(JSON.stringify(typo.body)).toContain('did you mean');
    const extra = await gateway.manage('POST', '/config/check', { config: '', more: 1 });
    expect(extra.body).toMatchObject({ error: { param: 'more' } });
    expect((await gateway.manage('POST', '/config/check', [1])).status).toBe(400);
    expect((await gateway.manage('POST', '/config/check')).status).toBe(400);
    expect((await gateway.manage('GET', '/models?limit=0')).body).toMatchObject({
      error: { param: 'limit' },
    });
    expect((await gateway.manage('GET', '/models?colour=1')).body).toMatchObject({
      error: { param: 'colour' },
    });
  });
});

describe('models', () => {
  test('are listed in pages, in both directions', async () => {
    const all = await gateway.manage('GET', '/models?limit=100');
    const ids = entries(all.body).map(({ id }) => id);
    expect(ids.length).toBeGreaterThan(3);
    const first = await gateway.manage('GET', '/models?limit=2');
    expect(first.body).toMatchObject({ has_more: true, first_id: ids[0], last_id: ids[1] });
    const next = await gateway.manage('GET', `/models?limit=2&after=${String(ids[1])}`);
    expect(entries(next.body).map(({ id }) => id)).toEqual(ids.slice(2, 4));
    const back = await gateway.manage('GET', `/models?limit=1&before=${String(ids[2])}`);
    expect(entries(back.body).map(({ id }) => id)).toEqual(ids.slice(1, 2));
    expect(back.body['has_more']).toBe(true);
    const last = await gateway.manage('GET', `/models?after=${String(ids.at(-1))}`);
    expect(last.body).toMatchObject({ data: [], first_id: null, last_id: null, has_more: false });
    expect((await gateway.manage('GET', '/models?after=no-such')).body).toMatchObject({
      error: { param: 'after' },
    });
    expect((await gateway.manage('GET', '/models?after=a&before=b')).body).toMatchObject({
      error: { param: 'before' },
    });
  });

  test('show for each endpoint its price and what is known about it', async () => {
    const { body } = await gateway.manage('GET', '/models?provider=vendor');
    expect(entries(body)).toHaveLength(1);
    expect(entries(body)[0]).toMatchObject({
      id: 'vendor/large',
      endpoints: [
        {
          slug: 'vendor',
          model: 'large',
          price: { input: 1, output: 2, source: 'config' },
          health: { state: 'closed', measured_at: null },
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain('hunter22');
  });

  test('are found by id, encoded or not, and by alias', async () => {
    for (const id of ['vendor/large', 'vendor%2Flarge', 'big'])
      expect((await gateway.manage('GET', `/models/${id}`)).body).toMatchObject({ id: 'vendor/large' });
    const { status, body } = await gateway.manage('GET', '/models/nobody/nothing');
    expect(status).toBe(404);
    expect(body).toMatchObject({ error: { code: 'model_not_found' } });
  });
});

describe('providers', () => {
  const hello = { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] };

  test('show how their endpoints did', async () => {
    expect((await gateway.post('/chat/completions', hello)).status).toBe(200);
    const { body } = await gateway.manage('GET', '/providers/sim');
    const endpoints = body['endpoints'] as Record<string, Record<string, unknown>>[];
    const chat = endpoints.find((each) => String(each['model_id']) === 'sim/chat');
    expect(chat?.['health']).toMatchObject({ state: 'closed', success_rate: 1, running: 0 });
    expect(chat?.['health']?.['answer_ms']).toBeNumber();
    const list = await gateway.manage('GET', '/providers');
    expect(entries(list.body).map(({ id }) => id)).toEqual(['sim', 'vendor']);
    expect((await gateway.manage('GET', '/providers/nobody')).status).toBe(404);
  });

  test('are disabled and enabled by hand', async () => {
    const opened = await gateway.manage('POST', '/providers/sim/breaker', {
      state: 'open',
      model: 'sim/chat',
      for_ms: 60_000,
      reason: 'maintenance',
    });
    expect(opened.body).toMatchObject({
      provider: 'sim',
      state: 'open',
      endpoints: [{ model_id: 'sim/chat', slug: 'sim' }],
    });
    const explained = (await (await gateway.post('/route/explain', hello)).json()) as object;
    expect(JSON.stringify(explained)).toContain('maintenance');
    expect((await gateway.manage('GET', '/providers/sim')).body['open']).toBe(1);
    const all = await gateway.manage('POST', '/providers/sim/breaker', { state: 'closed' });
    expect((all.body['endpoints'] as unknown[]).length).toBeGreaterThan(1);
    expect((await gateway.manage('GET', '/providers/sim')).body['open']).toBe(0);
    const wrong = await gateway.manage('POST', '/providers/sim/breaker', { state: 'ajar' });
    expect(wrong.body).toMatchObject({ error: { param: 'state' } });
    const remote = { state: 'open', model: 'vendor/large' };
    expect((await gateway.manage('POST', '/providers/sim/breaker', remote)).status).toBe(404);
  });
});
