// A gateway whose log cannot be written: its reader is gone, or its disk is full. Neither may end a request or the gateway.
import { expect, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, launchOf, type Program, startProgram } from '../support/program.ts';
import { undoAfterEach } from '../support/undo.ts';
import { fillDisk, mayMount, smallDisk } from './small-disk.ts';

const ends = undoAfterEach();
const KEY = 'sk-test-log-output';

/** Starts a gateway that logs each request. @param log redirection of standard error, for Bash */
async function start(log: string, args: readonly string[] = []): Promise<Program> {
  const { folder, remove } = freshFolder();
  ends.push(remove);
  const config = {
    server: { port: 0, overload: { lag_ms: 0 } },
    keys: [{ name: 'test', key: KEY }],
    logging: { access: true },
  };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(config));
  const { command, environment } = await launchOf();
  const redirected = ['bash', '-c', `exec "$@" ${log}`, 'bash', ...command] as const;
  const program = await startProgram(['serve', ...args], { folder, environment, command: [...redirected] });
  ends.push(() => program.stop('SIGKILL'));
  return program;
}

/** @returns status and id of a request */
async function ask({ origin }: Program): Promise<readonly [number, string]> {
  const response = await fetch(`${origin}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}` },
    body: JSON.stringify({ model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] }),
  });
  await response.text();
  return [response.status, response.headers.get('x-request-id') ?? ''];
}

test.each([
  ['whose reader is gone', '2> >(:)', []],
  ['whose disk is full', '2> /dev/full', []],
  ['whose disk is full, with workers', '2> /dev/full', ['--workers', '2']],
])('a log %s ends no request and no process', async (_, log, args) => {
  const program = await start(log, args);
  for (let times = 0; times < 5; times += 1) expect((await ask(program))[0]).toBe(200);
  expect((await program.stop()).code).toBe(0);
});

test.skipIf(!mayMount)('a log goes on once its disk has space again', async () => {
  const disk = smallDisk();
  if (!disk) throw new Error('no disk could be mounted');
  ends.push(disk.remove);
  const path = join(disk.folder, 'gateway.log');
  const program = await start(`2>> ${path}`);
  const free = fillDisk(disk.folder);
  // More than the block of the file has left.
  for (let times = 0; times < 30; times += 1) expect((await ask(program))[0]).toBe(200);
  free();
  const [status, id] = await ask(program);
  expect(status).toBe(200);
  expect((await program.stop()).code).toBe(0);
  expect(readFileSync(path, 'utf8')).toContain(id);
});
