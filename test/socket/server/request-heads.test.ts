// Heads that no proper client sends, over a raw socket: every answer is the gateway's own or a bare refusal of the runtime,
// without a stack or a path of this machine, and no key that a client wrote into an address is printed.
import { afterAll, describe, expect, test } from 'bun:test';
import { once } from 'node:events';
import { connect } from 'node:net';
import { startGateway, TEST_KEY } from '../../support/harness.ts';
import { freshFolder, startProgram } from '../../support/program.ts';

const SECRET = 'sk-test-0123456789abcdef0123456789';
const AUTHORIZATION = `Authorization: Bearer ${TEST_KEY}`;

const gateway = await startGateway();
afterAll(async () => {
  expect(gateway.logLines).toEqual([]);
  await gateway.close();
});

/** Sends bytes; everything that came back until the other end closed. @param isLast ends this side at once */
function send(bytes: string, origin = gateway.origin, isLast = true): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname);
    socket.on('data', (piece) => (text += piece.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.write(Buffer.from(bytes, 'latin1'));
    if (isLast) socket.end();
  });
}

function head(requestLine: string, ...headers: readonly string[]): string {
  return `${[requestLine, ...headers].join('\r\n')}\r\n\r\n`;
}

const statusOf = (answer: string): number => Number(answer.split(' ')[1]);
const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);

