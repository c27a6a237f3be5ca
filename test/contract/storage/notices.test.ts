// Notices between the processes of a database, through their port.
import { expect, test } from 'bun:test';
import { describePostgres } from './shared-postgres.ts';

describePostgres((fresh) => {
  test('a published message reaches all subscribers of the same installation, and no others', async () => {
    const [open, remote] = [await fresh(), await fresh()];
    const [one, two, other] = [await open(), await open(), await remote()];
    const received: string[] = [];
    const last = Promise.withResolvers<void>();
    const listener = await two.notices.subscribe((text) => {
      received.push(text);
      if (text === 'last') last.resolve();
    });
    await other.notices.publish('of another schema');
    await one.notices.publish('größe 🦊');
    await two.notices.publish('last');
    await last.promise;
    expect(received).toEqual(['größe 🦊', 'last']);
    listener.close();
    expect(listener.isOpen).toBe(false);
    await Promise.all([one.close(), two.close(), other.close()]);
  });

  test('a process knows whether another one subscribes to what it would publish', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    expect(await one.notices.isWanted('a')).toBe(false);
    await one.notices.want('a', 60_000);
    expect(await one.notices.isWanted('a')).toBe(false);
    expect(await two.notices.isWanted('b')).toBe(true);
    await one.notices.want('a', -1);
    expect(await two.notices.isWanted('b')).toBe(false);
    await Promise.all([one.close(), two.close()]);
  });
});
