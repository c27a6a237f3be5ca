#!/usr/bin/env node
// `npm test`: everything, on all cores but for the attacks, which measure how long others wait and need the machine for
// themselves. With arguments, only what they name: `npm test -- test/golden.test.ts`.
import { spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const named = process.argv.slice(2);
const ALONE = 'test/hostile';
/** One more than there are cores: many tests wait for programs that they start. */
const AT_ONCE = availableParallelism() + 1;
/** A busy machine makes tests late, not wrong: those that measure time have limits of their own. */
const PATIENCE = ['--timeout=20000'];
const runs =
  named.length > 0
    ? [named]
    : [
        [`--parallel=${AT_ONCE}`, '--no-isolate', ...PATIENCE, `--path-ignore-patterns=${ALONE}/**`],
        [ALONE, ...PATIENCE],
      ];

let status = 0;
const counts = { pass: 0, skip: 0, fail: 0 };
for (const args of runs) status = Math.max(status, await run(args));
if (runs.length > 1) {
  console.log('\nAltogether:');
  for (const [word, count] of Object.entries(counts)) console.log(` ${count} ${word}`);
}
process.exit(status);

/** Runs the test runner, shows what it says, and adds up what it counted. @returns its exit code */
function run(args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'bin', 'bun.mjs'), 'test', ...args], {
      cwd: root,
      stdio: ['inherit', 'pipe', 'pipe'],
    });
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => child.kill(signal));
    let last = '';
    for (const [from, to] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ])
      from.on('data', (bytes) => {
        to.write(bytes);
        // The summary is at the end.
        last = (last + bytes).slice(-10_000);
      });
    child.on('close', (code) => {
      for (const word of Object.keys(counts)) {
        const found = [...last.matchAll(new RegExp(`^ *(\\d+) ${word}$`, 'gm'))].at(-1);
        counts[word] += Number(found?.[1] ?? 0);
      }
      resolve(code ?? 1);
    });
  });
}
