// The pages of the console over the records of a busy month: what they show is there, lists of thousands of rows keep few of
// them in the page, and every filter answers. How long all that takes is printed, and judged where somebody asks for it on a
// quiet machine: `DRAGOMAN_RECORDS=1000000 node bin/bun.mjs test test/console/many-records.test.ts`.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { startManaged } from '../management/scene.ts';
import { isWhole } from '../share.ts';
import { fillMonth } from './busy-month.ts';
import { HAS_BROWSER, type Looked, openWindows, type Windows } from './scene.ts';

const GIVEN = Number(process.env['DRAGOMAN_RECORDS'] ?? 0);
const RECORDS = GIVEN || 60_000;
/** Pages of a hundred rows that are scrolled through. */
const SCROLLED = GIVEN ? 50 : 8;
const MINUTES = 60_000;
/** What it may take, in milliseconds: a page until it can be used, a change until it is seen, anything that blocks. */
const MOST = { page: 1_000, change: 300, block: 100 };

const PAGES = [
  ['overview', '', 'section[aria-label="Over time"] canvas'],
  ['requests', '/requests', '[role=row][aria-rowindex="1"]'],
  ['playground', '/playground', 'textarea:visible'],
  ['models', '/models', 'table tbody tr'],
  ['keys', '/keys', 'table tbody tr'],
  ['routing', '/routing', 'main form, main button'],
] as const;

