// A client, without a key, that opens more connections than the gateway may have open files. The system then refuses the gateway
// whatever needs a file: it must go on with what is open, and recover once connections are closed.
import { expect, test } from 'bun:test';
import { readdirSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually, freshFolder, launchOf, startProgram } from '../support/program.ts';
import { undoAfterEach } from '../support/undo.ts';

const ends = undoAfterEach();
/** Files that the gateway may have open; it needs about forty of them itself. */
const MOST_FILES = 128;
/** The gateway reads its own memory once a second. */
const TWO_LOOKS_MS = 2_500;

test('a client that uses all file descriptors ends neither the gateway nor open connections', async () => {
  const { folder, remove } = freshFolder();
  ends.push(remove);
  writeFileSync(
    join(folder, 'dragoman.yaml'),
    JSON.stringify({ server: { port: 0, overload: { lag_ms: 0 } } }),
  );
  const { command, environment } = await launchOf();
  const limited = ['bash', '-c', `ulimit -n ${MOST_FILES}; exec "$@"`, 'bash', ...command] as const;
  const program = await startProgram(['serve'], { folder, environment, command: [...limited] });
  ends.push(() => program.stop('SIGKILL'));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  ends.push(() => agent.destroy());
  const { hostname, port } = new URL(program.origin);
  /** Time of the gateway, asked on one connection that stays open. */
  const time = (): Promise<number> =>
    new Promise((resolve, reject) => {
      get({ agent, hostname, port, path: '/healthz' }, (response) => {
        response.resume().on('end', () => resolve(Date.parse(response.headers.date ?? '')));
      }).on('error', reject);
    });

  const start = await time();
  const attackers = Array.from({ length: 2 * MOST_FILES }, () =>
    connect(Number(port), hostname).on('error', () => {}),
  );
  ends.push(() => attackers.forEach((socket) => socket.destroy()));
  const open = (): number => readdirSync(`/proc/${program.pid}/fd`).length;
  await eventually('no file descriptor is left', () => open() >= MOST_FILES);
  await eventually('the gateway has looked at its memory', async () => (await time()) - start > TWO_LOOKS_MS);

  for (const socket of attackers) socket.destroy();
  await eventually('the connections are closed', () => open() < MOST_FILES);
  expect((await fetch(`${program.origin}/readyz`)).status).toBe(200);
  expect((await program.stop()).code).toBe(0);
});
