import { expect, test } from 'bun:test';
import { SseParser } from './sse.ts';

const stream =
  '\uFEFF: comment\r\nevent: a\r\ndata: {"x":1}\r\n\r\ndata:two\rdata: lines\r\rid: 7\nretry: 5\n\nevent: empty\n\ndata: é😀\n\ndata: [DONE]';
const expected = [
  ['a', '{"x":1}'],
  ['', 'two\nlines'],
  ['', 'é😀'],
  ['', '[DONE]'],
];

function parse(pieces: readonly string[]): string[][] {
  const frames: string[][] = [];
  const parser = new SseParser((event, data) => frames.push([event, data]));
  for (const piece of pieces) parser.push(piece);
  parser.end();
  return frames;
}

test('one piece', () => expect(parse([stream])).toEqual(expected));

test('split at every byte, decoded as a stream', () => {
  const bytes = new TextEncoder().encode(stream);
  for (const size of [1, 2, 3, 5, 7]) {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    const pieces: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      pieces.push(decoder.decode(bytes.subarray(at, at + size), { stream: true }));
    pieces.push(decoder.decode());
    expect(parse(pieces)).toEqual(expected);
  }
});

test('split in two at every place', () => {
  for (let at = 0; at <= stream.length; at++)
    expect(parse([stream.slice(0, at), stream.slice(at)])).toEqual(expected);
});
