// The configuration file while it is being replaced: editors, templates and file systems show it in every state in between.
import { expect, test } from 'bun:test';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freshFolder, startProgram } from '../../support/program.ts';
import { undoAfterEach } from '../../support/undo.ts';

const ends = undoAfterEach();
const KEY = 'sk-in-the-file';
/** Longer than two polls of the file and a pause. */
const WRITING_MS = 1_500;

test('a missing, empty or half-written file removes no key', async () => {
  const { folder, remove } = freshFolder();
  ends.push(remove);
  const path = join(folder, 'dragoman.yaml');
  const before = 'server: { port: 0, overload: { lag_ms: 0 } }\n';
  const after = `keys: [{ name: app, key: "${KEY}" }]\n`;
  writeFileSync(path, before + after);
  const program = await startProgram(['serve'], { folder });
  ends.push(() => program.stop('SIGKILL'));
  const status = async (): Promise<number> =>
    (await fetch(`${program.origin}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } })).status;
  const refused = (why: string): Promise<void> =>
    eventually(why, () => program.err().includes(`the previous one stays in use: ${why}`));

  // `decrypt secrets > dragoman.yaml`: the shell empties the file before the command writes.
  writeFileSync(path, '');
  await refused('the file contains no settings');
  expect(await status()).toBe(200);

  // The file is valid up to here, but its keys are still to come.
  writeFileSync(path, before);
  const start = performance.now();
  // A timer writes, since a pause makes the file complete, and a response of a busy machine may take longer.
  const writing = setInterval(() => appendFileSync(path, '# …\n'), 20);
  await eventually('the file has been written for a while', async () => {
    expect(await status()).toBe(200);
    return performance.now() - start > WRITING_MS;
  }).finally(() => clearInterval(writing));
  appendFileSync(path, `${after}aliases: { written: sim/chat }\n`);
  await eventually('the whole file is in use', () => program.err().includes('configuration 2 is in use'));
  expect(await status()).toBe(200);

  rmSync(path);
  process.kill(program.pid, 'SIGHUP');
  await refused('there is no file any more');
  expect(await status()).toBe(200);
});
