// Texts that a database may refuse, in stores that take them from clients.
import { expect, test } from 'bun:test';
import { describeDatabases } from './databases.ts';

describeDatabases((fresh) => {
  test('texts that are difficult for databases are read as written, or at least cause no error', async () => {
    await using storage = await (await fresh())();
    await storage.vault.put([
      { projectId: 'key_a', callId: 'call\0\ud800', sealed: Uint8Array.of(1), expiresAt: 9 },
      { projectId: 'key_a', callId: 'twice', sealed: Uint8Array.of(1), expiresAt: 9 },
      { projectId: 'key_a', callId: 'twice', sealed: Uint8Array.of(2), expiresAt: 9 },
    ]);
    expect((await storage.vault.get('key_a', ['twice', 'call\0'], 0)).get('twice')).toEqual(Uint8Array.of(2));
    const item = { id: 'msg_\0', type: 'message', text: 'a\0b \ud800 \u2028 🦊' };
    const conversation = {
      id: 'conv_1',
      projectId: 'key_a',
      createdAt: 0,
      expiresAt: null,
      metadata: { a: 'x\0y' },
    };
    await storage.conversations.create(conversation, [item]);
    expect(await storage.conversations.all('key_a', 'conv_1', 0)).toEqual([item]);
    expect(await storage.conversations.findItem('key_a', 'conv_1', 'msg_\0')).toEqual(item);
    expect((await storage.conversations.find('key_a', 'conv_1', 0))?.metadata).toEqual({ a: 'x\0y' });
    expect(await storage.responses.find('key_a', 'resp_\0', 0)).toBeNull();
  });
});
