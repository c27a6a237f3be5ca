// Stored responses through their port, on a real file: what is found by whom and until when, and what gives way.
import { expect, test } from 'bun:test';
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import type { NewJob, Storage } from '../../../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { describeDatabases } from './databases.ts';
import { rejection } from '../../support/rejection.ts';
import { freshPath, lookingClock } from '../../support/storage/storage-directory.ts';
import { generation, message, storedResponse } from '../../support/storage/storage-records.ts';

const GENERATION = '0'.repeat(31);
/** A response id as the gateway makes them. */
const idOf = (n: number): string => `resp_${GENERATION.slice(String(n).length - 1)}${n}`;

function jobOf(id: string): NewJob {
  const own = { id, kind: 'response', projectId: 'key_a', keyId: 'key_1', priority: 1 };
  return { ...own, lane: null, home: null, payload: '{}', expiresAt: null };
}

describeDatabases((fresh) => {
  test('a response is read as it was stored, also by another process, and only with its own key', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    const first = storedResponse('resp_1', { expiresAt: null, conversationId: 'conv_1' });
    const second = storedResponse(idOf(2), { previousId: 'resp_1', input: [] });
    await one.responses.put(first);
    await one.responses.put(second);
    for (const { responses } of [one, two]) {
      expect(await responses.find('key_a', 'resp_1', 9e12)).toEqual(first);
      expect(await responses.find('key_a', second.id, 1_999)).toEqual(second);
      expect(await responses.find('key_b', 'resp_1', 0)).toBeNull();
      expect(await responses.find('key_a', 'msg_1', 0)).toBeNull();
      expect(await responses.chain('key_b', second.id, 0)).toBeNull();
      expect(await responses.findItem('key_b', 'msg_1_0', 0)).toBeNull();
    }
    expect(await two.responses.findItem('key_a', 'msg_1_0', 0)).toEqual(first.input[0] ?? null);
    expect(await one.responses.delete('key_b', 'resp_1')).toBe(false);
    expect(await one.responses.find('key_a', 'resp_1', 0)).not.toBeNull();
    await one.close();
    await two.close();
  });

  test('putting an id again changes nothing, and counts once', async () => {
    await using storage = await (await fresh())();
    const stored = storedResponse('resp_1');
    expect(await storage.responses.put(stored)).toBe(JSON.stringify(stored.response));
    const bytes = await storage.stateUsage.bytes('key_a');
    await storage.responses.put(storedResponse('resp_1', { createdAt: 5 }));
    expect(await storage.stateUsage.bytes('key_a')).toBe(bytes);
    expect((await storage.responses.find('key_a', 'resp_1', 0))?.createdAt).toBe(1_000);
  });

  test('a response whose job was deleted is not stored, by any path', async () => {
    const storage = await (await fresh())();
    const { jobs, responses, conversations, stateUsage } = storage;
    const conversation = { id: 'conv_1', projectId: 'key_a', createdAt: 0, expiresAt: null, metadata: {} };
    await conversations.create(conversation, []);
    const before = await stateUsage.bytes('key_a');
    const large = { id: 'resp_2', output: [{ id: 'msg_1_1', content: [{ text: 'a'.repeat(1_000_000) }] }] };
    const kinds = [
      ['resp_1', {}, {}],
      ['resp_2', { response: large }, {}],
      ['resp_3', { conversationId: 'conv_1' }, { appendTo: 'conv_1' }],
    ] as const;
    for (const [id, over, origin] of kinds) {
      await jobs.add(jobOf(id), 9);
      expect(await jobs.delete('key_a', id)).toBe(true);
      expect(await responses.delete('key_a', id)).toBe(false);
      await responses.put(storedResponse(id, over), { ...origin, isByJob: true });
      expect(await responses.find('key_a', id, 0)).toBeNull();
      // Other responses are not affected.
      await responses.put(storedResponse(`${id}x`, over), { isByJob: true });
      expect(await responses.find('key_a', `${id}x`, 0)).not.toBeNull();
      await responses.delete('key_a', `${id}x`);
    }
    expect(await conversations.all('key_a', 'conv_1', 0)).toEqual([]);
    expect(await stateUsage.bytes('key_a')).toBe(before);
    await storage.close();
  });

  test('a response that is stored while it is deleted is gone afterwards', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    for (let round = 0; round < 40; round += 1) {
      const id = idOf(round);
      await one.jobs.add(jobOf(id), 99);
      const conversation = round % 2 === 0 ? {} : { appendTo: 'conv_none' };
      const storing = one.responses.put(storedResponse(id), { ...conversation, isByJob: true });
      await Promise.all([
        storing,
        two.jobs.delete('key_a', id).then(() => two.responses.delete('key_a', id)),
      ]);
      expect(await two.responses.find('key_a', id, 0)).toBeNull();
      expect(await one.responses.find('key_a', id, 0)).toBeNull();
    }
    await one.close();
    await two.close();
  });

  test('a large response is read as it was stored, and other writes continue while it is written', async () => {
    await using storage = await (await fresh())();
    const annotations = Array.from({ length: 20_000 }, (_, n) => ({
      type: 'url_citation',
      url: `https://a/${n}`,
    }));
    const large = storedResponse('resp_1', {
      response: {
        id: 'resp_1',
        none: undefined,
        output: [{ id: 'msg_1_1', content: [{ text: 'é', annotations }] }],
      },
    });
    const put = storage.responses.put(large);
    let turns = 0;
    let isOver = false;
    const turn = (): void => void (isOver || ((turns += 1), setImmediate(turn)));
    turn();
    const text = await put;
    isOver = true;
    expect(text).toBe(JSON.stringify(large.response));
    expect(turns).toBeGreaterThan(3);
    await storage.stateUsage.bytes('key_a');
    expect(await storage.responses.find('key_a', 'resp_1', 0)).toEqual(JSON.parse(JSON.stringify(large)));
  });

  test('a chain of 200 responses is read from the oldest to the newest', async () => {
    await using storage = await (await fresh())();
    const all = Array.from({ length: 200 }, (_, n) =>
      storedResponse(idOf(n), { previousId: n === 0 ? null : idOf(n - 1) }),
    );
    for (const response of all) await storage.responses.put(response);
    expect(await storage.responses.chain('key_a', idOf(199), 0)).toEqual(all);
    expect((await storage.responses.chain('key_a', idOf(0), 0))?.length).toBe(1);

    // Another key's response in the middle is as good as none.
    await storage.responses.put(storedResponse('resp_foreign', { projectId: 'key_b', previousId: idOf(5) }));
    await storage.responses.put(storedResponse('resp_after', { previousId: 'resp_foreign' }));
    expect(await storage.responses.chain('key_a', 'resp_after', 0)).toBeNull();

    expect(await storage.responses.delete('key_a', idOf(100))).toBe(true);
    expect(await storage.responses.delete('key_a', idOf(100))).toBe(false);
    expect(await storage.responses.chain('key_a', idOf(199), 0)).toBeNull();
    expect((await storage.responses.chain('key_a', idOf(99), 0))?.length).toBe(100);
  });

  test('an expired response is not found, alone or in a chain, nor are its items', async () => {
    await using storage = await (await fresh())();
    const { responses } = storage;
    await responses.put(storedResponse('resp_1', { expiresAt: 50 }));
    await responses.put(storedResponse('resp_2', { expiresAt: 100, previousId: 'resp_1' }));
    expect((await responses.chain('key_a', 'resp_2', 49))?.length).toBe(2);
    expect(await responses.chain('key_a', 'resp_2', 50)).toBeNull();
    expect(await responses.find('key_a', 'resp_2', 50)).not.toBeNull();
    expect(await responses.find('key_a', 'resp_1', 50)).toBeNull();
    expect(await responses.findItem('key_a', 'msg_1_0', 49)).not.toBeNull();
    expect(await responses.findItem('key_a', 'msg_1_0', 50)).toBeNull();
  });

  test('items are found by their ids, whether the client or the gateway chose them', async () => {
    await using storage = await (await fresh())();
    const { responses } = storage;
    const foreign = message('rs_0a1b2c3d4e5f', 'from an upstream');
    const chosen = message('no-underscore', "the client's own");
    const long = message(`msg_${'x'.repeat(500)}`, 'too long for an index');
    const first = storedResponse(idOf(1), { input: [chosen, long], response: { output: [foreign] } });
    await responses.put(first);
    const own = storedResponse(idOf(2));
    await responses.put(own);
    for (const item of [foreign, chosen, long, ...own.input])
      expect(await responses.findItem('key_a', String(item['id']), 0)).toEqual(item);
    for (const id of ['rs_0a1b', 'msg_0a1b2c3d4e5f', `${long['id']}y`, `${idOf(2)}_7`, 'x', '', '_'])
      expect(await responses.findItem('key_a', id, 0)).toBeNull();

    // Sent again in a later turn, and mentioned in a still later one: the latest that has it counts.
    const sentId = `msg_${idOf(2).slice(5)}_0`;
    const again = { ...message(sentId, 'hi'), status: 'completed' };
    await responses.put(storedResponse(idOf(3), { input: [again] }));
    await responses.put(storedResponse(idOf(4), { input: [{ id: sentId.replace(/0$/, '9'), of: sentId }] }));
    expect(await responses.findItem('key_a', sentId, 0)).toEqual(again);
    await responses.delete('key_a', idOf(3));
    expect(await responses.findItem('key_a', sentId, 0)).toEqual(own.input[0] ?? null);
    await responses.delete('key_a', idOf(2));
    expect(await responses.findItem('key_a', sentId, 0)).toBeNull();
  });

  test('the oldest responses of a full key are removed, and only those', async () => {
    let max = 1e9;
    await using storage = await (await fresh())({ maxBytesPerKey: () => max });
    const { responses, stateUsage } = storage;
    const put = (n: number, over = {}): Promise<string> =>
      responses.put(storedResponse(idOf(n), { expiresAt: 10_000 + n, ...over }));
    await responses.put(storedResponse('resp_other', { projectId: 'key_b' }));
    for (let n = 1; n <= 4; n++) await put(n);
    const used = await stateUsage.bytes('key_a');
    max = used;
    await put(5);
    expect(await stateUsage.bytes('key_a')).toBeLessThanOrEqual(max);
    const there = async (): Promise<readonly boolean[]> =>
      Promise.all([1, 2, 3, 4, 5, 6].map(async (n) => (await responses.find('key_a', idOf(n), 0)) !== null));
    expect(await there()).toEqual([false, true, true, true, true, false]);
    // A large one takes the place of several.
    await put(6, { input: [message('msg_big', 'x'.repeat((used * 2) / 5))] });
    expect(await stateUsage.bytes('key_a')).toBeLessThanOrEqual(max);
    expect(await there()).toEqual([false, false, false, false, true, true]);
    expect(await responses.find('key_b', 'resp_other', 0)).not.toBeNull();

    const failure = await rejection(put(1, { input: [message('msg_huge', 'x'.repeat(used))] }));
    expect(failure).toMatchObject({ kind: 'quota', fault: 'client' });
    expect(await there()).toEqual([false, false, false, false, true, true]);
  });

  test('the counters equal the stored data after any operations', async () => {
    await using storage = await (await fresh())();
    const { responses, conversations, prompts, stateUsage } = storage;
    const conversation = { id: 'conv_1', projectId: 'key_a', createdAt: 0, expiresAt: 9, metadata: {} };
    expect(await stateUsage.bytes('key_a')).toBe(0);
    await conversations.create(conversation, [message('msg_a', 'a')]);
    await conversations.create(conversation, [message('msg_a', 'a')]);
    await responses.put(storedResponse('resp_1'), { appendTo: 'conv_1' });
    await responses.put(storedResponse('resp_2'), { appendTo: 'conv_none' });
    await conversations.append('key_a', 'conv_1', [message('msg_a', 'again'), message('msg_b', 'b')]);
    await conversations.deleteItem('key_a', 'conv_1', 'msg_a');
    await conversations.setMetadata('key_a', 'conv_1', { a: 'long enough' });
    await conversations.setMetadata('key_a', 'conv_1', { a: 'b' });
    await prompts.create({ id: 'pmpt_1', projectId: 'key_a', name: 'x', createdAt: 0 }, { a: 1 });
    await prompts.addVersion('key_a', 'pmpt_1', { b: 2 }, 0);
    await prompts.setName('key_a', 'pmpt_1', 'a longer name');
    await prompts.deleteVersion('key_a', 'pmpt_1', '2');
    expect(await stateUsage.bytes('key_a')).toBeGreaterThan(1_000);
    expect(await stateUsage.bytes('key_b')).toBe(0);
    await prompts.delete('key_a', 'pmpt_1');
    await responses.delete('key_a', 'resp_1');
    await responses.purge(9e12);
    await conversations.purge(9e12);
    expect(await stateUsage.bytes('key_a')).toBe(0);
  });

  test('a purge deletes exactly the expired responses of all keys', async () => {
    await using storage = await (await fresh())();
    const puts = Array.from({ length: 30 }, (_, n) =>
      storage.responses.put(storedResponse(`resp_a${n}`, { projectId: `key_${n % 3}`, expiresAt: n })),
    );
    puts.push(storage.responses.put(storedResponse('resp_kept', { projectId: 'key_0', expiresAt: null })));
    await Promise.all(puts);
    let deleted = 0;
    for (let n = 1; n > 0; deleted += n) n = await storage.responses.purge(20);
    expect(deleted).toBe(21);
    expect(await storage.responses.find('key_0', 'resp_kept', 0)).not.toBeNull();
    expect(await storage.responses.find('key_0', 'resp_a21', 0)).not.toBeNull();
    expect(await storage.responses.findItem('key_0', 'msg_a0_0', 0)).toBeNull();
    while ((await storage.responses.purge(1_000)) > 0);
    expect(await storage.stateUsage.bytes('key_1')).toBe(0);
    expect(await storage.stateUsage.bytes('key_0')).toBeGreaterThan(0);
  });
  test('the storage count is correct after many processes write and delete at once', async () => {
    const open = await fresh();
    const most = { maxBytesPerKey: () => 12_000 };
    const both = [await open(most), await open(most)] as const;
    const writes = Array.from({ length: 60 }, async (_, n) => {
      const { responses } = both[n % 2 === 0 ? 0 : 1];
      await responses.put(storedResponse(`resp_${n}`, { expiresAt: 1_000 + n }));
      if (n % 5 === 0) await responses.delete('key_a', `resp_${n}`);
      if (n % 7 === 0) await responses.purge(1_010);
    });
    await Promise.all(writes);
    const [{ responses, stateUsage }] = both;
    expect(await stateUsage.bytes('key_a')).toBeLessThanOrEqual(12_000);
    expect(await stateUsage.bytes('key_a')).toBeGreaterThan(1_000);
    while ((await responses.purge(9e12)) > 0);
    expect(await stateUsage.bytes('key_a')).toBe(0);
    for (const storage of both) await storage.close();
  });
});

