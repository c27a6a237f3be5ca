// Payloads of requests that are kept: bounded by size and by age, the oldest are deleted first.
import { expect, test } from 'bun:test';
import type { StoredPayload } from '../../../src/accounts/ports/index.ts';
import { describeDatabases } from './databases.ts';

const HOUR_MS = 3_600_000;
const ROOMY = 1_048_576;

function idAt(ms: number): string {
  return ms.toString(16).padStart(12, '0') + 'a'.repeat(20);
}

function payload(bytes: number, attempt: number | null = null): StoredPayload {
  const stage = attempt === null ? 'client_request' : 'upstream_request';
  return { stage, attempt, head: '{}', body: new Uint8Array(bytes).fill(7) };
}

describeDatabases((fresh) => {
  test('the oldest make room for the newest', async () => {
    await using storage = await (await fresh())();
    const { payloads } = storage;
    const ids = [1, 2, 3, 4].map((hour) => idAt(hour * HOUR_MS));
    for (const id of ids) await payloads.put(id, [payload(300, 0), payload(100)], 1_000);
    const counts = await Promise.all(ids.map(async (id) => (await payloads.find(id)).length));
    expect(counts).toEqual([0, 0, 2, 2]);
    const kept = await payloads.find(ids[3] ?? '');
    expect(kept.map(({ stage, attempt, body }) => [stage, attempt, body.length])).toEqual([
      ['client_request', null, 100],
      ['upstream_request', 0, 300],
    ]);
  });

  test('payloads beyond their retention are deleted', async () => {
    const open = await fresh();
    const first = await open();
    for (const hour of [1, 2, 3]) await first.payloads.put(idAt(hour * HOUR_MS), [payload(10)], ROOMY);
    await first.close();
    const { payloads, close } = await open();
    expect(await payloads.purge(3 * HOUR_MS)).toBe(2);
    expect(await payloads.purge(3 * HOUR_MS)).toBe(0);
    expect(await payloads.find(idAt(2 * HOUR_MS))).toEqual([]);
    expect(await payloads.find(idAt(3 * HOUR_MS))).toHaveLength(1);
    await close();
  });
});
