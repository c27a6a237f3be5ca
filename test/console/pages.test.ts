// Every page of the console in a browser: what it shows, that it can be used by everybody, and that texts of others stay texts.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Diagnosis, storeDiagnoses } from '../../src/doctor/index.ts';
import { TEST_KEY } from '../harness.ts';
import { barriers, showIn } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, SLOW, startConsole, XSS } from './scene.ts';

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
    { probe: 'reach', title: 'reachable, key accepted', outcome: 'yes', detail: 'it answers' },
    { probe: 'developer', title: 'developer role obeyed', outcome: 'no', detail: 'refused: 400' },
  ],
};

const PAGES = [
  ['overview', '', 'Overview'],
  ['requests', '/requests', 'Requests'],
  ['playground', '/playground', 'Playground'],
  ['models', '/models', 'Models and providers'],
  ['provider', '/models/sim', 'Simulated models'],
  ['keys', '/keys', 'Projects and keys'],
  ['routing', '/routing', 'Routing'],
  ['what-if', '/routing?view=what-if', 'Routing'],
] as const;

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;
  let id: string;

  beforeAll(async () => {
    scene = await startConsole({
      logging: { level: 'warn', content: 'all' },
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
    looked = await scene.look('admin');
  }, SLOW);
  afterAll(() => scene?.close());

  test.each(PAGES)(
    'the page %s is there, keeps nobody out, and has room on a phone, light and dark',
    async (name, path, heading) => {
      const { page, open, picture } = looked;
      await open(path, heading);
      await page.waitForLoadState('networkidle');
      for (const colorScheme of ['light', 'dark'] as const) {
        await showIn(page, colorScheme);
        await picture(`${name}-${colorScheme}`);
        expect(await barriers(page)).toEqual([]);
      }
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      await picture(`${name}-phone`);
      await page.setViewportSize({ width: 1280, height: 800 });
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    },
    SLOW,
  );

  test(
    'a request shows why it went where it went, what it cost, and what each side said',
    async () => {
      const { page, open, picture } = looked;
      await open(`/requests/${id}`, 'sim/gemini');
      await page.getByText('priority 1').waitFor();
      await page.getByRole('tab', { name: 'Tokens and cost' }).click();
      await page.getByRole('row', { name: /Together/ }).waitFor();
      await page.getByRole('tab', { name: 'Wire diff' }).click();
      // By meaning, though the protocols differ.
      const row = page.getByRole('row', { name: /messages\[0\]\.content.*contents\[0\]\.parts\[0\]\.text/ });
      expect(await row.textContent()).toContain(XSS);
      await picture('wire-diff');
      expect(await barriers(page)).toEqual([]);
      await page.getByRole('tab', { name: 'Payloads' }).click();
      await page.getByRole('heading', { name: 'Gateway → upstream' }).waitFor();
      expect(page.url()).toContain('view=payloads');
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    },
    SLOW,
  );

  test(
    'filters stand in the address, and requests come by themselves',
    async () => {
      const { page, open } = looked;
      await open('/requests', 'Requests');
      await page.getByLabel('Outcome').selectOption('failed');
      await page.getByRole('row', { name: /error-500/ }).waitFor();
      expect(page.url()).toContain('outcome=failed');
      await page.getByLabel('Model', { exact: true }).fill('sim/none');
      await page.getByText('No request fits these filters').waitFor();
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.getByRole('row', { name: /sim\/echo/ }).waitFor();
      const rows = page.getByRole('row', { name: /sim\/text-only/ });
      expect(await rows.count()).toBe(0);
      // However many come at a time.
      const told = Array.from({ length: 8 }, () =>
        scene.gateway.post('/chat/completions', {
          model: 'sim/text-only',
          messages: [{ role: 'user', content: 'now' }],
        }),
      );
      for (const answer of await Promise.all(told)) await answer.text();
      await rows.nth(7).waitFor();
      expect(await rows.count()).toBe(8);
    },
    SLOW,
  );

  test(
    'pages are read again when something has happened, and every so often only while nobody can tell',
    async () => {
      const { page, context, open } = looked;
      const heard = page.waitForResponse(/\/events\?types=alert,activity$/);
      await open('', 'Overview');
      await heard;
      const requests = page.locator('dl dd', { hasText: /^\d/ }).first();
      const before = Number(await requests.textContent());
      const answer = scene.gateway.post('/chat/completions', {
        model: 'sim/echo',
        messages: [{ role: 'user', content: 'now' }],
      });
      await (await answer).text();
      await page.waitForFunction(
        (text) => document.querySelector('dl dd')?.textContent === text,
        String(before + 1),
      );

      const alone = await context.newPage();
      await alone.clock.install();
      await alone.route(/\/events\?/, (route) => route.fulfill({ status: 503 }));
      await alone.goto(`${scene.gateway.origin}/console/models/sim`);
      await alone.getByRole('heading', { name: 'Simulated models' }).waitFor();
      const again = alone.waitForResponse(/\/providers\/sim$/);
      await alone.clock.fastForward(31_000);
      await again;
      await alone.close();
    },
    SLOW,
  );

  test(
    'what doctor found is shown with the provider, and what was never asked says how to',
    async () => {
      const { page, open, picture } = looked;
      await open('/models/lab', 'lab');
      await page.getByText('1 yes').click();
      await page.getByText('The gateway goes by: max_tokens_field: max_tokens').waitFor();
      await page.getByRole('row', { name: /developer role obeyed no refused/ }).waitFor();
      await picture('doctor');
      expect(await barriers(page)).toEqual([]);
      await open('/models/sim', 'Simulated models');
      await page.getByText('npx dragoman doctor --model sim/…').waitFor();
    },
    SLOW,
  );

  test(
    'a route is explained, and last week is computed under other rules',
    async () => {
      const { page, open } = looked;
      await open('/routing', 'Routing');
      await page.getByRole('button', { name: 'Explain' }).click();
      await page.getByText('policy priority by cost').waitFor();
      await page.getByRole('tab', { name: 'What if?' }).click();
      await page.getByLabel('If prices changed of').selectOption('sim');
      await page.getByRole('button', { name: 'Estimate' }).click();
      await page.getByText('Of all').waitFor();
    },
    SLOW,
  );

  test(
    'light and dark are chosen, and kept',
    async () => {
      const { page, open } = looked;
      await page.emulateMedia({ colorScheme: 'light' });
      await open('', 'Overview');
      const colour = (): Promise<string> => page.evaluate(() => getComputedStyle(document.body).color);
      const light = await colour();
      await page.getByRole('button', { name: 'Theme: dark' }).click();
      const dark = await colour();
      expect(dark).not.toBe(light);
      await page.reload();
      await page.getByRole('heading', { name: 'Overview' }).waitFor();
      expect(await colour()).toBe(dark);
    },
    SLOW,
  );

  test('nothing of all this made the browser complain, or can be done by the console alone', async () => {
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });
});
