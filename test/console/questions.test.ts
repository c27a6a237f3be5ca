// The four questions that operators ask, and the words, keys and sizes of the pages that answer them: over providers that are
// overloaded, refuse their key, are unpaid, cut their streams or have no price.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { makeTraffic, PAPERS, startBusyGateway } from './busy-gateway.ts';
import { testQuestions } from './operator-questions.ts';
import { HAS_BROWSER, type Looked } from './scene.ts';

/** Compressed, in bytes: what the browser loads until the first page can be used. */
const MOST = { scripts: 170_000, styles: 15_000, font: 60_000 };
const DAY_MS = 86_400_000;

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let busy: Awaited<ReturnType<typeof startBusyGateway>>;
  let looked: Looked;

  const row = (name: string | RegExp): Locator => looked.page.getByRole('row', { name });

  beforeAll(async () => {
    busy = await startBusyGateway({ records: 900 });
    await makeTraffic(busy, 6);
    looked = await busy.look('admin', { viewport: { width: 1440, height: 900 } });
    // Requests that come are drawn before anybody looks.
    await looked.idle();
  });
  afterAll(() => busy?.close());

  testQuestions(() => ({ busy, looked }));

  test('an old refusal shows its own error, with the necessary change, and times in the viewer’s time zone', async () => {
    const { page, open } = looked;
    await busy.ask('house/qwen', PAPERS);
    await open('/requests?model=house/qwen&state=limit_reached', 'Requests');
    await page.locator('[data-row]').first().click();
    const panel = page.getByRole('complementary', { name: 'Request' });
    await panel
      .getByText(/The price of house\/qwen is unknown/)
      .first()
      .waitFor();
    await open('/requests?model=acme/small&state=limit_reached', 'Requests');
    await row(/Limit reached 402/)
      .first()
      .waitFor();
    await page.locator('[data-row]').first().click();
    const sentence = panel.getByText(
      /^\$0\.00009 per day \(the limit of key "query-rewrite"\) is reached: .* used/,
    );
    await sentence.first().waitFor();
    // Its times are those of who looks.
    expect(await sentence.first().textContent()).not.toMatch(/\dT\d/);
  });

  test('rows of requests are requested before their counts, which may take longer', async () => {
    const { page, open } = looked;
    const asked: string[] = [];
    let release = (): void => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    await page.route(/\/generations/, async (route) => {
      const isList = new URL(route.request().url()).pathname.endsWith('/generations');
      asked.push(isList ? 'rows' : 'counts');
      if (isList) await held;
      await route.continue();
    });
    // The running requests, which the list begins with.
    const running = page.waitForResponse(/\/jobs\?/);
    await open('/requests?model=acme/small', 'Requests');
    await running;
    expect(asked).toEqual(['rows']);
    release();
    await page.getByText(/^Showing \d+ of \d/).waitFor();
    expect(asked).toEqual(['rows', 'counts']);
    await page.unroute(/\/generations/);
  });

  test('alerts have the words of the overview, and name a failing endpoint as failing', async () => {
    const { page, open } = looked;
    await open('/alerts', 'Alerts');
    const now = page.getByRole('region', { name: 'Open problems' });
    await now.getByRole('listitem').filter({ hasText: 'downtown' }).getByText('Failing').waitFor();
    await now.getByRole('listitem').filter({ hasText: 'cheapllm' }).getByText('Degraded').waitFor();
    await now
      .getByRole('listitem')
      .filter({ hasText: 'query-rewrite' })
      .getByText('Budget used up')
      .waitFor();
    await row(/endpoint downtown of downtown\/only keeps failing.*Circuit breaker open/).waitFor();
    await row(/provider expired-key rejects its API key.*Provider key rejected/).waitFor();
    expect(await page.getByRole('main').textContent()).not.toMatch(/left alone|opened/);
    await open('/alerts?state=open', 'Alerts');
    await row(/provider expired-key rejects its API key/).waitFor();
    const alerts = (await page.getByRole('table', { name: 'Alerts' }).getByRole('row').count()) - 1;
    await page.getByRole('link', { name: new RegExp(`^Alerts\\s*${alerts}\\s*open`) }).waitFor();
  });

  test('no time next to a chart is cut off', async () => {
    const { page } = await busy.look('admin', { viewport: { width: 1440, height: 900 } });
    // Texts on canvases that reach over an edge.
    await page.addInitScript(() => {
      const window_ = globalThis as unknown as { cut: string[] };
      window_.cut = [];
      const { prototype } = CanvasRenderingContext2D;
      const write = prototype.fillText;
      prototype.fillText = function fillText(text: string, x: number, y: number, width?: number) {
        const { actualBoundingBoxLeft: left, actualBoundingBoxRight: right } = this.measureText(text);
        if (x - left < 0 || x + right > this.canvas.width) window_.cut.push(text);
        write.call(this, text, x, y, width);
      };
    });
    const day = new Date(Date.now() - 2 * DAY_MS).toISOString().slice(0, 10);
    await page.goto(`${busy.gateway.origin}/console/usage?from=${day}T08:00:00.000Z&to=${day}T20:00:00.000Z`);
    await page.getByRole('img', { name: /^Spend/ }).waitFor();
    await page.goto(
      `${busy.gateway.origin}/console/requests?from=${day}T08:00:00.000Z&to=${day}T20:00:00.000Z`,
    );
    await page.getByRole('img', { name: /^Requests over time/ }).waitFor();
    expect(await page.evaluate(() => (globalThis as unknown as { cut: string[] }).cut)).toEqual([]);
    await page.context().close();
  });

  test('disabling a provider asks for duration and reason, names the fallback, and can be undone there', async () => {
    const { page, open } = looked;
    await open('/providers/cheapllm', 'cheapllm');
    await page.getByRole('button', { name: 'Disable…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(/acme-cloud would replace it for 1 model/).waitFor();
    await dialog.getByLabel('Why').fill('too many 429s');
    await dialog.getByLabel('For').selectOption('15 minutes');
    await dialog.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByText(/Disabled by .*too many 429s.*ends in 1[45] min/).waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Disable…' }).waitFor();
  });

  test('the keyboard reaches the first row in six stops, moves through rows and opens pages', async () => {
    const { page, open } = looked;
    await open('/requests', 'Requests');
    await page.locator('[data-row]').first().waitFor();
    let stops = 0;
    const isRow = (): Promise<boolean> =>
      page.evaluate(() => document.activeElement?.hasAttribute('data-row') === true);
    // The first stop is the way past the pages, and is taken.
    await page.keyboard.press('Tab');
    stops += 1;
    await page.keyboard.press('Enter');
    while (!(await isRow()) && stops < 20) {
      await page.keyboard.press('Tab');
      stops += 1;
    }
    expect(stops).toBeLessThanOrEqual(6);
    const at = (): Promise<string | null | undefined> =>
      page.evaluate(() => document.activeElement?.closest('[aria-rowindex]')?.getAttribute('aria-rowindex'));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    expect(await at()).toBe('2');
    await page.keyboard.press('Enter');
    await page.getByRole('complementary', { name: 'Request' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('complementary', { name: 'Request' }).waitFor({ state: 'hidden' });
    await page.keyboard.press('g');
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Keys', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('o');
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('r');
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
  });

  test('the first page loads little, and the playground and the calendar are loaded when they are opened', async () => {
    const { page, idle } = await busy.look('admin');
    // A link under the mouse, which is still where the button to sign in was, would load its page in advance.
    await page.mouse.move(0, 0);
    await idle();
    const loaded: string[] = [];
    page.on('response', (answer) => {
      if (answer.url().includes('/console/assets/')) loaded.push(answer.url());
    });
    await page.goto(`${busy.gateway.origin}/console`);
    await page.getByRole('link', { name: /^Spend/ }).waitFor();
    await idle();
    const sizeOf = async (type: RegExp): Promise<number> => {
      const sizes = await Promise.all(
        loaded
          .filter((name) => type.test(name))
          .map(async (name) => {
            const answer = await fetch(name, { decompress: false } as RequestInit);
            return (await answer.arrayBuffer()).byteLength;
          }),
      );
      return sizes.reduce((sum, size) => sum + size, 0);
    };
    const sizes = {
      scripts: await sizeOf(/\.js$/),
      styles: await sizeOf(/\.css$/),
      font: await sizeOf(/\.woff2$/),
    };
    console.log(`first load: ${JSON.stringify(sizes)}`);
    expect(sizes.scripts).toBeLessThan(MOST.scripts);
    expect(sizes.styles).toBeLessThan(MOST.styles);
    expect(sizes.font).toBeLessThan(MOST.font);
    const fetched = (): Promise<unknown> =>
      page.waitForResponse((answer) => answer.url().includes('/console/assets/'));
    const calendar = fetched();
    await page.getByRole('button', { name: /^Time:/ }).click();
    await page.getByRole('grid').waitFor();
    await calendar;
    await page.keyboard.press('Escape');
    const playground = fetched();
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.getByLabel('Message', { exact: true }).waitFor();
    await playground;
  });

  test('the browser reports no error', () => {
    expect(looked.complaints).toEqual([]);
  });
});
