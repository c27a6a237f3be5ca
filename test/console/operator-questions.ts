// The four questions that operators ask, each with the clicks that its answer may take; and that what is shown is true. They
// are the same on every database.
import { expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { barriers } from './barriers.ts';
import type { startBusyGateway } from './busy-gateway.ts';
import { type Looked } from './scene.ts';

const DAY_MS = 86_400_000;
/** Words that rows show of a model's requests, and words that they must not show. */
const TRUTHS: readonly (readonly [model: string, reported: RegExp, unreported?: RegExp])[] = [
  ['shaky/one', /Broken stream/, /OK/],
  ['house/qwen', /OK.*Unknown/, /\$0/],
  ['expired/one', /Failed (?:401|502)/, /OK/],
  ['prepaid/one', /Failed/, /Limit reached|OK/],
  ['acme/small', /Limit reached.*query-rewrite/],
];

interface Scene {
  readonly busy: Awaited<ReturnType<typeof startBusyGateway>>;
  readonly looked: Looked;
}

/**
 * Registers a test for each question, and one for the truth of pages.
 * @param sceneOf gives a gateway after some traffic, and a window whose operator is signed in
 */
export function testQuestions(sceneOf: () => Scene): void {
  let clicks = 0;

  /** As a hand does it; each is counted. */
  async function click(it: Locator): Promise<void> {
    clicks += 1;
    await it.click();
  }
  function row(page: Page, name: string | RegExp): Locator {
    return page.getByRole('row', { name });
  }

  test('a provider is down: the overview shows it, its error is one click away, and its requests two', async () => {
    const { looked } = sceneOf();
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
    // A provider that rejects its key to all is never healthy.
    const expired = problems.getByRole('listitem').filter({ hasText: 'expired-key' });
    await expired.getByText('Failing').waitFor();
    await expired.getByText(/401/).waitFor();
    await picture('question-provider-overview');
    clicks = 0;
    await click(problems.getByRole('link', { name: 'downtown' }));
    await page.getByText('The model is overloaded. Try again later.').first().waitFor();
    expect(clicks).toBe(1);
    await click(page.getByRole('main').getByRole('link', { name: 'Requests', exact: true }));
    await row(page, /downtown\/only/)
      .first()
      .waitFor();
    expect(clicks).toBe(2);
    await open('/providers', 'Providers');
    for (const name of ['downtown', 'expired-key', 'prepaid-ai'])
      await row(page, new RegExp(`^${name}.*Failing`)).waitFor();
    await row(page, /^acme-cloud.*Healthy/).waitFor();
    // The worst come first.
    expect(await page.getByRole('rowheader').first().textContent()).not.toContain('acme-cloud');
  });

  test('the reason why a request was slow is three clicks from the overview', async () => {
    const { busy, looked } = sceneOf();
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
    const sentence = panel.getByText(/Served by .* in .*p50 .*p95/);
    await sentence.waitFor();
    // The upstream waited for four seconds before it answered: that phase is named, with its time.
    expect(await sentence.textContent()).toMatch(
      /^Served by in-house-vllm in 4\.\d+ s: .* Slowest phase: waiting for the first content \(4\.\d+ s\)\./,
    );
    expect(clicks).toBe(3);
    await picture('question-slow');
  });

  test('the key that spent most yesterday is two clicks away, with the sums of the management API', async () => {
    const { busy, looked } = sceneOf();
    const { page, open, picture } = looked;
    await open('', 'Overview');
    clicks = 0;
    await click(page.getByRole('navigation').getByRole('link', { name: 'Usage', exact: true }));
    await page.getByRole('heading', { name: 'Usage', level: 1 }).waitFor();
    await click(page.getByRole('button', { name: 'Yesterday' }));
    expect(clicks).toBe(2);
    await page.waitForURL(/range=yesterday/);
    await page.getByText(/^Yesterday: .*\d/).waitFor();
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
  });

  test('a key with $20 takes four clicks and two fields, is in its row, and has a message to send', async () => {
    const { busy, looked } = sceneOf();
    const { page, open, picture } = looked;
    await open('', 'Overview');
    clicks = 0;
    await click(page.getByRole('navigation').getByRole('link', { name: 'Keys', exact: true }));
    await click(page.getByRole('button', { name: 'New key' }));
    await page.getByLabel('Name', { exact: true }).fill('colleague');
    await page.getByLabel('Budget in USD').fill('20');
    await click(page.getByRole('button', { name: 'Create key' }));
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
    await row(page, /^colleague.*\$20 \/ month/).waitFor();
    expect(await page.getByRole('rowheader').first().textContent()).toStartWith('colleague');
  });

  test('pages show no false success, no $0 for an unknown price, no empty name, and no end in the past', async () => {
    const { busy, looked } = sceneOf();
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
      await row(page, reported).first().waitFor();
      if (unreported) expect(await row(page, unreported).count()).toBe(0);
    }
    await open('/usage?by=provider', 'Usage');
    // Attempts are counted where they were made, and a provider that never answered is there.
    await row(page, /^downtown/).waitFor();
    await row(page, /^in-house-vllm.*(?:Unknown|≥)/).waitFor();
    await open('/usage', 'Usage');
    await page.getByText(/≥ \$.* without a known price/).waitFor();
  });
}
