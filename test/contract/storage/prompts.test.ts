// Prompt templates through their port: versions and their numbers, the default one, paging, two keys, the quota.
import { expect, test } from 'bun:test';
import { describeDatabases } from './databases.ts';
import { rejection } from '../../support/rejection.ts';

const PROMPT = { id: 'pmpt_1', projectId: 'key_a', name: 'greeting', createdAt: 1 };

describeDatabases((fresh) => {
  test('versions are numbered, listed newest first, and one of them is the default', async () => {
    const open = await fresh();
    const storage = await open();
    const { prompts } = storage;
    await prompts.create(PROMPT, { text: 'one' });
    await prompts.create(PROMPT, { text: 'again' });
    expect(await prompts.addVersion('key_a', 'pmpt_1', { text: 'two' }, 2)).toBe('2');
    const two = { version: '2', createdAt: 2, template: { text: 'two' } };
    const one = { version: '1', createdAt: 1, template: { text: 'one' } };
    expect(await prompts.find('key_a', 'pmpt_1')).toEqual({
      ...PROMPT,
      defaultVersion: '1',
      versions: [two, one],
    });
    expect(await prompts.findVersion('key_a', 'pmpt_1')).toEqual(one);
    expect(await prompts.findVersion('key_a', 'pmpt_1', '2')).toEqual(two);
    for (const unknown of ['3', '0', '02', '2.0', '', 'x', ' 2', '1e0'])
      expect(await prompts.findVersion('key_a', 'pmpt_1', unknown)).toBeNull();

    expect(await prompts.setDefault('key_a', 'pmpt_1', '2')).toBe(true);
    expect(await prompts.setDefault('key_a', 'pmpt_1', '3')).toBe(false);
    expect(await prompts.findVersion('key_a', 'pmpt_1')).toEqual(two);
    expect(await prompts.setName('key_a', 'pmpt_1', null)).toBe(true);
    await storage.close();
    await using again = await open();
    expect(await again.prompts.find('key_a', 'pmpt_1')).toMatchObject({ name: null, defaultVersion: '2' });
  });

  test('the default version stays, and numbers are not reused', async () => {
    await using storage = await (await fresh())();
    const { prompts } = storage;
    await prompts.create(PROMPT, { text: 'one' });
    await prompts.addVersion('key_a', 'pmpt_1', { text: 'two' }, 2);
    expect(await rejection(prompts.deleteVersion('key_a', 'pmpt_1', '1'))).toMatchObject({
      kind: 'conflict',
    });
    expect(await prompts.deleteVersion('key_a', 'pmpt_1', '2')).toBe(true);
    expect(await prompts.deleteVersion('key_a', 'pmpt_1', '2')).toBe(false);
    expect(await prompts.addVersion('key_a', 'pmpt_1', { text: 'three' }, 3)).toBe('3');
    expect((await prompts.find('key_a', 'pmpt_1'))?.versions.map(({ version }) => version)).toEqual([
      '3',
      '1',
    ]);
    expect(await prompts.delete('key_a', 'pmpt_1')).toBe(true);
    expect(await prompts.delete('key_a', 'pmpt_1')).toBe(false);
    expect(await prompts.find('key_a', 'pmpt_1')).toBeNull();
    expect(await prompts.addVersion('key_a', 'pmpt_1', {}, 4)).toBeNull();
  });

  test("another key's prompts are not there", async () => {
    await using storage = await (await fresh())();
    const { prompts } = storage;
    await prompts.create(PROMPT, { text: 'one' });
    await prompts.addVersion('key_a', 'pmpt_1', { text: 'two' }, 2);
    expect(await prompts.find('key_b', 'pmpt_1')).toBeNull();
    expect(await prompts.findVersion('key_b', 'pmpt_1')).toBeNull();
    expect(await prompts.addVersion('key_b', 'pmpt_1', {}, 3)).toBeNull();
    expect(await prompts.setDefault('key_b', 'pmpt_1', '2')).toBe(false);
    expect(await prompts.setName('key_b', 'pmpt_1', 'x')).toBe(false);
    expect(await prompts.deleteVersion('key_b', 'pmpt_1', '2')).toBe(false);
    expect(await prompts.delete('key_b', 'pmpt_1')).toBe(false);
    expect(await prompts.list('key_b', { limit: 9, order: 'asc' })).toEqual({ prompts: [], hasMore: false });
    expect(await rejection(prompts.list('key_b', { limit: 9, order: 'asc', after: 'pmpt_1' }))).toMatchObject(
      {
        kind: 'invalid_request',
        param: 'after',
      },
    );
    expect((await prompts.find('key_a', 'pmpt_1'))?.versions.length).toBe(2);
  });

  test('prompts are listed in pages, in both orders', async () => {
    await using storage = await (await fresh())();
    const { prompts } = storage;
    for (let n = 0; n < 5; n++) {
      await prompts.create({ ...PROMPT, id: `pmpt_${n}` }, { n });
      await prompts.create({ ...PROMPT, id: `pmpt_b${n}`, projectId: 'key_b' }, { n });
    }
    const idsOf = async (order: 'asc' | 'desc', after?: string): Promise<unknown> => {
      const page = await prompts.list('key_a', { order, limit: 2, after });
      return [...page.prompts.map(({ id }) => id), page.hasMore];
    };
    expect(await idsOf('asc')).toEqual(['pmpt_0', 'pmpt_1', true]);
    expect(await idsOf('asc', 'pmpt_2')).toEqual(['pmpt_3', 'pmpt_4', false]);
    expect(await idsOf('desc')).toEqual(['pmpt_4', 'pmpt_3', true]);
    expect(await idsOf('desc', 'pmpt_1')).toEqual(['pmpt_0', false]);
  });

  test('a full key can make no more prompts, versions or names until it deletes some', async () => {
    await using storage = await (await fresh())({ maxBytesPerKey: () => 3_000 });
    const { prompts } = storage;
    const large = { text: 'x'.repeat(2_000) };
    await prompts.create(PROMPT, large);
    const refused = {
      kind: 'quota',
      message: expect.stringContaining('Delete conversations, prompts or files'),
    };
    expect(await rejection(prompts.create({ ...PROMPT, id: 'pmpt_2' }, large))).toMatchObject(refused);
    expect(await rejection(prompts.addVersion('key_a', 'pmpt_1', large, 2))).toMatchObject(refused);
    expect(await rejection(prompts.setName('key_a', 'pmpt_1', 'x'.repeat(2_000)))).toMatchObject(refused);
    expect((await prompts.list('key_a', { limit: 9, order: 'asc' })).prompts.length).toBe(1);
    await prompts.delete('key_a', 'pmpt_1');
    await prompts.create({ ...PROMPT, id: 'pmpt_2' }, large);
    expect((await prompts.find('key_a', 'pmpt_2'))?.versions.length).toBe(1);
  });
});
