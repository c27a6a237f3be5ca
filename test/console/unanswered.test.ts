// Pages whose reads are slow or fail: they claim nothing that they do not know, and recover on their own.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Route } from 'playwright-core';
import { barriers } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

const READS = '**/console/api/v1/management/**';
/** Milliseconds, a little more than until a failed read is repeated. */
const REPEATED_MS = 11_000;

const EVENTS = '**/console/api/v1/management/events?*';
/** Milliseconds, a little more than until a stream that does not begin counts as missing. */
const LATE_MS = 6_000;

/** Leaves a request unanswered until the interception ends. */
const HELD = (): Promise<void> => Promise.resolve();

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;

  beforeAll(async () => {
    scene = await startConsole();
    looked = await scene.look('admin');
    await looked.page.clock.install();
  });
  afterAll(() => scene?.close());

  /** Intercepts reads, but not the stream of events. @returns stops it */
  async function intercept(handle: (route: Route) => Promise<void>): Promise<() => Promise<void>> {
    const { page } = looked;
    await page.route(READS, (route) =>
      route.request().url().includes('/events') ? route.continue() : handle(route),
    );
    return () => page.unroute(READS);
  }

  test.each([
    ['/usage', 'Usage', /No usage with a known price/],
    ['/jobs', 'Jobs', /All 0/],
    ['/batches', 'Batches', /All 0/],
  ])('while %s is loading, it shows no count', async (path, heading, claim) => {
    const { page, open } = looked;
    const stop = await intercept(HELD);
    await open(path, heading);
    await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'attached' });
    expect(await page.getByRole('main').textContent()).not.toMatch(claim);
    await stop();
    await page.getByText(claim).first().waitFor();
  });

  test('a page that the gateway did not answer shows why, and retries after a while', async () => {
    const { page, open } = looked;
    const stop = await intercept((route) => route.abort());
    await open('/jobs', 'Jobs');
    await page.getByText('The gateway is unreachable.').waitFor();
    // Nothing but the reason: no card without content.
    expect(await page.locator('main section').filter({ visible: true }).count()).toBe(0);
    await stop();
    await page.clock.fastForward(REPEATED_MS);
    await page.getByText('No jobs yet').waitFor();
    await page.getByText('The gateway is unreachable.').waitFor({ state: 'hidden' });
  });

  test.each([
    ['', 'Overview'],
    ['/requests', 'Requests'],
    ['/usage', 'Usage'],
    ['/usage?by=end_user', 'Usage'],
    ['/providers', 'Providers'],
    ['/models', 'Models'],
    ['/keys', 'Keys'],
    ['/keys?view=projects', 'Keys'],
    ['/jobs', 'Jobs'],
    ['/batches', 'Batches'],
    ['/alerts', 'Alerts'],
    ['/routing', 'Routing'],
    ['/playground', 'Playground'],
    ['/settings?view=configuration', 'Settings'],
    ['/settings?view=sessions', 'Settings'],
    ['/settings?view=audit', 'Settings'],
  ])(
    'a status 500 is shown on the page %s with the error of the gateway, and disappears on its own',
    async (path, heading) => {
      const { page, open } = looked;
      const message = 'the database cannot be read';
      const stop = await intercept((route) => route.fulfill({ status: 500, json: { error: { message } } }));
      await open(path, heading);
      const problem = page.getByRole('alert').filter({ hasText: 'The database cannot be read' }).first();
      // A read is repeated twice before its error is shown.
      while (!(await problem.isVisible())) await page.clock.runFor(1_000);
      expect(await barriers(page)).toEqual([]);
      await stop();
      await page.clock.fastForward(REPEATED_MS);
      await problem.waitFor({ state: 'hidden' });
    },
  );

  test.each(['/usage', '/usage?by=end_user'])(
    'the page %s shows once why several reads failed',
    async (path) => {
      const { page, open } = looked;
      const message = 'The database cannot be read.';
      const stop = await intercept((route) => route.fulfill({ status: 500, json: { error: { message } } }));
      await open(path, 'Usage');
      const problems = page.getByRole('alert').filter({ hasText: message });
      while ((await problems.count()) === 0) await page.clock.runFor(1_000);
      // Time for the other reads to fail as well.
      await page.clock.runFor(REPEATED_MS / 2);
      expect(await problems.count()).toBe(1);
      await stop();
    },
  );

  test('requests are listed although they cannot be counted, and the page says so', async () => {
    const { page, open } = looked;
    const messages = [{ role: 'user', content: 'Hello' }];
    await (await scene.gateway.post('/chat/completions', { model: 'sim/echo', messages })).text();
    const message = 'The requests cannot be counted.';
    const counts = '**/generations/counts?*';
    await page.route(counts, (route) => route.fulfill({ status: 500, json: { error: { message } } }));
    await open('/requests', 'Requests');
    const problem = page.getByRole('alert').filter({ hasText: message });
    while (!(await problem.isVisible())) await page.clock.runFor(1_000);
    await problem.getByText('The chart and the number of requests are missing.').waitFor();
    await page.getByRole('row').filter({ hasText: 'sim/echo' }).waitFor();
    expect(await barriers(page)).toEqual([]);
    await page.unroute(counts);
    await page.clock.fastForward(REPEATED_MS);
    await problem.waitFor({ state: 'hidden' });
    await page.getByText('Showing 1 of 1').waitFor();
  });

  test('usage keeps its grouping until the next one has arrived', async () => {
    const { page, open } = looked;
    await open('/usage', 'Usage');
    await page.getByRole('table', { name: 'Usage by model' }).getByText('sim/echo').waitFor();
    const stop = await intercept(HELD);
    await page.getByRole('button', { name: 'Provider' }).click();
    await page.waitForURL(/by=provider/);
    await page.getByRole('table', { name: 'Usage by model' }).getByText('sim/echo').waitFor();
    await stop();
    await open('/usage?by=provider', 'Usage');
    await page.getByRole('table', { name: 'Usage by provider' }).getByText('sim').waitFor();
  });

  test.each([
    ['is refused', (route: Route) => route.fulfill({ status: 503 })],
    ['never begins', HELD],
  ])('live updates show when their stream %s, and when it is back', async (_, handle) => {
    const { page, open } = looked;
    await page.route(EVENTS, handle);
    await open('/jobs', 'Jobs');
    await page.clock.fastForward(LATE_MS);
    const away = page.getByRole('button', { name: 'Every 30 s' });
    await away.waitFor();
    expect(await away.getAttribute('title')).toContain('Live events do not arrive');
    await page.unroute(EVENTS);
    // A held stream is opened again with the next page.
    await open('/batches', 'Batches');
    await page.getByRole('button', { name: 'Live', exact: true }).waitFor();
  });

  test('the search reports no results only after it has searched', async () => {
    const { page, open } = looked;
    await open('', 'Overview');
    await looked.idle();
    const stop = await intercept(HELD);
    await page.keyboard.press('Control+k');
    await page.getByRole('dialog').getByRole('combobox').fill('no such name');
    await page.clock.runFor(1_000);
    await page.getByText('Searching…').waitFor();
    await stop();
    await page.getByText('No results.').waitFor();
  });
});
