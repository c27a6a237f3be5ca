// `npm run pictures`: makes the pictures of README.md and docs/console.md anew, of a gateway with failing providers and a month of generated
// records behind it. No part of `npm test`: what pages show is tested there. `DRAGOMAN_PICTURES=FOLDER` makes those of every page,
// panel and dialog, in both themes and four widths, in that folder besides.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { madeBatch } from '../support/made-batch.ts';
import { eventually } from '../support/program.ts';
import { makeTraffic, PAPERS, startBusyGateway } from './busy-gateway.ts';
import type { Looked } from './scene.ts';

const FOLDER = join(import.meta.dir, '..', '..', 'docs', 'pictures');
const ALL = process.env['DRAGOMAN_PICTURES'];
const MOST_BYTES = 220_000;
const PATIENCE_MS = 120_000;
const SCHEMES = ['light', 'dark'] as const;
/** Width and height. */
const SIZES = [
  [390, 844],
  [768, 1024],
  [1440, 900],
  [2560, 1300],
] as const;

let busy: Awaited<ReturnType<typeof startBusyGateway>>;
const windows = new Map<(typeof SCHEMES)[number], Looked>();
/** Ids of a request that was rerouted, and of one whose stream broke. */
let recovered = '';
let broken = '';
/** Id of a batch of which some lines failed, and others run. */
let batch = '';
let handed = 0;

