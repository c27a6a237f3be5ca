// The four questions that operators ask, each with the clicks that its answer may take; and that what is shown is true: over
// providers that are overloaded, refuse their key, are unpaid, cut their streams or have no price.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator } from 'playwright-core';
import { barriers } from './barriers.ts';
import { makeTraffic, PAPERS, startBusyGateway } from './busy-gateway.ts';
import { HAS_BROWSER, type Looked, SLOW } from './scene.ts';

/** Compressed, in bytes: what the browser loads until the first page can be used. */
const MOST = { scripts: 170_000, styles: 15_000, font: 60_000 };
const DAY_MS = 86_400_000;
/** Words that rows show of a model's requests, and words that they must not show. */
const TRUTHS: readonly (readonly [model: string, reported: RegExp, unreported?: RegExp])[] = [
  ['shaky/one', /Broken stream/, /OK/],
  ['house/qwen', /OK.*Unknown/, /\$0/],
  ['expired/one', /Failed (?:401|502)/, /OK/],
  ['prepaid/one', /Failed/, /Limit reached|OK/],
  ['acme/small', /Limit reached.*query-rewrite/],
];

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let busy: Awaited<ReturnType<typeof startBusyGateway>>;
  let looked: Looked;
  let clicks = 0;

  /** As a hand does it; each is counted. */
  async function click(it: Locator): Promise<void> {
    clicks += 1;
    await it.click();
  }
  const row = (name: string | RegExp): Locator => looked.page.getByRole('row', { name });

  beforeAll(async () => {
    busy = await startBusyGateway({ records: 900 });
    await makeTraffic(busy, 6);
    looked = await busy.look('admin', { viewport: { width: 1440, height: 900 } });
    // Requests that come are drawn before anybody looks.
    await looked.idle();
  }, 2 * SLOW);
  afterAll(() => busy?.close());

  test(
    'a provider is down: it is seen without a click, its words are one click away, and its requests two',
    async () => {
      const { page, open, picture } = looked;
      await open('', 'Overview');
      const problems = page.getByRole('region', { name: 'Open problems' });
      await problems.getByText(/providers? fail.* 1 budget is used up\./).waitFor();
      await problems
        .getByRole('listitem')
        .filter({ hasText: 'query-rewrite' })
        .getByText('Budget used up')
        .waitFor();
      await problems.getByRole('listitem').filter({ hasText: 'downtown' }).getByText('Failing').waitFor();
      // A provider that refuses its key to all is never healthy.
      const expired = problems.getByRole('listitem').filter({ hasText: 'expired-key' });
      await expired.getByText('Failing').waitFor();
      await expired.getByText(/401/).waitFor();
      await picture('question-provider-overview');
      clicks = 0;
      await click(problems.getByRole('link', { name: 'downtown' }));
      await page.getByText('The model is overloaded. Try again later.').first().waitFor();
      expect(clicks).toBe(1);
      await click(page.getByRole('main').getByRole('link', { name: 'Requests', exact: true }));
      await row(/downtown\/only/)
        .first()
        .waitFor();
      expect(clicks).toBe(2);
      await open('/providers', 'Providers');
      for (const name of ['downtown', 'expired-key', 'prepaid-ai'])
        await row(new RegExp(`^${name}.*Failing`)).waitFor();
      await row(/^acme-cloud.*Healthy/).waitFor();
      // The worst come first.
      expect(await page.getByRole('rowheader').first().textContent()).not.toContain('acme-cloud');
    },
    SLOW,
  );

  test(
    'why a request was slow: three clicks from the overview lead to the sentence that says it',
    async () => {
      const { page, open, picture } = looked;
      await Promise.all(Array.from({ length: 25 }, () => busy.ask('house/qwen', 'sk-test')));
      await busy.ask('house/qwen', 'sk-test', { seed: 4_000 });
      await open('', 'Overview');
      clicks = 0;
      await click(page.getByRole('navigation').getByRole('link', { name: 'Requests', exact: true }));
      await click(page.getByRole('button', { name: 'Slow', exact: true }));
      await page.waitForURL(/slow=true/);
      await page.getByText(/^Showing/).waitFor();
      await looked.idle();
      await click(page.locator('[data-row]').first());
      const panel = page.getByRole('complementary', { name: 'Request' });
      const sentence = panel.getByText(/Answered by .* in .*p50 .*p95/);
      await sentence.waitFor();
      // The upstream waited for four seconds before it answered: that phase is named, with its time.
      expect(await sentence.textContent()).toMatch(
        /^Answered by in-house-vllm in 4\.\d+ s: .* Of it 4\.\d+ s waiting for the first content\./,
      );
      expect(clicks).toBe(3);
      await picture('question-slow');
    },
    SLOW,
  );

  test(
    'who spent most yesterday: two clicks, and the sums are those of the management API',
    async () => {
      const { page, open, picture } = looked;
      await open('', 'Overview');
      clicks = 0;
      await click(page.getByRole('navigation').getByRole('link', { name: 'Usage', exact: true }));
      await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
      await click(page.getByRole('button', { name: 'Yesterday' }));
      expect(clicks).toBe(2);
      await page.waitForURL(/range=yesterday/);
      await page.getByText(/^Yesterday: /).waitFor();
      const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
      const [from, to] = [today - DAY_MS, today].map((ms) => new Date(ms).toISOString());
      const { body } = await busy.gateway.manage(
        'GET',
        `/usage?from=${from}&to=${to}&group_by=model&totals=true`,
      );
      const { all } = body['totals'] as { all: { requests: number; usd: number } };
      const sentence = (await page.getByText(/^Yesterday: /).textContent()) ?? '';
      expect(sentence).toContain(`${all.requests} requests`);
      expect(sentence).toContain(`$${all.usd.toFixed(2)}`);
      await page
        .getByRole('columnheader', { name: 'Spend', exact: true })
        .and(page.locator('[aria-sort=descending]'))
        .waitFor();
      const table = page.waitForEvent('download');
      await page.getByRole('link', { name: 'CSV' }).click();
      const text = await Bun.file((await (await table).path()) ?? '').text();
      expect(text).toMatch(/^[\w,]+\r?\n.*acme\/small/s);
      await picture('question-spend');
    },
    SLOW,
  );

  test(
    'a key with $20: four clicks and two fields, the row shows it, and the message is ready',
    async () => {
      const { page, open, picture } = looked;
      await open('', 'Overview');
      clicks = 0;
      await click(page.getByRole('navigation').getByRole('link', { name: 'Keys', exact: true }));
      await click(page.getByRole('button', { name: 'New key' }));
      await page.getByLabel('Name', { exact: true }).fill('colleague');
      await page.getByLabel('Budget in USD').fill('20');
      await click(page.getByRole('button', { name: 'Make the key' }));
      await page.getByRole('button', { name: 'Copy key' }).waitFor();
      await page.keyboard.press('Escape');
      expect(await barriers(page, '[role=dialog]')).toEqual([]);
      await picture('question-key');
      await click(page.getByRole('button', { name: 'Copy all as a message' }));
      expect(clicks).toBe(4);
      await page.getByText('Copied.').waitFor();
      const message = await page.evaluate(() => navigator.clipboard.readText());
      expect(message).toContain(`Base URL: ${busy.gateway.origin}/v1`);
      expect(message).toMatch(/Key: sk-dm-v1-/);
      await page.getByRole('button', { name: 'Done' }).click();
      await row(/^colleague.*\$20 \/ month/).waitFor();
      expect(await page.getByRole('rowheader').first().textContent()).toStartWith('colleague');
    },
    SLOW,
  );

  test(
    'what is shown is true: no success that was none, no $0 for what has no price, nobody nameless, no end in the past',
    async () => {
      const { page, open } = looked;
      await busy.ask('house/qwen', 'sk-test');
      for (const path of [
        '',
        '/requests',
        '/usage',
        '/usage?by=provider',
        '/usage?by=key',
        '/providers',
        '/keys',
        '/alerts',
      ])
        await (async () => {
          await page.goto(`${busy.gateway.origin}/console${path}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await looked.idle();
          const text = (await page.getByRole('main').textContent()) ?? '';
          expect(text).not.toMatch(
            /\(unanswered\)|\(nobody\)|until \d+ \w+ ago|clears|resets \d.{0,10} ago|NaN|undefined/,
          );
        })();
      // Each alone: a list has those rows in the page alone that are seen.
      for (const [model, reported, unreported] of TRUTHS) {
        await open(`/requests?model=${model}`, 'Requests');
        await row(reported).first().waitFor();
        if (unreported) expect(await row(unreported).count()).toBe(0);
      }
      await open('/usage?by=provider', 'Usage');
      // Attempts are counted where they were made, and a provider that never answered is there.
      await row(/^downtown/).waitFor();
      await row(/^in-house-vllm.*(?:Unknown|≥)/).waitFor();
      await open('/usage', 'Usage');
      await page.getByText(/≥ \$.* have no known price/).waitFor();
    },
    2 * SLOW,
  );

  test(
    'a refusal is said in the words of then: what would have to change, and no end that never comes',
    async () => {
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
    },
    SLOW,
  );

  test(
    'alerts have the words of the overview, and say of an endpoint that fails that it does',
    async () => {
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
      await row(/provider expired-key refuses its key.*Provider key refused/).waitFor();
      expect(await page.getByRole('main').textContent()).not.toMatch(/left alone|opened/);
      await open('/alerts?state=open', 'Alerts');
      await row(/provider expired-key refuses its key/).waitFor();
      const alerts = (await page.getByRole('table', { name: 'Alerts' }).getByRole('row').count()) - 1;
      await page.getByRole('link', { name: new RegExp(`^Alerts\\s*${alerts}\\s*open`) }).waitFor();
    },
    SLOW,
  );

  test(
    'no time beside a chart is cut',
    async () => {
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
      await page.goto(
        `${busy.gateway.origin}/console/usage?from=${day}T08:00:00.000Z&to=${day}T20:00:00.000Z`,
      );
      await page.getByRole('img', { name: /^Spend/ }).waitFor();
      await page.goto(
        `${busy.gateway.origin}/console/requests?from=${day}T08:00:00.000Z&to=${day}T20:00:00.000Z`,
      );
      await page.getByRole('img', { name: /^Requests over time/ }).waitFor();
      expect(await page.evaluate(() => (globalThis as unknown as { cut: string[] }).cut)).toEqual([]);
      await page.context().close();
    },
    SLOW,
  );

  test(
    'disabling a provider asks for how long and why, says what stands in, and is undone in place',
    async () => {
      const { page, open } = looked;
      await open('/providers/cheapllm', 'cheapllm');
      await page.getByRole('button', { name: 'Disable…' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByText(/acme-cloud would stand in for 1 model/).waitFor();
      await dialog.getByLabel('Why').fill('too many 429s');
      await dialog.getByLabel('For').selectOption('15 minutes');
      await dialog.getByRole('button', { name: 'Disable', exact: true }).click();
      await page.getByText(/Disabled by .*too many 429s.*ends in 1[45] min/).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('button', { name: 'Disable…' }).waitFor();
    },
    SLOW,
  );

  test(
    'the keyboard reaches the first row in six stops, and knows the way',
    async () => {
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
        page.evaluate(() =>
          document.activeElement?.closest('[aria-rowindex]')?.getAttribute('aria-rowindex'),
        );
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
    },
    SLOW,
  );

  test(
    'the first page loads little, and the playground and the calendar are fetched when they are wanted',
    async () => {
      const { page } = await busy.look('admin');
      // A link under the mouse, which is still where the button to sign in was, would load its page in advance.
      await page.mouse.move(0, 0);
      const loaded: { readonly name: string; readonly bytes: number }[] = [];
      page.on('response', (answer) => {
        if (answer.url().includes('/console/assets/'))
          loaded.push({ name: answer.url(), bytes: Number(answer.headers()['content-length'] ?? 0) });
      });
      await page.goto(`${busy.gateway.origin}/console`);
      await page.getByRole('link', { name: /^Spend/ }).waitFor();
      await looked.idle();
      const names = loaded.map(({ name }) => name);
      const sizeOf = async (type: RegExp): Promise<number> => {
        const sizes = await Promise.all(
          names
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
      const before = names.length;
      await page.getByRole('button', { name: /^Time:/ }).click();
      await page.getByRole('grid').waitFor();
      const afterCalendar = names.length;
      expect(loaded.length).toBeGreaterThan(before);
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'Playground' }).click();
      await page.getByLabel('Message', { exact: true }).waitFor();
      expect(loaded.length).toBeGreaterThan(afterCalendar);
    },
    SLOW,
  );

  test('nothing of all this made the browser complain', () => {
    expect(looked.complaints).toEqual([]);
  });
});
