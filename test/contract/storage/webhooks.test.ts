// Receivers of webhooks and their health, through their port, in every database.
import { expect, test } from 'bun:test';
import type { StoredWebhook } from '../../../src/accounts/ports/index.ts';
import { describeDatabases } from './databases.ts';

const HOOK: StoredWebhook = {
  id: 'whk_1',
  projectId: 'search',
  url: 'https://hooks.test/a',
  description: null,
  events: ['response.completed'],
  secrets: Uint8Array.of(0, 1, 255),
  createdAt: 1,
};

describeDatabases((fresh) => {
  test('a receiver is found, changed and deleted, and gets events of its project or of all', async () => {
    const storage = await (await fresh())();
    const { webhooks } = storage;
    const ofAll = { ...HOOK, id: 'whk_2', projectId: null, events: null, description: 'all' };
    for (const hook of [HOOK, ofAll, { ...HOOK, id: 'whk_3', projectId: 'shop' }])
      expect(await webhooks.insert(hook, 5)).toBe(true);
    expect(await webhooks.find('whk_1')).toEqual(HOOK);
    expect(await webhooks.find('whk_9')).toBeNull();
    expect((await webhooks.all()).map(({ id }) => id)).toEqual(['whk_1', 'whk_2', 'whk_3']);
    const receiving = async (projectId: string | null): Promise<readonly string[]> =>
      (await webhooks.receiving(projectId)).map(({ id }) => id);
    expect(await receiving('search')).toEqual(['whk_2', 'whk_1']);
    expect(await receiving(null)).toEqual(['whk_2']);
    const changed = { ...HOOK, url: 'https://hooks.test/b', events: null };
    expect(await webhooks.update('whk_1', { url: changed.url, events: null })).toEqual(changed);
    expect(await webhooks.update('whk_1', { description: 'x' })).toEqual({ ...changed, description: 'x' });
    expect(await webhooks.update('whk_9', { url: changed.url })).toBeNull();
    expect(await webhooks.delete('whk_1')).toBe(true);
    expect(await webhooks.delete('whk_1')).toBe(false);
    await storage.close();
  });

  test('a project cannot exceed its number of webhooks, also if several processes add one at once', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    const added = await Promise.all(
      [one, two, one, two].map(({ webhooks }, at) => webhooks.insert({ ...HOOK, id: `whk_${at}` }, 2)),
    );
    expect(added.filter(Boolean)).toHaveLength(2);
    expect(await one.webhooks.insert({ ...HOOK, id: 'whk_8', projectId: null }, 2)).toBe(true);
    await Promise.all([one.close(), two.close()]);
  });

  test('a receiver fails since its first failure, is disabled once, and recovers', async () => {
    const storage = await (await fresh())();
    const { webhooks } = storage;
    expect(await webhooks.failed('whk_1', 10)).toBe(10);
    expect(await webhooks.failed('whk_1', 20)).toBe(10);
    expect(await webhooks.disable('whk_1', 'gone', 30)).toBe(true);
    expect(await webhooks.disable('whk_1', 'again', 40)).toBe(false);
    expect([...(await webhooks.health(['whk_1', 'whk_2']))]).toEqual([
      ['whk_1', { failingSince: 10, disabled: { at: 30, reason: 'gone' } }],
    ]);
    await webhooks.recovered('whk_1');
    expect((await webhooks.health(['whk_1'])).size).toBe(0);
    expect(await webhooks.failed('whk_1', 50)).toBe(50);
    await storage.close();
  });
});
