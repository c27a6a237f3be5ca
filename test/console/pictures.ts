// `npm run pictures`: makes the pictures of README.md and docs/console.md anew, of a gateway with failing providers and a month of generated
// records behind it. No part of `npm test`: what pages show is tested there. `DRAGOMAN_PICTURES=FOLDER` makes those of every page,
// panel and dialog, in both themes and four widths, in that folder besides.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { startBusyGateway } from './busy-gateway.ts';
import type { Looked } from './scene.ts';
import { makeShown, OPENED, PAGES, PATIENCE_MS, type Shown, SIZES } from './views.ts';

const FOLDER = join(import.meta.dir, '..', '..', 'docs', 'pictures');
const ALL = process.env['DRAGOMAN_PICTURES'];
const MOST_BYTES = 220_000;
const SCHEMES = ['light', 'dark'] as const;

let busy: Awaited<ReturnType<typeof startBusyGateway>>;
const windows = new Map<(typeof SCHEMES)[number], Looked>();
let shown: Shown;

beforeAll(async () => {
  busy = await startBusyGateway({ records: 20_000 });
  shown = await makeShown(busy, 10);
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

for (const scheme of SCHEMES)
  test(
    `pictures of the pages are made, ${scheme}`,
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
          await page.goto(`${busy.gateway.origin}/console${path(shown)}`);
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
          await open(looked, shown);
          await looked.idle();
          await keep(looked, join(ALL ?? '', `${name}-${width}-${scheme}.png`));
        }
      await page.setViewportSize({ width: 1440, height: 900 });
    },
    10 * PATIENCE_MS,
  );

test.each(SCHEMES)('a picture of the playground is made, %s', async (scheme) => {
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

async function keep({ page }: Looked, path: string): Promise<void> {
  mkdirSync(join(path, '..'), { recursive: true });
  await page.screenshot({ path, animations: 'disabled' });
}
