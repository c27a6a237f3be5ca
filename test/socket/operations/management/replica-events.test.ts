// The stream of events where replicas share a PostgreSQL database and nothing else: it tells of all of them.
import { describe, expect, test } from 'bun:test';
import { MOST_NOTICE_BYTES } from '../../../../src/accounts/ports/index.ts';
import { openWith } from '../../../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../../../src/storage/tables/stores.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { eventually } from '../../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../../support/servers/postgres.ts';
import { Received, listenAt } from '../../../support/management/listen.ts';
import { ADMIN_KEY, startManaged } from '../../../support/management/scene.ts';

describe.skipIf(POSTGRES_PROGRAMS === null)('on one PostgreSQL database', () => {
  test('a client that watches one gateway gets the events of all', async () => {
    const database = await freshPostgres();
    const config = {
      database_url: database,
      secret: 'ab'.repeat(32),
      keys: [{ name: 'app', key: 'sk-test-app' }],
    };
    const clock = new ManualClock();
    const gateways = await Promise.all([1, 2].map(() => startManaged(config, { clock })));
    const [one, two] = gateways;
    if (!one || !two) throw new Error('no gateways');
    const { notices, close } = await openWith({ notices: POSTGRES_STORES.notices }, { url: database });
    expect(await notices.isWanted('nobody')).toBe(false);
    const received = new Received(await listenAt(one.origin, ADMIN_KEY));
    await eventually('it is said that somebody watches', () => notices.isWanted('nobody'));
    const answered = new Set<string | null>();
    await eventually('a request of the other is told', async () => {
      const answer = await fetch(`${two.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test-app' },
        body: JSON.stringify({ model: 'sim/chat', messages: [{ role: 'user', content: 'hi' }] }),
      });
      await answer.text();
      answered.add(answer.headers.get('x-request-id'));
      clock.advance(2_000);
      return [...answered].some((id) => received.ids.has(id));
    });
    await received.leave();
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await close();
  });

  test('a notice of maximum length reaches all subscribers of its schema, and no others', async () => {
    const url = await freshPostgres();
    const open = (at: string) => openWith({ notices: POSTGRES_STORES.notices }, { url: at });
    const [one, two, remote] = await Promise.all([url, url, await freshPostgres()].map(open));
    if (!one || !two || !remote) throw new Error('no storage');
    const received: string[] = [];
    const listeners = await Promise.all([
      one.notices.subscribe((text) => received.push(`one ${text.length}`)),
      two.notices.subscribe((text) => received.push(`two ${text.length}`)),
      remote.notices.subscribe((text) => received.push(`elsewhere ${text.length}`)),
    ]);
    await remote.notices.publish('x');
    await one.notices.publish("'".repeat(MOST_NOTICE_BYTES));
    await eventually('it is heard', () => received.length === 3);
    expect(received.toSorted()).toEqual(['elsewhere 1', 'one 7900', 'two 7900']);
    // Wanted for a while, by others, and by the server's clock.
    await one.notices.want('one', 60_000);
    expect([await one.notices.isWanted('one'), await two.notices.isWanted('two')]).toEqual([false, true]);
    await one.notices.want('one', 0);
    await eventually('it is over', async () => !(await two.notices.isWanted('two')));
    for (const listener of listeners) listener.close();
    expect(listeners.map(({ isOpen }) => isOpen)).toEqual([false, false, false]);
    await Promise.all([one, two, remote].map((storage) => storage.close()));
  });
});
