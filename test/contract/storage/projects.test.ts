// Projects, through their port, in every database.
import { expect, test } from 'bun:test';
import type { StoredProject } from '../../../src/accounts/ports/index.ts';
import { someEntry } from '../../support/storage/audit-entries.ts';
import { rejection } from '../../support/rejection.ts';
import { describeDatabases } from './databases.ts';

describeDatabases((fresh) => {
  test('a project is found, listed and changed, also with a required version', async () => {
    const open = await fresh();
    const [one, two] = [await open(), await open()];
    const project: StoredProject = {
      id: 'search',
      createdAt: 1,
      updatedAt: 1,
      archivedAt: null,
      limits: [],
      budgets: [],
      version: 1,
    };
    const start = await two.projects.mark();
    for (const [at, id] of ['c', 'a', 'b'].entries())
      expect(await one.projects.insert({ ...project, id, createdAt: at }, someEntry())).toBe(true);
    expect((await two.projects.changedSince(start)).map(({ id }) => id).toSorted()).toEqual(['a', 'b', 'c']);
    const mark = await two.projects.mark();
    const changed = await two.projects.update('a', { archivedAt: 9 }, { atMs: 9, ifVersion: 1 }, someEntry);
    expect(changed).toMatchObject({ archivedAt: 9, updatedAt: 9, version: 2 });
    const stale = one.projects.update('a', { archivedAt: null }, { atMs: 10, ifVersion: 1 }, someEntry);
    expect(await rejection(stale)).toMatchObject({ kind: 'conflict', code: 'version_conflict' });
    expect(await one.projects.update('none', {}, { atMs: 10, ifVersion: 1 }, someEntry)).toBeNull();
    expect((await one.projects.changedSince(mark)).map(({ id }) => id)).toEqual(['a']);
    const ids = async (page: object): Promise<string[]> =>
      (await one.projects.list({ limit: 9, order: 'asc', ...page })).projects.map(({ id }) => id);
    expect(await ids({})).toEqual(['c', 'a', 'b']);
    expect(await ids({ order: 'desc', isArchived: false })).toEqual(['b', 'c']);
    expect(await ids({ after: 'c', limit: 1 })).toEqual(['a']);
    expect(await rejection(ids({ after: 'none' }))).toMatchObject({
      kind: 'invalid_request',
      param: 'after',
    });
    await one.close();
    await two.close();
  });
});
