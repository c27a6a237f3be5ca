import { describe, expect, test } from 'bun:test';
import { MAX_FRAME_BYTES } from '../../../src/canonical/index.ts';
import { FrameSplitter } from '../../../src/protocols/streams/frame-splitter.ts';

function framesOf(pieces: readonly string[]): string[] {
  const splitter = new FrameSplitter();
  const frames: string[] = [];
  for (const piece of pieces) splitter.push(piece, (frame) => frames.push(frame) > 0);
  return frames;
}

/** The text cut everywhere: into single bytes, and in two at each place. */
function cuts(text: string): string[][] {
  return [[...text], ...[...text].map((_, at) => [text.slice(0, at), text.slice(at)])];
}

describe('an event is the same in whatever pieces it comes', () => {
  test.each([
    ['LF', 'data: 1\n\ndata: 2\ndata: 3\n\n: comment\n\n', 3],
    ['CRLF', 'data: 1\r\n\r\ndata: 2\r\ndata: 3\r\n\r\n: comment\r\n\r\n', 3],
    ['CR', 'data: 1\r\rdata: 2\rdata: 3\r\r: comment\r\r: half', 3],
    ['mixed', 'data: 1\n\r\ndata: 2\r\n\rdata: 3\n\ndata: 4\r\rdata: 5\r\n\n', 5],
    ['a byte order mark', '\xef\xbb\xbfdata: 1\n\ndata: 2\n\n', 2],
  ])('%s', (_, text, count) => {
    const whole = framesOf([text]);
    expect(whole).toHaveLength(count);
    expect(whole.join('')).toBe(text.replace('\xef\xbb\xbf', '').replace(': half', ''));
    for (const pieces of cuts(text)) expect(framesOf(pieces)).toEqual(whole);
  });
});

test('an event that never ends is refused by name', () => {
  const splitter = new FrameSplitter();
  const piece = 'x'.repeat(1024 * 1024);
  expect(() => {
    for (let sent = 0; sent <= MAX_FRAME_BYTES; sent += piece.length) splitter.push(piece, () => true);
  }).toThrow(`longer than ${MAX_FRAME_BYTES} bytes`);
});