/** A refusal of ours, or of the runtime itself, which says nothing. */
function expectPlain(answer: string): void {
  expect(answer).not.toMatch(/<html|<!doctype|\bat \/|node_modules|\.ts\b|src\//i);
  expect(answer).not.toContain(SECRET);
  expect(answer.length).toBeLessThan(4000);
  const body = bodyOf(answer);
  if (answer !== '' && body !== '') expect(Object.keys(JSON.parse(body) as object)).toContain('error');
}

const PATHS = [
  'GET /',
  'GET /v1/models',
  'POST /v1/chat/completions',
  'POST /v1beta/models/x:generateContent',
  'GET /v1/responses',
  'POST /v1/route/explain',
] as const;

describe('Host', () => {
  test.each([
    '[',
    'a b',
    '',
    'a, b',
    'a/b',
    'u@e',
    'e:99999',
    'e:',
    '%zz',
    '\u00e9',
    '1.2.3.4.5',
    '[::1',
    'x'.repeat(9000),
  ])('that is unusable is a 400: %#', async (host) => {
    for (const path of PATHS) {
      const answer = await send(
        head(`${path}?key=${SECRET} HTTP/1.1`, `Host: ${host}`, AUTHORIZATION, 'Content-Length: 0'),
      );
      expect(statusOf(answer)).toBe(400);
      expect(answer.toLowerCase()).toContain('connection: close');
      expect(bodyOf(answer)).toContain('Host: must be sent once');
      expectPlain(answer);
    }
  });

  test('that occurs twice is a 400, also if both are equal', async () => {
    for (const second of ['b', 'a', '[']) {
      const answer = await send(
        head('POST /v1/messages HTTP/1.1', 'Host: a', `Host: ${second}`, AUTHORIZATION, 'Content-Length: 0'),
      );
      expect(statusOf(answer)).toBe(400);
      // In the words of the path's protocol.
      expectPlain(answer);
    }
  });

  test('that is missing is a 400; only HTTP/1.0 needs none', async () => {
    expect(statusOf(await send(head('GET /healthz HTTP/1.1')))).toBe(400);
    expect(await send(head('GET /healthz HTTP/1.0'))).toContain('{"status":"ok"}');
    expect(await send(head('GET /v1/models HTTP/1.0', AUTHORIZATION))).toContain('"sim/echo"');
    const body = JSON.stringify({ model: 'sim/echo', messages: [{ role: 'user', content: 'hello' }] });
    const post = head('POST /v1/chat/completions HTTP/1.0', AUTHORIZATION, `Content-Length: ${body.length}`);
    expect(await send(post + body, gateway.origin, false)).toContain('"content":"hello"');
  });

  test.each(['localhost', 'LOCALHOST:4000', '127.0.0.1', '[::1]', '[::1]:4000', 'my_gateway.internal', 'a.'])(
    'that is usable: %s',
    async (host) => {
      expect(statusOf(await send(head('GET /healthz HTTP/1.1', `Host: ${host}`, 'Connection: close')))).toBe(
        200,
      );
    },
  );

  test('a refusal has the form of the protocol of the path', async () => {
    const messages = await send(
      head('POST /api/anthropic/v1/messages HTTP/1.1', 'Host: [', 'Content-Length: 0'),
    );
    expect(bodyOf(messages)).toStartWith('{"type":"error","error":{"type":"invalid_request_error"');
    const gemini = await send(
      head('POST /v1beta/models/x:generateContent HTTP/1.1', 'Host: [', 'Content-Length: 0'),
    );
    expect(bodyOf(gemini)).toContain('"status":"INVALID_ARGUMENT"');
  });
});

describe('request lines', () => {
  test.each([
    'OPTIONS *',
    'CONNECT a:80',
    'CONNECT /',
    'CONNECT [',
    'TRACE /',
    'GET foo',
    'GET //evil.example/v1/models',
    'GET /\\evil.example',
    'GET /v1/models/%zz',
    'GET /v1/models/%',
    'GET /v1/generation?id=%zz',
    'GET /v1/files/%zz',
    'GET /v1/files/%00',
    'GET /v1/responses/%ff%fe?include=%zz',
    'GET /v1/conversations/%zz/items?after=%',
    'POST /v1beta/models/%zz:generateContent?key=%zz',
    'POST /v1/models/%zz%:countTokens?key=%',
    'POST /api/vertex-ai/%zz',
    'GET /v1beta/models/%zz?key=%',
    'GET /\u00e9',
    'GET /\0',
    `GET /${'a'.repeat(100_000)}`,
    `GET /${'%'.repeat(15_000)}`,
    'G<T /',
    `${'A'.repeat(200)} /`,
    'get /',
  ])('%# is answered plainly', async (line) => {
    const headers = ['Host: a', AUTHORIZATION, 'Content-Length: 0', 'Connection: close', `x-note: ${SECRET}`];
    const answer = await send(head(`${line} HTTP/1.1`, ...headers));
    expectPlain(answer);
    // The runtime hangs up on methods that do not exist.
    if (answer !== '') expect(statusOf(answer)).toBeGreaterThanOrEqual(400);
    expect(statusOf(answer)).not.toBe(500);
  });

  test('an absolute address instead of a path is served, with any host', async () => {
    for (const at of ['http://[', 'http://evil.example:99999', 'https://evil.example', 'http://u:p@e'])
      expect(statusOf(await send(head(`GET ${at}/healthz HTTP/1.1`, 'Host: a', 'Connection: close')))).toBe(
        200,
      );
  });

  test.each([
    'GET /\r\n\r\n',
    '\x16\x03\x01\x00\x05hello\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    'GET / HTTP/1.2\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\nHost: a\n\n',
    'GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n',
    'GET / HTTP/1.1\r\nHost : a\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc',
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\nabc',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nabc\r\n',
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFFF\r\nabc\r\n',
  ])('bytes that are no HTTP/1.1 are refused: %#', async (bytes) => {
    // A body that breaks off is refused besides what its head was answered with.
    const answers = (await send(bytes)).split(/(?=HTTP\/1\.1 )/);
    for (const answer of answers) {
      expectPlain(answer);
      expect(statusOf(answer)).toBeGreaterThanOrEqual(400);
    }
    expect(bodyOf(answers.at(-1) ?? '')).toBe('');
  });

  test('an invalid request in a pipeline ends it after the valid ones', async () => {
    const good = head('GET /healthz HTTP/1.1', 'Host: a');
    const answer = await send(good + good + head(`GET /?key=${SECRET} HTTP/1.1`, 'Host: [') + good);
    expect(answer.match(/\{"status":"ok"\}/g)).toHaveLength(2);
    expect(answer).toContain('Host: must be sent once');
    expect(answer).not.toContain(SECRET);
  });
});

describe('many requests on one connection', () => {
  const healthy = head('GET /healthz HTTP/1.1', 'Host: a');
  const closing = /\r\nconnection: close\r\n/gi;

  test('sent at once: a share of them is answered, and the connection closed', async () => {
    const answer = await send(healthy.repeat(1000));
    const answers = answer.match(/HTTP\/1\.1 200/g) ?? [];
    expect(answers.length).toBeWithin(33, 100);
    expect(answer.match(closing)).toHaveLength(1);
  });

  test('sent one after the other: all of them are answered', async () => {
    const { hostname, port } = new URL(gateway.origin);
    const socket = connect(Number(port), hostname);
    let text = '';
    for (let sent = 1; sent <= 100; sent++) {
      const answered = once(socket, 'data');
      socket.write(healthy);
      text += String(await answered);
      expect(text.match(/HTTP\/1\.1 200/g)).toHaveLength(sent);
    }
    expect(text).not.toMatch(closing);
    socket.destroy();
  });
});

test('no part of an address from a client is logged', async () => {
  const { folder, remove } = freshFolder();
  const program = await startProgram(['serve'], {
    folder,
    environment: { DRAGOMAN_PORT: '0', DRAGOMAN_KEY: TEST_KEY },
  });
  try {
    for (const host of ['[', 'a b', 'a', '%zz'])
      for (const path of PATHS) {
        const headers = [
          `Host: ${host}`,
          `x-goog-api-key: ${SECRET}`,
          'Content-Length: 0',
          'Connection: close',
        ];
        await send(head(`${path}?key=${SECRET}&x=%zz HTTP/1.1`, ...headers), program.origin);
      }
  } finally {
    const { out, err } = await program.stop();
    remove();
    expect(out + err).not.toContain(SECRET);
    expect(err).not.toMatch(/\bat \S+:\d+|Invalid URL/);
  }
});
