// Requests as operators look for them: by state, by who was tried, by how long they took, with counts and one explanation each.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { startOutage } from '../../../support/management/outage.ts';
import type { Asked, ManagedGateway } from '../../../support/management/scene.ts';

let gateway: ManagedGateway;
let ids: Readonly<Record<string, string>>;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ gateway, ids, close } = await startOutage());
});
afterAll(() => close());

/** A member inside of others. */
function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner: unknown, name) => (inner as Record<string, unknown> | undefined)?.[name], value);
}

const rows = ({ body }: Asked) => body['data'] as Record<string, unknown>[];
const listed = async (query: string) => rows(await gateway.manage('GET', `/generations?${query}`));
const states = async (query: string) => (await listed(query)).map(({ state }) => state);

describe('the list', () => {
  test('shows the state of each request independent of its HTTP status', async () => {
    expect(await states('order=asc')).toEqual([
      'recovered',
      'ok',
      'failed',
      'broken_stream',
      'rejected',
      'ok',
      'limit_reached',
    ]);
    const [recovered, unpriced, locked] = await listed('order=asc&limit=3');
    expect(recovered).toMatchObject({
      key_name: 'papers',
      attempted: ['down', 'good'],
      attempts: 3,
      tokens: { input: 10, output: 2 },
      unpriced: false,
    });
    expect(unpriced).toMatchObject({ cost_usd: null, unpriced: true });
    // A failure belongs to the model that was asked for and the provider that was tried last.
    expect(locked).toMatchObject({ model: 'acme/locked', attempted: ['locked'], cost_usd: null });
  });

  test('is narrowed by state, outcome, provider tried, kind, attempts and text', async () => {
    expect(await states('state=failed,broken_stream&order=asc')).toEqual(['failed', 'broken_stream']);
    expect(await states('outcome=refused&order=asc')).toEqual(['rejected', 'limit_reached']);
    expect(await states('attempted=down')).toEqual(['recovered']);
    expect(await states('attempted=locked')).toEqual(['failed']);
    expect(await states('provider=locked')).toEqual(['failed']);
    expect(await states('model=acme/locked')).toEqual(['failed']);
    expect(await states('min_attempts=2')).toEqual(['recovered']);
    expect(await states('text=LOCK')).toEqual(['failed']);
    expect(await states('text=narrow&order=asc')).toEqual(['ok', 'limit_reached']);
    expect(await states(`text=${ids['cut']?.slice(0, 32)}`)).toEqual(['broken_stream']);
    const kinds = await listed('state=failed');
    const kind = String(at(kinds[0], 'error', 'kind'));
    expect(await states(`error_kind=${kind}`)).toContain('failed');
    const wrong = await gateway.manage('GET', '/generations?state=well');
    expect(wrong).toMatchObject({ status: 400, body: { error: { param: 'state' } } });
  });

  test('is ordered by a measure, page by page', async () => {
    const all = await listed('order_by=duration');
    const durations = all.map((each) => Number(each['duration_ms']));
    expect(durations).toEqual(durations.toSorted((a, b) => b - a));
    const [first, second] = all;
    expect(await listed(`order_by=duration&limit=1&after=${String(first?.['id'])}`)).toEqual([second ?? {}]);
    expect(await listed(`order_by=duration&limit=1&before=${String(second?.['id'])}`)).toEqual([first ?? {}]);
    const costs = (await listed('order_by=cost')).map((each) => each['cost_usd']);
    expect(costs[0]).toBeGreaterThan(0);
  });
});

describe('counts', () => {
  test('give the number by state and time, and the other possible values of filters', async () => {
    const { body } = await gateway.manage(
      'GET',
      '/generations/counts?facets=state,model,key,attempted,error_kind&buckets=24',
    );
    expect(body).toMatchObject({
      total: 7,
      failed: 2,
      refused: 2,
      cancelled: 0,
      exact: true,
      states: { ok: 2, recovered: 1, broken_stream: 1, failed: 1, limit_reached: 1, rejected: 1 },
    });
    const histogram = body['histogram'] as { count: number; failed: number }[];
    expect(histogram.length).toBeLessThanOrEqual(24);
    expect(histogram.reduce((sum, { count }) => sum + count, 0)).toBe(7);
    const facets = body['facets'] as Record<string, { value: string; name?: string; count: number }[]>;
    expect(facets['model']).toContainEqual({ value: 'acme/free', count: 4 });
    expect(facets['key']?.map(({ name, count }) => [name, count])).toEqual([
      ['papers', 5],
      ['narrow', 2],
    ]);
    expect(facets['attempted']).toContainEqual({ value: 'down', count: 2 });
    const states = Object.entries(body['states'] as Record<string, number>);
    expect(facets['state']?.map(({ value, count }) => [value, count])).toEqual(
      states.filter(([, count]) => count > 0).toSorted(([, one], [, other]) => other - one),
    );
    const narrowed = await gateway.manage('GET', '/generations/counts?facets=state,model&state=failed');
    expect(narrowed.body).toMatchObject({
      total: 1,
      facets: { model: [{ value: 'acme/locked', count: 1 }] },
    });
    // A facet is counted without its own filter.
    expect((narrowed.body['facets'] as typeof facets)['state']).toHaveLength(6);
  });
});

describe('one request', () => {
  const explained = async (name: string) => {
    const { body } = await gateway.manage('GET', `/generations/${ids[name]}`);
    return { body, explanation: body['explanation'] as Record<string, unknown> };
  };

  test('that recovered shows the failed attempts and the time of each phase', async () => {
    const { body, explanation } = await explained('recovered');
    expect(explanation).toMatchObject({
      kind: 'recovered',
      answered_by: 'good',
      earlier: [{ provider: 'down', status: 503, message: 'The model is overloaded.' }, { provider: 'down' }],
      failure: null,
    });
    expect(explanation['text']).toMatch(/^Served by good in .* Before that, down failed with 503 2 times\.$/);
    expect(body['gateway_ms']).toBeGreaterThanOrEqual(0);
    expect((body['attempts'] as object[])[1]).toMatchObject({ started_ms: expect.any(Number) });
  });

  test('that failed shows the error and its source', async () => {
    const locked = (await explained('locked')).explanation;
    expect(locked).toMatchObject({
      kind: 'failed',
      failure: { by: 'provider', provider: 'locked', status: 401 },
    });
    // The provider's words alone, named once.
    expect(locked['text']).toMatch(/^locked failed with 401: (?!.*(?:locked|no endpoint))/);
    const cut = (await explained('cut')).explanation;
    expect(cut['kind']).toBe('broken_stream');
    expect(cut['text']).toMatch(/^The stream of cut broke after/);
  });

  test('that was refused shows the limit, its owner, and when it is free', async () => {
    const { body, explanation } = await explained('limited');
    // The words of the refusal, as the client got them: the limit may be another one now.
    expect(explanation['text']).toBe(at(body, 'error', 'message'));
    expect(explanation['text']).toMatch(/^1 request per day \(the limit of key "narrow"\) is reached/);
    expect(explanation).toMatchObject({
      kind: 'limit_reached',
      limit: {
        text: '1 request per day',
        owner: { kind: 'key', name: 'narrow' },
        used: 1,
        allowed: 1,
        resets_at: expect.any(String),
      },
    });
  });
});
