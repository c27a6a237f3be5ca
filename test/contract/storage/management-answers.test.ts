// Answers of the management API under idempotency keys, through their port, in every database.
import { expect, test } from 'bun:test';
import { describeDatabases } from './databases.ts';

const CLAIM = { id: 'key_a POST /keys once', fingerprint: 'f1', run: 'run_1', until: 100 };

describeDatabases((fresh) => {
  test('if several processes claim a response at once, one produces it and the others find it', async () => {
    const open = await fresh();
    const all = [await open(), await open(), await open()];
    const found = await Promise.all(
      all.map(({ managementAnswers }, at) => managementAnswers.claim({ ...CLAIM, run: `run_${at}` }, 1)),
    );
    expect(found.filter((answer) => answer === null)).toHaveLength(1);
    expect(found.find((answer) => answer !== null)).toEqual({ fingerprint: 'f1', sealed: null });
    const run = `run_${found.indexOf(null)}`;
    // A run that does not make the answer neither keeps nor drops it.
    await all[0]?.managementAnswers.keep({ id: CLAIM.id, run: 'run_9' }, 'other', 200);
    await all[0]?.managementAnswers.drop({ id: CLAIM.id, run: 'run_9' });
    await all[1]?.managementAnswers.keep({ id: CLAIM.id, run }, 'sealed', 200);
    expect(await all[2]?.managementAnswers.claim(CLAIM, 150)).toEqual({
      fingerprint: 'f1',
      sealed: 'sealed',
    });
    await Promise.all(all.map((storage) => storage.close()));
  });

  test('a response that was dropped or has expired is produced again', async () => {
    await using storage = await (await fresh())();
    const { managementAnswers } = storage;
    expect(await managementAnswers.claim(CLAIM, 1)).toBeNull();
    await managementAnswers.drop(CLAIM);
    expect(await managementAnswers.claim({ ...CLAIM, run: 'run_2' }, 2)).toBeNull();
    expect(await managementAnswers.claim({ ...CLAIM, run: 'run_3' }, 99)).not.toBeNull();
    expect(await managementAnswers.claim({ ...CLAIM, run: 'run_4', until: 300 }, 100)).toBeNull();
  });
});
