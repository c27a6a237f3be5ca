// The console of a gateway whose database is PostgreSQL: every page shows what it should, and the four questions of operators
// have the same answers, in as many clicks. It is skipped where there is no PostgreSQL, or no browser.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freshPostgres, POSTGRES_PROGRAMS } from '../support/servers/postgres.ts';
import { makeTraffic, startBusyGateway } from './busy-gateway.ts';
import { testQuestions } from './operator-questions.ts';
import { HAS_BROWSER, type Looked } from './scene.ts';

/** Pages, their headings, and something that only data of the database can show. */
const PAGES = [
  ['', 'Overview', /acme\/small/],
  ['/requests?range=30d', 'Requests', /Showing 100 of \d/],
  ['/requests?range=30d&order=-cost', 'Requests', /Showing 100 of \d/],
  ['/requests?range=30d&slow=true&order=-duration', 'Requests', /Showing \d+ of \d/],
  ['/requests?range=30d&text=SMALL', 'Requests', /acme\/small/],
  ['/requests?range=30d&error_kind=rate_limited', 'Requests', /Broken stream/],
  ['/usage?range=30d', 'Usage', /Last 30 days: .* requests/],
  ['/usage?range=30d&by=key', 'Usage', /papers/],
  ['/usage?range=30d&by=end_user', 'Usage', /user/],
  ['/jobs', 'Jobs', /No jobs yet/],
  ['/batches', 'Batches', /No batches yet/],
  ['/routing', 'Routing', /See where a request would go/],
  ['/providers', 'Providers', /downtown/],
  ['/models', 'Models', /house\/qwen/],
  ['/model/acme/small', 'acme/small', /requests/],
  ['/keys', 'Keys', /papers/],
  ['/keys?view=projects', 'Keys', /research/],
  ['/alerts', 'Alerts', /downtown/],
  ['/settings?view=sessions', 'Settings', /Chrome/],
  ['/settings?view=audit', 'Settings', /colleague|No changes yet/],
] as const;

describe.skipIf(!HAS_BROWSER || POSTGRES_PROGRAMS === null)('with PostgreSQL', () => {
  let busy: Awaited<ReturnType<typeof startBusyGateway>>;
  let looked: Looked;

  beforeAll(async () => {
    busy = await startBusyGateway({ records: 900, databaseUrl: await freshPostgres() });
    await makeTraffic(busy, 6);
    looked = await busy.look('admin', { viewport: { width: 1440, height: 900 } });
    await looked.idle();
  });
  afterAll(() => busy?.close());

  testQuestions(() => ({ busy, looked }));

  test.each(PAGES)('the page %s appears without an alert', async (path, heading, shown) => {
    const { page, open } = looked;
    await open(path, heading);
    await page.getByRole('main').getByText(shown).first().waitFor();
    await looked.idle();
    expect(await page.getByRole('alert').allTextContents()).toEqual([]);
  });

  test('the browser reports no error', () => {
    expect(looked.complaints).toEqual([]);
  });
});
