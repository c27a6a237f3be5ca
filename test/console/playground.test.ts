// The playground in a browser: every protocol, as answers come; tools, files, two models side by side, and the same as code that
// runs.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { isWhole, shareOf } from '../support/share.ts';
import { startMcpServer, type RunningMcpServer } from '../support/upstreams/mcp-server.ts';
import { startUpstream, type ScriptedUpstream } from '../support/upstreams/scripted-upstream.ts';
import { MCP_TOOLS } from '../support/upstreams/tool-scene.ts';
import { type ConsoleScene, HAS_BROWSER, type Looked, startConsole, XSS } from './scene.ts';

const PROTOCOLS = ['chat', 'responses', 'messages', 'gemini'] as const;
/** Some of them, or all. */
const SEEN = shareOf(PROTOCOLS);
const ROOT = join(import.meta.dir, '..', '..');
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Drops files on an element, as a hand does. */
async function drop(page: Page, label: string, files: readonly object[]): Promise<void> {
  const data = await page.evaluateHandle((given) => {
    const transfer = new DataTransfer();
    for (const { name, type, base64 } of given as { name: string; type: string; base64: string }[])
      transfer.items.add(new File([Uint8Array.from(atob(base64), (c) => c.charCodeAt(0))], name, { type }));
    return transfer;
  }, files);
  await page.getByLabel(label, { exact: true }).dispatchEvent('dragover', { dataTransfer: data });
  await page.getByLabel(label, { exact: true }).dispatchEvent('drop', { dataTransfer: data });
}

