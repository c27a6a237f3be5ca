// Projects and keys in a browser: made, changed, rotated and revoked, and what that does to requests.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { barriers } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole, XSS } from './scene.ts';

/** More than a list is read of at once. */
const MANY = 101;

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;

  const ask = async (key: string): Promise<number> => {
    const answer = await scene.gateway.post(
      '/chat/completions',
      { model: 'sim/chat', max_tokens: 100, messages: [{ role: 'user', content: '6 x 7' }] },
      { authorization: `Bearer ${key}` },
    );
    await answer.text();
    return answer.status;
  };
  const secret = async (): Promise<string> =>
    (await looked.page.getByRole('region', { name: 'Key' }).textContent()) ?? '';

  /** Chooses an entry of a row's menu. */
  async function act(name: string, entry: string): Promise<void> {
    await looked.page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click();
    await looked.page.getByRole('menuitem', { name: entry }).click();
  }
  /** Copies what is handed over, and closes it. */
  async function done(): Promise<void> {
    await looked.page.getByRole('button', { name: 'Copy key' }).click();
    await looked.page.getByRole('button', { name: 'Done' }).click();
    await looked.page.getByRole('dialog').waitFor({ state: 'hidden' });
  }

  beforeAll(async () => {
    scene = await startConsole();
    looked = await scene.look('admin');
  });
  afterAll(() => scene?.close());

  test('a key is created and rotated with the keyboard alone, is shown once, and is not lost by Escape', async () => {
    const { page, open } = looked;
    await open('/keys', 'Keys');
    await page.getByRole('button', { name: 'New key' }).first().focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).focus();
    await page.keyboard.type('by-keyboard');
    await page.keyboard.press('Enter');
    const first = await secret();
    expect(first).toStartWith('sk-dm-v1-');
    await page.keyboard.press('Escape');
    await page.mouse.click(5, 5);
    expect(await secret()).toBe(first);
    // Neither does "Done" by itself, unless it was copied.
    await page.getByRole('button', { name: 'Done', exact: true }).click();
    await page.getByText('It cannot be shown again').waitFor();
    await page.getByRole('button', { name: 'Close without copying' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await act('by-keyboard', 'Rotate…');
    await page.getByLabel('Keep the old secret').selectOption('an hour');
    await page.getByRole('button', { name: 'Rotate key', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('The key is shown only now').waitFor();
    const second = await secret();
    expect(second).not.toBe(first);
    await done();
    expect(await page.content()).not.toContain(second);
    expect([await ask(first), await ask(second)]).toEqual([200, 200]);
  });

  test('a key is refused when its budget is spent, and when it is revoked', async () => {
    const { page, open, picture } = looked;
    await open('/keys', 'Keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: true }).fill(XSS);
    await page.getByLabel('Budget in USD').fill('0.001');
    await page.getByLabel('Budget period').selectOption('in total');
    await page.getByRole('button', { name: 'Create key' }).click();
    const key = await secret();
    await done();
    const row = page.getByRole('row').filter({ has: page.getByRole('rowheader', { name: XSS }) });
    // It is first, and marked.
    expect(await page.getByRole('rowheader').first().textContent()).toStartWith(XSS);
    await row.getByText('New', { exact: true }).waitFor();
    const statuses = new Set<number>();
    // Each costs a quarter of it.
    for (let asked = 0; asked < 5; asked += 1) statuses.add(await ask(key));
    expect([...statuses]).toEqual([200, 402]);
    await open('/keys', 'Keys');
    await row.getByText(/% of \$0\.001/).waitFor();
    await picture('keys-with-budget');

    await act(XSS, 'Change…');
    expect(await page.getByLabel('Budget period').inputValue()).toBe('');
    await page.getByLabel('Budget in USD').fill('5');
    await page.getByText('More: limits').click();
    await page.getByLabel('Log prompts and responses').selectOption('yes');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    expect(await ask(key)).toBe(200);
    const changed = await scene.gateway.manage('GET', `/keys/${encodeURIComponent(XSS)}`);
    expect(changed.body).toMatchObject({ budgets: [{ usd: 5 }], log_content: true });

    await act(XSS, 'Revoke…');
    await page.getByRole('button', { name: 'Revoke key', exact: true }).click();
    await row.getByText('Revoked').waitFor();
    expect(await ask(key)).toBe(401);
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
  });

  test('a project gets a budget, is changed, archived and restored', async () => {
    const { page, open } = looked;
    await open('/keys?view=projects', 'Keys');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name', { exact: true }).fill('search');
    await page.getByLabel('Budget in USD').fill('40');
    await page.getByRole('button', { name: 'Create project' }).click();
    await act('search', 'Change…');
    await page.getByLabel('Requests per minute').fill('60');
    await page.getByLabel('Budget period').selectOption('per day');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    const project = await scene.gateway.manage('GET', '/projects/search');
    expect(project.body).toMatchObject({ budgets: [{ usd: 40, per: 'day' }], limits: [{ requests: 60 }] });
    await act('search', 'Archive');
    await page.getByRole('row', { name: /^search.*Archived/ }).waitFor();
    // The notice of a change has the button that undoes it.
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('row', { name: /^search.*Active/ }).waitFor();
    // A refusal is shown, and the form stays.
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name', { exact: true }).fill('search');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    expect(looked.complaints.splice(0)).toEqual([expect.stringContaining('409')]);
  });

  test('all keys of a long list can be seen and found, and requests name their key', async () => {
    const { page, open } = looked;
    const made = await Promise.all(
      Array.from({ length: MANY }, (_, at) => scene.gateway.manage('POST', '/keys', { name: `many-${at}` })),
    );
    const last = made.toSorted((a, b) => (String(a.body['id']) < String(b.body['id']) ? -1 : 1));
    for (const { body } of [last[0], last.at(-1)].filter((each) => each !== undefined))
      expect(await ask(String(body['key']))).toBe(200);
    await open('/keys', 'Keys');
    await page.getByRole('button', { name: 'Show more' }).click();
    for (const at of [0, MANY - 1])
      await page.getByRole('link', { name: `many-${at}`, exact: true }).waitFor();
    const wanted = last.at(-1)?.body;
    const name = String(wanted?.['name']);
    await page.getByLabel('Name or last four characters').fill(name.toUpperCase());
    await page.waitForURL(/search=/);
    await page.getByRole('link', { name, exact: true }).waitFor();
    await open('/requests', 'Requests');
    for (const { body } of [last[0], last.at(-1)].filter((each) => each !== undefined))
      await page.getByRole('row', { name: new RegExp(`\\b${String(body['name'])}\\b`) }).waitFor();

    // The filter offers those that asked something, by their names and with how many requests.
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('menuitem', { name: 'Key', exact: true }).click();
    const box = page.getByRole('combobox', { name: 'Key' });
    await box.waitFor();
    await box.fill(name);
    const found = page.getByRole('option', { name: new RegExp(`^${name}\\s*1$`) });
    await found.waitFor();
    expect(await barriers(page, '[role=dialog]')).toEqual([]);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`key=${String(wanted?.['id'])}`));
    await page.getByRole('table', { name: 'Requests' }).and(page.locator('[aria-rowcount="1"]')).waitFor();
    await page.getByRole('button', { name: `Key ${name}` }).waitFor();
    await page.getByRole('button', { name: 'Remove the filter Key' }).click();
    await page.waitForURL(/requests$/);
  });

  test('a key is copied also at a plain HTTP address, where browsers deny pages the clipboard', async () => {
    const { page, open } = looked;
    await page.addInitScript(() => {
      Object.defineProperty(window, 'isSecureContext', { value: false });
      Object.defineProperty(Clipboard.prototype, 'writeText', { value: undefined });
    });
    await open('/keys', 'Keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name', { exact: true }).fill('copied');
    await page.keyboard.press('Enter');
    const key = (await secret()).trim();
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied.').waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
    await page.getByRole('button', { name: 'Done' }).click();
  });

  test('the browser reports no error, and the management API has every operation of the console', async () => {
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });
});
