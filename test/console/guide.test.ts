// The site of the documents in a browser: pages fit a phone, the sidebar shows where one is, and the search finds what people
// look for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { writeSite } from '../../docs/site/build.ts';
import { guidePage } from '../../src/operations/guide/index.ts';
import { consoleErrorsOf, HAS_BROWSER, startBrowser } from '../support/browser.ts';

const PAGES = [
  '',
  '/getting-started',
  '/configuration/providers',
  '/protocols',
  '/decisions/003-performance',
];
const LOOKED_FOR = [
  ['budget', 'Limits and budgets'],
  ['revoke', 'Keys: Revoke a key'],
  ['batch', 'Batches'],
  ['resume', 'Resume a stream'],
] as const;

describe.skipIf(!HAS_BROWSER)('the documents', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-guide-'));
  let browser: Browser;
  let server: ReturnType<typeof Bun.serve>;

  beforeAll(async () => {
    writeSite(folder);
    server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) => guidePage(new URL(url).pathname, folder),
    });
    browser = await startBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await server.stop(true);
    rmSync(folder, { recursive: true, force: true });
  });

  async function open(width: number, path: string): Promise<{ page: Page; complaints: readonly string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 844 } });
    const complaints = consoleErrorsOf(page, server.url.origin);
    await page.goto(`${server.url.origin}/docs/guide${path}`);
    return { page, complaints };
  }

  test.each([390, 1440])('fit into %d pixels, and begin with their heading', async (width) => {
    for (const path of PAGES) {
      const { page, complaints } = await open(width, path);
      await page.waitForLoadState('load');
      const seen = await page.evaluate(() => ({
        over: document.documentElement.scrollWidth - innerWidth,
        heading: document.querySelector('h1')?.getBoundingClientRect().top ?? 0,
        header: document.querySelector('header')?.getBoundingClientRect().bottom ?? 0,
      }));
      expect(seen.over).toBeLessThanOrEqual(0);
      expect(seen.heading).toBeGreaterThanOrEqual(seen.header);
      expect(seen.heading).toBeLessThan(250);
      expect(complaints).toEqual([]);
      await page.close();
    }
  });

  test('are found by the words of common questions', async () => {
    const { page } = await open(1440, '');
    for (const [word, title] of LOOKED_FOR) {
      await page.fill('#search', word);
      await page.waitForSelector('#found li');
      expect(await page.textContent('#found li a')).toBe(title);
    }
    await page.close();
  });
});