test('writes of several stores in one turn of the event loop share a transaction', async () => {
  const path = freshPath();
  const tasks: (() => void)[] = [];
  const storage = await openSqliteStorage({ path, schedule: (task) => void tasks.push(task) });
  const other = openSqlite(path);
  const version = (): unknown => other.prepare('pragma data_version').all()[0]?.['data_version'];
  const before = version();
  const conversation = { id: 'conv_1', projectId: 'key_a', createdAt: 0, expiresAt: null, metadata: {} };
  const written = [
    storage.conversations.create(conversation, []),
    storage.prompts.create({ id: 'pmpt_1', projectId: 'key_a', name: null, createdAt: 0 }, { a: 1 }),
  ];
  await Promise.resolve();
  expect(await storage.conversations.find('key_a', 'conv_1', 0)).toBeNull();
  expect(tasks.length).toBe(1);
  tasks[0]?.();
  await Promise.all(written);
  expect(version()).not.toBe(before);
  expect(other.prepare('select count(*) as n from conversations').all()).toEqual([{ n: 1 }]);
  expect(other.prepare('select count(*) as n from prompts').all()).toEqual([{ n: 1 }]);
  expect(tasks.length).toBe(1);
  other.close();
  await storage.close();
});

test('a purge finds expired responses after many keys that have none, and other work continues meanwhile', async () => {
  const storage = await openSqliteStorage({ path: freshPath() });
  const puts = Array.from({ length: 1_200 }, (_, at) =>
    storage.responses.put(
      storedResponse(`resp_${at}`, { projectId: `key_${1_000 + at}`, expiresAt: at === 1_150 ? 5 : 100 }),
    ),
  );
  await Promise.all(puts);
  let turns = 0;
  let next = setImmediate(function again() {
    turns += 1;
    next = setImmediate(again);
  });
  expect(await storage.responses.purge(10)).toBe(1);
  clearImmediate(next);
  expect(turns).toBeGreaterThan(2);
  expect(await storage.responses.purge(10)).toBe(0);
  expect(await storage.responses.find('key_2150', 'resp_1150', 0)).toBeNull();
  // Begins again with the first key.
  expect(await storage.responses.purge(200)).toBeGreaterThan(0);
  await storage.close();
});

