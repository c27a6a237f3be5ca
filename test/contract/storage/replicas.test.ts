// Processes that share a database, through their port.
import { expect, test } from 'bun:test';
import { describePostgres } from './shared-postgres.ts';

describePostgres((fresh) => {
  test('each process finds the others while they renew their entries', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    expect(await one.replicas.present('a', 60_000)).toEqual([]);
    const [other] = await two.replicas.present('b', 60_000);
    expect(other?.name).toBe('a');
    const again = (await one.replicas.present('a', 120_000)).map(({ name }) => name);
    expect(again).toEqual(['b']);
    const [later] = await two.replicas.present('b', 60_000);
    expect(later?.until).toBeGreaterThan(other?.until ?? Infinity);
    // One whose time is over is forgotten.
    await one.replicas.present('a', -1);
    expect(await two.replicas.present('b', 60_000)).toEqual([]);
    await Promise.all([one.close(), two.close()]);
  });
});
