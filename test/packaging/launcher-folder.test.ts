// The working directory is not trusted: settings of the runtime that lie in it change
// nothing and run nothing.
import { expect, test } from 'bun:test';
import { cpSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, runProgram, startProgram } from '../support/program.ts';
import { undoAfterEach } from '../support/undo.ts';

const ROOT = join(import.meta.dir, '../..');

const undo = undoAfterEach();

/** A folder in which everything that Bun looks for on its own leaves a mark when it counts. */
function hostileFolder(): string {
  const { folder, remove } = freshFolder();
  undo.push(remove);
  const mark = (name: string): string =>
    `require('node:fs').writeFileSync(${JSON.stringify(join(folder, name))}, '');\n`;
  writeFileSync(join(folder, 'preload.cjs'), mark('preloaded'));
  writeFileSync(join(folder, 'instead.cjs'), mark('replaced'));
  writeFileSync(
    join(folder, 'bunfig.toml'),
    'preload = ["./preload.cjs"]\n[define]\n"process.env.DRAGOMAN_KEY" = "\'sk-from-bunfig\'"\n',
  );
  for (const name of ['.env', '.env.local', '.env.development', '.env.production'])
    writeFileSync(join(folder, name), 'DRAGOMAN_KEY=sk-from-env-file\n');
  const paths = Object.fromEntries(
    ['hono', 'zod', 'yaml', 'kysely'].map((name) => [name, ['./instead.cjs']]),
  );
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { baseUrl: '.', paths } }));
  writeFileSync(
    join(folder, 'package.json'),
    JSON.stringify({
      name: 'hostile',
      imports: { '#hono': './instead.cjs' },
      browser: { hono: './instead.cjs' },
    }),
  );
  mkdirSync(join(folder, 'node_modules', 'hono'), { recursive: true });
  writeFileSync(join(folder, 'node_modules', 'hono', 'index.js'), mark('replaced'));
  return folder;
}

/** Copies the package without some of its folders. @returns its path */
async function copyOfPackage(folder: string, without: readonly string[]): Promise<string> {
  const installed = join(folder, 'lib', 'dragoman');
  const { files } = (await Bun.file(join(ROOT, 'package.json')).json()) as { files: readonly string[] };
  const names = files.filter((file) => !file.startsWith('!') && !without.includes(file));
  for (const name of ['package.json', ...names].filter((each) => existsSync(join(ROOT, each))))
    cpSync(join(ROOT, name), join(installed, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(installed, 'node_modules'));
  return installed;
}

test('bunfig.toml, .env and tsconfig.json of the working directory are not read', async () => {
  const folder = hostileFolder();
  const program = await startProgram(['serve'], {
    folder,
    environment: { DRAGOMAN_PORT: '0', DRAGOMAN_DATA_DIR: join(folder, 'data') },
  });
  undo.push(() => program.stop());
  for (const key of ['sk-from-env-file', 'sk-from-bunfig']) {
    const answer = await fetch(`${program.origin}/v1/models`, {
      headers: { authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(401);
  }
  // The variables of the real environment count as ever, and the key that was made is the only one.
  expect(program.out()).toContain('Your first API key');
  expect(existsSync(join(folder, 'data', 'dragoman.db'))).toBe(true);
  expect(['preloaded', 'replaced'].filter((name) => existsSync(join(folder, name)))).toEqual([]);
});

test('files around an installed package are not read', async () => {
  const folder = hostileFolder();
  const installed = await copyOfPackage(folder, ['docs']);
  const run = Bun.spawnSync(['node', join(installed, 'bin', 'dragoman.mjs'), 'check', '--json'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '' },
  });
  expect(JSON.parse(run.stdout.toString())).toMatchObject({ valid: true });
  expect(['preloaded', 'replaced'].filter((name) => existsSync(join(folder, name)))).toEqual([]);
  expect((await runProgram(['check'], { folder })).code).toBe(0);
});

test('sources that run from another folder build the console in its data directory', async () => {
  const { folder, remove } = freshFolder();
  undo.push(remove);
  // A copy without `dist` has no packed program.
  const root = await copyOfPackage(folder, ['docs', 'dist']);
  const program = await startProgram(['serve', '--port', '0'], { folder, root });
  undo.push(() => program.stop());
  const page = await fetch(`${program.origin}/console`);
  expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<script')]);
  expect(existsSync(join(folder, 'data', 'console'))).toBe(true);
});
