// `npm run pictures`: makes the pictures of docs/console.md anew, of a gateway with a month of generated records behind it. No
// part of `npm test`: what pages show is tested there.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleRecord } from '../../bench/sample-records.ts';
import { newGenerationId } from '../../src/runtime/ids.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { type ConsoleScene, type Looked, startConsole } from './scene.ts';

const FOLDER = join(import.meta.dir, '..', '..', 'docs', 'pictures');
const MOST_BYTES = 150_000;
const RECORDS = 20_000;
const DAY_MS = 86_400_000;
const DAYS = 30;
const PATIENCE_MS = 120_000;

const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-pictures-'));
let scene: ConsoleScene;
let looked: Looked;

/** Busier by day than by night. */
async function fill(): Promise<void> {
  const storage = await openSqliteStorage({ path: join(dataDir, 'dragoman.db'), later: () => {} });
  const end = Date.now();
  for (let number = 0; number < RECORDS; number += 1) {
    const day = end - ((number % DAYS) + 1) * DAY_MS;
    const part = (number * 0.618_034) % 1;
    const createdAt = Math.floor(day + (part - Math.sin(2 * Math.PI * part) / 9) * DAY_MS);
    const { generation, attempts } = sampleRecord(newGenerationId(createdAt), createdAt, number);
    storage.ledger.append(generation, attempts);
    if (number % 1_000 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  while (await storage.usage.maintain(end));
  await storage.close();
}

beforeAll(async () => {
  await fill();
  scene = await startConsole(
    {
      projects: {
        search: { budgets: [{ usd: 0.01, per: 'day' }], limits: [{ requests: 60, per: 'minute' }] },
      },
    },
    { dataDir },
  );
  for (const name of ['website', 'nightly reports', 'support agents']) {
    const { body } = await scene.gateway.manage('POST', '/keys', {
      name,
      project: name === 'website' ? 'search' : null,
      log_content: true,
      budgets: name === 'support agents' ? [{ usd: 0.002, per: 'month' }] : [],
    });
    for (const model of ['sim/chat', 'sim/messages', 'sim/gemini', 'sim/error-503'])
      await (
        await scene.gateway.post(
          '/chat/completions',
          {
            model,
            max_tokens: 200,
            seed: 7,
            reasoning: { effort: 'low' },
            messages: [
              { role: 'system', content: 'Be brief.' },
              { role: 'user', content: 'What is 6 x 7?' },
            ],
          },
          { authorization: `Bearer ${String(body['key'])}` },
        )
      ).text();
  }
  looked = await scene.look('admin', { colorScheme: 'light' });
}, PATIENCE_MS);
afterAll(async () => {
  await scene?.close();
  rmSync(dataDir, { recursive: true, force: true });
});

test.each([
  ['overview', '?range=30d', 'Overview'],
  ['requests', '/requests', 'Requests'],
  ['models', '/models', 'Models and providers'],
  ['keys', '/keys', 'Projects and keys'],
] as const)(
  '%s',
  async (name, path, heading) => {
    await looked.open(path, heading);
    await looked.page.waitForLoadState('networkidle');
    await keep(name);
  },
  PATIENCE_MS,
);

test(
  'wire diff',
  async () => {
    const { page, open } = looked;
    const { body } = await scene.gateway.manage('GET', '/generations?model=sim/messages&limit=1');
    const [found] = body['data'] as { id: string }[];
    await open(`/requests/${found?.id}?view=diff`, 'sim/messages');
    await page.waitForLoadState('networkidle');
    await page
      .getByRole('heading', { name: 'Request', exact: true })
      .evaluate((heading) => heading.scrollIntoView());
    await keep('wire-diff');
  },
  PATIENCE_MS,
);

test(
  'side by side',
  async () => {
    const { page, open } = looked;
    await open('/playground?model=sim%2Fmessages&model2=sim%2Fgemini&protocol2=gemini', 'Playground');
    await page.getByText('System, reasoning, tools').click();
    await page.getByLabel('Reasoning').selectOption('low');
    await page.getByText('System, reasoning, tools').click();
    await page.getByLabel('Message').fill('What is 6 x 7?');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Why here?' }).nth(1).waitFor();
    await page
      .locator('summary', { hasText: /^Reasoning$/ })
      .first()
      .click();
    await keep('playground');
  },
  PATIENCE_MS,
);

async function keep(name: string): Promise<void> {
  const path = join(FOLDER, `${name}.png`);
  await looked.page.screenshot({ path, animations: 'disabled' });
  expect(statSync(path).size).toBeLessThan(MOST_BYTES);
}