beforeAll(async () => {
  busy = await startBusyGateway({ records: 20_000 });
  await makeTraffic(busy, 10);
  const { body } = await busy.gateway.manage('POST', '/keys', {
    name: 'colleague',
    budgets: [{ usd: 20, per: 'month' }],
  });
  await busy.ask('acme/small', String(body['key']), { stream: true });
  for (const model of ['acme/small', 'sim/chat', 'acme/large', 'sim/stall'])
    await fetch(`${busy.gateway.origin}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${PAPERS}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'Summarise the paper.', background: true }),
    });
  const lines = (model: string, many: number): string[] => Array.from({ length: many }, () => model);
  await madeBatch(busy.gateway, [...lines('acme/small', 120), 'nobody/knows'], PAPERS);
  await madeBatch(busy.gateway, lines('nobody/knows', 2), PAPERS);
  batch = await madeBatch(
    busy.gateway,
    [
      ...lines('acme/small', 60),
      'acme/tiny',
      ...lines('sim/error-400', 6),
      ...lines('expired/one', 3),
      ...lines('acme/large', 30),
      ...lines('sim/stall', 12),
    ],
    PAPERS,
  );
  await eventually(
    'a batch whose other lines have ended',
    async () => {
      const { body } = await busy.gateway.manage('GET', `/batches/${batch}`);
      const { done = 0 } = (body['lines'] ?? {}) as { readonly done?: number };
      return done === 100;
    },
    PATIENCE_MS,
  );
  const found = async (query: string): Promise<string> => {
    const list = await busy.gateway.manage('GET', `/generations?limit=1&${query}`);
    return (list.body['data'] as { id: string }[])[0]?.id ?? '';
  };
  await busy.ask('acme/large', PAPERS, { stream: true });
  recovered = (await found('state=recovered')) || (await found('state=failed'));
  broken = await found('state=broken_stream');
  for (const colorScheme of SCHEMES)
    windows.set(
      colorScheme,
      await busy.look('admin', {
        colorScheme,
        reducedMotion: 'reduce',
        viewport: { width: 1440, height: 900 },
      }),
    );
});
afterAll(() => busy?.close());

/** Each with its address, its heading, and whether the manual shows it. */
const PAGES: readonly (readonly [name: string, path: () => string, isInManual?: boolean])[] = [
  ['overview', () => '', true],
  ['requests', () => '/requests', true],
  ['request', () => `/requests?open=${recovered}`, true],
  ['request-broken', () => `/requests?open=${broken}`],
  ['request-page', () => `/requests/${recovered}`],
  ['request-timeline', () => `/requests/${recovered}?view=timeline`],
  ['request-routing', () => `/requests/${recovered}?view=routing`],
  ['request-cost', () => `/requests/${recovered}?view=cost`],
  ['request-changes', () => `/requests/${recovered}?view=changes`],
  ['request-raw', () => `/requests/${recovered}?view=raw`],
  ['usage', () => '/usage?range=7d', true],
  ['usage-end-users', () => '/usage?by=end_user'],
  ['providers', () => '/providers', true],
  ['provider', () => '/providers/downtown'],
  ['models', () => '/models'],
  ['model', () => '/model/acme/small'],
  ['keys', () => '/keys', true],
  ['key', () => '/keys/papers'],
  ['projects', () => '/keys?view=projects'],
  ['jobs', () => '/jobs', true],
  ['batches', () => '/batches', true],
  ['batch', () => `/batches/${batch}`, true],
  ['alerts', () => '/alerts'],
  ['settings', () => '/settings'],
  ['configuration', () => '/settings?view=configuration'],
  ['sessions', () => '/settings?view=sessions'],
  ['audit', () => '/settings?view=audit'],
  ['routing', () => '/routing'],
  ['what-if', () => '/routing?view=what-if'],
];

/** Dialogs and menus that a click opens on a page. */
const OPENED: readonly (readonly [name: string, path: string, open: (looked: Looked) => Promise<void>])[] = [
  ['new-key', '/keys', ({ page }) => page.getByRole('button', { name: 'New key' }).first().click()],
  [
    'hand-over',
    '/keys',
    async ({ page }) => {
      await page.getByRole('button', { name: 'New key' }).first().click();
      // A name is given once.
      await page.getByLabel('Name', { exact: true }).fill(`colleague ${(handed += 1)}`);
      await page.getByRole('button', { name: 'Create key' }).click();
      await page.getByRole('button', { name: 'Copy key' }).waitFor();
    },
  ],
  [
    'new-project',
    '/keys?view=projects',
    ({ page }) => page.getByRole('button', { name: 'New project' }).click(),
  ],
  [
    'cancel-batch',
    '/batches',
    async ({ page }) => {
      // Another each time: lines that stall end meanwhile.
      const running = await madeBatch(busy.gateway, ['acme/small', 'sim/stall'], PAPERS);
      await page.getByRole('button', { name: `Actions for ${running}` }).click();
      await page.getByRole('menuitem', { name: 'Cancel…' }).click();
    },
  ],
  ['rotate-key', '/keys', (looked) => openKey(looked, 'Rotate…')],
  ['change-key', '/keys', (looked) => openKey(looked, 'Change…')],
  ['revoke-key', '/keys', (looked) => openKey(looked, 'Revoke…')],
  ['new-webhook', '/alerts', ({ page }) => page.getByRole('button', { name: 'New webhook' }).click()],
  ['probe', '/providers/cheapllm', ({ page }) => page.getByRole('button', { name: 'Probe now…' }).click()],
  ['disable', '/providers/cheapllm', ({ page }) => page.getByRole('button', { name: 'Disable…' }).click()],
  ['add-provider', '/providers', ({ page }) => page.getByRole('button', { name: 'Add provider' }).click()],
  ['range', '/usage', ({ page }) => page.getByRole('button', { name: /^Time:/ }).click()],
  ['search', '', ({ page }) => page.keyboard.press('Control+k')],
  ['keyboard', '', ({ page }) => page.keyboard.press('?')],
  [
    'filter',
    '/requests',
    async ({ page }) => {
      await page.getByRole('button', { name: 'Filter', exact: true }).click();
      await page.getByRole('menuitem', { name: 'Status' }).click();
    },
  ],
];

for (const scheme of SCHEMES)
  test(
    `pages, ${scheme}`,
    async () => {
      const looked = windows.get(scheme);
      if (!looked) return;
      const { page } = looked;
      for (const [name, path, isInManual = false] of PAGES) {
        const manual = isInManual
          ? join(FOLDER, scheme === 'light' ? `${name}.png` : `${name}-dark.png`)
          : undefined;
        for (const [width, height] of ALL === undefined ? SIZES.filter(([each]) => each === 1440) : SIZES) {
          if (ALL === undefined && manual === undefined) continue;
          await page.setViewportSize({ width, height });
          await page.goto(`${busy.gateway.origin}/console${path()}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await looked.idle();
          if (ALL !== undefined) await keep(looked, join(ALL, `${name}-${width}-${scheme}.png`));
          if (manual !== undefined && width === 1440) {
            await keep(looked, manual);
            expect(statSync(manual).size).toBeLessThan(MOST_BYTES);
          }
        }
      }
      for (const [name, path, open] of ALL === undefined ? [] : OPENED)
        for (const [width, height] of SIZES) {
          await page.setViewportSize({ width, height });
          await page.goto(`${busy.gateway.origin}/console${path}`);
          await page.getByRole('heading', { level: 1 }).waitFor();
          await looked.idle();
          await open(looked);
          await looked.idle();
          await keep(looked, join(ALL ?? '', `${name}-${width}-${scheme}.png`));
        }
      await page.setViewportSize({ width: 1440, height: 900 });
    },
    10 * PATIENCE_MS,
  );

test.each(SCHEMES)('playground, %s', async (scheme) => {
  const looked = windows.get(scheme);
  if (!looked) return;
  const { page, open } = looked;
  await open('/playground?model=sim%2Fmessages&model2=sim%2Fgemini&protocol2=gemini', 'Playground');
  await page.getByLabel('Reasoning').selectOption('low');
  await page.getByLabel('Message', { exact: true }).fill('What is 6 x 7?');
  await page.keyboard.press('Enter');
  await page.getByRole('link', { name: 'Open request' }).nth(1).waitFor();
  await looked.idle();
  await keep(looked, join(FOLDER, scheme === 'light' ? 'playground.png' : 'playground-dark.png'));
});

/** Opens a dialog of the key that the scene has made. */
async function openKey({ page }: Looked, entry: string): Promise<void> {
  await page.getByRole('button', { name: 'Actions for colleague', exact: true }).click();
  await page.getByRole('menuitem', { name: entry }).click();
}

async function keep({ page }: Looked, path: string): Promise<void> {
  mkdirSync(join(path, '..'), { recursive: true });
  await page.screenshot({ path, animations: 'disabled' });
}
