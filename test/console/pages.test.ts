// Every page of the console in a browser: what it shows, that it can be used by everybody, and that texts of others stay texts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Diagnosis, storeDiagnoses } from '../../src/operations/doctor/index.ts';
import { TEST_KEY } from '../support/harness.ts';
import { madeBatch } from '../support/made-batch.ts';
import { isWhole } from '../support/share.ts';
import { barriers, cutTables, showIn } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole, XSS } from './scene.ts';

/** Nobody is there, and nobody asks. */
const LAB = 'http://127.0.0.1:1/v1';
const DIAGNOSIS: Diagnosis = {
  provider: 'lab',
  protocol: 'openai-chat',
  model: 'm',
  baseUrl: LAB,
  probedAt: Date.parse('2026-11-01T12:00:00Z'),
  probes: 2,
  facts: { quirks: { maxTokensField: 'max_tokens' }, parameters: {} },
  findings: [
    { probe: 'reach', title: 'reachable, key accepted', outcome: 'yes', detail: 'responds' },
    { probe: 'developer', title: 'follows developer role', outcome: 'no', detail: 'rejected: 400' },
  ],
};

/** `BATCH` stands for the id of a batch. */
const PAGES = [
  ['overview', '', 'Overview'],
  ['requests', '/requests', 'Requests'],
  ['usage', '/usage', 'Usage'],
  ['end-users', '/usage?by=end_user', 'Usage'],
  ['playground', '/playground', 'Playground'],
  ['routing', '/routing', 'Routing'],
  ['what-if', '/routing?view=what-if', 'Routing'],
  ['providers', '/providers', 'Providers'],
  ['provider', '/providers/sim', 'Simulated models'],
  ['models', '/models', 'Models'],
  ['model', '/model/sim/chat', 'sim/chat'],
  ['keys', '/keys', 'Keys'],
  ['key', '/keys/test', 'test'],
  ['projects', '/keys?view=projects', 'Keys'],
  ['jobs', '/jobs', 'Jobs'],
  ['batches', '/batches', 'Batches'],
  ['batch', '/batches/BATCH', 'Batch'],
  ['alerts', '/alerts', 'Alerts'],
  ['settings', '/settings', 'Settings'],
  ['configuration', '/settings?view=configuration', 'Settings'],
  ['sessions', '/settings?view=sessions', 'Settings'],
  ['audit', '/settings?view=audit', 'Settings'],
] as const;

/** A phone, a tablet, a laptop, and a large screen: width and height. */
const SIZES = [
  [390, 844],
  [768, 1024],
  [1440, 900],
  [2560, 1300],
] as const;

