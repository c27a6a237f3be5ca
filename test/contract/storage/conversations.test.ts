// Conversations through their port, on a real file: order and paging, the one place for a turn, lifetime, quota.
import { expect, test } from 'bun:test';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { openSqlite } from '../../../src/base/runtime/sqlite.ts';
import type { PageRequest, StoredConversation } from '../../../src/accounts/ports/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { eventually } from '../../support/program.ts';
import { describeDatabases } from './databases.ts';
import { rejection } from '../../support/rejection.ts';
import { freshPath, lookingClock } from '../../support/storage/storage-directory.ts';
import { message, storedResponse } from '../../support/storage/storage-records.ts';

const CONVERSATION: StoredConversation = {
  id: 'conv_1',
  projectId: 'key_a',
  createdAt: 1,
  expiresAt: 1_000,
  metadata: { topic: 'demo' },
};
const numbered = (from: number, to: number): JsonObject[] =>
  Array.from({ length: to - from }, (_, n) => message(`msg_${from + n}`, `text ${from + n}`));
const idsOf = (items: readonly JsonObject[] | null | undefined): unknown[] | undefined =>
  items?.map(({ id }) => id);

describeDatabases((fresh) => {
  test('a conversation keeps its items in order, for its key, until it expires', async () => {
    await using storage = await (await fresh())();
    const { conversations } = storage;
    await conversations.create(CONVERSATION, numbered(0, 2));
    await conversations.create({ ...CONVERSATION, id: 'conv_2', expiresAt: null, metadata: {} }, []);
    expect(await conversations.append('key_a', 'conv_1', numbered(2, 3))).toBe(true);
    expect(await conversations.append('key_a', 'conv_2', numbered(0, 1))).toBe(true);
    expect(await conversations.append('key_a', 'conv_1', numbered(3, 5))).toBe(true);
    expect(await conversations.find('key_a', 'conv_1', 999)).toEqual(CONVERSATION);
    expect((await conversations.find('key_a', 'conv_2', 9e12))?.expiresAt).toBeNull();
    expect(await conversations.all('key_a', 'conv_1', 999)).toEqual(numbered(0, 5));
    expect(await conversations.findItem('key_a', 'conv_1', 'msg_3')).toEqual(message('msg_3', 'text 3'));
    expect(await conversations.findItem('key_a', 'conv_2', 'msg_3')).toBeNull();
    expect(await storage.responses.findItem('key_a', 'msg_3', 999)).toEqual(message('msg_3', 'text 3'));

    expect(await conversations.find('key_a', 'conv_1', 1_000)).toBeNull();
    expect(await conversations.all('key_a', 'conv_1', 1_000)).toBeNull();
    expect(await storage.responses.findItem('key_a', 'msg_3', 1_000)).toBeNull();

    expect(await conversations.find('key_b', 'conv_1', 0)).toBeNull();
    expect(await conversations.all('key_b', 'conv_1', 0)).toBeNull();
    expect(await conversations.items('key_b', 'conv_1', { limit: 1, order: 'asc' })).toBeNull();
    expect(await conversations.findItem('key_b', 'conv_1', 'msg_3')).toBeNull();
    expect(await conversations.append('key_b', 'conv_1', numbered(9, 10))).toBe(false);
    expect(await conversations.setMetadata('key_b', 'conv_1', {})).toBeNull();
    expect(await conversations.deleteItem('key_b', 'conv_1', 'msg_3')).toBe(false);
    expect(await conversations.beginTurn('key_b', 'conv_1', 'turn', 0, 9)).toBe(false);
    expect(await conversations.delete('key_b', 'conv_1')).toBe(false);
    expect(idsOf(await conversations.all('key_a', 'conv_1', 0))?.length).toBe(5);
  });

  test('metadata is replaced as a whole', async () => {
    await using storage = await (await fresh())();
    await storage.conversations.create(CONVERSATION, []);
    const changed = { ...CONVERSATION, metadata: { other: 'x' } };
    expect(await storage.conversations.setMetadata('key_a', 'conv_1', { other: 'x' })).toEqual(changed);
    expect(await storage.conversations.find('key_a', 'conv_1', 0)).toEqual(changed);
  });

  test.each(['asc', 'desc'] as const)('pages follow one another without gaps, %s', async (order) => {
    await using storage = await (await fresh())();
    const { conversations } = storage;
    await conversations.create(CONVERSATION, numbered(0, 7));
    await conversations.create({ ...CONVERSATION, id: 'conv_2' }, numbered(3, 5));
    const seen: unknown[] = [];
    const sizes: number[] = [];
    let page: PageRequest = { limit: 3, order };
    for (let hasMore = true; hasMore;) {
      const found = await conversations.items('key_a', 'conv_1', page);
      const ids = idsOf(found?.items) ?? [];
      seen.push(...ids);
      sizes.push(ids.length);
      hasMore = found?.hasMore === true;
      page = { limit: 3, order, after: String(ids.at(-1)) };
    }
    const all = idsOf(numbered(0, 7));
    expect(seen).toEqual((order === 'asc' ? all : all?.toReversed()) ?? []);
    expect(sizes).toEqual([3, 3, 1]);
    expect(await conversations.items('key_a', 'conv_1', page)).toEqual({ items: [], hasMore: false });
    expect((await conversations.items('key_a', 'conv_1', { limit: 7, order }))?.hasMore).toBe(false);
    expect(
      await rejection(conversations.items('key_a', 'conv_2', { limit: 3, order, after: 'msg_6' })),
    ).toMatchObject({ kind: 'invalid_request', param: 'after' });
  });

  test('an item exists once, can be deleted, and can then be added again at the end', async () => {
    await using storage = await (await fresh())();
    const { conversations } = storage;
    await conversations.create(CONVERSATION, [...numbered(0, 3), message('msg_1', 'again')]);
    await conversations.append('key_a', 'conv_1', [message('msg_0', 'again'), ...numbered(3, 4)]);
    expect(await conversations.all('key_a', 'conv_1', 0)).toEqual(numbered(0, 4));
    expect(await conversations.deleteItem('key_a', 'conv_1', 'msg_0')).toBe(true);
    expect(await conversations.deleteItem('key_a', 'conv_1', 'msg_0')).toBe(false);
    await conversations.append('key_a', 'conv_1', numbered(0, 1));
    expect(idsOf(await conversations.all('key_a', 'conv_1', 0))).toEqual([
      'msg_1',
      'msg_2',
      'msg_3',
      'msg_0',
    ]);
  });

  test('a stored response appends its turn, unless the conversation is gone', async () => {
    await using storage = await (await fresh())();
    const { conversations, responses } = storage;
    await conversations.create(CONVERSATION, numbered(0, 1));
    const turn = storedResponse('resp_5', { conversationId: 'conv_1' });
    await responses.put(turn, { appendTo: 'conv_1' });
    expect(idsOf(await conversations.all('key_a', 'conv_1', 0))).toEqual(['msg_0', 'msg_5_0', 'msg_5_1']);
    expect(await conversations.delete('key_a', 'conv_1')).toBe(true);
    expect(await conversations.delete('key_a', 'conv_1')).toBe(false);
    expect(await conversations.find('key_a', 'conv_1', 0)).toBeNull();
    await responses.put(storedResponse('resp_6', { conversationId: 'conv_1' }), { appendTo: 'conv_1' });
    await responses.put(storedResponse('resp_7', { projectId: 'key_b' }), { appendTo: 'conv_1' });
    expect(await responses.find('key_a', 'resp_6', 0)).not.toBeNull();
    expect(await conversations.all('key_a', 'conv_1', 0)).toBeNull();
    expect(await responses.findItem('key_a', 'msg_0', 0)).toBeNull();
  });

  test('two processes hold a conversation for one turn at a time', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    await one.conversations.create({ ...CONVERSATION, expiresAt: null }, []);
    const begin = (storage: typeof one, turn: string, forMs = 60_000): Promise<boolean> =>
      storage.conversations.beginTurn('key_a', 'conv_1', turn, 0, forMs);
    const taken = await Promise.all(
      Array.from({ length: 20 }, (_, n) => begin(n % 2 === 0 ? one : two, `turn_${n}`)),
    );
    expect(taken.filter(Boolean).length).toBe(1);
    const holder = `turn_${taken.indexOf(true)}`;
    expect(await begin(one, holder)).toBe(true); // holds it for longer
    expect(await begin(two, 'turn_late')).toBe(false);
    await two.conversations.endTurn('key_a', 'conv_1', 'turn_late'); // not its place to give
    await two.conversations.endTurn('key_b', 'conv_1', holder);
    expect(await begin(two, 'turn_late')).toBe(false);
    await two.conversations.endTurn('key_a', 'conv_1', holder);
    expect(await begin(two, 'turn_late', 0)).toBe(true);
    await eventually('the other one never came back', () => begin(one, 'turn_next'));
    await two.conversations.endTurn('key_a', 'conv_1', 'turn_late');
    expect(await begin(two, 'turn_third')).toBe(false);
    expect(await one.conversations.beginTurn('key_a', 'conv_none', 'turn', 0, 1)).toBe(false);
    await one.close();
    await two.close();
  });

  test('conversations take the place of responses, but never of each other', async () => {
    await using storage = await (await fresh())({ maxBytesPerKey: () => 6_000 });
    const { conversations, responses } = storage;
    const large = (id: string): JsonObject[] => [message(id, 'x'.repeat(2_000))];
    await responses.put(storedResponse('resp_1', { input: large('msg_r') }));
    await storage.stateUsage.bytes('key_a');
    await conversations.create(CONVERSATION, large('msg_a'));
    expect(await responses.find('key_a', 'resp_1', 0)).not.toBeNull();
    expect(await conversations.append('key_a', 'conv_1', large('msg_b'))).toBe(true);
    expect(await responses.find('key_a', 'resp_1', 0)).toBeNull();

    const refused = {
      kind: 'quota',
      message: expect.stringContaining('Delete conversations, prompts or files'),
    };
    expect(await rejection(conversations.append('key_a', 'conv_1', large('msg_c')))).toMatchObject(refused);
    const another = { ...CONVERSATION, id: 'conv_2' };
    expect(await rejection(conversations.create(another, large('msg_d')))).toMatchObject(refused);
    expect(
      await rejection(conversations.setMetadata('key_a', 'conv_1', { a: 'x'.repeat(2_000) })),
    ).toMatchObject(refused);
    expect(await rejection(responses.put(storedResponse('resp_2', { input: large('msg_e') })))).toMatchObject(
      refused,
    );
    // A turn is refused whole: neither stored nor appended.
    const turn = storedResponse('resp_3', { input: [message('msg_f', 'x'.repeat(1_000))] });
    expect(await rejection(responses.put(turn, { appendTo: 'conv_1' }))).toMatchObject(refused);
    expect(idsOf(await conversations.all('key_a', 'conv_1', 0))).toEqual(['msg_a', 'msg_b']);
    expect(await responses.find('key_a', 'resp_3', 0)).toBeNull();
    expect(await conversations.find('key_a', 'conv_2', 0)).toBeNull();

    await conversations.create({ ...another, projectId: 'key_b' }, large('msg_d'));
    await conversations.deleteItem('key_a', 'conv_1', 'msg_a');
    expect(await conversations.append('key_a', 'conv_1', large('msg_c'))).toBe(true);
  });

  test('a deleted long conversation disappears at once, with the storage that it counted, and its rows are deleted later', async () => {
    await using storage = await (await fresh())();
    const { conversations } = storage;
    await conversations.create(CONVERSATION, numbered(0, 700));
    await conversations.create({ ...CONVERSATION, id: 'conv_2', expiresAt: 5 }, numbered(0, 10));
    await conversations.create({ ...CONVERSATION, id: 'conv_3', expiresAt: null }, numbered(0, 2));
    const kept = await storage.stateUsage.bytes('key_a');
    expect(await conversations.delete('key_a', 'conv_1')).toBe(true);
    expect(await conversations.find('key_a', 'conv_1', 0)).toBeNull();
    expect(await conversations.findItem('key_a', 'conv_1', 'msg_699')).toBeNull();
    expect(await storage.stateUsage.bytes('key_a')).toBeLessThan(kept / 10);
    let rounds = 0;
    while ((await conversations.purge(5)) > 0) rounds += 1;
    expect(rounds).toBeGreaterThan(0);
    expect(await conversations.find('key_a', 'conv_2', 0)).toBeNull();
    expect((await conversations.all('key_a', 'conv_3', 9e12))?.length).toBe(2);
  });
  test('items that two processes append at once are stored in order and once', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    await one.conversations.create({ ...CONVERSATION, expiresAt: null }, []);
    const appended = Array.from({ length: 30 }, (_, n) =>
      (n % 2 === 0 ? one : two).conversations.append('key_a', 'conv_1', [
        message(`msg_${n}_0`, 'a'),
        message(`msg_${n}_1`, 'b'),
        message('msg_shared', 'c'),
      ]),
    );
    expect(await Promise.all(appended)).not.toContain(false);
    const ids = idsOf(await two.conversations.all('key_a', 'conv_1', 0))?.map(String) ?? [];
    expect(ids.length).toBe(61);
    expect(new Set(ids).size).toBe(61);
    // The items of one call stand together.
    const own = ids.filter((id) => id !== 'msg_shared');
    for (let at = 0; at < own.length; at += 2) expect(own[at + 1]).toBe(own[at]?.replace(/_0$/, '_1') ?? '');
    expect(await one.stateUsage.bytes('key_a')).toBe(await two.stateUsage.bytes('key_a'));
    await one.close();
    await two.close();
  });
});

