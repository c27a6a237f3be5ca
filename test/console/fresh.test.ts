// A gateway that nobody has asked anything: pages say so, call nothing healthy, and name the next step.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

const NO_ROWS = { object: 'list', data: [], first_id: null, last_id: null, has_more: false };

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;

  beforeAll(async () => {
    scene = await startConsole();
    looked = await scene.look('admin');
  });
  afterAll(() => scene?.close());

  test('nothing is healthy, and no share is said of no requests', async () => {
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

  test('an empty list of requests leads to a longer time, and from there to a first request', async () => {
    const { page, open } = looked;
    await open('/requests', 'Requests');
    await page.getByText('No requests in this period').waitFor();
    await page.getByRole('button', { name: 'Show 30 days' }).click();
    await page.waitForURL(/range=30d/);
    await page.getByText('Last 30 days.').waitFor();
    await page.getByRole('link', { name: 'Try the playground' }).click();
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
  });

  test('a refusal of the test of a new key is shown to its end', async () => {
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

  test('first steps are shown until there is a request, and not of a time without any', async () => {
    const { page, open } = looked;
    const long = '?from=2020-01-01T00:00:00.000Z&to=2020-01-03T00:00:00.000Z';
    await page.route('**/generations?limit=1', (route) => route.fulfill({ json: NO_ROWS }));
    await open(long, 'Overview');
    await page.getByText('First steps').waitFor();
    await page.unroute('**/generations?limit=1');
    await open(long, 'Overview');
    await page.getByText('No requests in this time').waitFor();
    expect(await page.getByText('First steps').count()).toBe(0);
  });

  test('nothing else of all this made the browser complain', () => {
    expect(looked.complaints).toEqual([]);
  });
});
