// End users whom nobody has heard of before, by the thousand, through sockets: each is counted to the request, and none takes
// more memory than its counter. What becomes of those who are forgotten is tested without sockets: it takes tens of thousands.
import { afterAll, expect, test } from 'bun:test';
import { heapStats } from 'bun:jsc';
import { steady } from '../../bench/steady.ts';
import { startGateway } from '../support/harness.ts';
import { isWhole } from '../support/share.ts';

const NAMES = isWhole ? 20_000 : 2_000;
/** Kilobytes of heap for each: its counter, and the record that is not yet written; and what the compiler and its caches take
 * meanwhile. What a request holds while it runs, some 40, must not be among them. */
const MOST_KB = 2;
const COMPILED_KB = 16_000;
const KEY = 'sk-test-named';

const limits = [{ requests: 2, per: 'day', each: 'end_user' }];
const gateway = await startGateway({ keys: [{ name: 'named', key: KEY, limits }] });
afterAll(() => gateway.close());

/** Sends one request of each of so many names. @returns answers by status */
async function askAs(from: number, names: number): Promise<Readonly<Record<string, number>>> {
  const { statuses } = await steady({
    port: Number(new URL(gateway.origin).port),
    perSecond: 100_000,
    seconds: 300,
    connections: 32,
    head: `authorization: Bearer ${KEY}\r\n`,
    body: JSON.stringify({
      model: 'sim/echo',
      user: 'somebody #########',
      messages: [{ role: 'user', content: 'Hi' }],
    }),
    from,
    most: names,
  });
  return statuses;
}

function heapKb(): number {
  Bun.gc(true);
  return heapStats().heapSize / 1024;
}

test('names by the thousand are counted each for itself, in bounded memory', async () => {
  const few = NAMES / 4;
  expect(await askAs(0, few)).toEqual({ 200: few });
  const before = heapKb();
  expect(await askAs(few, NAMES - few)).toEqual({ 200: NAMES - few });
  expect(heapKb() - before).toBeLessThan((NAMES - few) * MOST_KB + COMPILED_KB);
  for (const from of [0, NAMES - 50]) {
    expect(await askAs(from, 50)).toEqual({ 200: 50 });
    expect(await askAs(from, 50)).toEqual({ 429: 50 });
  }
}, 300_000);
