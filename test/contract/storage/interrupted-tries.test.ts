// Facts about tries of killed replicas, through their port. Only PostgreSQL has several data directories.
import { expect, test } from 'bun:test';
import { describePostgres } from './shared-postgres.ts';

describePostgres((fresh) => {
  test('tries are listed from the oldest with their ages, kept once, and deleted by their records', async () => {
    const open = await fresh();
    await using storage = await open();
    const { interruptedTries } = storage;
    await interruptedTries.add({ recordId: 'gen_b', detail: 'one' });
    await interruptedTries.add({ recordId: 'gen_a', detail: 'two' });
    await interruptedTries.add({ recordId: 'gen_b', detail: 'again' });
    const all = await interruptedTries.list(10);
    expect(all.map(({ detail }) => detail).toSorted()).toEqual(['one', 'two']);
    const ages = all.map(({ ageMs }) => ageMs);
    expect(ages).toEqual(ages.toSorted((a, b) => b - a));
    for (const age of ages) expect(age).toBeWithin(0, 60_000);
    expect(await interruptedTries.list(1)).toHaveLength(1);
    await interruptedTries.delete(['gen_b', 'gen_c']);
    expect((await interruptedTries.list(10)).map(({ recordId }) => recordId)).toEqual(['gen_a']);
  });
});
