// Counts of a gateway in each of the places that count: limits, records, and sums over records. They must agree.
import { expect } from 'bun:test';
import { TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';

const ADMIN_KEY = 'sk-admin-test-0123456789';

/** A configuration that refuses nothing, under which everything is counted. */
export const COUNTED = {
  server: { admin_key: ADMIN_KEY },
  limits: [{ concurrent: 1000 }],
  keys: [
    {
      name: 'test',
      key: TEST_KEY,
      budgets: [{ usd: 1000, per: 'month' }],
      limits: [
        { requests: 1e9, per: 'month' },
        { tokens: 9e12, per: 'month' },
      ],
    },
  ],
};

/** Sums of requests. */
export interface SimulatedLedger {
  /** As limits count them: each turn of an answer; nothing of what failed and used nothing. */
  readonly requests: number;
  readonly tokens: number;
  readonly nanoUsd: number;
  /** Records: one for each request of a client. */
  readonly records: number;
}

type Origin = Pick<TestGateway, 'origin'>;

/** Waits until nothing runs. Throws where something is still reserved, or one place has counted what another has not. */
export async function ledgerOf(gateway: Origin): Promise<SimulatedLedger> {
  await eventually('nothing is reserved', async () =>
    (await standings(gateway)).every((standing) => at(standing, 'reserved') === 0),
  );
  const records = await recordsOf(gateway);
  const [concurrent, requests, tokens, usd] = (await standings(gateway)).map((each) =>
    Number(at(each, 'used')),
  );
  const counted = { requests, tokens, nanoUsd: nano(usd), records: records.length };
  const [sums = {}] = list(await managed(gateway, '/usage'), 'data');
  const sum = (...names: readonly string[]): number =>
    names.reduce((total, name) => total + Number(at(sums, name) ?? 0), 0);
  const booked = records.map(ofRecord);
  const total = (of: (book: Omit<SimulatedLedger, 'records'>) => number): number =>
    booked.reduce((all, book) => all + of(book), 0);
  expect({ concurrent, ...counted }).toEqual({
    concurrent: 0,
    requests: total((book) => book.requests),
    tokens: total((book) => book.tokens),
    nanoUsd: total((book) => book.nanoUsd),
    records: sum('requests'),
  });
  expect({
    requests: sum('requests', 'charged_errors', 'tool_turns') - sum('errors'),
    tokens: sum(...Object.keys(sums ?? {}).filter((name) => /^(input|output)_/.test(name))),
    nanoUsd: sum('nano_usd'),
  }).toEqual({ requests: counted.requests, tokens: counted.tokens, nanoUsd: counted.nanoUsd } as never);
  return counted as SimulatedLedger;
}

/** Sums that a run adds to the ledger. */
export async function added(gateway: Origin, run: () => Promise<unknown>): Promise<SimulatedLedger> {
  const before = await ledgerOf(gateway);
  await run();
  const after = await ledgerOf(gateway);
  return {
    requests: after.requests - before.requests,
    tokens: after.tokens - before.tokens,
    nanoUsd: after.nanoUsd - before.nanoUsd,
    records: after.records - before.records,
  };
}

function ofRecord(record: Json): Omit<SimulatedLedger, 'records'> {
  const used = at(record, 'native_tokens') !== null || at(record, 'cost') !== null;
  return {
    requests: used || at(record, 'error') === null ? Number(at(record, 'turns')) : 0,
    tokens: Number(at(record, 'native_tokens', 'total_tokens') ?? 0),
    nanoUsd: nano(at(record, 'usage')),
  };
}

/** All records, the latest first. */
export async function recordsOf(gateway: Origin): Promise<readonly Json[]> {
  const records: Json[] = [];
  for (let after = ''; ;) {
    const page = await managed(gateway, `/generations?limit=100${after}`);
    records.push(...list(page, 'data'));
    if (at(page, 'has_more') !== true) return records;
    after = `&after=${String(at(records.at(-1) ?? null, 'id'))}`;
  }
}

/** Limits in their order: of the gateway, then of the key. */
export async function standings(gateway: Origin): Promise<readonly Json[]> {
  const owners = list(await managed(gateway, '/limits'), 'data').flatMap((owner) => list(owner, 'limits'));
  const order = ['concurrent', 'requests', 'tokens', 'usd'];
  return owners.toSorted(
    (a, b) => order.indexOf(String(at(a, 'unit'))) - order.indexOf(String(at(b, 'unit'))),
  );
}

async function managed({ origin }: Origin, path: string): Promise<Json> {
  const answer = await fetch(`${origin}/v1/management${path}`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Json;
}

function nano(usd: unknown): number {
  return Math.round(Number(usd ?? 0) * 1e9);
}