/** Tables find out whether they fit in the frames after a change of the window: waits until they have, at most 5 s. */
async function measuredAgain(page: Looked['page'], width: number): Promise<void> {
  const fits = async (): Promise<boolean> =>
    (await page.evaluate(() => document.documentElement.scrollWidth)) === width &&
    (await page.evaluate(cutTables)).length === 0;
  const until = performance.now() + 5000;
  while (!(await fits()) && performance.now() < until)
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
}

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;
  let id: string;
  let batch: string;
  const addressOf = (path: string): string => path.replace('BATCH', batch);

  beforeAll(async () => {
    scene = await startConsole({
      logging: { level: 'warn', content: 'all' },
      batches: { max_delay_ms: 0 },
      keys: [{ name: 'test', key: TEST_KEY, project: 'search' }],
      projects: { search: { budgets: [{ usd: 5, per: 'day' }] } },
      providers: { lab: { api_key: 'sk-test-of-the-lab', protocols: { 'openai-chat': { base_url: LAB } } } },
      models: [{ id: 'lab/m', endpoints: [{ provider: 'lab' }] }],
    });
    storeDiagnoses(scene.gateway.dataDir, [DIAGNOSIS]);
    const ask = (model: string, content: string): Promise<Response> =>
      scene.gateway.post('/chat/completions', {
        model,
        reasoning: { effort: 'low' },
        messages: [{ role: 'user', content }],
      });
    for (const model of ['sim/chat', 'sim/error-500', 'sim/chat', 'sim/echo'])
      await (await ask(model, XSS)).text();
    await (await ask(`sim/${XSS}`, 'to a model of that name')).text();
    const answer = await ask('sim/gemini', XSS);
    await answer.text();
    id = answer.headers.get('x-request-id') ?? '';
    await scene.gateway.manage('POST', '/keys', { name: XSS, project: 'search' });
    batch = await madeBatch(scene.gateway, ['sim/chat', 'sim/error-400', `sim/${XSS}`]);
    looked = await scene.look('admin');
  });
  afterAll(() => scene?.close());

  test.each(PAGES)(
    'the page %s appears, is accessible, and fits on a phone, light and dark',
    async (name, path, heading) => {
      const { page, open, picture } = looked;
      await open(addressOf(path), heading);
      await looked.idle();
      for (const colorScheme of ['light', 'dark'] as const) {
        await showIn(page, colorScheme);
        await picture(`${name}-${colorScheme}`);
        expect(await barriers(page)).toEqual([]);
      }
      for (const [size, height] of isWhole ? SIZES : SIZES.slice(0, 2)) {
        await page.setViewportSize({ width: size, height });
        await measuredAgain(page, size);
        expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(size);
        // Nothing is cut either.
        expect(await page.evaluate(cutTables)).toEqual([]);
        await picture(`${name}-${size}`);
        if (size !== 390) continue;
        for (const colorScheme of ['light', 'dark'] as const) {
          await showIn(page, colorScheme);
          expect(await barriers(page)).toEqual([]);
        }
      }
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    },
  );

  test('a request shows its messages, the reason for its route, its cost, and its changes', async () => {
    const { page, open, picture } = looked;
    await open(`/requests/${id}`, 'sim/gemini');
    // The conversation comes first.
    await page.getByRole('tab', { name: 'Conversation', selected: true }).waitFor();
    await page.getByRole('tabpanel').getByText(XSS).first().waitFor();
    await page.getByRole('tab', { name: 'Routing' }).click();
    await page.getByText('priority 1').waitFor();
    await page.getByRole('tab', { name: 'Cost' }).click();
    await page.getByRole('row', { name: /Total/ }).waitFor();
    await page.getByRole('tab', { name: /Changes/ }).click();
    await page.getByRole('heading', { name: 'Response', exact: true }).waitFor();
    // A member that nobody sent was not dropped, and a member that stayed the same is not listed.
    expect(
      await page
        .getByRole('tabpanel')
        .getByText(/^(?:same|form|gateway)$/)
        .count(),
    ).toBe(0);
    await picture('changes');
    expect(await barriers(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Raw' }).click();
    await page.getByRole('tab', { name: 'Upstream request' }).click();
    await page.getByRole('region', { name: 'Upstream request' }).waitFor();
    expect(page.url()).toContain('view=raw');
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  test('a request is sent again, and opened in the playground with its messages', async () => {
    const { page, open } = looked;
    const act = async (entry: string): Promise<void> => {
      await open(`/requests/${id}`, 'sim/gemini');
      await page.getByRole('button', { name: 'Actions' }).click();
      await page.getByRole('menuitem', { name: entry }).click();
    };
    await act('Ask again…');
    await page.getByRole('dialog').getByLabel('Model').fill('sim/messages');
    await page.getByRole('dialog').getByRole('button', { name: 'Ask again' }).click();
    const sides = page.getByRole('dialog').getByRole('table', { name: 'Before and now' });
    await sides.getByRole('row', { name: /^Then.*200/ }).waitFor();
    await sides.getByRole('link', { name: 'Now' }).click();
    await page.getByRole('heading', { name: 'sim/messages', level: 1 }).waitFor();
    await page.getByRole('tabpanel').getByText(XSS).first().waitFor();
    await act('Open in the playground');
    await page.getByRole('heading', { name: 'Playground', level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get('model')).toBe('sim/gemini');
    await page.waitForFunction(
      (text) => [...document.querySelectorAll('textarea')].some(({ value }) => value === text),
      XSS,
    );
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  test('the bare address of the gateway redirects a browser to the console', async () => {
    const { page } = looked;
    await page.goto(scene.gateway.origin);
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/^\/console\/?$/);
  });

  test('filters are in the address, and new requests appear on their own while no row is in use', async () => {
    const { page, open } = looked;
    await open('/requests', 'Requests');
    await page.getByRole('button', { name: 'Failed', exact: true }).click();
    await page.getByRole('row', { name: /error-500/ }).waitFor();
    expect(page.url()).toContain('state=failed');
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByLabel('Model, key or request id').fill('sim/none');
    await page.getByText('No requests match these filters').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByRole('row', { name: /sim\/echo/ }).waitFor();
    // Half a name is enough.
    await page.getByLabel('Model, key or request id').fill('ech');
    await page
      .getByRole('row', { name: /sim\/chat/ })
      .first()
      .waitFor({ state: 'hidden' });
    await page.getByRole('row', { name: /sim\/echo/ }).waitFor();
    await page.getByLabel('Model, key or request id').fill('');
    await page
      .getByRole('row', { name: /sim\/chat/ })
      .first()
      .waitFor();
    const rows = page.getByRole('row', { name: /sim\/text-only/ });
    expect(await rows.count()).toBe(0);
    const askSome = async (): Promise<void> => {
      const reported = Array.from({ length: 8 }, () =>
        scene.gateway.post('/chat/completions', {
          model: 'sim/text-only',
          messages: [{ role: 'user', content: 'now' }],
        }),
      );
      for (const answer of await Promise.all(reported)) await answer.text();
    };
    await askSome();
    await rows.nth(7).waitFor();
    expect(await rows.count()).toBe(8);
    // Under the pointer they wait.
    await page
      .getByRole('row', { name: /sim\/text-only/ })
      .first()
      .hover();
    await askSome();
    await page.getByRole('button', { name: '8 new' }).waitFor();
    expect(await rows.count()).toBe(8);
    await page.getByRole('button', { name: '8 new' }).click();
    await rows.nth(15).waitFor();
    await page.mouse.move(0, 0);
  });

  test('pages reload after an event, and at intervals only while there are no events', async () => {
    const { page, context, open } = looked;
    const received = page.waitForResponse(/\/events\?types=activity$/);
    await open('', 'Overview');
    await received;
    const requests = page.getByRole('link', { name: /^Requests\s*\d/ });
    const text = await requests.textContent();
    const before = Number(/\d+/.exec(text ?? '')?.[0]);
    const answer = scene.gateway.post('/chat/completions', {
      model: 'sim/echo',
      messages: [{ role: 'user', content: 'now' }],
    });
    await (await answer).text();
    await page.getByRole('link', { name: new RegExp(`^Requests\\s*${before + 1}\\b`) }).waitFor();
    // Paused, it stays as it is.
    await page.getByRole('button', { name: 'Live' }).click();
    await page.getByRole('button', { name: 'Paused' }).waitFor();
    await page.getByRole('button', { name: 'Paused' }).click();

    const alone = await context.newPage();
    await alone.clock.install();
    await alone.route(/\/events\?/, (route) => route.fulfill({ status: 503 }));
    await alone.goto(`${scene.gateway.origin}/console/providers/sim`);
    await alone.getByRole('heading', { name: 'Simulated models' }).waitFor();
    const again = alone.waitForResponse(/\/providers\/sim$/);
    await alone.clock.fastForward(31_000);
    await again;
    await alone.close();
  });

  test('probe results are shown with the provider, and the command is shown if there are none', async () => {
    const { page, open, picture } = looked;
    await open('/providers/lab', 'lab');
    await page.getByText('1 yes').click();
    await page.getByText('The gateway uses: max_tokens_field: max_tokens').waitFor();
    await page.getByRole('row', { name: /follows developer role no rejected/ }).waitFor();
    await picture('probe-results');
    expect(await barriers(page)).toEqual([]);
    await open('/providers/sim', 'Simulated models');
    await page.getByText('npx --no dragoman doctor --model sim/MODEL').waitFor();
  });

  test('a model is probed after its cost is shown, and the results are counted', async () => {
    const { page, open } = looked;
    await open('/providers/lab', 'lab');
    await page.getByRole('button', { name: 'Probe now…' }).click();
    const question = page.getByRole('dialog');
    await question
      .getByText(/^At most \d+ requests and [\d,]+ tokens\. The price of this model is unknown\.$/)
      .waitFor();
    expect(await barriers(page)).toEqual([]);
    await question.getByRole('button', { name: 'Probe', exact: true }).click();
    // Nobody is there.
    await page.getByText(/^lab\/m: 0 of \d+ probes passed$/).waitFor();
    await question.waitFor({ state: 'detached' });
  });

  test('a route is explained, and last week is estimated under other rules', async () => {
    const { page, open } = looked;
    await open('/routing', 'Routing');
    await page.getByLabel('Key', { exact: true }).selectOption('test');
    await page.getByLabel('Order endpoints by').selectOption('price');
    await page.getByRole('button', { name: 'Explain' }).click();
    await page.getByText('policy priority by').waitFor();
    await page.getByRole('tab', { name: 'What if?' }).click();
    await page.getByLabel('Change prices of').selectOption('sim');
    await page.getByRole('button', { name: 'Estimate' }).click();
    await page.getByText('Of all').waitFor();
  });

  test('on a touch screen, controls are large enough for a finger, and nothing is cut off', async () => {
    const phone = { width: 390, height: 844 };
    const touched = await scene.look('admin', { viewport: phone, hasTouch: true, isMobile: true });
    for (const [name, path, heading] of PAGES) {
      await touched.open(addressOf(path), heading);
      await touched.idle();
      expect([name, await touched.page.evaluate(smallTargets)]).toEqual([name, []]);
      expect([name, await touched.page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([
        name,
        phone.width,
      ]);
    }
    await touched.context.close();
  });

  test('a key that is addressed by its name shows the models that it used', async () => {
    await looked.open('/keys/test', 'test');
    await looked.page.getByRole('table', { name: 'Models' }).getByRole('link').first().waitFor();
  });

  test('the page of one model is marked as part of Models in the navigation', async () => {
    await looked.open('/model/sim/chat', 'sim/chat');
    const models = looked.page.getByRole('navigation').getByRole('link', { name: 'Models', exact: true });
    expect(await models.getAttribute('aria-current')).toBe('page');
  });

  test('another session is found by its browser and ended, and the current one has no button for it', async () => {
    const other = await scene.look('admin', {
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    });
    const { page, open, idle } = looked;
    await open('/settings?view=sessions', 'Settings');
    const rows = page.getByRole('table', { name: 'Sessions' }).getByRole('row');
    const own = rows.filter({ hasText: 'this browser' });
    await own.filter({ hasText: 'Chrome on' }).waitFor();
    expect(await own.getByRole('button').count()).toBe(0);
    await rows
      .filter({ hasText: 'Firefox on Linux' })
      .getByRole('button', { name: 'End the session of admin' })
      .click();
    await page.getByText('Session of admin ended').waitFor();
    await idle();
    expect(await rows.filter({ hasText: 'Firefox on Linux' }).count()).toBe(0);
    await other.page.goto(`${scene.gateway.origin}/console/keys`);
    await other.page.getByRole('button', { name: 'Sign in' }).waitFor();
    await other.context.close();
  });

  test('the choice of light or dark is kept', async () => {
    const { page, open } = looked;
    await page.emulateMedia({ colorScheme: 'light' });
    await open('', 'Overview');
    const colour = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).color);
    const light = await colour();
    await open('/settings', 'Settings');
    await page.getByRole('button', { name: 'Dark' }).click();
    const dark = await colour();
    expect(dark).not.toBe(light);
    await page.reload();
    await page.getByRole('heading', { name: 'Settings', level: 1 }).waitFor();
    expect(await colour()).toBe(dark);
  });

  test('the browser reports no error, and the management API has every operation of the console', async () => {
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });
});

/** Targets smaller than 44 px. A link in a line of text, and one that its whole row stands for, have no size of their own. */
function smallTargets(): readonly string[] {
  const isPressed =
    'a[href], button, select, textarea, summary, [role=tab], input:not([type=checkbox], [type=radio])';
  return [...document.querySelectorAll<HTMLElement>(isPressed)].flatMap((element) => {
    const { width, height } = element.getBoundingClientRect();
    const over = getComputedStyle(element, '::after');
    const isRow = over.content !== 'none' && over.position === 'absolute';
    const isText = getComputedStyle(element).display === 'inline';
    const isSeen = element.checkVisibility() && width > 1 && !element.closest('.sr-only');
    if (!isSeen || isRow || isText || (width >= 43.5 && height >= 43.5)) return [];
    return [`${element.tagName} ${element.ariaLabel ?? element.textContent} ${width} × ${height}`];
  });
}
