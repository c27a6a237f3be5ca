// The audit log, and changes that stand in it, in every database.
import { expect, test } from 'bun:test';
import { rejection } from '../../support/rejection.ts';
import { entry, KEY } from './samples.ts';
import { describeDatabases } from './databases.ts';

describeDatabases((fresh) => {
  test('the audit log is read newest first, in pages in both directions, and purged from its oldest end', async () => {
    await using storage = await (await fresh())();
    const { audit } = storage;
    for (let n = 1; n <= 5; n++) await audit.append(entry(n));
    const numbers = async (query: Parameters<typeof audit.list>[0]) => {
      const page = await audit.list(query);
      return [...page.entries.map(({ createdAt }) => createdAt), page.hasMore];
    };
    expect(await numbers({ limit: 2 })).toEqual([5, 4, true]);
    expect(await numbers({ limit: 2, after: 'audit_4' })).toEqual([3, 2, true]);
    expect(await numbers({ limit: 2, after: 'audit_2' })).toEqual([1, false]);
    expect(await numbers({ limit: 2, before: 'audit_2' })).toEqual([4, 3, true]);
    expect(await numbers({ limit: 9, before: 'audit_2' })).toEqual([5, 4, 3, false]);
    expect(await numbers({ limit: 9, actor: 'key_a' })).toEqual([5, 3, 1, false]);
    expect(await numbers({ limit: 9, from: 2, to: 4 })).toEqual([3, 2, false]);
    expect(await audit.list({ limit: 1, target: 'key_3' })).toEqual({ entries: [entry(3)], hasMore: false });
    expect(await rejection(audit.list({ limit: 1, after: 'audit_9' }))).toMatchObject({ param: 'after' });
    expect(await audit.purge(3)).toBe(2);
    expect(await audit.purge(3)).toBe(0);
    expect(await numbers({ limit: 9 })).toEqual([5, 4, 3, false]);
  });

  test('a change and its audit entry are stored together, or neither is', async () => {
    await using storage = await (await fresh())();
    const { audit, keys, projects } = storage;
    const project = { createdAt: 1, updatedAt: 1, archivedAt: null, limits: [], budgets: [], version: 1 };
    expect(await projects.insert({ ...project, id: 'shop' }, entry(1))).toBe(true);
    // The log refuses an id that it has.
    await rejection(projects.insert({ ...project, id: 'garden' }, entry(1)));
    expect(await projects.find('garden')).toBeNull();
    await rejection(projects.update('shop', { archivedAt: 5 }, { atMs: 5 }, () => entry(1)));
    expect(await projects.find('shop')).toMatchObject({ archivedAt: null, version: 1 });
    await rejection(keys.insert(KEY, entry(1)));
    expect(await keys.find(KEY.id)).toBeNull();
    // A change that is not made is not logged.
    expect(await projects.insert({ ...project, id: 'shop' }, entry(2))).toBe(false);
    expect(await projects.update('nobody', { archivedAt: 5 }, { atMs: 5 }, () => entry(3))).toBeNull();
    await rejection(projects.update('shop', { archivedAt: 5 }, { atMs: 5, ifVersion: 7 }, () => entry(4)));
    expect(await audit.list({ limit: 9 })).toEqual({ entries: [entry(1)], hasMore: false });
  });

  test('an entry contains the object as it was directly before the change, even if others change it at the same time', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    await one.keys.insert({ ...KEY, version: 1 }, entry(0));
    const changes = [one, two, one, two].map((storage, at) =>
      storage.keys.update(KEY.id, { name: `name ${at}` }, { atMs: at }, (before, after) => ({
        ...entry(at + 1),
        before: { version: before.version, name: before.name },
        after: { version: after.version, name: after.name },
      })),
    );
    await Promise.all(changes);
    const { entries: all } = await one.audit.list({ limit: 9 });
    const steps = all.toReversed().slice(1);
    expect(steps.map(({ before }) => before?.['version'])).toEqual([1, 2, 3, 4]);
    for (const [at, step] of steps.entries())
      expect(step.before).toEqual(at === 0 ? { version: 1, name: KEY.name } : (steps[at - 1]?.after ?? null));
    await one.close();
    await two.close();
  });
});