test('a deleted long conversation disappears at once, and its rows are deleted in portions', async () => {
  const path = freshPath();
  const storage = await openSqliteStorage({ path, elapsedMs: lookingClock(0.02) });
  const { conversations } = storage;
  await conversations.create(CONVERSATION, numbered(0, 350));
  await conversations.create({ ...CONVERSATION, id: 'conv_2', expiresAt: 5 }, numbered(0, 150));
  await conversations.create({ ...CONVERSATION, id: 'conv_3', expiresAt: null }, numbered(0, 2));
  const database = openSqlite(path);
  const rows = (): unknown =>
    database.prepare('select count(*) as n from conversation_items').all()[0]?.['n'];
  const kept = await storage.stateUsage.bytes('key_a');
  expect(await conversations.delete('key_a', 'conv_1')).toBe(true);
  expect(await conversations.find('key_a', 'conv_1', 0)).toBeNull();
  expect(await conversations.findItem('key_a', 'conv_1', 'msg_349')).toBeNull();
  expect(await storage.stateUsage.bytes('key_a')).toBeLessThan(kept / 2);
  expect(rows()).toBeGreaterThan(350);
  const deleted: number[] = [];
  for (let n = 1; n > 0; deleted.push(n)) n = await conversations.purge(5);
  expect(deleted.length).toBeGreaterThan(4);
  expect(Math.max(...deleted)).toBeLessThanOrEqual(51);
  expect(rows()).toBe(2);
  expect((await conversations.all('key_a', 'conv_3', 9e12))?.length).toBe(2);
  expect(database.prepare('select id from conversations').all()).toEqual([{ id: 'conv_3' }]);
  database.close();
  await storage.close();
});
