// Keys as operators see them: spent, used last, the tightest budget, and one state each.
import { afterAll, expect, test } from 'bun:test';
import { ManualClock } from '../../../support/manual-clock.ts';
import { startManaged } from '../../../support/management/scene.ts';

const DAY_MS = 86_400_000;
const secrets = new Map<string, string>();

type Row = Record<string, unknown>;

async function make(name: string, settings: Row = {}): Promise<void> {
  const { body } = await gateway.manage('POST', '/keys', { name, ...settings });
  secrets.set(name, String(body['key']));
}

async function ask(name: string, model = 'sim/chat'): Promise<number> {
  const answer = await fetch(`${gateway.origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secrets.get(name)}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, max_tokens: 5, messages: [{ role: 'user', content: 'What is 6 x 7?' }] }),
  });
  await answer.text();
  return answer.status;
}

async function rows(query: string): Promise<readonly Row[]> {
  const { body } = await gateway.manage('GET', `/keys?limit=100&${query}`);
  return body['data'] as Row[];
}

const names = async (query: string) => (await rows(query)).map(({ name }) => name);

const gateway = await startManaged({
  projects: { search: { budgets: [{ usd: 50, per: 'month' }] } },
  keys: [
    { name: 'test', key: 'sk-test' },
    { name: 'ends', key: 'sk-test-ends', expires: new Date(Date.now() + 2 * DAY_MS).toISOString() },
  ],
  models: [
    {
      id: 'house/chat',
      endpoints: [{ provider: 'sim', model: 'chat', price: { input: 1_000, output: 1_000 } }],
    },
  ],
});
await make('colleague', { budgets: [{ usd: 20, per: 'month' }] });
await make('papers', { project: 'search', budgets: [{ usd: 1_000, per: 'month' }] });
await make('small', { budgets: [{ usd: 0.11, per: 'day' }] });
await make('spent', { budgets: [{ usd: 0.001, per: 'day', when_spent: 'finish' }] });
await make('short', { expires_at: new Date(Date.now() + 2 * DAY_MS).toISOString() });
await make('gone');
const [gone] = await rows('search=gone');
await gateway.manage('DELETE', `/keys/${String(gone?.['id'])}`);
await ask('spent', 'house/chat');
await ask('papers', 'house/chat');
await ask('papers', 'house/chat');
while ((await ask('small', 'house/chat')) === 200);
afterAll(() => gateway.close());

test('each row contains the spend of the month and the last use of the key', async () => {
  const [papers] = await rows('search=papers');
  expect(papers).toMatchObject({ requests: 2, spent_unpriced_requests: 0, state: 'active' });
  expect(papers?.['spent_usd']).toBeGreaterThan(0);
  expect(Date.now() - Date.parse(String(papers?.['last_used_at']))).toBeLessThan(60_000);
  const [colleague] = await rows('search=colleague');
  expect(colleague).toMatchObject({ requests: 0, spent_usd: 0, last_used_at: null });
});

test('each row has its tightest budget, of the key or its project', async () => {
  const [papers] = await rows('search=papers');
  expect(papers?.['tightest']).toMatchObject({ of: 'project', text: '$50.00 per month', allowed: 50 });
  const [colleague] = await rows('search=colleague');
  expect(colleague?.['tightest']).toMatchObject({ of: 'key', allowed: 20, used: 0, share: 0 });
});

test('a key that expires soon is a problem, unless it was created for a short time', async () => {
  const { body } = await gateway.manage('GET', '/problems');
  const expiring = (body['data'] as Row[]).filter(({ kind }) => kind === 'key_expiry');
  expect(expiring).toMatchObject([{ key: { name: 'ends' } }]);
});

test('a budget that is used up is a problem, and one too low for a request that it refused is another', async () => {
  const { body } = await gateway.manage('GET', '/problems');
  const budgets = (body['data'] as Row[]).filter(({ kind }) => kind === 'budget');
  expect(budgets).toMatchObject([
    { budget_state: 'budget_used_up', text: 'The budget "$0.001 per day" of key "spent" is used up' },
    {
      budget_state: 'budget_too_low',
      text: 'The budget "$0.11 per day" of key "small" is too low for a request that it refused',
    },
  ]);
  expect(body['sentence']).toMatchObject({
    budgets: 1,
    low_budgets: 1,
    text: expect.stringContaining('1 budget is used up, 1 budget is too low'),
  });
});

test('a key is active, expires soon, has used up its budget, is archived with its project, or is revoked', async () => {
  const states = new Map((await rows('')).map(({ name, state }) => [name, state]));
  expect(Object.fromEntries(states)).toMatchObject({
    colleague: 'active',
    short: 'expires_soon',
    spent: 'budget_used_up',
    small: 'budget_too_low',
    gone: 'revoked',
  });
  expect(await names('state=budget_too_low,expires_soon&order_by=name')).toEqual(['ends', 'short', 'small']);
  expect(await names('state=revoked')).toEqual(['gone']);
  await gateway.manage('POST', '/projects', { name: 'old' });
  await make('late', { project: 'old' });
  await gateway.manage('POST', '/projects/old/archive', {});
  expect((await rows('search=late'))[0]?.['state']).toBe('project_archived');
});

test('a refusal of yesterday does not make the budget of today too low', async () => {
  const clock = new ManualClock(Date.UTC(2026, 10, 22, 12));
  const price = { input: 0, output: 0, request: 0.1 };
  const other = await startManaged(
    {
      keys: [{ name: 'test', key: 'sk-test', budgets: [{ usd: 1.09, per: 'day' }] }],
      models: [{ id: 'mine/echo', endpoints: [{ provider: 'sim', model: 'echo', price }] }],
    },
    { clock },
  );
  const asks = async (): Promise<number> => {
    const answer = await other.post('/chat/completions', {
      model: 'mine/echo',
      messages: [{ role: 'user', content: 'hi' }],
    });
    await answer.text();
    clock.advance(1_000);
    return answer.status;
  };
  const state = async (): Promise<unknown> => (await other.manage('GET', '/keys/test')).body['state'];
  while ((await asks()) === 200);
  expect(await state()).toBe('budget_too_low');
  clock.advance(DAY_MS);
  for (let count = 0; count < 10; count++) expect(await asks()).toBe(200);
  expect(await state()).toBe('active');
  expect(await asks()).toBe(402);
  expect(await state()).toBe('budget_too_low');
  await other.close();
});

test('rows are ordered by the usage of the keys, page by page', async () => {
  const spent = await names('order_by=spent&order=desc');
  expect(spent.slice(0, 2).toSorted()).toEqual(['papers', 'small']);
  const [first, second] = await names('order_by=last_used&order=desc');
  expect([first, second]).toEqual(['small', 'papers']);
  const { body } = await gateway.manage('GET', '/keys?order_by=name&limit=1');
  const next = await gateway.manage('GET', `/keys?order_by=name&limit=1&after=${String(body['last_id'])}`);
  expect([body, next.body].map((page) => (page['data'] as Row[])[0]?.['name'])).toEqual([
    'admin',
    'colleague',
  ]);
});

test('one key shows how long its budget lasts at the present rate', async () => {
  const [small] = await rows('search=small');
  const { body } = await gateway.manage('GET', `/keys/${String(small?.['id'])}`);
  const [standing] = body['standings'] as Row[];
  expect(standing).toMatchObject({ of: 'key', unit: 'usd', allowed: 0.11 });
  const until = standing?.['lasts_until'];
  const resets = Date.parse(String(standing?.['resets_at']));
  // The same from its numbers: a day of which so much has passed. Null where it lasts until it resets.
  const passedMs = Date.now() - (resets - 86_400_000);
  const leftMs = (passedMs * (0.11 - Number(standing?.['used']))) / Number(standing?.['used']);
  const ends = Date.now() + leftMs;
  if (ends > resets + 60_000) expect(until).toBeNull();
  else if (ends < resets - 60_000) expect(Math.abs(Date.parse(String(until)) - ends)).toBeLessThan(60_000);
});

test('the gateway returns its version, its time and its time zone', async () => {
  const { body } = await gateway.manage('GET', '/about');
  expect(body).toMatchObject({ object: 'about', version: expect.any(String), timezone: 'UTC' });
  expect(Math.abs(Date.parse(String(body['time'])) - Date.now())).toBeLessThan(60_000);
});

test('a created or changed key has its state as in the list', async () => {
  const soon = new Date(Date.now() + DAY_MS).toISOString();
  const made = await gateway.manage('POST', '/keys', { name: 'soon', expires_at: soon });
  expect(made.body).toMatchObject({ state: 'expires_soon', requests: 0, last_used_at: null });
  const id = String(made.body['id']);
  const later = await gateway.manage('PATCH', `/keys/${id}`, { expires_at: null });
  expect(later.body).toMatchObject({ state: 'active' });
  expect((await gateway.manage('DELETE', `/keys/${id}`)).body).toMatchObject({ state: 'revoked' });
});

test('names are found only by id: of keys in the file, of revoked keys, and none for unknown ids', async () => {
  const ids = (await rows('')).map(({ id }) => String(id));
  const { body } = await gateway.manage('GET', `/key-names?id=${[...ids, 'key_nobody'].join(',')}`);
  const found = (body['data'] as Row[]).map(({ id, name }) => [id, name]);
  expect(Object.fromEntries(found)).toEqual(
    Object.fromEntries((await rows('')).map(({ id, name }) => [id, name])),
  );
  expect(found.map(([, name]) => name)).toContain('gone');
  const many = Array.from({ length: 101 }, (_, at) => `key_${at}`).join(',');
  expect((await gateway.manage('GET', `/key-names?id=${many}`)).status).toBe(400);
});
