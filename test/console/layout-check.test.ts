// The check of layouts itself: it finds what it is there for, and nothing in a page that is as it should be.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../support/browser.ts';
import { layoutFaults } from './layout-faults.ts';
import { HAS_BROWSER } from './scene.ts';

const WORD = 'stream_options.include_usage';

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await startBrowser();
    page = await browser.newPage({ viewport: { width: 390, height: 844 } });
  });
  afterAll(() => browser?.close());

  test.each([
    ['a text that is cut', `<div style="width: 50px; overflow: hidden">${WORD}</div>`, /^cut: div/],
    ['a line that is cut', `<div style="height: 5px; overflow: hidden">${WORD}</div>`, /^cut: div/],
    [
      'a page that is too wide',
      `<p style="width: 500px">${WORD}</p>`,
      /^the page is 5\d\d pixels wide, not 390/,
    ],
    [
      'a text outside the window',
      `<p style="position: absolute; left: -80px">${WORD}</p>`,
      /^outside the window: p/,
    ],
    [
      'a text that leaves its button',
      `<button style="width: 60px; padding: 0; white-space: nowrap">${WORD}</button>`,
      /^leaves its button: button/,
    ],
    [
      'a text over another one',
      `<p style="margin: 0; height: 4px">one line</p><p style="margin: 0">another line</p>`,
      /^over each other: p "one line" and p "another line"$/,
    ],
    [
      'a control over another one',
      '<input aria-label="A" style="display: block"><input aria-label="B" style="display: block; margin-top: -10px">',
      /^over each other: input "A" and input "B"$/,
    ],
  ])('%s is found', async (_, html, fault) => {
    await page.setContent(html);
    expect(await page.evaluate(layoutFaults, 'body')).toContainEqual(expect.stringMatching(fault));
  });

  test.each([
    [
      'a text that ends with three dots',
      `<p style="width: 50px; overflow: hidden; text-overflow: ellipsis">${WORD}</p>`,
    ],
    [
      'a table that scrolls in its frame',
      `<div style="overflow-x: auto"><p style="width: 900px">${WORD}</p></div>`,
    ],
    [
      'a text for screen readers',
      `<p style="position: absolute; width: 1px; height: 1px; overflow: hidden">${WORD}</p>`,
    ],
    ['a dialog over its page', `<p>${WORD}</p><div style="position: fixed; top: 0">${WORD}</div>`],
    ['lines of one paragraph', `<p>${'What is 6 x 7? '.repeat(30)}</p>`],
  ])('%s is not reported', async (_, html) => {
    await page.setContent(html);
    expect(await page.evaluate(layoutFaults, 'body')).toEqual([]);
  });
});
