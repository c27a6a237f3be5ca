// Bytes that projects store, and the quota over all of their things, in every database.
import { expect, test } from 'bun:test';
import { describeDatabases } from './databases.ts';
import { rejection } from '../../support/rejection.ts';

const conversation = (id: string, projectId: string) => ({
  id,
  projectId,
  createdAt: 0,
  expiresAt: null,
  metadata: {},
});

describeDatabases((fresh) => {
  test('storage is counted by project across all processes', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    await one.conversations.create(conversation('conv_1', 'key_a'), [{ id: 'msg_1', text: 'a'.repeat(500) }]);
    await two.conversations.create(conversation('conv_2', 'key_a'), []);
    await two.conversations.create(conversation('conv_3', 'key_b'), []);
    const bytes = await one.stateUsage.bytes('key_a');
    expect(bytes).toBeGreaterThan(500);
    expect(await two.stateUsage.bytes('key_a')).toBe(bytes);
    expect(await two.stateUsage.bytes('key_c')).toBe(0);
    // Deleted by another process than the one that counted it.
    expect(await two.conversations.delete('key_a', 'conv_1')).toBe(true);
    expect(await one.conversations.delete('key_a', 'conv_2')).toBe(true);
    expect(await one.stateUsage.bytes('key_a')).toBe(0);
    expect(await one.stateUsage.bytes('key_b')).toBeGreaterThan(0);
    await Promise.all([one.close(), two.close()]);
  });

  test('a write that exceeds the quota is refused and not counted', async () => {
    await using storage = await (await fresh())({ maxBytesPerKey: () => 1_000 });
    const { conversations, stateUsage } = storage;
    await conversations.create(conversation('conv_1', 'key_a'), []);
    const before = await stateUsage.bytes('key_a');
    const refused = conversations.append('key_a', 'conv_1', [{ id: 'msg_1', text: 'a'.repeat(2_000) }]);
    expect(await rejection(refused)).toMatchObject({ kind: 'quota', code: 'storage_quota' });
    expect(await stateUsage.bytes('key_a')).toBe(before);
    expect(await conversations.findItem('key_a', 'conv_1', 'msg_1')).toBeNull();
  });
});
