// An outage, as somebody sees it whose page is open meanwhile: a provider that rejects its key to all, one that is overloaded, and
// what is still known of them after a reload.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cutTables } from './barriers.ts';
import { makeTraffic, startBusyGateway } from './busy-gateway.ts';
import { HAS_BROWSER, type Looked } from './scene.ts';

/** Milliseconds until a provider that refuses everybody is shown as such. */
const SEEN_MS = 10_000;

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let busy: Awaited<ReturnType<typeof startBusyGateway>>;
  let looked: Looked;

  beforeAll(async () => {
    busy = await startBusyGateway({ records: 0 });
    looked = await busy.look('admin', { viewport: { width: 1440, height: 900 } });
  });
  afterAll(() => busy?.close());

  test('a provider that rejects its key is failing within ten seconds, and is never shown as healthy', async () => {
    const { page, open } = looked;
    await open('/providers', 'Providers');
    const row = page.getByRole('row', { name: /^expired-key/ });
    await row.getByText('No traffic').waitFor();
    await page.evaluate(() => {
      const seen = new Set<string>();
      Object.assign(window, { seen });
      const look = (): void => {
        for (const { textContent } of document.querySelectorAll('tr'))
          if (textContent?.startsWith('expired-key')) seen.add(textContent);
      };
      new MutationObserver(look).observe(document.body, {
        subtree: true,
        childList: true,
        characterData: true,
      });
    });
    for (let asked = 0; asked < 3; asked += 1) expect((await busy.ask('expired/one')).status).not.toBe(200);
    await row.getByText('Failing').waitFor({ timeout: SEEN_MS });
    for (let asked = 0; asked < 30; asked += 1) await busy.ask('expired/one');
    await looked.idle();
    await row.getByText('Failing').waitFor();
    const seen = await page.evaluate(() => [...(window as unknown as { seen: Set<string> }).seen]);
    expect(seen.some((text) => text.includes('Failing'))).toBe(true);
    expect(seen.filter((text) => /Healthy|Degraded/.test(text))).toEqual([]);
    // The way to its requests ends in no empty list.
    await page.getByRole('link', { name: 'expired-key', exact: true }).click();
    await page.getByRole('main').getByRole('link', { name: 'Requests', exact: true }).click();
    await page
      .getByRole('row', { name: /expired\/one/ })
      .first()
      .waitFor();
  });

  test('a failure never has the colour of success', async () => {
    const { page } = looked;
    await makeTraffic(busy, 4);
    for (const path of ['', '/providers', '/requests?state=failed,broken_stream,limit_reached,rejected']) {
      await page.goto(`${busy.gateway.origin}/console${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page
        .getByText(/Failing|Failed|Broken stream/)
        .first()
        .waitFor();
      await looked.idle();
      expect([path, await page.evaluate(greenFailures)]).toEqual([path, []]);
    }
  });

  test('an alert remains after a reload, and shows when it was raised', async () => {
    const { page, open } = looked;
    await open('/alerts', 'Alerts');
    const alert = page.getByRole('table', { name: 'Alerts' }).getByRole('row', { name: /downtown/ });
    await alert.first().waitFor();
    await page.reload();
    await alert.first().waitFor();
    expect(await alert.first().textContent()).toMatch(/Open.*ago/);
  });

  test.each(['/providers', '/providers/downtown', '/providers/cheapllm'])(
    'no column of %s is cut at 1440 pixels',
    async (path) => {
      const { page } = looked;
      await page.goto(`${busy.gateway.origin}/console${path}`);
      await page.getByRole('table').first().waitFor();
      await looked.idle();
      expect(await page.evaluate(cutTables)).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(1440);
    },
  );

  test('the browser reports no error', () => {
    expect(looked.complaints).toEqual([]);
  });
});

/** Texts in the colour of success, in rows and list items that say that something failed. Runs in the page. */
function greenFailures(): readonly string[] {
  const probe = document.body.appendChild(document.createElement('i'));
  probe.style.color = 'var(--color-ok)';
  const ok = getComputedStyle(probe).color;
  probe.remove();
  return [...document.querySelectorAll('tr, [role=row], li')]
    .filter(({ textContent }) =>
      /Failing|Failed|Broken stream|Limit reached|Rejected/.test(textContent ?? ''),
    )
    .flatMap((row) => [row, ...row.querySelectorAll('*')])
    .filter((element) => {
      const { color, backgroundColor } = getComputedStyle(element);
      return color === ok || backgroundColor === ok;
    })
    .map(({ textContent }) => textContent ?? '');
}
