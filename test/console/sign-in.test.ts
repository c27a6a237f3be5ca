// Signing in to the console, and what keeps others out of a session.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ADMIN_KEY } from '../support/management/scene.ts';
import { type ConsoleScene, HAS_BROWSER, signIn, startConsole } from './scene.ts';

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;

  beforeAll(async () => {
    scene = await startConsole();
    for (const text of ['Hello', '6 x 7'])
      await scene.gateway.post('/chat/completions', {
        model: 'sim/chat',
        messages: [{ role: 'user', content: text }],
      });
  });
  afterAll(() => scene?.close());

  test('a key signs in, the list of requests appears, and signing out ends the session', async () => {
    const { page, context, complaints, open, picture } = await scene.look('stranger');
    await page.goto(`${scene.gateway.origin}/console/requests`);
    await picture('sign-in');
    await signIn(scene.gateway.origin, page);
    const [cookie] = await context.cookies(`${scene.gateway.origin}/console`);
    expect(cookie).toMatchObject({ httpOnly: true, sameSite: 'Strict', path: '/console' });
    expect(JSON.stringify(await context.storageState())).not.toContain(ADMIN_KEY);
    await open('/requests', 'Requests');
    await page
      .getByRole('row', { name: /sim\/chat/ })
      .nth(1)
      .waitFor();
    expect(await page.getByRole('row', { name: /sim\/chat/ }).count()).toBe(2);
    await picture('requests');
    const left = page.waitForResponse((answer) => answer.request().method() === 'DELETE');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await left;
    await page.getByRole('heading', { name: 'Dragoman' }).waitFor();
    expect(await context.cookies()).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test('a link signs in once', async () => {
    const link = scene.gateway.signInLink();
    const first = await scene.look('stranger');
    const asked = first.page.waitForRequest((request) => request.url().endsWith('/console/session'));
    await first.page.goto(link);
    await first.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    // Nothing else is asked before: an answer that comes later would say that nobody is signed in.
    expect((await asked).method()).toBe('POST');
    expect(first.page.url()).not.toContain('code');
    const second = await scene.look('stranger');
    await second.page.goto(link);
    expect(await second.page.getByRole('alert').textContent()).toContain('already been used');
    expect(first.complaints).toEqual([]);
  });

  test('a link that is pasted into an open page signs in there', async () => {
    const { page, complaints } = await scene.look('stranger');
    await page.goto(`${scene.gateway.origin}/console/requests`);
    await page.getByLabel('Admin key').waitFor();
    const link = new URL(scene.gateway.signInLink());
    // The browser loads nothing: only what is behind the `#` is another.
    await page.evaluate((hash) => (location.hash = hash), link.hash);
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    expect(page.url()).not.toContain('code');
    expect(complaints).toEqual([]);
  });

  test('a page whose session has ended asks for a key again, and returns to the same place', async () => {
    const { page, context, complaints, open } = await scene.look('admin');
    await open('/models', 'Models');
    await context.clearCookies();
    await page.getByLabel('Search models').fill('gemini');
    await page.getByLabel('Admin key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('heading', { name: 'Models', level: 1 }).waitFor();
    expect(await page.getByLabel('Search models').inputValue()).toBe('gemini');
    // The browser says of itself that something was refused.
    expect(complaints.filter((complaint) => !complaint.includes('401'))).toEqual([]);
  });

  test('a row in a new tab, a reload and a table of usage still work', async () => {
    const { page, context, complaints, open } = await scene.look('admin');
    await open('/requests', 'Requests');
    const link = page.locator('[data-row]').first();
    const opening = context.waitForEvent('page');
    await link.click({ modifiers: ['ControlOrMeta'] });
    const tab = await opening;
    await tab.getByRole('navigation', { name: 'Pages' }).waitFor();
    await tab.getByRole('heading', { level: 1 }).waitFor();
    expect(await tab.getByLabel('Admin key').count()).toBe(0);
    await page.reload();
    await page.getByRole('heading', { name: 'Requests', level: 1 }).waitFor();
    const text = await page.evaluate(async () => {
      const answer = await fetch('/console/api/v1/management/usage?format=csv');
      return answer.text();
    });
    expect(text).toMatch(/^[\w,]+\r?\n/);
    expect(complaints).toEqual([]);
    await tab.close();
  });

  test('no other site can show the console in a frame', async () => {
    const { page, complaints } = await scene.look('stranger');
    const refused = page.waitForEvent('console', (message) => message.text().includes('frame-ancestors'));
    await page.setContent(`<iframe src="${scene.gateway.origin}/console"></iframe>`);
    await refused;
    expect(complaints).toEqual([expect.stringContaining('frame-ancestors')]);
  });

  test('a new gateway shows the first steps', async () => {
    const fresh = await startConsole();
    try {
      const { page, complaints } = await fresh.look('admin');
      await page.getByRole('heading', { name: 'Add a provider' }).waitFor();
      await page.getByRole('link', { name: /try sim\/chat/ }).click();
      await page.getByLabel('Message', { exact: true }).fill('6 x 7');
      await page.keyboard.press('Enter');
      await page.getByText('6 x 7 = 42.').waitFor();
      expect(complaints).toEqual([]);
    } finally {
      await fresh.close();
    }
  });
});
