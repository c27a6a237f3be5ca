// Projects and keys in a browser: made, changed, rotated and revoked, and what that does to requests.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { barriers } from './barriers.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, SLOW, startConsole, XSS } from './scene.ts';

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

  beforeAll(async () => {
    scene = await startConsole();
    looked = await scene.look('admin');
  }, SLOW);
  afterAll(() => scene?.close());

  test(
    'a key is made and rotated with the keyboard alone, and is shown once',
    async () => {
      const { page, open } = looked;
      await open('/keys', 'Projects and keys');
      await page.getByRole('button', { name: 'New key' }).focus();
      await page.keyboard.press('Enter');
      await page.getByLabel('Name').focus();
      await page.keyboard.type('by-keyboard');
      await page.keyboard.press('Enter');
      const first = await secret();
      expect(first).toStartWith('sk-dm-v1-');
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Rotate by-keyboard' }).focus();
      await page.keyboard.press('Enter');
      await page.getByLabel('Time in which the old secret').selectOption('an hour');
      await page.getByRole('button', { name: 'Rotate it' }).focus();
      await page.keyboard.press('Enter');
      await page.getByText('It is shown this once').waitFor();
      const second = await secret();
      expect(second).not.toBe(first);
      await page.getByRole('button', { name: 'I have it' }).click();
      await page.getByRole('row', { name: /by-keyboard.*old secret ends/ }).waitFor();
      expect(await page.content()).not.toContain(second);
      expect([await ask(first), await ask(second)]).toEqual([200, 200]);
    },
    SLOW,
  );

  test(
    'a key with a budget is refused when nothing is left, and when it is revoked',
    async () => {
      const { page, open, picture } = looked;
      await open('/keys', 'Projects and keys');
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name').fill(XSS);
      await page.getByLabel('Budget in USD').fill('0.001');
      await page.getByLabel('Time of the budget').selectOption('for all time');
      await page.getByRole('button', { name: 'Make the key' }).click();
      const key = await secret();
      await page.getByRole('button', { name: 'I have it' }).click();
      const statuses = new Set<number>();
      // Each costs a quarter of it.
      for (let asked = 0; asked < 5; asked += 1) statuses.add(await ask(key));
      expect([...statuses]).toEqual([200, 402]);
      await open('/keys', 'Projects and keys');
      const limits = page.getByRole('table', { name: 'Limits and budgets' });
      expect(await limits.getByRole('row').nth(1).textContent()).toMatch(/\$0\.0010? /);
      await picture('keys-with-budget');

      await page.getByRole('button', { name: `Change ${XSS}` }).click();
      expect(await page.getByLabel('Time of the budget').inputValue()).toBe('');
      await page.getByLabel('Budget in USD').fill('5');
      await page.getByLabel('Keep what its requests say').selectOption('yes');
      await page.getByRole('button', { name: 'Change it' }).click();
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
      expect(await ask(key)).toBe(200);
      const changed = await scene.gateway.manage('GET', `/keys/${encodeURIComponent(XSS)}`);
      expect(changed.body).toMatchObject({ budgets: [{ usd: 5 }], log_content: true });

      await page.getByRole('button', { name: `Revoke ${XSS}` }).click();
      await page.getByRole('button', { name: 'Revoke it' }).click();
      await page.getByRole('row', { name: /revoked/ }).waitFor();
      expect(await ask(key)).toBe(401);
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    },
    SLOW,
  );

  test(
    'a project gets a budget, is changed, archived and taken into use again',
    async () => {
      const { page, open } = looked;
      await open('/keys', 'Projects and keys');
      await page.getByRole('button', { name: 'New project' }).click();
      await page.getByLabel('Name').fill('search');
      await page.getByLabel('Budget in USD').fill('40');
      await page.getByRole('button', { name: 'Make the project' }).click();
      await page.getByRole('button', { name: 'Change search' }).click();
      await page.getByLabel('Requests a minute').fill('60');
      await page.getByLabel('Time of the budget').selectOption('per day');
      await page.getByRole('button', { name: 'Change it' }).click();
      await page.getByRole('row', { name: /60 requests per minute/ }).waitFor();
      await page.getByRole('row', { name: /\$40.00 per day/ }).waitFor();
      await page.getByRole('button', { name: 'Archive search' }).click();
      await page.getByRole('button', { name: 'Restore search' }).click();
      await page.getByRole('button', { name: 'Archive search' }).waitFor();
      // What the gateway refuses is said, and the form stays.
      await page.getByRole('button', { name: 'New project' }).click();
      await page.getByLabel('Name').fill('search');
      await page.getByRole('button', { name: 'Make the project' }).click();
      await page.getByRole('dialog').getByRole('alert').waitFor();
      await page.keyboard.press('Escape');
      expect(looked.complaints.splice(0)).toEqual([expect.stringContaining('409')]);
    },
    SLOW,
  );

  test(
    'however many keys there are, all can be seen, and requests name theirs',
    async () => {
      const { page, open } = looked;
      const made = await Promise.all(
        Array.from({ length: MANY }, (_, at) =>
          scene.gateway.manage('POST', '/keys', { name: `many-${at}` }),
        ),
      );
      const last = made.toSorted((a, b) => (String(a.body['id']) < String(b.body['id']) ? -1 : 1));
      for (const { body } of [last[0], last.at(-1)].filter((each) => each !== undefined))
        expect(await ask(String(body['key']))).toBe(200);
      await open('/keys', 'Projects and keys');
      await page.getByRole('button', { name: 'Show more' }).click();
      for (const at of [0, MANY - 1])
        await page.getByRole('rowheader', { name: `many-${at}`, exact: true }).waitFor();
      await open('/requests', 'Requests');
      for (const { body } of [last[0], last.at(-1)].filter((each) => each !== undefined))
        await page.getByRole('row', { name: new RegExp(`\\b${String(body['name'])}\\b`) }).waitFor();

      // Whoever looks for one finds it by its name, wherever it stands in the list.
      const wanted = last.at(-1)?.body;
      const name = String(wanted?.['name']);
      const key = page.getByRole('combobox', { name: 'Key' });
      await key.focus();
      await page.keyboard.type(name.toUpperCase());
      const found = page.getByRole('option', { name: new RegExp(`^${name}\\s*sk-`) });
      await found.waitFor();
      expect(await barriers(page, '[role=listbox]')).toEqual([]);
      await key.fill(name);
      await found.and(page.locator('[data-highlighted]')).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(new RegExp(`key=${String(wanted?.['id'])}`));
      await page.getByRole('table', { name: 'Requests' }).and(page.locator('[aria-rowcount="1"]')).waitFor();
      expect(await key.inputValue()).toBe(name);
      await key.fill('');
      await page.waitForURL(/requests$/);
      await page.getByRole('combobox', { name: 'Project' }).fill('an-id-of-before');
      await page.getByRole('option', { name: 'as an id' }).click();
      await page.waitForURL(/project=an-id-of-before/);
    },
    SLOW,
  );

  test(
    'a key is copied at a plain address of a network, too, where browsers keep their clipboard from pages',
    async () => {
      const { page, open } = looked;
      await page.addInitScript(() => {
        Object.defineProperty(window, 'isSecureContext', { value: false });
        Object.defineProperty(Clipboard.prototype, 'writeText', { value: undefined });
      });
      await open('/keys', 'Projects and keys');
      await page.getByRole('button', { name: 'New key' }).click();
      await page.getByLabel('Name').fill('copied');
      await page.keyboard.press('Enter');
      const key = (await secret()).trim();
      await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
      await page.getByRole('dialog').getByText('Copied').waitFor();
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(key);
      await page.keyboard.press('Escape');
    },
    SLOW,
  );

  test('nothing of all this made the browser complain, or can be done by the console alone', async () => {
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });
});
