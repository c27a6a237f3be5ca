// How providers do, in one word each: by their latest attempts, in their own words, and with what became of the requests.
import { afterAll, expect, test } from 'bun:test';
import { startOutage } from '../../../support/management/outage.ts';
import { ADMIN_KEY } from '../../../support/management/scene.ts';
import { eventually } from '../../../support/program.ts';

const outage = await startOutage();
afterAll(() => outage.close());

type Provider = Record<string, unknown> & { readonly id: string; readonly state: string };

async function providers(): Promise<readonly Provider[]> {
  const { body } = await outage.gateway.manage('GET', '/providers?limit=100');
  return body['data'] as Provider[];
}

const provider = async (id: string) => (await outage.gateway.manage('GET', `/providers/${id}`)).body;

test('a provider that rejects its key is failing at once, with its error text', async () => {
  const [first] = await providers();
  expect(first).toMatchObject({
    id: 'locked',
    state: 'failing',
    problem: { status: 401, text: '401 key refused', message: 'Incorrect API key provided.' },
    worst: { model_id: 'acme/locked', state: 'failing' },
    effect: { rerouted: 0, failed: 1 },
    day: { attempts: 1, failed_attempts: 1, good_share: 0 },
  });
  expect(Date.parse(String(first?.['state_since']))).toBeGreaterThan(Date.now() - 60_000);
});

test('others are degraded, healthy or without traffic', async () => {
  const states = Object.fromEntries((await providers()).map(({ id, state }) => [id, state]));
  expect(states).toMatchObject({ down: 'degraded', cut: 'degraded', good: 'healthy', sim: 'no_traffic' });
  expect(await provider('cut')).toMatchObject({ problem: { text: 'stream cut' } });
  const good = await provider('good');
  expect(good).toMatchObject({
    problem: null,
    state_since: null,
    endpoints_by_state: { healthy: 2 },
    recent_errors: [],
  });
  // A day that does not begin with an hour touches 25 of them.
  const trend = good['trend'] as { attempts: number }[];
  expect(trend.length).toBe(25);
  const { attempts } = good['day'] as { attempts: number };
  expect(trend.reduce((sum, hour) => sum + hour.attempts, 0)).toBe(attempts);
});

test('one provider shows its last error, how often it occurred, and where to look', async () => {
  const down = await provider('down');
  expect(down).toMatchObject({
    key_hint: '…',
    effect: { rerouted: 1, failed: 0 },
    recent_errors: [
      {
        status: 503,
        text: '503 unavailable',
        message: 'The model is overloaded.',
        count: 2,
        example_id: outage.ids['recovered'],
      },
    ],
    endpoints: [
      { slug: 'down', state: 'degraded', window: { attempts: 2, good: 0, bad: 2, rate_limited: 0 } },
    ],
  });
  expect(JSON.stringify(down)).not.toContain('sk-test-upstream');
});

test('problems are listed with a sentence', async () => {
  const { body } = await outage.gateway.manage('GET', '/problems');
  const { text } = body['sentence'] as { text: string };
  expect(text).toBe('1 provider fails, 2 are degraded; 1 request was rerouted, 2 failed.');
  expect((body['data'] as { provider?: string }[])[0]).toMatchObject({
    kind: 'provider',
    provider: 'locked',
    state: 'failing',
  });
});

test('alerts are kept', async () => {
  const kinds = async (): Promise<readonly unknown[]> => {
    const { body } = await outage.gateway.manage('GET', '/alerts');
    return (body['data'] as { type: string }[]).map(({ type }) => type);
  };
  await eventually('an alert is kept', async () => (await kinds()).includes('provider.key_refused'));
});

test('states and alerts survive a restart', async () => {
  await outage.restart();
  const { body } = await outage.gateway.manage('GET', '/alerts?type=provider.key_refused');
  expect(body['data']).toMatchObject([{ message: expect.stringContaining('locked') }]);
  const states = Object.fromEntries((await providers()).map(({ id, state }) => [id, state]));
  expect(states).toMatchObject({ locked: 'failing', down: 'degraded', good: 'healthy' });
});

test('three successful attempts in a row end it, and no fewer', async () => {
  outage.mend('locked');
  const stateOf = async (): Promise<unknown> => (await provider('locked'))['state'];
  for (const expected of ['failing', 'failing', 'healthy']) {
    await outage.ask('acme/locked', 'sk-test-papers');
    expect(await stateOf()).toBe(expected);
  }
});

test('a disabled provider shows by whom, why and until when', async () => {
  await outage.gateway.manage('POST', '/providers/good/breaker', {
    state: 'open',
    for_ms: 60_000,
    reason: 'maintenance',
  });
  const good = await provider('good');
  expect(good).toMatchObject({
    state: 'disabled',
    disabled_by: { reason: 'maintenance' },
    state_until: expect.any(String),
  });
  await outage.gateway.manage('POST', '/providers/good/breaker', { state: 'closed' });
  expect((await provider('good'))['state']).toBe('healthy');
});

test('the first page leads a browser to the console, and a program to the name', async () => {
  const at = (accept: string) =>
    fetch(`${outage.gateway.origin}/`, { headers: { accept }, redirect: 'manual' });
  const page = await at('text/html,application/xhtml+xml');
  expect([page.status, page.headers.get('location')]).toEqual([302, '/console']);
  expect(await (await at('*/*')).json()).toEqual({ name: 'dragoman' });
  expect(ADMIN_KEY).not.toBe('');
});
