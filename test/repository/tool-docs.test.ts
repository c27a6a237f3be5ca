// Examples of docs/tools.md: its programs run against a gateway with an engine and an MCP server, and print what
// the page says.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/doc-snippets.ts';
import { found, startToolScene, type ToolScene } from '../support/upstreams/tool-scene.ts';

const page = readFileSync(join(ROOT, 'docs/tools.md'), 'utf8');
const examples = [
  ...page.matchAll(/^```(ts|sh) run\n([\s\S]*?)^```\n\n```text shows\n([\s\S]*?)^```$/gm),
].map(([, language = '', code = '', shown = '']) => ({ language, code, shown }));

let scene: ToolScene;
let folder: string;
beforeAll(async () => {
  scene = await startToolScene();
  folder = mkdtempSync(join(tmpdir(), 'dragoman-tool-docs-'));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  await scene[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

test('every program of the page is run', () => {
  expect(examples.length).toBeGreaterThanOrEqual(4);
  expect(page.match(/^```(?:ts|sh)\b/gm)).toHaveLength(examples.length);
});

test.each(examples.map((example, at) => [at + 1, example] as const))(
  'program %p prints the output on the page',
  async (_, { language, code, shown }) => {
    scene.web.clear();
    // The page's engine knows a site that this one does not have.
    scene.web.next(() =>
      found([{ url: 'https://rivers.example/ounas', title: 'The Ounas', text: 'It is 299 km long.' }]),
    );
    const file = join(folder, `example.${language}`);
    writeFileSync(
      file,
      code
        .replaceAll('http://127.0.0.1:4000', scene.gateway.origin)
        .replaceAll('https://mcp.example/mcp', scene.mcp.url),
    );
    const { PATH = '', HOME = '' } = process.env;
    const command = language === 'ts' ? [process.execPath, 'run', file] : ['bash', '-euo', 'pipefail', file];
    const run = Bun.spawn(command, {
      cwd: ROOT,
      env: { PATH, HOME, DRAGOMAN_KEY: scene.gateway.key, MCP_TOKEN: 'sk-test', NO_COLOR: '1' },
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [out, err, exitCode] = await Promise.all([
      new Response(run.stdout).text(),
      new Response(run.stderr).text(),
      run.exited,
    ]);
    expect(exitCode === 0 ? '' : out + err).toBe('');
    expect(out).toBe(shown);
  },
);
