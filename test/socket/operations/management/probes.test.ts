// Probes of an endpoint that an admin begins by the management API: their cost before, their results, and what is kept.
import { afterAll, expect, test } from 'bun:test';
import { createSim } from '../../../../sim/index.ts';
import { eventually } from '../../../support/program.ts';
import { startManaged } from '../../../support/management/scene.ts';

let asked = 0;
const sim = createSim();
const upstream = Bun.serve({
  port: 0,
  fetch(request) {
    asked += 1;
    return sim.fetch(request);
  },
});

const base = `${upstream.url.origin}/openai/v1`;
const gateway = await startManaged({
  providers: { lab: { api_key: 'sk-test-of-the-lab', protocols: { 'openai-chat': { base_url: base } } } },
  models: [
    { id: 'lab/chat', endpoints: [{ provider: 'lab', model: 'chat', price: { input: 1, output: 4 } }] },
    { id: 'lab/none', endpoints: [{ provider: 'lab', model: 'error-401' }] },
  ],
});
afterAll(async () => {
  await gateway.close();
  await upstream.stop(true);
});

const findingsOf = async (): Promise<readonly Record<string, unknown>[]> =>
  (await gateway.manage('GET', '/doctor/findings')).body['data'] as Record<string, unknown>[];

test('the cost of probes is returned before any is sent', async () => {
  const { body } = await gateway.manage('GET', '/doctor/plan?provider=lab&model=lab/chat');
  expect(body).toMatchObject({ object: 'doctor.plan', stored: true });
  expect(body['requests']).toBeGreaterThan(10);
  expect(body['cost_usd']).toBeCloseTo((Number(body['tokens']) * 4) / 1_000_000);
  const unpriced = await gateway.manage('GET', '/doctor/plan?provider=lab&model=lab/none');
  expect(unpriced.body['cost_usd']).toBeNull();
  expect(asked).toBe(0);
});

test('an endpoint is probed, its results are stored and used, and the audit log names the actor', async () => {
  const body = { provider: 'lab', model: 'lab/chat' };
  const [one, other] = await Promise.all([
    gateway.manage('POST', '/doctor/probes', body),
    gateway.manage('POST', '/doctor/probes', body),
  ]);
  expect(one.body).toMatchObject({ object: 'doctor.diagnosis', provider: 'lab', model_id: 'lab/chat' });
  // An admin who asks meanwhile gets the same results, and no request is sent twice.
  expect(other.body).toEqual(one.body);
  const plan = await gateway.manage('GET', '/doctor/plan?provider=lab&model=lab/chat');
  expect(asked).toBeLessThanOrEqual(Number(plan.body['requests']));
  await eventually('its results are in force', async () => (await findingsOf()).length === 1);
  expect((await findingsOf())[0]).toMatchObject({ id: one.body['id'], probed_at: one.body['probed_at'] });
  const { body: audit } = await gateway.manage('GET', '/audit?action=doctor.probe');
  expect((audit['data'] as unknown[])[0]).toMatchObject({ target: 'lab/lab/chat' });
});

test('results of an endpoint that refuses, and of the built-in provider, are answered and not kept', async () => {
  const refused = await gateway.manage('POST', '/doctor/probes', { provider: 'lab', model: 'lab/none' });
  expect((refused.body['findings'] as { outcome: string }[]).some(({ outcome }) => outcome === 'yes')).toBe(
    false,
  );
  const builtIn = await gateway.manage('POST', '/doctor/probes', { provider: 'sim', model: 'sim/chat' });
  expect(builtIn.status).toBe(200);
  expect(await findingsOf()).toHaveLength(1);
});

test('a model or provider that is not there is refused, with the field that names it', async () => {
  for (const [body, param] of [
    [{ provider: 'lab', model: 'nobody/knows' }, 'model'],
    [{ provider: 'sim', model: 'lab/chat' }, 'provider'],
    [{ provider: 'lab' }, 'model'],
  ] as const) {
    const refused = await gateway.manage('POST', '/doctor/probes', body);
    expect(refused).toMatchObject({ status: 400, body: { error: { param } } });
  }
});
