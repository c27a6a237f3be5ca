// Processes of a start: what the launcher and `npm start` run, and that the launcher ends where Node can become another program.
import { expect, test } from 'bun:test';
import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  freshFolder,
  nodeLauncher,
  runProgram,
  runtimePid,
  startProgram,
  type Program,
  type ProgramOptions,
} from '../support/program.ts';
import { undoAfterEach } from '../support/undo.ts';

const LINUX = process.platform === 'linux';
const WINDOWS = process.platform === 'win32';
const ROOT = join(import.meta.dir, '../..');
const NPM_START: [string, ...string[]] = ['npm', 'start', '--'];
/** Target of the launchers: the packed program where there is a current one, else the sources. */
const PROGRAM = /\/(dist\/dragoman|dist\/main\.js|src\/app\/main\.ts)$/;
/** The runtime, which the executable has in it. */
const RUNTIME = /\/(dist\/dragoman|bin\/bun(\.exe)?)$/;

const undo = undoAfterEach();

function folder(): string {
  const fresh = freshFolder();
  undo.push(fresh.remove);
  return fresh.folder;
}

/** Starts a gateway with an option, and none of the settings that lie around. */
async function serve(command: ProgramOptions['command'], ...args: string[]): Promise<Program> {
  const data = folder();
  // A person who runs `npm start` stands in the folder of the package.
  const program = await startProgram([...args, '--port', '0'], {
    folder: ROOT,
    environment: {
      DRAGOMAN_KEY: 'sk-test',
      DRAGOMAN_PORT: '1',
      DRAGOMAN_DATA_DIR: join(data, 'data'),
      DRAGOMAN_CONFIG: emptyConfig(data),
    },
    command,
  });
  undo.push(() => program.stop());
  return program;
}

function emptyConfig(at: string): string {
  const path = join(at, 'empty.yaml');
  writeFileSync(path, '{}');
  return path;
}

test.skipIf(!LINUX)('`npm start` passes its options on', async () => {
  const program = await serve(NPM_START);
  const command = readFileSync(`/proc/${runtimePid(program.pid)}/cmdline`, 'utf8').split('\0');
  expect(command[0]).toMatch(RUNTIME);
  expect(command.slice(-5)).toEqual([expect.stringMatching(PROGRAM), 'serve', '--port', '0', '']);
  const { code, err } = await program.stop();
  expect(code).toBe(0);
  expect(err).toContain('waiting for running requests to finish');
});

test.skipIf(WINDOWS)('`npm start` ends as the program ended', async () => {
  const end = await runProgram(['--prot', '4 5'], { folder: ROOT, command: NPM_START });
  expect(end.code).toBe(2);
  expect(end.err).toContain('--prot');
});

const nodeCan = Bun.spawnSync(['node', '-p', 'typeof process.execve'], { stderr: 'ignore' });
const becomes = LINUX && nodeCan.stdout.toString().trim() === 'function';
const whyNot = becomes ? '' : ' (skipped: this Node cannot become another program)';
test.skipIf(!becomes)(
  `under a Node that can become another program, no launcher stays either${whyNot}`,
  async () => {
    const program = await serve(nodeLauncher(), 'serve');
    expect(runtimePid(program.pid)).toBe(program.pid);
    expect(program.err()).not.toContain('ExperimentalWarning');
    expect((await program.stop()).code).toBe(0);
  },
);

/** Prints what it was started as, with which arguments and settings. */
const PRETENDED_RUNTIME = `#!/bin/sh
echo "runtime $0"
for argument in "$@"; do echo "argument $argument"; done
echo "collections $BUN_GC_TIMER_INTERVAL"
`;

/** A package with nothing but its launchers. @returns its folder */
function packageIn(at: string): string {
  cpSync(join(ROOT, 'bin'), join(at, 'bin'), { recursive: true });
  writeFileSync(join(at, 'package.json'), '{"name":"dragoman","type":"module"}');
  return at;
}

/** Puts a pretended runtime where a package of npm has it. */
function runtimeIn(modules: string, name: string, file: string): void {
  const path = join(modules, name, 'bin', file);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(join(modules, name, 'package.json'), '{}');
  writeFileSync(path, PRETENDED_RUNTIME);
  chmodSync(path, 0o755);
}

const cpu = process.arch === 'arm64' ? 'aarch64' : 'x64';
const PLATFORM = `@oven/bun-${process.platform}-${cpu}`;

