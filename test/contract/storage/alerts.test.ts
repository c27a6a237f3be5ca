// Alerts, through their port, in every database.
import { expect, test } from 'bun:test';
import { rejection } from '../../support/rejection.ts';
import { describeDatabases } from './databases.ts';

const DAY = 86_400_000;
const NOON = Date.UTC(2026, 10, 22, 12);

describeDatabases((fresh) => {
  test('alerts that were sent are kept, and read newest first, in pages in both directions', async () => {
    const open = await fresh();
    await using storage = await open();
    for (let number = 1; number <= 5; number += 1)
      await storage.alerts.keep(
        {
          id: `alert_${number}`,
          raisedAt: number * 1_000,
          type: number % 2 === 0 ? 'endpoint.opened' : 'provider.key_refused',
          message: `No. ${number}`,
          data: { number },
        },
        `event ${number % 2}`,
      );
    const ids = async (query: object): Promise<readonly string[]> => {
      const { alerts, hasMore } = await storage.alerts.list({ limit: 2, ...query });
      return [...alerts.map(({ id }) => id), ...(hasMore ? ['more'] : [])];
    };
    expect(await ids({})).toEqual(['alert_5', 'alert_4', 'more']);
    expect(await ids({ after: 'alert_4' })).toEqual(['alert_3', 'alert_2', 'more']);
    expect(await ids({ before: 'alert_3' })).toEqual(['alert_5', 'alert_4']);
    expect(await ids({ type: 'endpoint.opened' })).toEqual(['alert_4', 'alert_2']);
    const [first] = (await storage.alerts.list({ limit: 1 })).alerts;
    expect(first).toMatchObject({ raisedAt: 5_000, message: 'No. 5', data: { number: 5 } });
    expect(await rejection(storage.alerts.list({ limit: 1, after: 'alert_9' }))).toMatchObject({
      kind: 'invalid_request',
      param: 'after',
    });
    expect((await storage.alerts.open()).map(({ id, event }) => [id, event])).toEqual([
      ['alert_5', 'event 1'],
      ['alert_4', 'event 0'],
      ['alert_3', 'event 1'],
      ['alert_2', 'event 0'],
      ['alert_1', 'event 1'],
    ]);
    expect(await storage.alerts.resolve('event 1', 9_000)).toBe(true);
    expect(await storage.alerts.resolve('event 1', 9_500)).toBe(false);
    expect(await ids({ isOpen: true })).toEqual(['alert_4', 'alert_2']);
    expect(await ids({ isOpen: false })).toEqual(['alert_5', 'alert_3', 'more']);
    const [over] = (await storage.alerts.list({ limit: 1 })).alerts;
    expect(over).toMatchObject({ id: 'alert_5', isOpen: false, resolvedAt: 9_000 });
  });

  test('an alert that was sent before a restart is not sent again', async () => {
    await using storage = await (await fresh())();
    const { claim } = storage.alerts;
    const raise = (id: string, nowMs: number, quietMs: number): Promise<boolean> =>
      claim.call(storage.alerts, id, nowMs, quietMs);
    expect(await raise('budget a', NOON, Infinity)).toBe(true);
    expect(await raise('budget a', NOON + 300 * DAY, Infinity)).toBe(false);
    expect(await raise('budget b', NOON, Infinity)).toBe(true);
    expect(await raise('endpoint', NOON, 1000)).toBe(true);
    expect(await raise('endpoint', NOON + 999, 1000)).toBe(false);
    expect(await raise('endpoint', NOON + 1000, 1000)).toBe(true);
    expect(await raise('endpoint', NOON + 1999, 1000)).toBe(false);
  });
});
