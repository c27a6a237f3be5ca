// AWS's event-stream framing: messages in pieces of any size, and no damaged byte that passes for a message.
import { describe, expect, test } from 'bun:test';
import { crc32 } from 'node:zlib';
import { EventStreamParser, type EventStreamMessage } from '../../../src/upstream/event-stream.ts';
import { event, frame, rawFrame } from '../../support/upstreams/event-stream-frame.ts';

const messages = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Grüße, 世界' } }),
  frame({ ':message-type': 'event' }, ''),
];
const stream = Buffer.concat(messages);

function parse(pieces: readonly Buffer[]): EventStreamMessage[] {
  const found: EventStreamMessage[] = [];
  const parser = new EventStreamParser((message) => found.push(message));
  for (const piece of pieces) parser.push(piece);
  parser.end();
  return found;
}

function show(found: readonly EventStreamMessage[]): string[] {
  return found.map(
    ({ headers, payload }) => `${headers.get(':event-type')} ${Buffer.from(payload, 'latin1').toString()}`,
  );
}

const EXPECTED = [
  'messageStart {"role":"assistant"}',
  'contentBlockDelta {"contentBlockIndex":0,"delta":{"text":"Grüße, 世界"}}',
  'undefined ',
];

describe('an event stream', () => {
  test('is the same in one piece, cut at every byte, and byte by byte', () => {
    expect(show(parse([stream]))).toEqual(EXPECTED);
    for (let at = 1; at < stream.length; at++)
      expect(show(parse([stream.subarray(0, at), stream.subarray(at)]))).toEqual(EXPECTED);
    expect(show(parse(Array.from(stream, (byte) => Buffer.from([byte]))))).toEqual(EXPECTED);
  });

  test('returns each message as soon as it is complete', () => {
    const found: EventStreamMessage[] = [];
    const parser = new EventStreamParser((message) => found.push(message));
    const [first = Buffer.alloc(0)] = messages;
    parser.push(first);
    expect(found).toHaveLength(1);
  });

  test('with any bit flipped is damaged', () => {
    const [, second = Buffer.alloc(0)] = messages;
    for (let at = 0; at < second.length; at++) {
      for (const bit of [1, 128]) {
        const damaged = Buffer.from(second);
        damaged[at] = (damaged[at] ?? 0) ^ bit;
        expect(() => parse([damaged])).toThrow(RangeError);
      }
    }
  });

  test('that is cut anywhere but between messages is damaged', () => {
    const ends = new Set(messages.map((_, count) => Buffer.concat(messages.slice(0, count + 1)).length));
    for (let at = 1; at < stream.length; at++) {
      const cut = (): unknown => parse([stream.subarray(0, at)]);
      if (ends.has(at)) expect(cut).not.toThrow();
      else expect(cut).toThrow('ends in the middle');
    }
  });

  test('skips headers of other types than text, and refuses those that cannot be', () => {
    const name = (text: string, type: number): Buffer =>
      Buffer.concat([Buffer.from([text.length]), Buffer.from(text), Buffer.from([type])]);
    const all = Buffer.concat([
      name('yes', 0),
      name('no', 1),
      ...[1, 2, 4, 8].map((size, at) => Buffer.concat([name('n', at + 2), Buffer.alloc(size)])),
      Buffer.concat([name('bytes', 6), Buffer.from([0, 2, 7, 7])]),
      Buffer.concat([name('time', 8), Buffer.alloc(8)]),
      Buffer.concat([name('uuid', 9), Buffer.alloc(16)]),
      Buffer.concat([name('word', 7), Buffer.from([0, 2]), Buffer.from('hi')]),
    ]);
    const [found] = parse([rawFrame(all, 'x')]);
    expect(Object.fromEntries(found?.headers ?? [])).toEqual({ word: 'hi' });
    expect(found?.payload).toBe('x');
    const impossible = [
      name('a', 10),
      Buffer.from([200]),
      Buffer.concat([name('a', 7), Buffer.from([0, 9, 65])]),
    ];
    for (const block of impossible) expect(() => parse([rawFrame(block, '')])).toThrow('invalid header');
  });

  test('of impossible lengths is refused before anything is gathered', () => {
    for (const [length, headers] of [
      [0x7fffffff, 0],
      [16, 1],
      [8, 0],
    ] as const) {
      const prelude = Buffer.alloc(12);
      prelude.writeUInt32BE(length, 0);
      prelude.writeUInt32BE(headers, 4);
      prelude.writeUInt32BE(crc32(prelude.subarray(0, 8)), 8);
      expect(() => parse([prelude])).toThrow('invalid message length');
    }
  });
});
