// Reports of the management API: limits as they stand, usage, and the records of requests.
import { afterAll, describe, expect, test } from 'bun:test';
import { ADMIN_KEY, type Asked, startManaged } from '../../../support/management/scene.ts';

const ids: string[] = [];

const gateway = await startManaged({
  projects: { search: { budgets: [{ usd: 40, per: 'day' }] } },
  limits: [{ concurrent: 500 }],
  keys: [
    {
      name: 'test',
      key: 'sk-test',
      project: 'search',
      limits: [{ requests: 600, per: 'minute', models: ['sim/*'] }],
    },
  ],
});
for (const model of ['sim/chat', 'sim/chat', 'sim/messages', 'sim/nobody-has-this']) {
  const user = model === 'sim/chat' ? { user: 'ann' } : {};
  const body = { model, messages: [{ role: 'user', content: 'What is 6 x 7?' }], ...user };
  const answer = await gateway.post('/chat/completions', body);
  ids.push(answer.headers.get('x-request-id') ?? '');
}
afterAll(() => gateway.close());

const entries = ({ body }: Asked) => body['data'] as Record<string, unknown>[];

describe('limits', () => {
  test('are listed for each owner: used, reserved, remaining, and when they are free', async () => {
    const all = await gateway.manage('GET', '/limits');
    expect(entries(all).map(({ owner }) => (owner as { kind: string }).kind)).toEqual([
      'gateway',
      'project',
      'key',
    ]);
    expect(entries(await gateway.manage('GET', '/limits?kind=gateway'))).toMatchObject([
      {
        id: 'gateway',
        limits: [{ limit: { concurrent: 500 }, unit: 'concurrent', used: 0, remaining: 500 }],
      },
    ]);
    const [project] = entries(await gateway.manage('GET', '/limits?kind=project&id=search'));
    const [budget] = (project?.['limits'] ?? []) as { used: number; remaining: number; clears_at: string }[];
    expect(budget).toMatchObject({ unit: 'usd', reserved: 0, text: '$40.00 per day' });
    expect(budget?.used).toBeGreaterThan(0);
    expect((budget?.used ?? 0) + (budget?.remaining ?? 0)).toBeCloseTo(40, 9);
    const [key] = entries(await gateway.manage('GET', '/limits?kind=key'));
    expect(key).toMatchObject({ owner: { name: 'test' }, limits: [{ used: 3, remaining: 597 }] });
    expect(entries(await gateway.manage('GET', '/limits?kind=provider'))).toEqual([]);
    const page = await gateway.manage('GET', '/limits?limit=1&after=gateway');
    expect(page.body).toMatchObject({ first_id: 'project:search', has_more: true });
  });
});

describe('usage', () => {
  test('rows of the largest groups are those with the most requests, or with the highest cost', async () => {
    const own = await startManaged({
      models: [
        {
          id: 'mine/dear',
          endpoints: [{ provider: 'sim', model: 'echo', price: { input: 0, output: 0, request: 5 } }],
        },
      ],
    });
    for (const model of ['sim/chat', 'sim/chat', 'mine/dear'])
      await own.post('/chat/completions', { model, messages: [{ role: 'user', content: 'What is 6 x 7?' }] });
    const largest = async (by: string): Promise<unknown> =>
      entries(await own.manage('GET', `/usage?group_by=model&largest=1&largest_by=${by}`)).map(
        ({ model }) => model,
      );
    expect([await largest('requests'), await largest('usd')]).toEqual([['sim/chat'], ['mine/dear']]);
    await own.close();
  });

  test('is summed by members of requests, and over time', async () => {
    const { body } = await gateway.manage('GET', '/usage?group_by=model&project=search');
    expect(body).toMatchObject({ object: 'usage', complete: true });
    const rows = body['data'] as Record<string, unknown>[];
    const chat = rows.find(({ model }) => model === 'sim/chat');
    expect(chat).toMatchObject({ requests: 2, errors: 0, start: null, errors_by_kind: {} });
    expect(chat?.['usd']).toBe(Number(chat?.['nano_usd']) / 1e9);
    expect(chat?.['duration_ms_p95']).toBeNumber();
    const days = await gateway.manage('GET', '/usage?interval=day&group_by=project,protocol&from=1700000000');
    expect((days.body['data'] as unknown[])[0]).toMatchObject({ project: 'search', protocol: 'openai-chat' });
    const none = await gateway.manage('GET', '/usage?project=nobody');
    expect(none.body['data']).toEqual([]);
    const largest = await gateway.manage('GET', '/usage?interval=hour&group_by=model&largest=1');
    expect(new Set((largest.body['data'] as { model: string }[]).map(({ model }) => model)).size).toBe(1);
    const { body: divided } = await gateway.manage(
      'GET',
      '/usage?interval=hour&group_by=model&largest=1&totals=true',
    );
    const { totals, ...without } = divided as { totals: { all: unknown; groups: unknown[] } };
    expect(without).toEqual(largest.body);
    const all = await gateway.manage('GET', '/usage');
    expect(totals.all).toEqual((all.body['data'] as unknown[])[0]);
    const groups = await gateway.manage('GET', '/usage?group_by=model');
    expect(groups.body['data']).toEqual(totals.groups);
    expect(totals.groups.length).toBeGreaterThan(1);
    const nothing = await gateway.manage('GET', '/usage?project=nobody&totals=true');
    expect(nothing.body).toMatchObject({ data: [], totals: { all: null, groups: [] } });
    const few = await gateway.manage('GET', '/usage?group_by=model&columns=errors,usd,first_content_ms_p50');
    const whole = groups.body['data'] as Record<string, unknown>[];
    expect(few.body['data']).toEqual(
      whole.map(({ start, model, errors, usd, first_content_ms_p50: median }) => ({
        start,
        model,
        errors,
        usd,
        first_content_ms_p50: median,
      })),
    );
    const plain = await gateway.manage('GET', '/usage?totals=true&columns=tool_turns');
    expect(plain.body).toMatchObject({ data: [{ start: null, tool_turns: 0 }] });
    expect(plain.body['totals']).toEqual({
      all: { start: null, tool_turns: 0 },
      groups: [{ start: null, tool_turns: 0 }],
    });
    for (const [query, param] of [
      ['columns=usd,colour', 'columns'],
      ['columns=tools&format=csv', 'columns'],
      ['largest=1', 'largest'],
      ['largest=1&group_by=model,key', 'largest'],
      ['largest=0&group_by=model', 'largest'],
      ['group_by=colour', 'group_by'],
      ['interval=minute', 'interval'],
      ['from=yesterday', 'from'],
      ['colour=1', 'colour'],
    ])
      expect((await gateway.manage('GET', `/usage?${query}`)).body).toMatchObject({ error: { param } });
  });

  test('is available as CSV, also if a name would be a formula', async () => {
    const { body, headers } = await gateway.manage('GET', '/usage?group_by=model&format=csv');
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const [head = '', ...lines] = String(body['text']).trimEnd().split('\r\n');
    expect(head.split(',').slice(0, 2)).toEqual(['model', 'requests']);
    expect(lines.some((line) => line.startsWith('sim/chat,2,'))).toBe(true);
    const few = await gateway.manage('GET', '/usage?group_by=model&format=csv&columns=errors,requests');
    expect(String(few.body['text']).split('\r\n')).toContain('sim/chat,0,2');
    const accepted = await gateway.manage('GET', '/usage', undefined, { accept: 'text/csv' });
    expect(accepted.headers.get('content-type')).toContain('text/csv');
  });
});

