// Idle connections to upstreams: none is kept for longer than half a minute, and what is in use is none of them.
import { afterEach, expect, test } from 'bun:test';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { DEFAULT_REUSE } from '../../../src/upstream/connection-pools.ts';
import { UpstreamClient, Destination } from '../../../src/upstream/client.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';
const POOL = { id: 'one', label: 'one' };

let close: () => void;
afterEach(() => close());

/** A client of a server that answers whatever it reads, but what waits. */
async function start() {
  const sockets: Socket[] = [];
  const server: Server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      if (!bytes.includes('/waits')) socket.write(ANSWER);
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as { port: number };
  const clock = new ManualClock();
  const client = new UpstreamClient(clock.now, {
    reuse: () => DEFAULT_REUSE,
    every: (ms, run) => clock.every(ms, run),
  });
  close = () => {
    client.close();
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  const ask = (path = '/'): Promise<string> => {
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = '';
    client.send(
      { to: new Destination({ url: `http://127.0.0.1:${port}${path}`, headers: {} }), body: [], pool: POOL },
      {
        connected() {},
        head() {},
        data: (bytes) => (text += bytes),
        end: () => resolve(text),
        failed: (kind, message) => resolve(`${kind}: ${message}`),
      },
    );
    return promise;
  };
  /** Resolves once so many connections are idle. */
  const idle = async (count: number): Promise<void> => {
    while (client.pools.size.idle !== count) await new Promise((resolve) => setImmediate(resolve));
  };
  return { clock, client, sockets, ask, idle };
}

test('a connection that was idle for half a minute is closed, and not used again', async () => {
  const { clock, client, sockets, ask, idle } = await start();
  expect(await ask()).toBe('ok');
  await idle(1);
  clock.advance(19_999);
  expect(client.pools.size.idle).toBe(1);
  const ended = new Promise((resolve) => sockets[0]?.once('close', resolve));
  clock.advance(10_001);
  expect(client.pools.size).toEqual({ pools: 0, origins: 0, idle: 0 });
  await ended;
  expect(await ask()).toBe('ok');
  expect(sockets).toHaveLength(2);
});

test('a connection with occasional requests stays open', async () => {
  const { clock, sockets, ask, idle } = await start();
  for (let times = 0; times < 4; times++) {
    expect(await ask()).toBe('ok');
    await idle(1);
    clock.advance(19_000);
  }
  expect(sockets).toHaveLength(1);
});

test('a connection with a pending response stays open for any time', async () => {
  const { clock, sockets, ask, idle } = await start();
  expect(await ask()).toBe('ok');
  await idle(1);
  const waiting = ask('/waits');
  await Promise.all([once(sockets[0] as Socket, 'data'), ask()]);
  await idle(1);
  clock.advance(120_000);
  await idle(0);
  sockets[0]?.write(ANSWER);
  expect(await waiting).toBe('ok');
  expect(sockets).toHaveLength(2);
});
