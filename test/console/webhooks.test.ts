// Webhooks in a browser: one is made, gets a test, and what it was sent is seen; its secret is shown once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { barriers } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

describe.skipIf(!HAS_BROWSER)('webhooks in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;
  const types: string[] = [];
  const receiver = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      types.push(((await request.json()) as { readonly type: string }).type);
      return new Response(null, { status: 204 });
    },
  });
  beforeAll(async () => {
    scene = await startConsole({ fetch: { allow: [receiver.url.host] } });
    looked = await scene.look('admin');
  });
  afterAll(async () => {
    await scene?.close();
    await receiver.stop(true);
  });

  test('a receiver is created, tested and deleted, and its secret is shown once', async () => {
    const { page } = looked;
    const url = `${receiver.url.origin}/events`;
    const dialog = page.getByRole('dialog');
    await looked.open('/alerts', 'Alerts');
    await page.getByText('No webhooks yet.').waitFor();
    await page.getByRole('button', { name: 'New webhook' }).click();
    await dialog.getByLabel('Address').fill(url);
    expect(await barriers(page, '[role=dialog]')).toEqual([]);
    await dialog.getByRole('button', { name: 'Create webhook' }).click();
    await dialog.getByText(/^whsec_/).waitFor();
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'Done' }).click();
    await dialog.getByText('The secret was not copied.').waitFor();
    await dialog.getByRole('button', { name: 'Copy secret' }).click();
    await dialog.getByText('Copied.').waitFor();
    await dialog.getByRole('button', { name: 'Done', exact: true }).click();
    const row = page.getByRole('row').filter({ hasText: url });
    await row.getByText('Enabled').waitFor();
    expect(await page.getByText(/whsec_/).count()).toBe(0);
    const act = async (name: string): Promise<void> => {
      await page.getByRole('button', { name: `Actions for ${url}` }).click();
      await page.getByRole('menuitem', { name }).click();
    };
    await act('Send test event');
    await page.getByText('Test event queued').waitFor();
    await act('Deliveries…');
    await dialog.getByRole('row', { name: /webhook\.test.*Completed/ }).waitFor();
    expect(await barriers(page, '[role=dialog]')).toEqual([]);
    expect(types).toEqual(['webhook.test']);
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByRole('row').nth(2).getByText('Completed').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    // The list of jobs names the event of each delivery.
    await looked.open('/jobs', 'Jobs');
    await page
      .getByRole('row', { name: /^webhook\.test\s*Webhook · / })
      .nth(1)
      .waitFor();
    await looked.open('/alerts', 'Alerts');
    await act('Delete…');
    await dialog.getByRole('button', { name: 'Delete webhook' }).click();
    await page.getByText('No webhooks yet.').waitFor();
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });
});
