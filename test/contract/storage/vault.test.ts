// Sealed turns, through their port, in every database.
import { expect, test } from 'bun:test';
import { describeDatabases } from './databases.ts';

describeDatabases((fresh) => {
  test('sealed turns are found by key and call, until they expire', async () => {
    await using storage = await (await fresh())();
    const { vault } = storage;
    const sealed = Uint8Array.of(0, 1, 255);
    await vault.put([
      { projectId: 'key_a', callId: 'call_1', sealed, expiresAt: 100 },
      { projectId: 'key_a', callId: 'call_2', sealed, expiresAt: 50 },
      { projectId: 'key_b', callId: 'call_3', sealed, expiresAt: 100 },
    ]);
    await vault.put([{ projectId: 'key_a', callId: 'call_1', sealed: Uint8Array.of(9), expiresAt: 100 }]);
    const found = await vault.get('key_a', ['call_1', 'call_2', 'call_3', 'call_4'], 50);
    expect([...found]).toEqual([['call_1', Uint8Array.of(9)]]);
    await vault.put([{ projectId: 'key_a', callId: 'call_5', sealed, expiresAt: 200 }]);
    expect([...(await vault.list('key_a', 50, 10)).keys()]).toEqual(['call_5', 'call_1']);
    expect([...(await vault.list('key_a', 50, 1))]).toEqual([['call_5', sealed]]);
    expect((await vault.list('key_c', 50, 10)).size).toBe(0);
    expect(await vault.purge(50)).toBe(1);
    expect(await vault.purge(50)).toBe(0);
    expect((await vault.get('key_b', ['call_3'], 99)).get('call_3')).toEqual(sealed);
    expect((await vault.get('key_b', [], 99)).size).toBe(0);
  });

  test('a purge deletes a bounded number at a time', async () => {
    await using storage = await (await fresh())();
    const { vault } = storage;
    await vault.put(
      Array.from({ length: 1_201 }, (_, i) => ({
        projectId: 'k',
        callId: `c${i}`,
        sealed: Uint8Array.of(1),
        expiresAt: i,
      })),
    );
    let purges = 0;
    while ((await vault.purge(5_000)) > 0) purges += 1;
    expect(purges).toBeGreaterThan(1);
    expect((await vault.get('k', ['c0', 'c1200'], -1)).size).toBe(0);
  });
});
