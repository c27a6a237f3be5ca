// Connections to upstreams: used again by whoever may, and by nobody once an upstream has said something that nobody
// asked for. An answer reaches the one who asked, or nobody.
import { afterEach, describe, expect, test } from 'bun:test';
import { createServer, type Socket } from 'node:net';
import { ManualClock } from '../../support/manual-clock.ts';
import { chatBody, whole } from '../../support/upstreams/answers.ts';
import { providerAt, startScene, type Scene } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at } from '../../support/upstreams/json-path.ts';
import type { Answer, Exchange } from '../../support/upstreams/scripted-upstream.ts';

const MESSAGES = [{ role: 'user', content: 'Hello' }];
const STRAY = (() => {
  const body = JSON.stringify(chatBody('not yours'));
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
})();
const fine = whole(chatBody('yours'));

let scene: Scene | undefined;
const clock = new ManualClock();
afterEach(async () => {
  await scene?.[Symbol.asyncDispose]();
  scene = undefined;
});

async function start(config: Readonly<Record<string, unknown>> = {}): Promise<Scene> {
  scene = await startScene(['up'], { clock, config });
  scene.upstream('up').always(fine);
  return scene;
}

/** Asks, and gives what was said and over which of the upstream's connections. */
async function ask({ gateway, upstream }: Scene, model = 'one/chat', key = 'sk-test'): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await gateway.post('/chat/completions', { model, messages: MESSAGES }, headers);
  expect([answer.status, at(await answer.json(), 'choices', 0, 'message', 'content')]).toEqual([
    200,
    'yours',
  ]);
  return upstream('up').exchanges.at(-1)?.request.connection ?? -1;
}

/** Makes two connections idle. */
async function warm(all: Scene): Promise<readonly [Exchange, Exchange]> {
  const up = all.upstream('up');
  up.always(() => {});
  const asked = [ask(all), ask(all)];
  const [first, second] = [await up.arrived(1), await up.arrived(2)];
  fine(first);
  fine(second);
  await Promise.all(asked);
  up.always(fine);
  return [first, second];
}

const strays: readonly [name: string, bytes: string][] = [
  ['an answer', STRAY],
  ['a line break', '\r\n'],
  ['half a head', 'HTTP/1.1 2'],
];

describe.each(strays)('%s without a request', (_name, bytes) => {
  test('on an idle connection closes the whole pool, and no connection is reused for a minute', async () => {
    const all = await start();
    const [first, second] = await warm(all);
    first.raw(bytes);
    await Promise.all([first.closed, second.closed]);
    const used = [await ask(all), await ask(all), await ask(all)];
    expect(new Set([...used, first.request.connection, second.request.connection]).size).toBe(5);
    expect(all.gateway.logLines.filter((line) => line.includes('sent unexpected bytes'))).toHaveLength(1);
    clock.advance(60_000);
    expect(await ask(all)).toBe(await ask(all));
  });

  test('after a response closes the whole pool', async () => {
    const all = await start();
    const [, second] = await warm(all);
    const followed: Answer = (exchange) => {
      const body = JSON.stringify(chatBody('yours'));
      exchange.raw(
        `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}${bytes}`,
      );
    };
    all.upstream('up').script(followed, fine, fine);
    const before = await ask(all);
    await second.closed;
    expect(await ask(all)).not.toBe(before);
    expect(await ask(all)).toBeGreaterThan(before + 1);
  });
});

