// Jobs in a browser: the queue with its counts, a job that is ended and tried again, and an answer in the background at the top of
// the list of requests from its first moment.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

describe.skipIf(!HAS_BROWSER)('jobs in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;
  beforeAll(async () => {
    scene = await startConsole();
    looked = await scene.look('admin');
  });
  afterAll(() => scene?.close());

  async function asked(model: string): Promise<string> {
    const answer = await scene.gateway.post('/responses', { model, input: 'Hello', background: true });
    return ((await answer.json()) as { readonly id: string }).id;
  }

  test('a background response is in the list of requests as soon as it starts, and can be cancelled there', async () => {
    const { page } = looked;
    await looked.open('/requests', 'Requests');
    await page.getByText('No requests in this period', { exact: true }).waitFor();
    await asked('sim/stall');
    const open = page.getByRole('region', { name: 'In progress' });
    await open.getByText('sim/stall').waitFor();
    await open.getByText('Running').waitFor();
    await open.getByRole('button', { name: 'Cancel the response of sim/stall, test' }).click();
    await page.getByText('Response cancelled').waitFor();
    await open.waitFor({ state: 'detached' });
    await page.getByRole('row').filter({ hasText: 'Cancelled' }).waitFor();
    expect(looked.complaints).toEqual([]);
  });

  test('the queue shows how many jobs run and why one failed; a job is cancelled and retried', async () => {
    const { page } = looked;
    const failed = await asked('sim/error-400');
    const running = await asked('sim/stall');
    await looked.open('/jobs', 'Jobs');
    await page.getByText('3 jobs: 1 running, 1 failed.').waitFor();
    const rows = page.getByRole('row');
    await rows.filter({ hasText: failed }).filter({ hasText: 'Failed' }).waitFor();
    await rows.filter({ hasText: running }).filter({ hasText: 'Running' }).waitFor();
    await page.getByRole('button', { name: `Actions for ${running}` }).click();
    await page.getByRole('menuitem', { name: 'Cancel' }).click();
    await page.getByText('Job cancelled').waitFor();
    await rows.filter({ hasText: running }).filter({ hasText: 'Cancelled' }).waitFor();
    await page.getByText('3 jobs: 1 failed.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await rows.filter({ hasText: running }).filter({ hasText: 'Running' }).waitFor();
    await page.getByRole('button', { name: /^Failed/ }).click();
    await rows.filter({ hasText: running }).waitFor({ state: 'detached' });
    expect(page.url()).toContain('state=failed');
    await rows.filter({ hasText: failed }).getByRole('link').click();
    await page.getByRole('heading', { name: 'sim/error-400', level: 1 }).waitFor();
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });
});
