// The page of the description in a real browser: it draws what the description says, and asks nobody but the gateway.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser } from 'playwright-core';
import { consoleErrorsOf, HAS_BROWSER, SLOW, startBrowser } from '../../../support/browser.ts';
import { startGateway, type TestGateway } from '../../../support/harness.ts';

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let gateway: TestGateway;
  let browser: Browser;
  beforeAll(async () => {
    [gateway, browser] = await Promise.all([startGateway(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await gateway.close();
  });

  test('the page shows every operation, opens one, loads nothing from other sites, and logs no errors', async () => {
    const description = (await (await fetch(`${gateway.origin}/openapi.json`)).json()) as {
      readonly paths: Readonly<Record<string, object>>;
    };
    const operations = Object.values(description.paths).flatMap((path) =>
      Object.keys(path).filter((name) => /^(?:get|post|put|patch|delete)$/.test(name)),
    );
    // The package draws only what is in sight of a long list.
    const page = await browser.newPage({ viewport: { width: 1280, height: 20_000 } });
    page.setDefaultTimeout(2 * SLOW);
    const complaints = consoleErrorsOf(page, gateway.origin);
    const answer = await page.goto(`${gateway.origin}/docs`);
    expect(answer?.status()).toBe(200);
    const tags = page.locator('.opblock-tag');
    await tags.first().waitFor();
    for (const tag of await tags.all()) await tag.dispatchEvent('click');
    await page
      .locator('.opblock')
      .nth(operations.length - 1)
      .waitFor();
    expect(await page.locator('.opblock').count()).toBe(operations.length);
    const models = page.locator('#operations-Models-listModels');
    await models.locator('.opblock-summary-control').click();
    await models.locator('.responses-inner').waitFor();
    expect(complaints).toEqual([]);
    await page.close();
  });
});