test.skipIf(WINDOWS).each([
  ['the package of the platform, as without install scripts', [['', PLATFORM, 'bun']]],
  ['the same for musl', [['', `${PLATFORM}-musl`, 'bun']]],
  ['the one that an install script linked', [['', 'bun', 'bun.exe']]],
  [
    'both',
    [
      ['', 'bun', 'bun.exe'],
      ['', PLATFORM, 'bun'],
    ],
  ],
  ['one further up', [['../..', PLATFORM, 'bun']]],
  [
    'one for another machine as well',
    [
      ['', '@oven/bun-sunos-sparc', 'bun'],
      ['', PLATFORM, 'bun'],
    ],
  ],
] as const)('the launcher finds the runtime: %s', async (_, runtimes) => {
  const top = join(folder(), 'a folder');
  const at = packageIn(join(top, 'node_modules', 'dragoman'));
  for (const [up, name, file] of runtimes) runtimeIn(join(at, up, 'node_modules'), name, file);
  const link = join(top, 'linked');
  symlinkSync(join('node_modules', 'dragoman', 'bin', 'dragoman.mjs'), link);
  const args = ['serve', '--port', '4 5', '', '*'];
  const run = (command: [string, ...string[]]): ReturnType<typeof runProgram> =>
    runProgram(args, { folder: top, command });
  const [linked, node] = await Promise.all([run(['node', link]), run(nodeLauncher(at))]);
  expect(linked).toEqual(node);
  expect(node.out).toBe(
    [
      `runtime ${join(at, runtimes.at(-1)?.[0] ?? '', 'node_modules', runtimes.at(-1)?.[1] ?? '', 'bin', runtimes.at(-1)?.[2] ?? '')}`,
      `argument --config=${join(at, 'bin', 'bunfig.toml')}`,
      'argument --no-env-file',
      `argument ${join(at, 'src', 'app', 'main.ts')}`,
      ...args.map((argument) => `argument ${argument}`),
      'collections 30000\n',
    ].join('\n'),
  );
  const set = await runProgram([], {
    folder: top,
    environment: { BUN_GC_TIMER_INTERVAL: '7' },
    command: nodeLauncher(at),
  });
  expect(set.out).toContain('collections 7\n');
});

test('the launcher explains what to do if the runtime is missing', async () => {
  const at = packageIn(folder());
  const end = await runProgram([], { folder: at, command: nodeLauncher(at) });
  expect(end).toMatchObject({ code: 1, out: '' });
  expect(end.err).toContain('run `npm install`');
});

/** A pretended npm: prints how it was called, and installs the pretended runtime. @returns the variables under which it is found */
function npmIn(at: string): Record<string, string> {
  const bin = join(at, 'npm-bin');
  mkdirSync(bin);
  const kept = join(at, 'kept');
  runtimeIn(kept, 'bun', 'bun.exe');
  writeFileSync(
    join(bin, 'npm'),
    `#!/bin/sh\necho "npm $*"\n[ "$PRETENDED_NPM" = fails ] && exit 7\ncp -R "${kept}" node_modules\n`,
    { mode: 0o755 },
  );
  writeFileSync(join(at, 'package-lock.json'), '{}');
  return { PATH: `${bin}:${process.env['PATH'] ?? ''}`, npm_lifecycle_event: 'start' };
}

test.skipIf(WINDOWS)(
  '`npm start` installs the locked packages if there are none, with a message on standard error',
  async () => {
    const at = packageIn(folder());
    const environment = npmIn(at);
    const start = (): ReturnType<typeof runProgram> =>
      runProgram(['serve'], { folder: at, environment, command: nodeLauncher(at) });
    const first = await start();
    expect(first.code).toBe(0);
    expect(first.out).toStartWith(`runtime ${join(at, 'node_modules', 'bun', 'bin', 'bun.exe')}\n`);
    expect(first.err).toStartWith('Packages are not installed yet: running `npm ci ');
    expect(first.err).toContain('\nnpm ci --no-audit --no-fund --omit=dev\n');
    expect((await start()).err).toBe('');
  },
);

test.skipIf(WINDOWS)(
  'an install that fails ends the start as npm ended, and other commands install nothing',
  async () => {
    const at = packageIn(folder());
    const environment = { ...npmIn(at), PRETENDED_NPM: 'fails' };
    const run = (more: Record<string, string>): ReturnType<typeof runProgram> =>
      runProgram([], { folder: at, environment: { ...environment, ...more }, command: nodeLauncher(at) });
    const failed = await run({});
    expect(failed).toMatchObject({ code: 7, out: '' });
    expect(failed.err).toContain('run `npm install`');
    const other = await run({ npm_lifecycle_event: 'check' });
    expect(other).toMatchObject({ code: 1, out: '' });
    expect(other.err).not.toContain('npm ci');
  },
);
