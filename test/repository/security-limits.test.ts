// The limits that docs/security.md promises are those of the code: each number is read from where it is enforced.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverSchema } from '../../src/app/config/schema/server-schema.ts';
import { ROOT } from '../support/doc-snippets.ts';

const MIB = 1_048_576;
const page = readFileSync(join(ROOT, 'docs', 'security.md'), 'utf8');
const { memory, overload, websocket, ...server } = serverSchema.parse({});

/** The number of a row's second column, as it is written there. */
function documented(what: string): string {
  const row = page.split('\n').find((line) => line.startsWith(`| ${what} |`));
  return row?.split('|')[2]?.trim() ?? `no row for ${what}`;
}

/** A constant of a source file: a product of numbers and of `MIB`. */
function constant(file: string, name: string): number {
  const text = readFileSync(join(ROOT, 'src', file), 'utf8');
  const value = new RegExp(`\\bconst ${name} = ([^;]+);`).exec(text)?.[1];
  if (value === undefined) throw new Error(`${file} has no ${name}`);
  const factors = value
    .split('*')
    .map((each) => (each.trim() === 'MIB' ? MIB : Number(each.replaceAll('_', ''))));
  return factors.reduce((product, each) => product * each, 1);
}

const inMb = (bytes: number): string => `${bytes / MIB} MB`;
const inKb = (bytes: number): string => `${bytes / 1024} kB`;
const plain = (count: number): string => count.toLocaleString('en-US');
const limits = (name: string): number => constant('canonical/limits.ts', name);

const EXPECTED: readonly (readonly [string, string])[] = [
  ["a request's body, a WebSocket message", `${server.bodyLimitBytes / MIB} MB`],
  ['nesting of a body', plain(constant('base/json/scan.ts', 'MAX_DEPTH'))],
  ['values in a body', plain(constant('base/json/scan.ts', 'MAX_VALUES'))],
  ['members of one object of a body', plain(constant('base/json/scan.ts', 'MAX_MEMBERS'))],
  ['members of all objects of a body', plain(constant('base/json/scan.ts', 'MAX_ALL_MEMBERS'))],
  ['escapes of two characters in a body', plain(constant('base/json/scan.ts', 'MAX_ESCAPES'))],
  [
    'objects and arrays in a JSON text of an upstream',
    plain(constant('base/json/value.ts', 'MAX_ANSWER_NODES')),
  ],
  ['those of one key', memory.sharePerKey === 0.25 ? 'a quarter of that' : String(memory.sharePerKey)],
  [
    'time of a body',
    `${server.bodyGraceMs / 1000} s, and a second for each ${inKb(constant('server/body/body-reader.ts', 'SLOWEST_BYTES_PER_SECOND'))}`,
  ],
  ['silence on a connection without a request', `${server.idleMs / 1000} s`],
  [
    `requests that one connection sends at once, among more than ${constant('base/runtime/http-server.ts', 'BUSY_TURN')} that arrive with them`,
    plain(constant('base/runtime/http-server.ts', 'MOST_IN_A_ROW')),
  ],
  ['lateness of the event loop', `${overload.lagMs / 1000} s`],
  ['memory of the process', `${overload.memoryPercent} %`],
  ['WebSockets of one key', plain(websocket.maxConnectionsPerKey)],
  ['WebSockets in all', plain(websocket.maxConnections)],
  ['turns that wait on a WebSocket', plain(constant('server/socket/responses-socket.ts', 'MAX_WAITING'))],
  ['age of a WebSocket', `${constant('server/socket/responses-socket.ts', 'MAX_AGE_MS') / 60_000} min`],
  ['refused keys of one address in a minute', plain(constant('server/failed-keys.ts', 'FREE'))],
  ["one event of an upstream's stream", inMb(limits('MAX_FRAME_BYTES'))],
  ["an upstream's complete response", inMb(limits('MAX_ANSWER_BYTES'))],
  ['what is held back of a stream before its first content', inMb(limits('MAX_HELD_BYTES'))],
  ["nesting of an upstream's response", plain(constant('base/json/value.ts', 'MAX_ANSWER_DEPTH'))],
  ["an upstream's error", inKb(limits('MAX_ERROR_BYTES'))],
  [
    "the body of an upstream's error",
    `${constant('engine/attempt/attempt.ts', 'ERROR_BODY_MS') / 1000} s after its head`,
  ],
  [
    "what follows an upstream's complete response",
    `${inKb(constant('engine/attempt/progress.ts', 'LINGER_BYTES'))}, ${constant('engine/attempt/progress.ts', 'LINGER_MS') / 1000} s`,
  ],
  [
    "an upstream's head",
    `${inKb(constant('upstream/response-parser.ts', 'MAX_HEAD'))}, ${constant('upstream/response-parser.ts', 'MAX_HEADERS')} lines`,
  ],
  ['interim responses of an upstream', plain(constant('upstream/response-parser.ts', 'MAX_INTERIM'))],
  ['trailers of an upstream', inKb(constant('upstream/response-parser.ts', 'MAX_TRAILERS'))],
  ['inflating, after the first 4 MB', `${constant('upstream/decompress.ts', 'MAX_RATIO')} times`],
  ['redirects of a fetched address', plain(constant('upstream/fetch-guarded.ts', 'MAX_REDIRECTS'))],
  ['parts of an uploaded form', plain(constant('server/body/multipart.ts', 'MAX_PARTS'))],
];

test.each(EXPECTED)('the documented limit is enforced: %s', (what, number) => {
  expect(documented(what)).toBe(number);
});
