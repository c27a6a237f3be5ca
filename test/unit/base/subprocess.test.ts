// Time limits of programs in a subprocess: CPU time counts, so that a busy machine does not make hostile input of honest
// one.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../src/base/runtime/subprocess.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.if(process.platform === 'linux').each([
  [
    'waits for longer than its limit and computes little',
    1_500,
    'setTimeout(() => console.log(1), 1_600)',
    'answer',
  ],
  ['computes for longer than its limit', 200, 'for (;;);', 'timeout'],
  ['waits for four times its limit', 300, 'setInterval(() => {}, 1_000)', 'timeout'],
] as const)('a program that %s', async (name, timeoutMs, source, end) => {
  const file = join(folder, `${name.replaceAll(' ', '-')}.ts`);
  writeFileSync(file, source);
  const input = new Uint8Array();
  const run = { file, input, timeoutMs, maxOutputBytes: 100, maxMemoryBytes: 1e12 };
  expect((await runProgram(run)).type).toBe(end);
});
