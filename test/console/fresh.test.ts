// A gateway that nobody has asked anything: pages say so, call nothing healthy, and name the next step.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeSite } from '../../docs/site/build.ts';
import { guidePage } from '../../src/operations/guide/index.ts';
import { freshFolder } from '../support/program.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

/** A time without requests. */
const LONG_AGO = '?from=2020-01-01T00:00:00.000Z&to=2020-01-03T00:00:00.000Z';
const NO_ROWS = { object: 'list', data: [], first_id: null, last_id: null, has_more: false };

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;

  beforeAll(async () => {
    scene = await startConsole();
    looked = await scene.look('admin');
  });
  afterAll(() => scene?.close());

  test('nothing is shown as healthy and no share is shown before the first request', async () => {
    const { page, open } = looked;
    await open('', 'Overview');
    await page.getByText('No provider was called in the last 24 hours.').waitFor();
    await page.getByRole('link', { name: /^Failed\s*No request/ }).waitFor();
    await open('/alerts', 'Alerts');
    await page.getByText('No provider was called in the last 24 hours.').waitFor();
    await open('/providers', 'Providers');
    await page.getByText('No provider was called in the last 24 hours.').waitFor();
    await open('/keys', 'Keys');
    // Its secret is too short for a hint.
    expect(await page.getByRole('rowheader', { name: /^test/ }).textContent()).not.toContain('…');
  });

  test('an empty list of requests links to a longer period, and from there to a first request', async () => {
    const { page, open } = looked;
    await open('/requests', 'Requests');
    await page.getByText('No requests in this period').waitFor();
    await page.getByRole('button', { name: 'Show 30 days' }).click();
    await page.waitForURL(/range=30d/);
    await page.getByText('Last 30 days.').waitFor();
    await page.getByRole('link', { name: 'Try the playground' }).click();
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
  });

  test('the complete error is shown if the test of a new key is refused', async () => {
    const { page, open } = looked;
    await open('/keys', 'Keys');
    await page.getByRole('button', { name: 'New key' }).first().click();
    await page.getByLabel('Name', { exact: true }).fill('poor');
    await page.getByLabel('Budget in USD').fill('0.00001');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Test it' }).click();
    await page.getByText(/Failed with 402: .*raise the limit\.$/).waitFor();
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
    expect(looked.complaints.splice(0)).toEqual([expect.stringContaining('402')]);
  });

  test('first steps are shown until there is a request, and not for a period without requests', async () => {
    const { page, open } = looked;
    await page.route('**/generations?limit=1', (route) => route.fulfill({ json: NO_ROWS }));
    await open(LONG_AGO, 'Overview');
    await page.getByText('First steps').waitFor();
    await page.unroute('**/generations?limit=1');
    await open(LONG_AGO, 'Overview');
    await page.getByText('No requests in this time').waitFor();
    expect(await page.getByText('First steps').count()).toBe(0);
  });

  test('the documentation is a click away, and all links to it lead to the named sections', async () => {
    const { page, open } = looked;
    const addresses = new Set<string>();
    await page.route('**/generations?limit=1', (route) => route.fulfill({ json: NO_ROWS }));
    for (const [path, heading] of [
      [LONG_AGO, 'Overview'],
      ['/jobs', 'Jobs'],
      ['/batches', 'Batches'],
      ['/playground?model=sim%2Fchat', 'Playground'],
    ] as const) {
      await open(path, heading);
      await page.getByRole('link', { name: 'Documentation' }).waitFor();
      await page.locator('#content a[href^="/docs/guide"]').first().waitFor();
      const links = await page.locator('a[href^="/docs/guide"]').all();
      for (const link of links) addresses.add((await link.getAttribute('href')) ?? '');
    }
    await page.unroute('**/generations?limit=1');
    expect(addresses.size).toBe(6);
    const { folder, remove } = freshFolder();
    try {
      writeSite(folder);
      for (const address of addresses) {
        const [path = '', anchor] = address.split('#');
        const answer = await guidePage(path, folder);
        expect([address, answer.status]).toEqual([address, 200]);
        if (anchor !== undefined) expect(await answer.text()).toContain(`id="${anchor}"`);
      }
    } finally {
      remove();
    }
  });

  test('an address without a page leads back to the overview', async () => {
    const { page, open } = looked;
    await open('/no-such-page', 'Page not found');
    await page.getByRole('link', { name: 'Go to the overview' }).click();
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
  });

  test('the browser reports no other error', () => {
    expect(looked.complaints).toEqual([]);
  });
});
