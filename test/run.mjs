#!/usr/bin/env node
// `npm test` runs all tests on all cores, then those that measure, one per core and without others beside them. It leaves out
// tests that take long, need a browser or another server, or kill processes at random, unless DRAGOMAN_TESTS=all is set, as
// `.ci/run` does. Arguments select files: `npm test -- test/unit/protocols/golden.test.ts`. `npm test -- --times` runs all tests and
// writes the duration of each file, so that the slowest begin first.
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureInstalled } from '../bin/installed.mjs';
import { findProgram } from '../bin/program.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const TIMES = '--times';
const isTimed = process.argv[2] === TIMES;
const named = isTimed ? [] : process.argv.slice(2);
/** Duration of each file in milliseconds, as last measured. */
const timings = join(root, 'test', 'timings.json');
/** Number of the slowest files that are shown. */
const SLOWEST = 30;
const ATTACKS = 'test/hostile';
/** Attacks that measure how long other clients wait: they play scenarios. They run without other tests beside them. */
const ALONE = readdirSync(join(root, ATTACKS))
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => `${ATTACKS}/${file}`)
  .filter((file) =>
    /^import .*\bplay\b.* from '\.\/scene\.ts'/m.test(readFileSync(join(root, file), 'utf8')),
  );
const LONG = [
  'test/console/**',
  'test/crash/background-kills.test.ts',
  'test/crash/batch-kills.test.ts',
  'test/crash/vendor-batch-kills.test.ts',
  'test/packaging/deploy/processes.test.ts',
  'test/packaging/deploy/image.test.ts',
  'test/packaging/executables.test.ts',
  'test/packaging/first-hour.test.ts',
  'test/recordings/fuzz-recordings.test.ts',
  'test/scenarios/responses/background-replicas.test.ts',
  'test/socket/cluster/answers.test.ts',
  'test/socket/operations/openapi/reference-browser.test.ts',
  'test/socket/cluster/outages-http.test.ts',
  'test/socket/storage/postgres-outage.test.ts',
];
const leftOut = process.env.DRAGOMAN_TESTS === 'all' ? [] : LONG;
/** Two more than the number of cores, because many tests wait for programs that they start. */
const AT_ONCE = availableParallelism() + 2;
const SHARED = ['--no-isolate', `--timings=${timings}`, ...(isTimed ? ['--update-timings'] : [])];
/** True if tests start the packed program, which takes a third of the time. */
const isPacked = () => !findProgram(root).endsWith('.ts');
const runs =
  named.length > 0
    ? [named]
    : [
        [
          `--parallel=${AT_ONCE}`,
          ...SHARED,
          ...[...ALONE, ...leftOut].map((pattern) => `--path-ignore-patterns=${pattern}`),
        ],
        [`--parallel=${Math.min(2, availableParallelism())}`, ...SHARED, ...ALONE.map((file) => `./${file}`)],
      ];

let status = 0;
ensureInstalled(root, true);
if (named.length === 0 && !isPacked()) status = await start(['run', join(root, 'contrib', 'pack.ts')]).ended;
const counts = { pass: 0, skip: 0, fail: 0 };
for (const args of runs) status = Math.max(status, await run(args));
if (runs.length > 1) {
  if (leftOut.length > 0) console.log(`\nleft out without DRAGOMAN_TESTS=all: ${leftOut.join(', ')}`);
  console.log('\nAltogether:');
  for (const [word, count] of Object.entries(counts)) console.log(` ${count} ${word}`);
}
if (isTimed) {
  const slowest = Object.entries(JSON.parse(readFileSync(timings, 'utf8')).files).sort(
    ([, a], [, b]) => b - a,
  );
  console.log('\nSeconds by file:');
  for (const [file, ms] of slowest.slice(0, SLOWEST))
    console.log(`${(ms / 1000).toFixed(1).padStart(7)} ${file}`);
}
process.exit(status);

/** Starts Bun with these arguments. @returns its output, and a promise of its exit code */
function start(args) {
  const child = spawn(process.execPath, [join(root, 'bin', 'bun.mjs'), ...args], {
    cwd: root,
    stdio: ['inherit', 'pipe', 'pipe'],
  });
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal));
  child.stdout.pipe(process.stdout, { end: false });
  child.stderr.pipe(process.stderr, { end: false });
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve(code ?? 1))) };
}

/** Runs the test runner, shows what it says, and adds up what it counted. @returns its exit code */
async function run(args) {
  const { child, ended } = start(['test', ...args]);
  let last = '';
  // The summary is at the end.
  for (const output of [child.stdout, child.stderr])
    output.on('data', (bytes) => (last = (last + bytes).slice(-10_000)));
  const code = await ended;
  for (const word of Object.keys(counts)) {
    const found = [...last.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1);
    counts[word] += Number(found?.[1] ?? 0);
  }
  return code;
}
