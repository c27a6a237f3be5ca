// Usage of requests is reported truly: failures belong to somebody, unknown prices are named, days are those of the operator.
import { afterAll, expect, test } from 'bun:test';
import { startOutage } from '../../../support/management/outage.ts';
import { ADMIN_KEY } from '../../../support/management/scene.ts';

const ZONE = 'Asia/Tokyo';
const TOKYO_MS = 9 * 3_600_000;

const outage = await startOutage({ server: { timezone: ZONE } });
afterAll(() => outage.close());

type Row = Record<string, unknown>;

async function usage(query: string): Promise<Row & { data: Row[] }> {
  const { body } = await outage.gateway.manage('GET', `/usage?${query}`);
  return body as Row & { data: Row[] };
}

test('a failed request counts for the requested model and the last provider', async () => {
  const { data } = await usage('group_by=model');
  const byModel = new Map(data.map((row) => [row['model'], row]));
  expect(byModel.get('acme/locked')).toMatchObject({ requests: 1, failed: 1, refused: 0, cancelled: 0 });
  expect(byModel.get('acme/cut')).toMatchObject({ requests: 1, failed: 1 });
  expect(byModel.get('acme/free')).toMatchObject({ requests: 4, failed: 0, refused: 2 });
  expect(byModel.has(null)).toBe(false);
});

test('attempts count for their providers, also for one that never responds', async () => {
  const { data } = await usage('group_by=provider');
  const byProvider = new Map(data.map((row) => [row['provider'], row]));
  expect(byProvider.get('down')).toMatchObject({ requests: 0, attempts: 2, failed_attempts: 2, failed: 0 });
  expect(byProvider.get('locked')).toMatchObject({ requests: 1, attempts: 1, failed_attempts: 1, failed: 1 });
  expect(byProvider.get('good')).toMatchObject({ attempts: 3, failed_attempts: 0 });
});

test('unknown prices are reported, and are not zero', async () => {
  const { data, ...rest } = await usage('group_by=model&totals=true');
  const free = data.find((row) => row['model'] === 'acme/free');
  expect(free).toMatchObject({ usd: null, unpriced_requests: 2 });
  const all = (rest['totals'] as { all: Row }).all;
  expect(all['unpriced_requests']).toBe(2);
  expect(all['usd']).toBeGreaterThan(0);
});

test('minutes, half hours, six hours and days of the zone add up to the same', async () => {
  for (const interval of ['5m', '30m', 'hour', '6h', 'day', 'month']) {
    const from = new Date(Date.now() - 3_600_000).toISOString();
    const { data, timezone } = await usage(`interval=${interval}&from=${from}&totals=true`);
    expect(timezone).toBe(ZONE);
    expect(data.reduce((sum, row) => sum + Number(row['requests']), 0)).toBe(7);
    if (interval !== 'day') continue;
    const start = Date.parse(String(data.at(-1)?.['start']));
    expect((start + TOKYO_MS) % 86_400_000).toBe(0);
  }
  const today = new Date(Date.now() + TOKYO_MS).toISOString().slice(0, 10);
  const { data, from } = await usage(`from=${today}`);
  expect(data).toMatchObject([{ requests: 7 }]);
  expect(Date.parse(String(from))).toBeGreaterThanOrEqual(Date.parse(today) - TOKYO_MS);
  const old = await outage.gateway.manage('GET', '/usage?interval=5m&from=2026-01-01');
  expect(old).toMatchObject({ status: 400, body: { error: { param: 'interval' } } });
});

test('the time before is there to be compared, and a table has the same columns', async () => {
  const { before } = await usage('compare=true&columns=requests,usd');
  expect(before).toMatchObject({ all: null });
  const later = new Date(Date.now() + 4 * 3_600_000).toISOString();
  const past = await usage(
    `from=${new Date(Date.now() + 2 * 3_600_000).toISOString()}&to=${later}&compare=true`,
  );
  expect(past['before']).toMatchObject({ all: { requests: 7, failed: 2, refused: 2 } });
  const csv = await fetch(`${outage.gateway.origin}/v1/management/usage?group_by=model&format=csv`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  const [head = ''] = (await csv.text()).split('\r\n');
  expect(head).toContain('unpriced_requests');
  expect(head).toContain('refused');
});
