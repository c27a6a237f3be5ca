// Time zone of days: `server.timezone` in the console, its CSV, the management API and the command line, wherever somebody looks
// from; and days of one's own are chosen in the calendar.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sampleRecord } from '../../bench/sample-records.ts';
import { intervalAt } from '../../src/accounts/usage/index.ts';
import { newGenerationId } from '../../src/base/runtime/ids.ts';
import { openSqliteStorage } from '../../src/storage/sqlite/storage.ts';
import { runProgram } from '../support/program.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole } from './scene.ts';

/** Its midnight lies within another day of the viewer and of UTC. */
const ZONE = 'Pacific/Auckland';
const VIEWER = 'America/Los_Angeles';
const MINUTE_MS = 60_000;

const today = intervalAt(Date.now(), 'day', ZONE);
const yesterday = intervalAt(today.startMs - 1, 'day', ZONE);
const before = intervalAt(yesterday.startMs - 1, 'day', ZONE);
/** Requests at the edges of days: when, how many, and of which model. */
const REQUESTS = [
  [before.startMs + MINUTE_MS, 2, 'acme/large'],
  [before.endMs - MINUTE_MS, 7, 'acme/small'],
  [yesterday.startMs + MINUTE_MS, 3, 'acme/small'],
  [yesterday.endMs - MINUTE_MS, 2, 'acme/large'],
  [today.startMs, 5, 'acme/small'],
] as const;

/** `28 November 2026`: the name of a day in the calendar. */
function dayOf(ms: number): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: ZONE }).format(ms);
}

/** `2026-11-28`. */
function dateOf(ms: number): string {
  return new Intl.DateTimeFormat('en-CA', { dateStyle: 'short', timeZone: ZONE }).format(ms);
}

interface Row {
  readonly model: string;
  readonly requests: number;
  readonly usd: number;
}

/** Rows of a table that names no model with a comma. */
function rowsOf(csv: string): readonly Row[] {
  const [head = [], ...lines] = csv
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  return lines.map((cells) => {
    const of = (name: string): string => cells[head.indexOf(name)] ?? '';
    return { model: of('model'), requests: Number(of('requests')), usd: Number(of('usd')) };
  });
}

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-days-'));
  let scene: ConsoleScene;
  let looked: Looked;

  beforeAll(async () => {
    const storage = await openSqliteStorage({ path: join(dataDir, 'dragoman.db'), later: () => {} });
    for (const [createdAt, many, model] of REQUESTS)
      for (let number = 1; number <= many; number += 1) {
        const { generation, attempts } = sampleRecord(newGenerationId(createdAt), createdAt, number);
        storage.ledger.append({ ...generation, model, requestedModel: model }, attempts);
      }
    await storage.ledger.findOfAnybody('none');
    await storage.close();
    scene = await startConsole({ server: { timezone: ZONE } }, { dataDir });
    looked = await scene.look('admin', { timezoneId: VIEWER, viewport: { width: 1440, height: 900 } });
  });
  afterAll(() => scene?.close());

  /** Output of `dragoman usage` for some days, beside the running gateway. */
  async function commandLine(...args: readonly string[]): Promise<string> {
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-days-of-'));
    writeFileSync(
      join(folder, 'dragoman.json'),
      JSON.stringify({ data_dir: dataDir, server: { timezone: ZONE } }),
    );
    const command = ['usage', '--config', 'dragoman.json', '--by', 'model', ...args];
    const { code, out, err } = await runProgram(command, { folder });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    return out;
  }

  /** The sentence of the page, its rows as they are shown, and the table that it offers. */
  async function shown(days: RegExp): Promise<{ sentence: string; rows: readonly string[]; csv: string }> {
    const { page } = looked;
    const sentence = page.getByText(days);
    await sentence.waitFor();
    const rows = page.getByRole('main').getByRole('table').getByRole('row').filter({ hasText: 'acme/' });
    await rows.first().waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).click();
    const csv = await Bun.file((await (await download).path()) ?? '').text();
    return { sentence: (await sentence.textContent()) ?? '', rows: await rows.allTextContents(), csv };
  }

  test('yesterday is the same day on the page, in its CSV and in `dragoman usage`, and each names the time zone', async () => {
    await looked.open('/usage', 'Usage');
    await looked.page.getByRole('button', { name: 'Yesterday' }).click();
    const { sentence, rows, csv } = await shown(/^Yesterday: .*\d/);
    expect(sentence).toMatch(/for 5 requests.*Days are in the time zone Pacific\/Auckland\./);
    const asked = ['--since', 'yesterday', '--until', 'today'];
    const known = rowsOf(await commandLine(...asked, '--csv'));
    expect(known.map(({ model, requests }) => [model, requests]).toSorted()).toEqual([
      ['acme/large', 2],
      ['acme/small', 3],
    ]);
    expect(rowsOf(csv)).toEqual([...known]);
    // The model that cost most comes first.
    const largest = known.toSorted((a, b) => b.usd - a.usd)[0];
    expect(rows[0]).toStartWith(largest?.model ?? 'nobody');
    const spent = known.reduce((sum, { usd }) => sum + usd, 0);
    expect(sentence).toContain(`$${spent.toFixed(2)}`);
    expect(await commandLine(...asked)).toContain('Days are in the time zone Pacific/Auckland.');
  });

  test('days are chosen in the calendar, and everything else on the page shows these days', async () => {
    const { page, open } = looked;
    await open('/usage?range=yesterday', 'Usage');
    await page.getByRole('button', { name: 'Time: Yesterday' }).click();
    const box = page.getByRole('dialog', { name: 'Time' });
    await box.getByText('Days of Pacific/Auckland').waitFor();
    const first = box.getByRole('button', { name: dayOf(before.startMs) });
    // It may be of the month before.
    if ((await first.count()) === 0) await box.getByRole('button', { name: /previous/i }).click();
    await first.click();
    await box.getByRole('button', { name: 'Show' }).click();
    await page.waitForURL((url) => Date.parse(url.searchParams.get('from') ?? '') === before.startMs);
    expect(Date.parse(new URL(page.url()).searchParams.get('to') ?? '')).toBe(yesterday.endMs);
    const { sentence, csv } = await shown(/for 14 requests/);
    expect(sentence).toContain('Days are in the time zone Pacific/Auckland.');
    const asked = ['--since', dateOf(before.startMs), '--until', dateOf(today.startMs)];
    expect(rowsOf(csv)).toEqual([...rowsOf(await commandLine(...asked, '--csv'))]);
    // A reload, and whoever gets the link, sees the same.
    await page.reload();
    await page.getByText(/for 14 requests/).waitFor();
  });

  test('the browser reports no error', () => {
    expect(looked.complaints).toEqual([]);
  });
});