test('a response that arrives before its request is complete is not used', async () => {
  // This upstream answers the second request over a connection as soon as its first bytes are there.
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer((socket) => {
    sockets.push(socket);
    let isFirst = true;
    let waiting = 0;
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => {
      const length = /content-length: (\d+)/.exec(bytes.toString('latin1', 0, 1000))?.[1];
      if (length !== undefined && waiting === 0) {
        requests++;
        waiting = Number(length) + bytes.indexOf('\r\n\r\n') + 4;
        if (requests === 2) {
          socket.pause();
          return void socket.write(STRAY);
        }
        isFirst = false;
      }
      waiting -= bytes.length;
      if (waiting === 0 && !isFirst)
        socket.write(
          STRAY.replace('not yours', 'yours').replace(
            /length: \d+/,
            (l) => `length: ${Number(l.slice(8)) - 4}`,
          ),
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  try {
    const all = await start({
      providers: { slow: providerAt(`http://127.0.0.1:${port}`) },
      models: [{ id: 'slow/chat', endpoints: [{ provider: 'slow', model: 'm', protocol: 'openai-chat' }] }],
    });
    const said = async (content: string): Promise<unknown> => {
      const body = { model: 'slow/chat', messages: [{ role: 'user', content }] };
      const answer = await all.gateway.post('/chat/completions', body);
      return at(await answer.json(), 'choices', 0, 'message', 'content');
    };
    expect(await said('Hello')).toBe('yours');
    expect(await said('x'.repeat(16_000_000))).toBe('yours');
    expect(sockets.length).toBe(2);
  } finally {
    for (const socket of sockets) socket.destroy();
    server.close();
  }
});

test('a 408 on an idle connection is no response, and the other connections stay open', async () => {
  const all = await start();
  const [first, second] = await warm(all);
  first.raw('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n');
  await first.closed;
  expect(await ask(all)).toBe(second.request.connection);
  expect(await ask(all)).toBe(second.request.connection);
});

test('another credential at the same address has its own connections, which stay open', async () => {
  const probe = await start();
  const { origin } = probe.upstream('up');
  const other = { ...providerAt(origin), api_key: 'sk-other' };
  // The same upstream twice, under two keys.
  const all = await startScene(['x'], {
    clock,
    config: {
      providers: { up: providerAt(origin), other },
      models: ['up', 'other'].map((provider) => ({
        id: `${provider}/chat`,
        endpoints: [{ provider, model: 'm', protocol: 'openai-chat' }],
      })),
    },
  });
  const both: Scene = { ...all, upstream: () => probe.upstream('up') };
  try {
    const up = await ask(both, 'up/chat');
    const others = await ask(both, 'other/chat');
    expect(others).not.toBe(up);
    const exchange = probe.upstream('up').exchanges.find(({ request }) => request.connection === up);
    exchange?.raw(STRAY);
    await exchange?.closed;
    expect(await ask(both, 'other/chat')).toBe(others);
    expect(await ask(both, 'up/chat')).toBeGreaterThan(others);
  } finally {
    await all[Symbol.asyncDispose]();
  }
});

describe('upstream.reuse', () => {
  const keys = [
    { name: 'a', key: 'sk-test' },
    { name: 'b', key: 'sk-test-b' },
  ];

  test('provider: all keys of the gateway share connections', async () => {
    const all = await start({ keys });
    expect(await ask(all, 'one/chat', 'sk-test-b')).toBe(await ask(all));
  });

  test('key: connections of one key are not used by another', async () => {
    const all = await start({ keys, upstream: { reuse: 'key' } });
    const [a, b] = [await ask(all), await ask(all, 'one/chat', 'sk-test-b')];
    expect(b).not.toBe(a);
    expect([await ask(all), await ask(all, 'one/chat', 'sk-test-b')]).toEqual([a, b]);
  });

  test('never: each request has its own connection', async () => {
    const all = await start({ upstream: { reuse: 'never' } });
    expect([await ask(all), await ask(all), await ask(all)]).toEqual([0, 1, 2]);
    await all.upstream('up').exchanges[2]?.closed;
  });
});

test('a connection has a greatest age and a greatest number of requests', async () => {
  const all = await start({ upstream: { max_requests: 3, max_age_ms: 10_000 } });
  const used: number[] = [];
  for (let times = 0; times < 7; times++) used.push(await ask(all));
  expect(used).toEqual([0, 0, 0, 1, 1, 1, 2]);
  clock.advance(9_999);
  expect(await ask(all)).toBe(2);
  clock.advance(1);
  expect(await ask(all)).toBe(3);
});
