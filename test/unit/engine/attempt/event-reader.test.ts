import { expect, test } from 'bun:test';
import { EventReader } from '../../../../src/engine/attempt/event-reader.ts';

const stream =
  '\uFEFF: comment\r\nevent: a\r\ndata: {"x":1}\r\n\r\ndata:two\rdata: lines\r\rid: 7\nretry: 5\n\nevent: empty\n\ndata: é😀\n\ndata: [DONE]';
const expected = [
  ['a', '{"x":1}'],
  ['', 'two\nlines'],
  ['', 'é😀'],
  ['', '[DONE]'],
];

const bytes = Buffer.from(stream).toString('latin1');

function read(pieces: readonly string[]): string[][] {
  const events: string[][] = [];
  const reader = new EventReader((event, data) => events.push([event, data]));
  for (const piece of pieces) reader.push(piece);
  reader.end();
  return events;
}

test('events are read from one piece', () => expect(read([bytes])).toEqual(expected));

test('events are read from pieces of a few bytes', () => {
  for (const size of [1, 2, 3, 5, 7]) {
    const pieces: string[] = [];
    for (let at = 0; at < bytes.length; at += size) pieces.push(bytes.slice(at, at + size));
    expect(read(pieces)).toEqual(expected);
  }
});

test('events are read when split in two at any place', () => {
  for (let at = 0; at <= bytes.length; at++)
    expect(read([bytes.slice(0, at), bytes.slice(at)])).toEqual(expected);
});

test.each<[string, ...string[][]]>([
  ['data: 1\n\ndata:2\n\n', ['', '1'], ['', '2']],
  ['event: a\ndata: 1\n\nevent:b\ndata: 2\n\n', ['a', '1'], ['b', '2']],
  ['event: a\n\ndata: 1\n\n', ['', '1']],
  ['data: 1\nevent: a\n\n', ['a', '1']],
  ['data\ndata:\n\n\n\n: comment\ndata:  x\n\n', ['', ''], ['', ' x']],
  ['data: 1\r\n\r\ndata: \xc3\xa9\n\n', ['', '1'], ['', 'é']],
])('%j', (text, ...events) => expect(read([text])).toEqual(events));