test('a purge deletes the expired responses of all keys in portions, and nothing else', async () => {
  const path = freshPath();
  const storage = await openSqliteStorage({ path, elapsedMs: lookingClock(0.05) });
  const puts: Promise<string>[] = [];
  for (let n = 0; n < 120; n++)
    puts.push(
      storage.responses.put(storedResponse(`resp_a${n}`, { projectId: `key_${n % 3}`, expiresAt: n })),
    );
  puts.push(storage.responses.put(storedResponse('resp_kept', { projectId: 'key_0', expiresAt: null })));
  await Promise.all(puts);
  const deleted: number[] = [];
  for (let n = 1; n > 0; deleted.push(n)) n = await storage.responses.purge(99);
  expect(deleted.reduce((sum, n) => sum + n)).toBe(100);
  expect(deleted.length).toBeGreaterThan(3);
  expect(await storage.responses.find('key_0', 'resp_kept', 0)).not.toBeNull();
  expect(await storage.responses.find('key_1', 'resp_a100', 0)).not.toBeNull();
  while ((await storage.responses.purge(1_000)) > 0);
  expect(await storage.stateUsage.bytes('key_1')).toBe(0);
  const database = openSqlite(path);
  expect(database.prepare('select distinct key_id from response_ids').all()).toEqual([{ key_id: 'key_0' }]);
  database.close();
  await storage.close();
});

