// Dialogs and views of a request, which pages show when they are asked to: they keep nobody out, have room on a phone, and are
// used with the keyboard alone, as is what each page is for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { TEST_KEY } from '../support/harness.ts';
import { barriers, showIn } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

/** Each with the menu that leads to it, where one does. */
const DIALOGS: readonly (readonly [path: string, opens: string, entry: string | null])[] = [
  ['/keys', 'New key', null],
  ['/keys', 'Actions for ci', 'Change…'],
  ['/keys?view=projects', 'New project', null],
  ['/keys?view=projects', 'Actions for nightly', 'Change…'],
  ['/keys', 'Actions for ci', 'Rotate…'],
  ['/keys', 'Actions for ci', 'Revoke…'],
  ['/providers', 'Add provider', null],
  ['/providers/sim', 'Disable…', null],
  ['/providers/sim', 'Probe now…', null],
  ['/alerts', 'New webhook', null],
];
const PHONE = { width: 390, height: 844 };
const DESK = { width: 1440, height: 900 };
const VIEWS = [/Conversation/, /Timeline/, /Routing/, /Cost/, /Changes/, /Raw/];

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;
  let id: string;

  /** Name of the element that has the focus, and whether the focus can be seen. */
  const focused = (): Promise<{ readonly name: string; readonly isSeen: boolean }> =>
    looked.page.evaluate(() => {
      const at = document.activeElement as HTMLElement & { labels?: NodeListOf<HTMLElement> | null };
      const marked = at.closest('form:has(textarea:focus-visible)') ?? at;
      const { outlineStyle, boxShadow } = getComputedStyle(marked);
      return {
        name: at.ariaLabel ?? at.labels?.[0]?.textContent ?? at.textContent,
        isSeen:
          outlineStyle !== 'none' ||
          getComputedStyle(at).outlineStyle !== 'none' ||
          getComputedStyle(at, '::after').outlineStyle !== 'none' ||
          boxShadow !== 'none',
      };
    });
  /** Goes on with Tab until something of this name has the focus; each stop on the way can be seen. */
  async function tabTo(name: string | RegExp, key = 'Tab'): Promise<void> {
    for (let stops = 0; stops < 60; stops += 1) {
      await looked.page.keyboard.press(key);
      let at = await focused();
      // The edge of a dialog hands the focus on to what is inside.
      for (let looks = 0; !at?.isSeen && looks < 20; looks += 1) at = await focused();
      expect(at).toMatchObject({ isSeen: true });
      if (typeof name === 'string' ? at.name === name : name.test(at.name)) return;
    }
    throw new Error(`nothing that is called ${name} can be reached`);
  }
  /** Resolves when it has the focus. */
  const holds = (it: Locator): Promise<void> => it.and(looked.page.locator(':focus')).waitFor();
  const button = (name: string): Locator => looked.page.getByRole('button', { name, exact: true });
  /** Barriers, and elements too wide for the window, in a part of a page. */
  async function wrongWith(part: string, colorScheme: 'dark' | 'light'): Promise<readonly string[]> {
    const { page } = looked;
    await showIn(page, colorScheme);
    const found = [...(await barriers(page, part))];
    const width = await page.evaluate(
      (selector) =>
        Math.max(
          document.documentElement.scrollWidth,
          ...[...document.querySelectorAll(selector)].map((each) => each.scrollWidth),
        ),
      part,
    );
    if (width > (page.viewportSize()?.width ?? 0)) found.push(`${part} is ${width} pixels wide`);
    return found;
  }
  /** The same of the open dialog, in both themes, on a phone and on a desk. */
  async function wrongWithDialog(): Promise<readonly string[]> {
    const found: string[] = [];
    for (const size of [DESK, PHONE]) {
      await looked.page.setViewportSize(size);
      for (const scheme of ['light', 'dark'] as const)
        found.push(...(await wrongWith('[role=dialog]', scheme)));
    }
    return found;
  }

  beforeAll(async () => {
    scene = await startConsole({
      logging: { level: 'warn', content: 'all' },
      keys: [{ name: 'test', key: TEST_KEY, project: 'search' }],
      projects: { search: {} },
    });
    const answer = await scene.gateway.post('/chat/completions', {
      model: 'sim/gemini',
      logit_bias: { 5: 1 },
      messages: [{ role: 'user', content: `What is 6 x 7? ${'long'.repeat(60)}` }],
    });
    await answer.text();
    id = answer.headers.get('x-request-id') ?? '';
    await scene.gateway.manage('POST', '/projects', { name: 'nightly' });
    await scene.gateway.manage('POST', '/keys', { name: 'ci', budgets: [{ usd: 3, per: 'day' }] });
    looked = await scene.look('admin', { viewport: PHONE, reducedMotion: 'reduce' });
  });
  afterAll(() => scene?.close());

  test('every dialog is accessible in both themes, fits on a phone, and returns the focus', async () => {
    const { page } = looked;
    const dialog = page.getByRole('dialog');
    for (const [path, opens, entry] of DIALOGS) {
      await page.goto(`${scene.gateway.origin}/console${path}`);
      await button(opens).press('Enter');
      if (entry !== null) await page.getByRole('menuitem', { name: entry }).click();
      // At what is to be filled in, or at the way back.
      await holds(dialog.locator('input, select, button:text("Cancel")'));
      expect(await wrongWithDialog()).toEqual([]);
      await page.keyboard.press('Escape');
      await holds(button(opens));
    }
  });

  test('the search, the period with its calendar and the list of keys are accessible, fit on a phone, and return the focus', async () => {
    const { page, open } = looked;
    await open('', 'Overview');
    const dialog = page.getByRole('dialog');
    await page.keyboard.press('Control+k');
    await holds(dialog.getByRole('combobox'));
    expect(await wrongWithDialog()).toEqual([]);
    await page.keyboard.type('key');
    await dialog.getByRole('option', { name: /Keys/ }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await open('/usage', 'Usage');
    await button('Time: Last 24 h').press('Enter');
    await dialog.getByRole('grid').waitFor();
    expect(await wrongWithDialog()).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    await page.locator('body').press('?');
    for (const what of ['Search on this page', 'Next row', 'Go to Overview', 'Go to Requests', 'Go to Keys'])
      await dialog.getByText(what).waitFor();
    expect(await wrongWithDialog()).toEqual([]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
  });

  test('a request is found, opened beside the list, and read completely with the keyboard alone', async () => {
    const { page, open } = looked;
    await open('/requests', 'Requests');
    await page.keyboard.press('/');
    await holds(page.getByLabel('Model, key or request id'));
    await page.keyboard.type('gemini');
    await page.waitForURL(/text=gemini/);
    await page
      .getByRole('row', { name: /sim\/gemini/ })
      .first()
      .waitFor();
    await tabTo(/sim\/gemini/);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`open=${id}`));
    const panel = page.getByRole('complementary', { name: 'Request' });
    await panel.getByRole('tab', { name: 'Conversation' }).waitFor();
    expect(await wrongWith('aside', 'light')).toEqual([]);
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'hidden' });
    await holds(page.locator('[data-row]'));

    await open(`/requests/${id}`, 'sim/gemini');
    await tabTo('Conversation');
    for (const [at, name] of VIEWS.entries()) {
      if (at > 0) {
        await page.keyboard.press('ArrowRight');
        await holds(page.getByRole('tab', { name }));
        await page.keyboard.press('Enter');
      }
      await page.getByRole('tab', { name, selected: true }).waitFor();
      await page.locator('[aria-label=Loading]').waitFor({ state: 'detached' });
      expect(await wrongWith('main', at % 2 === 0 ? 'dark' : 'light')).toEqual([]);
    }
  });

  test('limits are changed, a message is sent and other rules are estimated with the keyboard alone', async () => {
    const { page, open } = looked;
    await open('/keys', 'Keys');
    await tabTo('Actions for ci');
    await page.keyboard.press('Enter');
    await holds(page.getByRole('menuitem', { name: 'Change…' }));
    await page.keyboard.press('Enter');
    await holds(page.getByLabel('Name', { exact: true }));
    await tabTo('Budget in USD');
    await page.keyboard.press('Control+a');
    await page.keyboard.type('7');
    await tabTo('Save');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /^ci.*\$7 \/ day/ }).waitFor();
    await holds(button('Actions for ci'));
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowUp');
    await holds(page.getByRole('menuitem', { name: 'Revoke…' }));
    await page.keyboard.press('Enter');
    await holds(button('Cancel'));
    await tabTo('Revoke key');
    await page.keyboard.press('Enter');
    await page.getByRole('row', { name: /^ci.*Revoked/ }).waitFor();

    await open('/playground', 'Playground');
    await tabTo('Message');
    await page.keyboard.type('What is 6 x 7?');
    await tabTo('Send');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Open request' }).waitFor();

    await open('/routing', 'Routing');
    await tabTo('Explain');
    await page.keyboard.press('Enter');
    await page.getByText('policy priority').first().waitFor();
    await holds(button('Explain'));
    await tabTo('Explain routing', 'Shift+Tab');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await tabTo('Estimate');
    await page.keyboard.press('Enter');
    await page.getByText('Of all').waitFor();
    await holds(button('Estimate'));
  });

  test('the browser reports no error', () => {
    expect(looked.complaints).toEqual([]);
  });
});
