// Notices that another user of the same PostgreSQL database sends where replicas publish their events.
import { describe, expect, test } from 'bun:test';
import { Client } from 'pg';
import { openWith } from '../../src/storage/postgres/storage.ts';
import { POSTGRES_STORES } from '../../src/storage/tables/stores.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { Received, listenAt } from '../support/management/listen.ts';
import { ADMIN_KEY, startManaged } from '../support/management/scene.ts';
import { eventually } from '../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';

const CHANNEL = "'dragoman_' || md5(current_schema())";

describe.skipIf(POSTGRES_PROGRAMS === null)('a NOTIFY by another user', () => {
  test('is no event of a replica: invented, altered or repeated', async () => {
    const url = await freshPostgres();
    const clock = new ManualClock();
    const config = {
      database_url: url,
      secret: 'ab'.repeat(32),
      keys: [{ name: 'app', key: 'sk-test-app' }],
    };
    const gateways = await Promise.all([1, 2].map(() => startManaged(config, { clock })));
    const [one, two] = gateways;
    if (!one || !two) throw new Error('no gateways');
    const attacker = new Client({ connectionString: url });
    await attacker.connect();
    const overheard: string[] = [];
    attacker.on('notification', ({ payload }) => overheard.push(payload ?? ''));
    const { rows } = await attacker.query<{ channel: string }>(`select ${CHANNEL} as channel`);
    await attacker.query(`listen ${attacker.escapeIdentifier(rows[0]?.channel ?? '')}`);
    const send = (text: string): Promise<unknown> =>
      attacker.query(`select pg_notify(${CHANNEL}, $1)`, [text]);
    const { notices, close } = await openWith({ notices: POSTGRES_STORES.notices }, { url });
    const received = new Received(await listenAt(one.origin, ADMIN_KEY));
    await eventually('it is known that somebody watches', () => notices.isWanted('nobody'));
    const answered = new Map<string, number>();
    const ask = async (): Promise<void> => {
      const answer = await fetch(`${two.origin}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test-app' },
        body: JSON.stringify({ model: 'sim/chat', messages: [{ role: 'user', content: 'hi' }] }),
      });
      await answer.text();
      answered.set(answer.headers.get('x-request-id') ?? '', 1);
      clock.advance(2_000);
    };
    const isReceived = (): boolean => [...answered.keys()].some((id) => received.ids.has(id));
    await eventually('an event of the other is published', async () => {
      await ask();
      return isReceived();
    });
    // Its summary under an id of the attacker's, in the forms of today and of before.
    const genuine = overheard.at(-1) ?? '';
    const before = received.ids.size;
    const forged = '[1,0,[["generation",{"id":"gen_forged"}]]]';
    for (const text of [
      forged,
      `proc_forged ${forged}`,
      genuine.replace(/gen_\w+/, 'gen_forged'),
      genuine.replace(/proc_\w+/, 'proc_forged').replace(/gen_\w+/, 'gen_forged'),
      genuine,
      '',
      ' ',
      'x'.repeat(7_999),
    ])
      await send(text);
    const known = new Set(answered.keys());
    await eventually('what comes after them is heard', async () => {
      await ask();
      return [...answered.keys()].some((id) => !known.has(id) && received.ids.has(id));
    });
    expect(received.ids.has('gen_forged')).toBe(false);
    expect([...received.ids].filter((id) => !answered.has(String(id)))).toEqual([]);
    expect(received.ids.size).toBeGreaterThan(before);
    await received.leave();
    await attacker.end();
    await Promise.all(gateways.map((gateway) => gateway.close()));
    await close();
  });
});