describe.skipIf(!HAS_BROWSER || !(isWhole || GIVEN > 0))('over a month of records', () => {
  let windows: Windows;
  let close: () => Promise<void>;
  let looked: Looked;
  const times: { readonly what: string; readonly ms: number; readonly most: number }[] = [];

  beforeAll(async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-month-'));
    await fillMonth(dataDir, RECORDS, Date.now());
    const gateway = await startManaged({}, { dataDir });
    windows = await openWindows(gateway.origin);
    close = async () => {
      await windows.close();
      await gateway.close();
    };
    looked = await windows.look('admin');
    await looked.page.addInitScript(() => {
      const blocks: number[] = [];
      Object.assign(window, { blocks });
      new PerformanceObserver((list) => {
        for (const { duration } of list.getEntries()) blocks.push(duration);
      }).observe({ type: 'longtask' });
    });
  }, 10 * MINUTES);
  afterAll(async () => {
    for (const { what, ms, most } of times)
      console.log(`${what.padEnd(40)} ${ms.toFixed(0).padStart(6)} ms, at most ${most}`);
    await close?.();
  }, MINUTES);

  function note(what: string, ms: number, most: number): void {
    times.push({ what, ms, most });
    if (GIVEN > 0) expect({ what, ms: Math.min(ms, most) }).toEqual({ what, ms });
  }

  async function noteBlocks(what: string): Promise<void> {
    const blocks = await looked.page.evaluate(() => (window as unknown as { blocks: number[] }).blocks);
    note(`${what}: longest block`, Math.max(0, ...blocks), MOST.block);
  }

  /** From when the gateway is asked until what it says has been drawn. */
  async function change(what: string, path: RegExp, act: () => Promise<unknown>): Promise<void> {
    const { page } = looked;
    const asked = page.waitForRequest((request) => path.test(request.url()));
    await act();
    const request = await asked;
    // What is typed is asked for after a pause, which is no part of it.
    const from = performance.now();
    const answer = await request.response();
    expect(answer?.status()).toBe(200);
    await answer?.finished();
    await drawn(page);
    note(what, performance.now() - from, MOST.change);
  }

  test(
    'each page is there',
    async () => {
      const { page, open } = looked;
      // Built once, and what is seen is in the browser's cache from then on.
      await open('', 'Overview');
      for (const [name, path, shown] of PAGES) {
        const from = performance.now();
        await page.goto(`${new URL(page.url()).origin}/console${path}`);
        await page.locator(shown).first().waitFor();
        await drawn(page);
        note(name, performance.now() - from, MOST.page);
        await noteBlocks(name);
      }
    },
    2 * MINUTES,
  );

  test(
    'charts follow what they are divided by, and the time',
    async () => {
      const { page, open } = looked;
      await open('', 'Overview');
      await page.locator('section[aria-label="Over time"] canvas').first().waitFor();
      for (const span of ['7 days', '30 days', '90 days'])
        await change(`overview, ${span}`, /\/usage\?.*interval=/, () =>
          page.getByLabel('Time', { exact: true }).selectOption(span),
        );
      await page.getByLabel('Time', { exact: true }).selectOption('7 days');
      for (const by of ['key', 'project', 'provider'])
        await change(`overview, 7 days by ${by}`, /\/usage\?.*interval=/, () =>
          page.getByLabel('Divided by').selectOption(`By ${by}`),
        );
      expect(await page.getByRole('alert').count()).toBe(0);
      await noteBlocks('overview, changed');
    },
    2 * MINUTES,
  );

  test(
    'every filter of requests answers with what it lets through',
    async () => {
      const { page, open } = looked;
      await open('/requests', 'Requests');
      const list = /\/generations\?/;
      const told = page
        .locator('[role=row][aria-rowindex="1"], :text("No request fits these filters")')
        .first();
      await told.waitFor();
      for (const outcome of ['failed', 'cancelled', 'answered'])
        await change(`requests, ${outcome}`, list, () => page.getByLabel('Outcome').selectOption(outcome));
      await page.getByRole('button', { name: 'Clear' }).click();
      for (const span of ['15m', '24h', '30d'])
        await change(`requests, last ${span}`, list, () =>
          page.getByLabel('Time', { exact: true }).selectOption(span),
        );
      await page.getByRole('button', { name: 'Clear' }).click();
      for (const [label, value] of [
        ['Model', 'openai/o4'],
        ['Provider', 'deepseek'],
        ['Project', 'team-7'],
        ['Key', 'key_140'],
        ['Protocol', 'gemini'],
        ['Status', '402'],
        ['End user', (77).toString(16).padStart(32, 'e')],
        ['Cost from $', '0.003'],
      ] as const) {
        const box = page.locator('input').and(page.getByLabel(label, { exact: true }));
        const isPicked = (await box.getAttribute('role')) === 'combobox';
        await change(`requests, ${label} ${value}`, list, async () => {
          await box.fill(value);
          if (!isPicked) return;
          await page.locator('[role=option][data-highlighted]').waitFor();
          await box.press('Enter');
        });
        await told.waitFor();
        await change(`requests, ${label}, and failed`, list, () =>
          page.getByLabel('Outcome').selectOption('failed'),
        );
        await page.getByRole('button', { name: 'Clear' }).click();
        await told.waitFor();
      }
      await change('requests, what no record has', list, () =>
        page.getByLabel('Status', { exact: true }).fill('418'),
      );
      await page.getByText('No request fits these filters').waitFor();
      await noteBlocks('requests, filtered');
    },
    2 * MINUTES,
  );

  test(
    'a list is scrolled through thousands of rows, of which few are in the page',
    async () => {
      const { page, open } = looked;
      await open('/requests', 'Requests');
      const rows = page.locator('[role=row][aria-rowindex]');
      await rows.first().waitFor();
      const elements = (): Promise<number> => page.evaluate(() => document.querySelectorAll('*').length);
      const before = await elements();
      for (let shown = 1; shown < SCROLLED; shown += 1) {
        await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
        await page.waitForFunction(
          (least) =>
            [...document.querySelectorAll('[role=row][aria-rowindex]')].some(
              (row) => Number(row.getAttribute('aria-rowindex')) > least,
            ),
          shown * 100,
        );
      }
      expect(await rows.count()).toBeLessThan(80);
      expect(await elements()).toBeLessThan(before * 1.5 + 200);
      await noteBlocks('requests, scrolled');
      await rows.last().getByRole('link').click();
      await page.getByText('Why here').first().waitFor();
    },
    2 * MINUTES,
  );

  test('nothing of all this made the browser complain', () => {
    expect(looked.complaints).toEqual([]);
  });
});

/** Resolves when what was changed is on the screen. */
function drawn(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
      }),
  );
}