describe('usage of end users', () => {
  test('is reported by the hash of the records, with filters, as JSON or CSV', async () => {
    const ask = (query: string): Promise<Asked> => gateway.manage('GET', `/usage/end-users?${query}`);
    const { body } = await ask('project=search');
    expect(body).toMatchObject({ object: 'usage.end_users', complete: true });
    const [ann, ...others] = body['data'] as Record<string, unknown>[];
    expect(ann).toMatchObject({ project: 'search', requests: 2, errors: 0, unpriced_requests: 0 });
    expect(ann?.['usd']).toBe(Number(ann?.['nano_usd']) / 1e9);
    expect(others).toEqual([]);
    const listed = await gateway.manage('GET', `/generations?end_user=${ann?.['end_user']}`);
    expect(entries(listed)).toHaveLength(2);
    expect((await ask('model=sim/messages')).body['data']).toEqual([]);
    expect((await ask('to=1700000000')).body['data']).toEqual([]);
    expect((await ask('endpoint=sim')).body).toMatchObject({ error: { param: 'endpoint' } });
    const [head, line] = String((await ask('format=csv')).body['text']).split('\r\n');
    expect(head).toBe('project,end_user,requests,errors,input,output,nano_usd,usd,unpriced_requests');
    expect(line).toStartWith(`search,${ann?.['end_user']},2,0,`);
  });
});

describe('generations', () => {
  test('are listed newest first, narrowed by filters, in pages', async () => {
    const all = await gateway.manage('GET', '/generations');
    expect(entries(all).map(({ id }) => id)).toEqual(ids.toReversed());
    expect(entries(all)[1]).toMatchObject({ model: 'sim/messages', status: 200, attempts: 1 });
    const listed = async (query: string) =>
      entries(await gateway.manage('GET', `/generations?${query}`)).map(({ id }) => id);
    expect(await listed('order=asc')).toEqual(ids);
    expect(await listed('model=sim/chat')).toEqual([ids[1], ids[0]]);
    expect(await listed('model=sim/chat,sim/messages&status=200')).toHaveLength(3);
    expect(await listed('outcome=refused')).toEqual([ids[3]]);
    expect(await listed('status=404')).toEqual([ids[3]]);
    expect(await listed('project=search&provider=sim&min_cost_usd=0.0000001')).toHaveLength(3);
    expect(await listed('project=nobody')).toEqual([]);
    expect(await listed('to=1700000000')).toEqual([]);
    expect(await listed(`limit=2&after=${ids[2]}`)).toEqual([ids[1], ids[0]]);
    expect(await listed(`limit=1&before=${ids[1]}`)).toEqual([ids[2]]);
    for (const [query, param] of [
      ['after=nothing', 'after'],
      ['status=good', 'status'],
      ['outcome=lost', 'outcome'],
      ['min_cost_usd=1e20', 'min_cost_usd'],
      ['min_duration_ms=1e20', 'min_duration_ms'],
      ['min_cost_usd=-1', 'min_cost_usd'],
    ])
      expect((await gateway.manage('GET', `/generations?${query}`)).body).toMatchObject({ error: { param } });
  });

  test('one of any key is shown with attempts, route and report', async () => {
    const { body } = await gateway.manage('GET', `/generations/${ids[0]}`);
    expect(body).toMatchObject({
      id: ids[0],
      model: 'sim/chat',
      attempts: [{ outcome: 'completed' }],
      report: [],
    });
    expect(body['route']).toBeObject();
    expect((await gateway.manage('GET', `/generations/resp_${ids[0]}`)).body['id']).toBe(ids[0]);
    expect((await gateway.manage('GET', `/generations/${'0'.repeat(32)}`)).status).toBe(404);
    expect((await gateway.manage('GET', '/generations/%00')).status).toBe(404);
    expect(JSON.stringify(body)).not.toContain(ADMIN_KEY);
  });
});