test('a refused write does not affect other writes of its transaction', async () => {
  const storage = await openSqliteStorage({ path: freshPath(), maxBytesPerKey: () => 2_000 });
  const refused = rejection(
    storage.responses.put(storedResponse('resp_1', { input: [message('msg_1', 'x'.repeat(9_000))] })),
  );
  storage.ledger.append(generation('gen-1'), []);
  const other = storage.responses.put(storedResponse('resp_2'));
  expect(await refused).toMatchObject({ kind: 'quota', message: expect.stringContaining('0.00 MB') });
  await other;
  expect(await storage.responses.find('key_a', 'resp_2', 0)).not.toBeNull();
  expect(await storage.ledger.find('gen-1', 'key_a')).not.toBeNull();
  await storage.close();
});

test('a stored response survives its process, and a journal does not restore a deleted one', async () => {
  const path = freshPath();
  const open = (): Promise<Storage> => openSqliteStorage({ path, later: () => {} });
  // Neither is ever closed, as after a kill.
  const [killed, other] = [await open(), await open()];
  await killed.responses.put(storedResponse('resp_gone'));
  expect(await other.responses.find('key_a', 'resp_gone', 0)).not.toBeNull();
  expect(await other.responses.delete('key_a', 'resp_gone')).toBe(true);
  const used = await other.stateUsage.bytes('key_a');
  await killed.responses.put(storedResponse('resp_left'));
  expect(await other.responses.find('key_a', 'resp_left', 0)).toEqual(storedResponse('resp_left'));
  expect(await other.responses.find('key_a', 'resp_gone', 0)).toBeNull();
  expect(await killed.responses.find('key_a', 'resp_gone', 0)).toBeNull();
  await killed.responses.delete('key_a', 'resp_left');
  expect(await other.stateUsage.bytes('key_a')).toBe(used);

  // Reads the journal from its beginning.
  const next = await open();
  expect(await next.responses.find('key_a', 'resp_gone', 0)).toBeNull();
  expect(await next.responses.find('key_a', 'resp_left', 0)).toBeNull();
  // Known for long, and not for ever.
  await next.responses.purge(Date.now());
  const database = openSqlite(path);
  const deleted = (): unknown => database.prepare('select id from deleted_of_turns').all();
  expect(deleted()).toEqual([{ id: 'resp_gone' }, { id: 'resp_left' }]);
  while ((await next.responses.purge(Date.now() + 100 * 86_400_000)) > 0);
  expect(deleted()).toEqual([]);
  database.close();
});

test('a response is stored also while the journal has no room', async () => {
  const storage = await openSqliteStorage({ path: freshPath(), journalBytes: () => 0, later: () => {} });
  await storage.responses.put(storedResponse('resp_1'));
  expect(await storage.responses.find('key_a', 'resp_1', 0)).toEqual(storedResponse('resp_1'));
  await storage.close();
});
