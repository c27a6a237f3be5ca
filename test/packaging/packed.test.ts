// The packed program: when the launcher takes it, and that what it finds beside itself is where it looks.
import { beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, cpSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { pack } from '../../contrib/pack.ts';
import { pdfOf } from '../support/pdf-file.ts';
import { freshFolder, nodeLauncher, runProgram, startProgram } from '../support/program.ts';
import { whole } from '../support/upstreams/answers.ts';
import { dialect } from '../support/upstreams/dialects.ts';
import { startMcpServer } from '../support/upstreams/mcp-server.ts';
import { startUpstream } from '../support/upstreams/scripted-upstream.ts';
import { undoAfterAll } from '../support/undo.ts';

const ROOT = join(import.meta.dir, '../..');
const undo = undoAfterAll();

/** Seconds since 1970. */
const BUILT = 1_800_000_000;

describe('the launcher', () => {
  const { folder: root, remove } = freshFolder();
  undo.push(remove);
  const write = (path: string, text: string, time: number): void => {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), text);
    utimesSync(join(root, path), time, time);
    utimesSync(join(root, path, '..'), time, time);
  };
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'modules'));
  mkdirSync(join(root, 'node_modules'));
  for (const name of ['@oven', 'bun'])
    symlinkSync(join(root, 'modules', name), join(root, 'node_modules', name));
  write('node_modules/.package-lock.json', '{}', BUILT - 60);
  write('sim/index.ts', '', BUILT - 60);
  write('src/app/cli/other.ts', '', BUILT - 60);
  write('src/app/main.ts', `console.log('sources')`, BUILT - 60);
  const started = async (from = root): Promise<string> => {
    const environment = { BUN_BE_BUN: '1' };
    const { out, err } = await runProgram([], { folder: root, environment, command: nodeLauncher(from) });
    return out.trim() + err;
  };

  test('uses the packed program while it is newer than all its sources', async () => {
    expect(await started()).toBe('sources');
    write('dist/main.js', `console.log('packed')`, BUILT);
    expect(await started()).toBe('packed');
    write('src/app/cli/other.ts', '', BUILT + 60);
    expect(await started()).toBe('sources');
    write('src/app/cli/other.ts', '', BUILT - 60);
    expect(await started()).toBe('packed');
    write('node_modules/.package-lock.json', '{}', BUILT + 60);
    expect(await started()).toBe('sources');
    const installed = join(root, 'app', 'node_modules', 'dragoman');
    for (const name of ['bin', 'dist', 'src'])
      cpSync(join(root, name), join(installed, name), { recursive: true });
    expect(await started(installed)).toBe('packed');
  });

  test('uses the executable if it can be run and is as current as the script', async () => {
    write('node_modules/.package-lock.json', '{}', BUILT - 60);
    write('dist/main.js', `console.log('packed')`, BUILT);
    write('dist/dragoman', '#!/bin/sh\necho "executable, ${BUN_BE_BUN-not Bun}"\n', BUILT);
    expect(await started()).toBe('packed');
    chmodSync(join(root, 'dist/dragoman'), 0o755);
    expect(await started()).toBe('executable, not Bun');
    write('src/app/cli/other.ts', '', BUILT + 60);
    expect(await started()).toBe('sources');
  });
});

const { findProgram } = (await import(join(ROOT, 'bin', 'program.mjs'))) as {
  findProgram: (root: string) => string;
};
const atHand = dirname(findProgram(ROOT));
/** Package that `npm install` packed, where the sources are still those; else one that is packed for this test. */
const packed = basename(atHand) === 'dist' ? atHand : join(ROOT, `dist-${crypto.randomUUID()}`);
if (packed !== atHand) {
  beforeAll(() => pack(packed));
  undo.push(() => rmSync(packed, { recursive: true, force: true }));
}

test.each([
  ...(process.platform === 'win32' ? [] : [['the executable', [join(packed, 'dragoman')]]]),
  ['the script', ['node', join(ROOT, 'bin', 'bun.mjs'), join(packed, 'main.js')]],
] as [string, [string, ...string[]]][])(
  '%s finds its programs, tables and packages: reads a PDF, counts tokens, asks an MCP server',
  async (_, command) => {
    const upstream = await startUpstream();
    undo.push(() => upstream.stop());
    upstream.always(whole(dialect('openai-chat', 'm').whole('ok')));
    const { folder, remove } = freshFolder();
    undo.push(remove);
    const plain = {
      api_key: 'none',
      protocols: { 'openai-chat': { base_url: `${upstream.origin}/v1`, quirks: { reads_files: false } } },
    };
    const mcp = startMcpServer({ tools: { rivers: { run: () => 'the Oder' } } });
    undo.push(() => mcp.stop());
    const config = { providers: { plain }, fetch: { allow: [new URL(mcp.url).host] } };
    writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(config));
    const program = await startProgram(['serve', '--port', '0'], {
      folder,
      environment: { DRAGOMAN_KEY: 'sk-test' },
      command,
    });
    undo.push(() => program.stop());
    const post = async (path: string, body: object): Promise<unknown> => {
      const answer = await fetch(program.origin + path, {
        method: 'POST',
        headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      expect(answer.status).toBe(200);
      return answer.json();
    };
    const file_data = `data:application/pdf;base64,${pdfOf(['A page']).toString('base64')}`;
    const content = [{ type: 'file', file: { filename: 'paper.pdf', file_data } }];
    await post('/v1/chat/completions', { model: 'plain/m', messages: [{ role: 'user', content }] });
    expect(upstream.requests[0]?.text).toContain('[paper.pdf, page 1 of 1]\\nA page');
    const counted = await post('/v1/responses/input_tokens', {
      model: 'plain/m',
      input: 'Hello world, hello!',
    });
    expect(counted).toMatchObject({ object: 'response.input_tokens' });
    const tools = [{ type: 'mcp', server_label: 'maps', server_url: mcp.url, require_approval: 'never' }];
    await post('/v1/responses', { model: 'plain/m', input: 'Which river?', tools });
    expect(upstream.requests.at(-1)?.text).toContain('rivers');
  },
);
