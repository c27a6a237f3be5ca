// Requests whose length two readers may see differently, sent through a real nginx that keeps its connections to the gateway:
// none leads to a second request there, and everybody else gets their own answer.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../support/free-port.ts';
import { startGateway, TEST_KEY, type TestGateway } from '../support/harness.ts';
import { eventually } from '../support/program.ts';

const NGINX = Bun.which('nginx', { PATH: `${process.env['PATH']}:/usr/sbin` });
if (NGINX === null) console.log('skipped: smuggling through nginx, which is not installed');

const KEY = `Authorization: Bearer ${TEST_KEY}\r\n`;
const JSON_TYPE = 'Content-Type: application/json\r\n';
/** The request that must never be one. */
const INNER = `GET /v1/models/smuggled HTTP/1.1\r\nHost: a\r\n${KEY}\r\n`;
const ENDED = `0\r\n\r\n${INNER}`;

function post(headers: string, body: string, line = 'POST /v1/chat/completions'): string {
  return `${line} HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`;
}

/** A length that holds all, beside a coding that ends before the inner request. */
function lengthAnd(coding: string): string {
  return post(`${KEY}Content-Length: ${ENDED.length}\r\n${coding}\r\n`, ENDED);
}

const LENGTH = `Content-Length: ${INNER.length}\r\n`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const INNER_CHUNK = `${INNER.length.toString(16)}\r\n${INNER}\r\n0\r\n\r\n`;

const ATTACKS: readonly (readonly [title: string, bytes: string])[] = [
  ['a length and a coding', lengthAnd('Transfer-Encoding: chunked')],
  ['a coding with white space before its colon', lengthAnd('Transfer-Encoding : chunked')],
  ['a coding behind a vertical tab', lengthAnd('Transfer-Encoding: \u000Bchunked')],
  ['a coding in quotes', lengthAnd('Transfer-Encoding: "chunked"')],
  ['a coding with an underscore', lengthAnd('Transfer_Encoding: chunked')],
  ['a coding in a folded line', lengthAnd('X: y\r\n Transfer-Encoding: chunked')],
  ['a coding behind a bare LF', lengthAnd('X: y\nTransfer-Encoding: chunked')],
  ['a coding behind a bare CR', lengthAnd('X: y\rTransfer-Encoding: chunked')],
  [
    'a coding that a connection names',
    lengthAnd('Connection: transfer-encoding\r\nTransfer-Encoding: chunked'),
  ],
  ['two codings', post(`${KEY}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n`, ENDED)],
  ['a list of codings', post(`${KEY}Transfer-Encoding: identity, chunked\r\n`, ENDED)],
  ['two lengths', post(`${KEY}Content-Length: 0\r\n${LENGTH}`, INNER)],
  ['a list of lengths', post(`${KEY}Content-Length: 0, ${INNER.length}\r\n`, INNER)],
  ['a length with a sign', post(`${KEY}Content-Length: +${INNER.length}\r\n`, INNER)],
  ['a hexadecimal length', post(`${KEY}Content-Length: 0x${INNER.length.toString(16)}\r\n`, INNER)],
  ['a length that a connection names', post(`${KEY}Connection: close, content-length\r\n${LENGTH}`, INNER)],
  ['an extension of a chunk', post(`${KEY}${JSON_TYPE}${CHUNKED}`, `2;a="b\\";c"\r\n{}\r\n0\r\n\r\n`)],
  ['an extension that a bare LF ends', post(`${KEY}${CHUNKED}`, `2;\nxx\r\n${INNER_CHUNK}`)],
  ['a size that a bare LF ends', post(`${KEY}${CHUNKED}`, `2\n{}\r\n${INNER_CHUNK}`)],
  ['a size with a prefix', post(`${KEY}${CHUNKED}`, `0x2\r\n{}\r\n${ENDED}`)],
  ['a size beyond 64 bits', post(`${KEY}${CHUNKED}`, `100000000000000002\r\n{}\r\n${ENDED}`)],
  ['a chunk without its end', post(`${KEY}${CHUNKED}`, `2\r\n{}XX${ENDED}`)],
  ['trailers that are a request', post(`${KEY}${CHUNKED}`, `2\r\n{}\r\n0\r\n${INNER}`)],
  ['a body behind a refused key', post(`Authorization: Bearer sk-wrong\r\n${LENGTH}`, INNER)],
  ['chunks behind a refused key', post(`Authorization: Bearer sk-wrong\r\n${CHUNKED}`, INNER_CHUNK)],
  ['a body for an unknown path', post(`${KEY}${LENGTH}`, INNER, 'POST /nothing')],
  ['a body of a wrong method', post(`${KEY}${CHUNKED}`, INNER_CHUNK, 'PUT /v1/chat/completions')],
  ['a body of GET', post(`${KEY}${LENGTH}`, INNER, 'GET /v1/models')],
  ['chunks of GET', post(`${KEY}${CHUNKED}`, INNER_CHUNK, 'GET /healthz')],
  ['a body of HEAD', post(`${KEY}${LENGTH}`, INNER, 'HEAD /v1/models')],
  ['a body of DELETE', post(`${KEY}${LENGTH}`, INNER, 'DELETE /v1/responses/x')],
  ['a body of OPTIONS', post(`${KEY}${LENGTH}`, INNER, 'OPTIONS /v1/models')],
  ['a body of no JSON', post(`${KEY}${JSON_TYPE}${LENGTH}`, INNER)],
  [
    'a body of no form',
    post(`${KEY}Content-Type: multipart/form-data; boundary=a\r\n${LENGTH}`, INNER, 'POST /v1/files'),
  ],
  [
    'a body too large',
    post(`${KEY}Content-Length: 2000000\r\n`, INNER + 'x'.repeat(2_000_000 - INNER.length)),
  ],
  [
    'a body too large, in chunks',
    post(`${KEY}${CHUNKED}`, `1e8480\r\n${'x'.repeat(2_000_000 - INNER.length)}${INNER}\r\n0\r\n\r\n`),
  ],
  ['a body that is waited for', post(`Expect: 100-continue\r\n${LENGTH}`, INNER)],
  ['a body that is waited for, in other words', post(`${KEY}Expect: y 100-continue\r\n${LENGTH}`, INNER)],
  [
    'an upgrade to HTTP/2',
    post(
      `${KEY}Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n${LENGTH}`,
      INNER,
      'GET /v1/models',
    ),
  ],
  [
    'an upgrade of a wrong version',
    post(
      `${KEY}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 777\r\n${LENGTH}`,
      INNER,
      'GET /v1/responses',
    ),
  ],
  ['an address in the place of a path', post(`${KEY}${LENGTH}`, INNER, 'GET http://evil.example/v1/models')],
  ['a line break in a path', post(KEY, '', `GET /v1/models/x%20HTTP/1.1%0d%0aHost:%20a%0d%0a%0d%0a`)],
];