describe.skipIf(!HAS_BROWSER)('in a browser', () => {
  let scene: ConsoleScene;
  let looked: Looked;
  let upstream: ScriptedUpstream;
  let mcp: RunningMcpServer;

  beforeAll(async () => {
    upstream = await startUpstream();
    mcp = startMcpServer({ tools: MCP_TOOLS });
    scene = await startConsole({
      fetch: { allow: [new URL(mcp.url).host] },
      providers: {
        lab: {
          api_key: 'sk-test-of-the-lab',
          protocols: { 'openai-chat': { base_url: `${upstream.origin}/v1` } },
        },
      },
      models: [{ id: 'lab/slow', endpoints: [{ provider: 'lab' }] }],
    });
    looked = await scene.look('admin');
  });
  afterAll(async () => {
    await scene?.close();
    await mcp?.stop();
    await upstream?.stop();
  });

  test.each(PROTOCOLS)(
    'the playground streams over %s, with reasoning, and a tool is answered by hand',
    async (protocol) => {
      const { page, open, picture } = looked;
      await open(`/playground?model=sim%2Fmessages&protocol=${protocol}`, 'Playground');
      await page.getByLabel('Reasoning').selectOption('low');
      await page.getByRole('button', { name: 'Insert an example' }).click();
      await page.getByLabel('Message', { exact: true }).fill('What is the weather in "Paris"?');
      await page.keyboard.press('Enter');
      await page.getByLabel('Result of get_weather').fill(`${XSS} 21 degrees`);
      await page.getByText('Reasoning', { exact: true }).last().waitFor();
      await page.getByRole('button', { name: 'Send results' }).click();
      await page.getByRole('link', { name: 'Open request' }).nth(1).waitFor();
      expect(await page.getByRole('main').textContent()).toContain('21 degrees');
      await picture(`playground-${protocol}`);
      expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    },
  );

  test.each(SEEN)('over %s reasoning is shown as it arrives, before the answer', async (protocol) => {
    const { page, open } = looked;
    const say = (delta: object): string =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'slow', choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
    upstream.script((exchange) => {
      exchange.openStream();
      exchange.chunk(say({ role: 'assistant', reasoning_content: 'First I think.' }));
    });
    await open(`/playground?model=lab%2Fslow&protocol=${protocol}`, 'Playground');
    await page.getByLabel('Reasoning').selectOption('low');
    await page.getByLabel('Message', { exact: true }).fill('Slowly, please');
    await page.keyboard.press('Enter');
    await page.getByText('First I think.').waitFor();
    await page.getByText('Responding…').waitFor();
    const exchange = await upstream.arrived(1);
    exchange.chunk(say({ content: 'Then I answer.' }));
    await page.getByText('Then I answer.').waitFor();
    exchange.chunk('data: [DONE]\n\n');
    exchange.endStream();
    await page.getByRole('link', { name: 'Open request' }).waitFor();
  });

  test.each(shareOf(['messages', 'chat', 'responses']))(
    'over %s the gateway runs tools of an MCP server',
    async (protocol) => {
      const { page, open } = looked;
      await open(`/playground?model=sim%2Fchat&protocol=${protocol}`, 'Playground');
      await page.getByLabel('MCP server').fill(mcp.url);
      await page.getByLabel('Message', { exact: true }).fill('call playground__add {"a": 1, "b": 2}');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'Open request' }).waitFor();
      await page.getByText(/returned:.*the sum is 3/).waitFor();
      // Chat Completions have no place for what others ran.
      expect(await page.getByText('gave the sum is 3').count()).toBe(protocol === 'chat' ? 0 : 1);
      expect(await page.getByRole('button', { name: 'Send results' }).count()).toBe(0);
    },
  );

  test.each(SEEN)('over %s pictures and files are dropped on the page and sent', async (protocol) => {
    const { page, open, picture } = looked;
    await open(`/playground?model=sim%2Fmessages&protocol=${protocol}`, 'Playground');
    await drop(page, 'Message', [
      { name: 'dot.png', type: 'image/png', base64: PNG },
      { name: 'wrong.txt', type: 'text/plain', base64: btoa('not meant') },
      { name: 'note.txt', type: 'text/plain', base64: btoa('The word is osprey.') },
    ]);
    await page.getByRole('button', { name: 'Remove wrong.txt' }).click();
    await page.getByRole('button', { name: 'Remove note.txt' }).waitFor();
    await page.getByLabel('Message', { exact: true }).fill('What is this?');
    const sent = page.waitForRequest(
      (request) =>
        /\/v1(?:beta)?\//.test(new URL(request.url()).pathname) &&
        request.method() === 'POST' &&
        !request.url().includes('/console/'),
    );
    await page.getByRole('button', { name: 'Send' }).click();
    const body = (await sent).postData() ?? '';
    expect(body).toContain(PNG);
    expect(body).toContain(btoa('The word is osprey.'));
    expect(body).not.toContain(btoa('not meant'));
    await page.getByRole('img', { name: 'dot.png' }).waitFor();
    await page.getByRole('link', { name: 'Open request' }).waitFor();
    expect(await page.getByRole('alert').allTextContents()).toEqual([]);
    await picture(`playground-files-${protocol}`);
  });

  test('two models answer side by side, with time and cost, each in its own protocol', async () => {
    const { page, open, picture } = looked;
    await open('/playground?model=sim%2Fchat&model2=sim%2Fgemini&protocol2=messages', 'Playground');
    await page.getByLabel('Message', { exact: true }).fill('6 x 7');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByRole('link', { name: 'Open request' }).nth(1).waitFor();
    await picture('side-by-side');
    const facts = await page.getByText(/first token .* · duration .* → .* tokens · \$0\.\d+/).count();
    expect(facts).toBe(2);
  });

  test.each([
    ['the gateway', `sim/${XSS}`],
    ['a provider', 'lab/slow'],
  ])('an error of %s is shown word for word, and as text', async (_, model) => {
    // The browser says of itself that something was refused.
    const { page, open, complaints } = await scene.look('admin');
    const refusal = JSON.stringify({ error: { message: XSS, type: 'invalid_request_error' } });
    upstream.script((exchange) => {
      exchange.head(400, { 'content-type': 'application/json', 'content-length': String(refusal.length) });
      exchange.raw(refusal);
    });
    await open(`/playground?model=${encodeURIComponent(model)}`, 'Playground');
    await page.getByLabel('Message', { exact: true }).fill('Hello');
    await page.keyboard.press('Enter');
    expect(await page.getByRole('alert').textContent()).toContain('<script>window.hacked=1</script>');
    await page.getByRole('link', { name: 'Open request' }).click();
    await page.getByRole('tab', { name: 'Conversation' }).waitFor();
    expect(await page.getByRole('main').textContent()).toContain('<script>window.hacked=1</script>');
    expect(await page.evaluate(() => 'hacked' in window)).toBe(false);
    expect(complaints).toEqual([expect.stringMatching(/status of 40[04]/)]);
  });

  test('the request can be copied as working code', async () => {
    const { page, open } = looked;
    const folder = mkdtempSync(join(tmpdir(), 'dragoman-code-'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const python = process.env['DRAGOMAN_PYTHON'];
    try {
      for (const protocol of SEEN) {
        await open(`/playground?model=sim%2Fgemini&protocol=${protocol}`, 'Playground');
        await page.getByLabel('Message', { exact: true }).fill("It's 6 x 7");
        await page.keyboard.press('Enter');
        await page.getByRole('link', { name: 'Open request' }).waitFor();
        const code = async (form: string): Promise<string> => {
          await page.getByRole('tab', { name: form }).click();
          // The panel before may be on its way out.
          const panel = page.getByRole('tabpanel', { name: form, exact: true });
          await panel.getByRole('button', { name: 'Copy', exact: true }).click();
          await panel.getByText('Copied').waitFor();
          return page.evaluate(() => navigator.clipboard.readText());
        };
        expect(await printed(['bash', '-c', `${await code('curl')} -s`])).toContain('42');
        const [script, program] = [await code('Python'), await code('TypeScript')];
        expect(script + program).not.toContain(scene.gateway.key);
        const file = join(folder, `${protocol}.ts`);
        writeFileSync(file, program);
        if (isWhole) expect(await printed([process.execPath, file])).toContain('6 x 7 = 42.');
        if (isWhole && python !== undefined)
          expect(await printed([python, '-c', script])).toContain('6 x 7 = 42.');
      }
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test('the browser reports no error, and the management API has every operation of the console', async () => {
    expect(looked.complaints).toEqual([]);
    expect(await looked.undescribed()).toEqual([]);
  });

  async function printed(command: string[]): Promise<string> {
    const env = { ...process.env, DRAGOMAN_KEY: scene.gateway.key };
    const run = Bun.spawn(command, { env, stdout: 'pipe', stderr: 'pipe' });
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
    expect({ code: await run.exited, err: err.slice(0, 1_000) }).toEqual({ code: 0, err: '' });
    return out;
  }
});
