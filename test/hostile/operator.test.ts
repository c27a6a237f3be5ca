// Attacks on the operator of a machine: links to the console, and commands that are led to another gateway.
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, test } from 'bun:test';
import { startManaged } from '../support/management/scene.ts';
import { freshFolder, runProgram } from '../support/program.ts';
import { RawSocket, requestBytes } from './sockets.ts';

const { folder, remove } = freshFolder();

const gateway = await startManaged();
afterAll(async () => {
  await gateway.close();
  remove();
});

async function signIn(code: string): Promise<number> {
  const answer = await fetch(`${gateway.origin}/console/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return answer.status;
}

async function manage(token: string): Promise<number> {
  const answer = await fetch(`${gateway.origin}/v1/management/keys`, {
    headers: { authorization: `Bearer ${token}` },
  });
  return answer.status;
}

test('the code of a link to the console signs in once, and is a token for no other route', async () => {
  const link = await runProgram(['console', '--url', gateway.origin, '--data-dir', gateway.dataDir], {
    folder,
  });
  expect(link).toMatchObject({ code: 0, err: '' });
  const code = link.out.trim().split('#code=')[1] ?? '';
  expect(await manage(code)).toBe(401);
  expect(await signIn(code)).toBe(200);
  expect(await manage(code)).toBe(401);
  expect(await signIn(code)).toBe(401);
});

test('a command sends no token of the operator to another machine', async () => {
  for (const command of [['limits'], ['replay', 'gen_x']]) {
    const { code, err } = await runProgram(
      [...command, '--url', 'http://192.0.2.7:4000', '--data-dir', gateway.dataDir],
      { folder },
    );
    expect(code).not.toBe(0);
    expect(err).toContain('--key');
  }
});

test('the token that a server on another port of the machine receives is valid at no gateway', async () => {
  const seen: IncomingMessage[] = [];
  const thief = createServer((request, response) => {
    seen.push(request);
    response.end('{}');
  });
  await new Promise<void>((resolve) => void thief.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(thief.address() as AddressInfo).port}`;
  await runProgram(['limits', '--url', `http://${host}`, '--data-dir', gateway.dataDir], { folder });
  thief.close();
  const { url = '', headers } = seen[0] ?? {};
  const token = headers?.authorization?.slice('Bearer '.length) ?? '';
  expect(token).toMatch(/^dm-op-v2-/);
  for (const name of [host, new URL(gateway.origin).host]) {
    const socket = new RawSocket(gateway.origin, new Set());
    const bytes = requestBytes(null, { path: url, key: token }).toString('latin1');
    void socket.send(Buffer.from(bytes.replace('host: gateway', `host: ${name}`), 'latin1'));
    expect((await socket.answer()).status).toBe(401);
    socket.close();
  }
  // The same command at its own gateway.
  const own = await runProgram(['limits', '--url', gateway.origin, '--data-dir', gateway.dataDir], {
    folder,
  });
  expect(own).toMatchObject({ code: 0, err: '' });
});