/** Sends bytes, and says that they are all; everything that came back until the other end closed. */
function send(origin: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(Number(port), hostname);
    socket.on('data', (piece) => (text += piece.toString('latin1')));
    socket.on('error', () => {});
    socket.on('close', () => resolve(text));
    socket.end(Buffer.from(bytes, 'latin1'));
  });
}

describe.skipIf(NGINX === null).each(['on', 'off'])('nginx with proxy_request_buffering %s', (buffering) => {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-nginx-'));
  let gateway: TestGateway;
  let nginx: ChildProcess;
  let front = '';
  let victims = 0;

  beforeAll(async () => {
    gateway = await startGateway({ server: { body_limit_mb: 1 } });
    const port = await freePort();
    front = `http://127.0.0.1:${port}`;
    const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const path = join(folder, 'nginx.conf');
    writeFileSync(
      path,
      `worker_processes 1; pid ${folder}/nginx.pid; error_log ${folder}/error.log;
      events { worker_connections 256; }
      http {
        access_log off; ${places.map((place) => `${place}_temp_path ${folder}/${place};`).join(' ')}
        underscores_in_headers on; ignore_invalid_headers off; client_max_body_size 8m;
        map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
        upstream gateway { server ${new URL(gateway.origin).host}; keepalive 1; }
        server {
          listen 127.0.0.1:${port};
          location / {
            proxy_pass http://gateway; proxy_http_version 1.1; proxy_request_buffering ${buffering}; proxy_buffering off;
            proxy_set_header Host $http_host; proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $connection_upgrade; proxy_ignore_client_abort on;
          }
        }
      }`,
    );
    nginx = spawn(
      'setpriv',
      ['--pdeathsig=TERM', NGINX ?? '', '-e', 'stderr', '-c', path, '-g', 'daemon off;'],
      {
        stdio: 'ignore',
      },
    );
    await eventually('nginx listens', () =>
      fetch(`${front}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      ),
    );
  });
  afterAll(async () => {
    const ended = new Promise((resolve) => nginx.once('exit', resolve));
    nginx.kill('SIGTERM');
    await ended;
    await gateway.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Somebody else, whose answer names what they asked for. */
  async function victim(): Promise<void> {
    victims += 1;
    const name = `victim-${victims}`;
    const answer = await send(
      front,
      `GET /v1/models/${name} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${KEY}\r\n`,
    );
    expect(answer).toStartWith('HTTP/1.1 404');
    expect(answer).toContain(name);
  }

  test('passes on two requests of one client, so that a smuggled one would be noticed', async () => {
    expect(await send(front, post(`${KEY}Content-Length: 0\r\n`, INNER))).toContain('smuggled');
  });

  test.each(ATTACKS)('smuggles no request by %s', async (_, bytes) => {
    const behind = `GET /v1/models/behind HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${KEY}\r\n`;
    for (const sent of [bytes, bytes + behind]) {
      const answer = await send(front, sent);
      expect(answer).not.toContain('smuggled');
      for (let each = 0; each < 3; each += 1) await victim();
    }
  });
});
