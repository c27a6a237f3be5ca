// A gateway that is stopped while its database takes no more, here because the system limits the size of its files: what waits
// in the journal is read by the next start.
import { expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freshFolder, launchOf, type Program, startProgram } from '../support/program.ts';
import { undoAfterEach } from '../support/undo.ts';

const ends = undoAfterEach();
const KEY = 'sk-test-unwritable';
/** Size of a file in blocks of 1,024 bytes: a new database, and less than two hundred responses. */
const MOST_BLOCKS = 6_000;
const INPUT = 'x'.repeat(20_000);

async function call({ origin }: Program, path: string, body?: object): Promise<Response> {
  return fetch(`${origin}/v1${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${KEY}` },
    ...(body && { body: JSON.stringify(body) }),
  });
}

test('a gateway whose database cannot be written exits with 0 when it is stopped, and its next start has every response', async () => {
  const { folder, remove } = freshFolder();
  ends.push(remove);
  const config = { server: { port: 0, overload: { lag_ms: 0 } }, keys: [{ name: 'test', key: KEY }] };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(config));
  const { command, environment } = await launchOf();
  const start = async (limit: string): Promise<Program> => {
    const limited = ['bash', '-c', `${limit} exec "$@"`, 'bash', ...command] as const;
    const program = await startProgram(['serve'], { folder, environment, command: [...limited] });
    ends.push(() => program.stop('SIGKILL'));
    return program;
  };

  const program = await start(`ulimit -f ${MOST_BLOCKS};`);
  const ids: string[] = [];
  await eventually('the database takes no more', async () => {
    const answer = await call(program, '/responses', { model: 'sim/echo', input: INPUT });
    if (answer.status === 200) ids.push(((await answer.json()) as { id: string }).id);
    const ready = await (await fetch(`${program.origin}/readyz`)).json();
    return (ready as { degraded: readonly string[] }).degraded.length > 0;
  });
  const { code, err } = await program.stop();
  expect([code, err]).toEqual([0, expect.stringContaining('records are queued for the next start: ')]);

  const next = await start('');
  for (const id of ids) expect((await call(next, `/responses/${id}`)).status).toBe(200);
});
