// The layout of every page, panel and dialog, from a phone to a large screen: no text is cut, lies over another one or leaves its
// box, and no control covers another one. `npm test` looks at a phone and a laptop in the light theme, DRAGOMAN_TESTS=all at four
// widths, and at the laptop in the dark theme too: themes differ in colours alone.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { isWhole } from '../support/share.ts';
import { showIn } from './barriers.ts';
import { startBusyGateway } from './busy-gateway.ts';
import { layoutFaults } from './layout-faults.ts';
import { HAS_BROWSER, type Looked } from './scene.ts';
import { makeShown, OPENED, PAGES, PATIENCE_MS, type Shown, SIZES } from './views.ts';

const LAPTOP = { width: 1440, height: 900 };
const WIDTHS = isWhole ? SIZES : SIZES.filter(([width]) => width === 390 || width === LAPTOP.width);
const LOOKED_AT = [
  ...WIDTHS.map(([width, height]) => ({ width, height, scheme: 'light' as const })),
  ...(isWhole ? [{ ...LAPTOP, scheme: 'dark' as const }] : []),
];
/** Milliseconds until the frames of a page have followed a change of the window. */
const SETTLES_MS = 5_000;

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let shown: Shown;
  let looked: Looked;

  beforeAll(async () => {
    const busy = await startBusyGateway({ records: 2_000 });
    shown = await makeShown(busy, 4);
    looked = await busy.look('admin', { reducedMotion: 'reduce', viewport: LAPTOP });
  }, PATIENCE_MS);
  afterAll(() => shown?.busy.close());

  /** Faults in every size and theme, each with where it is. Frames follow a change of the window a moment later. */
  async function faultsIn(part: string): Promise<readonly string[]> {
    const { page } = looked;
    const found: string[] = [];
    for (const { width, height, scheme } of LOOKED_AT) {
      await page.setViewportSize({ width, height });
      await showIn(page, scheme);
      const until = performance.now() + SETTLES_MS;
      let faults = await page.evaluate(layoutFaults, part);
      while (faults.length > 0 && performance.now() < until) faults = await page.evaluate(layoutFaults, part);
      found.push(...faults.map((fault) => `${width} ${scheme}: ${fault}`));
    }
    return found;
  }

  async function goTo(path: string): Promise<void> {
    const { page } = looked;
    await page.setViewportSize(LAPTOP);
    await page.goto(`${shown.busy.gateway.origin}/console${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  }

  test.each(PAGES)('the layout of the page %s has no faults', async (_, path) => {
    await goTo(path(shown));
    await looked.idle();
    expect(await faultsIn('body')).toEqual([]);
  });

  test.each(OPENED)('the layout of the dialog %s has no faults', async (_, path, open) => {
    await goTo(path);
    await open(looked, shown);
    await looked.idle();
    expect(await faultsIn('[role=dialog], [role=menu], [role=listbox]')).toEqual([]);
  });
});
