import { describe, expect, test } from 'bun:test';
import { ResponseParser } from './response-parser.ts';

interface Parsed {
  readonly status: number | undefined;
  readonly type: string | null | undefined;
  readonly body: string;
  /** `reusable` or `used up` at its end; undefined while it has not ended. */
  readonly end: string | undefined;
}

function parse(pieces: readonly string[], closes = false): Parsed {
  let status: number | undefined;
  let type: string | null | undefined;
  let body = '';
  let end: string | undefined;
  const parser = new ResponseParser({
    head: (head) => {
      status = head.status;
      type = head.header('content-type');
    },
    body: (bytes) => (body += bytes),
    end: (reusable) => (end = reusable ? 'reusable' : 'used up'),
  });
  for (const piece of pieces) parser.push(piece);
  if (closes && !parser.close()) end ??= 'cut';
  return { status, type, body, end };
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type:  text/plain \r\n';
const CASES: readonly [name: string, bytes: string, closes: boolean, end: string][] = [
  ['a length', `${HEAD}Content-Length: 5\r\n\r\nhello`, false, 'reusable'],
  [
    'a length and Connection: close',
    `${HEAD}connection: close\r\ncontent-length: 5\r\n\r\nhello`,
    false,
    'used up',
  ],
  [
    'chunks',
    `${HEAD}transfer-encoding: chunked\r\n\r\n3\r\nhel\r\n02;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n`,
    false,
    'reusable',
  ],
  [
    'an interim answer first',
    `HTTP/1.1 100 Continue\r\n\r\n${HEAD}content-length: 5\r\n\r\nhello`,
    false,
    'reusable',
  ],
  ['the end of the connection', `${HEAD}\r\nhello`, true, 'used up'],
  [
    'HTTP/1.0',
    `HTTP/1.0 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello`,
    false,
    'used up',
  ],
];

describe.each(CASES)('framed by %s', (_name, bytes, closes, end) => {
  const expected = { status: 200, type: 'text/plain', body: 'hello', end };

  test('split at every place and at every byte', () => {
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

test('bytes behind the end spoil the connection', () => {
  expect(parse([`${HEAD}content-length: 5\r\n\r\nhello!`]).end).toBe('used up');
  expect(parse([`${HEAD}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nHTTP`]).end).toBe('used up');
});

test.each([
  ['no status line', 'nonsense\r\n\r\n'],
  ['a head without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(70_000)}`],
  ['two lengths', `${HEAD}content-length: 5\r\ncontent-length: 6\r\n\r\n`],
  ['a negative length', `${HEAD}content-length: -5\r\n\r\n`],
  ['an unknown coding', `${HEAD}transfer-encoding: gzip\r\n\r\n`],
  ['a chunk size that is none', `${HEAD}transfer-encoding: chunked\r\n\r\nxyz\r\n`],
  ['a chunk longer than it says', `${HEAD}transfer-encoding: chunked\r\n\r\n2\r\nabc\r\n`],
])('%s is refused', (_name, bytes) => {
  expect(() => parse([bytes])).toThrow(RangeError);
});
