// Batches in a browser: how far each is and what it cost, its failed lines with their requests, and one that is cancelled.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { madeBatch } from '../support/made-batch.ts';
import { barriers } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

describe.skipIf(!HAS_BROWSER)('batches in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;
  beforeAll(async () => {
    scene = await startConsole({ batches: { max_delay_ms: 0 } });
    looked = await scene.look('admin');
  });
  afterAll(() => scene?.close());

  test('a batch shows its progress and its failures, and each failed line links to its request', async () => {
    const { page } = looked;
    await looked.open('/batches', 'Batches');
    await page.getByText('No batches yet').waitFor();
    const id = await madeBatch(scene.gateway, ['sim/chat', 'sim/error-400', 'nobody/knows']);
    // The list is read again by itself.
    const row = page.getByRole('row').filter({ hasText: id });
    await row.filter({ hasText: 'Completed' }).waitFor();
    await row.getByText('3 of 3').waitFor();
    await row.getByText('2 failed').waitFor();
    await page.getByText('1 batch.').waitFor();
    await row.getByRole('link').click();
    await page.getByRole('heading', { name: 'Batch', level: 1 }).waitFor();
    await page.getByText('3 of 3 lines have ended, 2 failed.').waitFor();
    const failed = page.getByRole('table', { name: 'Failed lines' }).getByRole('row');
    await failed.filter({ hasText: 'line-3' }).filter({ hasText: 'Not run' }).waitFor();
    await failed.filter({ hasText: 'line-2' }).filter({ hasText: '400' }).waitFor();
    expect(await failed.filter({ hasText: 'line-3' }).getByRole('link').count()).toBe(0);
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Request of line 2' }).click();
    await page.getByRole('heading', { name: 'sim/error-400', level: 1 }).waitFor();
    expect(looked.complaints).toEqual([]);
  });

  test('a running batch is cancelled after a confirmation, and its job links to it', async () => {
    const { page } = looked;
    const id = await madeBatch(scene.gateway, ['sim/chat', 'sim/stall']);
    await looked.open('/jobs', 'Jobs');
    await page.getByRole('row').filter({ hasText: id }).getByRole('link').click();
    await page.getByText('1 of 2 lines has ended, none failed.').waitFor();
    await page.getByText('In progress').waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    const question = page.getByRole('dialog');
    await question.getByText('Results of lines that have ended are kept: 1 of 2.').waitFor();
    expect(await barriers(page)).toEqual([]);
    await question.getByRole('button', { name: 'Keep running' }).click();
    await question.waitFor({ state: 'detached' });
    await page.getByText('In progress').waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).click();
    await question.getByRole('button', { name: 'Cancel batch' }).click();
    await page.getByText('Batch is being cancelled').waitFor();
    await page.getByText('Cancelling', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Cancel…' }).waitFor({ state: 'detached' });
    await looked.open('/batches', 'Batches');
    await page.getByRole('button', { name: /^Not ended/ }).click();
    await page.getByRole('row').filter({ hasText: id }).waitFor();
    expect(page.url()).toContain('status=open');
    expect(await page.getByRole('row').filter({ hasText: 'Completed' }).count()).toBe(0);
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });
});
