import { fullGC, heapStats } from 'bun:jsc';
import { describe, expect, test } from 'bun:test';
import { type ResponseHead, ResponseParser } from '../../../src/upstream/response-parser.ts';

interface Parsed {
  readonly status: number | undefined;
  readonly type: string | null | undefined;
  readonly body: string;
  /** Fate of the connection at its end, or `cut`; undefined while it has not ended. */
  readonly end: string | undefined;
}

function parse(pieces: readonly string[], closes = false): Parsed {
  let status: number | undefined;
  let type: string | null | undefined;
  const body: Buffer[] = [];
  let end: string | undefined;
  const parser = new ResponseParser({
    head: (head) => {
      status = head.status;
      type = head.header('content-type');
    },
    body: (bytes) => body.push(bytes),
    end: (rest) => (end = rest),
  });
  for (const piece of pieces) parser.push(Buffer.from(piece, 'latin1'));
  if (closes && !parser.close()) end ??= 'cut';
  return { status, type, body: Buffer.concat(body).toString('latin1'), end };
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type:  text/plain \r\n';
const CASES: readonly [name: string, bytes: string, closes: boolean, end: string][] = [
  ['a length', `${HEAD}Content-Length: 5\r\n\r\nhello`, false, 'keep'],
  [
    'a length and Connection: close',
    `${HEAD}connection: close\r\ncontent-length: 5\r\n\r\nhello`,
    false,
    'close',
  ],
  [
    'chunks',
    `${HEAD}transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n02;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n`,
    false,
    'keep',
  ],
  [
    'an interim answer first',
    `HTTP/1.1 100 Continue\r\n\r\n${HEAD}content-length: 5\r\n\r\nhello`,
    false,
    'keep',
  ],
  ['the end of the connection', `${HEAD}\r\nhello`, true, 'close'],
  [
    'HTTP/1.0',
    `HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello`,
    false,
    'close',
  ],
];

describe.each(CASES)('framed by %s', (_name, bytes, closes, end) => {
  const expected = { status: 200, type: 'text/plain', body: 'hello', end };

  test('is the same if split at every place and at every byte', () => {
    expect(parse([bytes], closes)).toEqual(expected);
    expect(parse([...bytes], closes)).toEqual(expected);
    for (let at = 1; at < bytes.length; at++)
      expect(parse([bytes.slice(0, at), bytes.slice(at)], closes)).toEqual(expected);
  });

  test('a connection that closes too early cuts it', () => {
    if (closes) return expect(parse([bytes.slice(0, HEAD.length)], true).end).toBe('cut');
    return expect(parse([bytes.slice(0, -1)], true).end).toBe('cut');
  });
});

const CHUNKED = `${HEAD}transfer-encoding: chunked\r\n\r\n`;

test.each([
  ['a length', `${HEAD}content-length: 5\r\n\r\nhello!`],
  ['chunks', `${CHUNKED}5\r\nhello\r\n0\r\n\r\nHTTP`],
  ['a status without a body', 'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello'],
  ['another such status', 'HTTP/1.1 304 Not Modified\r\n\r\n0\r\n\r\n'],
])('bytes after %s are stray', (_name, bytes) => {
  expect(parse([bytes]).end).toBe('stray');
});

test.each([
  ['no status line', 'nonsense\r\n\r\n'],
  ['a status of two digits', 'HTTP/1.1 99 Low\r\n\r\n'],
  ['another version', 'HTTP/1.2 200 OK\r\n\r\n'],
  ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`],
  ['a head that is too long', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}\r\n\r\n`],
  ['too many headers', `HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(257)}\r\n`],
  ['a folded header', `HTTP/1.1 200 OK\r\nx: y\r\n z\r\n\r\n`],
  ['white space before a colon', 'HTTP/1.1 200 OK\r\ncontent-length : 5\r\n\r\nhello'],
  ['a header without a name', 'HTTP/1.1 200 OK\r\n: y\r\n\r\n'],
  ['a header without a colon', 'HTTP/1.1 200 OK\r\nhello\r\n\r\n'],
  ['a bare LF', 'HTTP/1.1 200 OK\r\nx: y\ncontent-length: 5\r\n\r\nhello'],
  ['a bare CR', 'HTTP/1.1 200 OK\r\nx: y\rcontent-length: 5\r\n\r\nhello'],
  ['a NUL', 'HTTP/1.1 200 OK\r\nx: y\0\r\n\r\n'],
  ['lines that end with LF', 'HTTP/1.1 200 OK\n\n'.padEnd(70_000)],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: h2c\r\n\r\n'],
  ['endless interim responses', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(17)],
  ['long interim answers', `HTTP/1.1 103 Hints\r\nx: ${'y'.repeat(10_000)}\r\n\r\n`.repeat(7)],
  ['two lengths', `${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
  ['two lengths in one header', `${HEAD}content-length: 5, 5\r\n\r\nhello`],
  ['a negative length', `${HEAD}content-length: -5\r\n\r\n`],
  ['a length with a sign', `${HEAD}content-length: +5\r\n\r\nhello`],
  ['a huge length', `${HEAD}content-length: 99999999999999999999\r\n\r\n`],
  ['an unknown coding', `${HEAD}transfer-encoding: gzip\r\n\r\n`],
  ['a coding that only ends well', `${HEAD}transfer-encoding: xchunked\r\n\r\n0\r\n\r\n`],
  ['two codings', `${HEAD}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
  ['no coding', `${HEAD}transfer-encoding:\r\n\r\n`],
  [
    'two headers of codings',
    `${HEAD}transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n\r\n0\r\n\r\n`,
  ],
  ['a coding and a length', `${HEAD}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['a coding in HTTP/1.0', `HTTP/1.0 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`],
  ['an invalid chunk size', `${CHUNKED}xyz\r\n`],
  ['a negative chunk size', `${CHUNKED}-5\r\n`],
  ['a chunk size with a prefix', `${CHUNKED}0x5\r\nhello\r\n`],
  ['a huge chunk size', `${CHUNKED}100000000\r\n`],
  ['a chunk size behind white space', `${CHUNKED} 5\r\nhello\r\n`],
  ['a chunk longer than its size', `${CHUNKED}2\r\nabc\r\n`],
  ['an endless chunk', `${CHUNKED}2\r\nabcdef`],
  ['a chunk that ends with LF', `${CHUNKED}2\r\nab\n2\r\nab\r\n`],
  ['a chunk size that ends with LF', `${CHUNKED}2\nab\r\n`],
  ['a line break in an extension', `${CHUNKED}2;x=\n\r\nab\r\n`],
  ['a word behind a chunk size', `${CHUNKED}2 x\r\nab\r\n`],
  ['an endless extension', `${CHUNKED}2;${'x'.repeat(5000)}`],
  ['endless extensions', `${CHUNKED}${`1;${'x'.repeat(100)}\r\na\r\n`.repeat(170)}`],
  ['endless trailers', `${CHUNKED}0\r\n${'x: y\r\n'.repeat(3000)}`],
])('%s is refused, also byte by byte', (_name, bytes) => {
  expect(() => parse([bytes])).toThrow(RangeError);
  expect(() => parse([...bytes])).toThrow(RangeError);
});

test('two connection headers do not keep the connection open', () => {
  const twice = `${HEAD}connection: keep-alive\r\nconnection: close\r\ncontent-length: 5\r\n\r\nhello`;
  expect(parse([twice]).end).toBe('close');
});

test('headers do not retain the data after them', () => {
  const heads: ResponseHead[] = [];
  const megabyte = Buffer.alloc(2 ** 20, 'x').toString('latin1');
  const held = (): number => {
    fullGC();
    const { heapSize, extraMemorySize } = heapStats();
    return heapSize + extraMemorySize;
  };
  const before = held();
  for (let at = 0; at < 20; at += 1) {
    const read = Buffer.from(`${HEAD}x-number: ${at}\r\n\r\n${megabyte}`);
    new ResponseParser({ head: (head) => void heads.push(head), body() {}, end() {} }).push(read);
  }
  expect(held() - before).toBeLessThan(5 * 2 ** 20);
  expect(heads.map((head) => head.header('x-number'))).toEqual(Array.from(heads, (_, at) => String(at)));
});
