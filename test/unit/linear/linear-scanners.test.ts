// Readers of bytes and texts take time in proportion to their length, whatever is in them and in whatever pieces they come.
import { describe, expect, test } from 'bun:test';
import { MAX_DEPTH, nestsDeeper, parseJson, scanJson } from '../../../src/base/json/index.ts';
import { RepetitionFilter } from '../../../src/engine/failover/repetition-filter.ts';
import { StopCutter } from '../../../src/engine/adapt/stop-cutter.ts';
import { editMembers } from '../../../src/protocols/index.ts';
import { FrameSplitter, frameData } from '../../../src/protocols/streams/frame-splitter.ts';
import { parseTemplate, renderTemplate } from '../../../src/engine/state/prompt-template.ts';
import { createRedactor } from '../../../src/base/telemetry/redact.ts';
import { NestingWatch } from '../../../src/engine/tools/mcp/nesting-watch.ts';
import { findInPage } from '../../../src/engine/tools/pages/find-in-page.ts';
import { htmlToText } from '../../../src/engine/tools/pages/html-to-text.ts';
import { ChunkedDecoder, ResponseParser } from '../../../src/upstream/response-parser.ts';
import { EventReader } from '../../../src/engine/attempt/event-reader.ts';
import { growthOf, MOST_GROWTH } from '../../support/growth.ts';
import { shareOf } from '../../support/share.ts';

/** Characters at n = 1. */
const CHARS = 30_000;
/** The same of a text that is read letter by letter, which takes longer. */
const LETTERS = 10_000;

/** Pieces of texts that scanners trip over, with their beginnings and ends. */
const TEXTS: Readonly<Record<string, readonly [repeated: string, start?: string, end?: string]>> = {
  'plain text': ['abc '],
  'one letter': ['a'],
  'white space': [' '],
  'line ends': ['\n'],
  'mixed line ends': ['\r\n\r\ra\n'],
  'lines of data': ['data: x\n'],
  events: ['data: {"a":1}\n\n'],
  'a long event': ['x', 'data: {"a":"', '"}\n\n'],
  comments: [': "\n'],
  backslashes: ['\\', '"', '"'],
  'escaped quotes': ['\\"', '{"a":"', '"}'],
  'escaped halves': ['\\ud83d\\ude00', '{"a":"', '"}'],
  'what looks like halves': ['\\\\ud83d', '{"a":"', '"}'],
  'open brackets': ['['],
  'nested as deep as may be': [`${'['.repeat(MAX_DEPTH - 1)}${']'.repeat(MAX_DEPTH - 1)},`, '[', '0]'],
  'small objects': ['{"a":1,"b":{}},', '[', '0]'],
  members: ['"a":1,', '{', '"b":2}'],
  tags: ['<p>a'],
  'open tags': ['<'],
  'nested tags': ['<div>'],
  attributes: [' a="b"', '<p', '>'],
  entities: ['&amp;&#x41;&'],
  'open comments': ['<!--'],
  variables: ['{{a}}'],
  'open variables': ['{{ a '],
  keys: ['sk-abcdefghijklmnopqrstuv '],
  'what begins like keys': ['Bearer eyJ'],
  chunks: ['1\r\na\r\n'],
  'chunk sizes': ['0'],
};

/** So much of a text: as one string, as a read gives it. */
function textOf(
  [repeated, start = '', end = '']: readonly [string, string?, string?],
  chars: number,
): string {
  return Buffer.from(start + repeated.repeat(Math.ceil(chars / repeated.length)) + end, 'latin1').toString(
    'latin1',
  );
}

function quietly(run: () => unknown): void {
  try {
    run();
  } catch {
    // To refuse is work, too.
  }
}

/** Readers of bytes as they come. Each entry makes one. */
const READERS: Readonly<Record<string, () => (piece: string) => unknown>> = {
  EventReader: () => {
    const reader = new EventReader(() => {});
    return (piece) => reader.push(piece);
  },
  FrameSplitter: () => {
    const splitter = new FrameSplitter();
    return (piece) => splitter.push(piece, (frame) => frameData(frame) !== 'never');
  },
  ChunkedDecoder: () => {
    const decoder = new ChunkedDecoder();
    return (piece) => decoder.push(Buffer.from(piece));
  },
  'ResponseParser, in a body': () => {
    const parser = new ResponseParser({ head() {}, body() {}, end() {} });
    parser.push(Buffer.from('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'));
    return (piece) => parser.push(Buffer.from(piece));
  },
  'ResponseParser, in a head': () => {
    const parser = new ResponseParser({ head() {}, body() {}, end() {} });
    parser.push(Buffer.from('HTTP/1.1 200 OK\r\na: '));
    return (piece) => parser.push(Buffer.from(piece));
  },
  'NestingWatch, a body': () => {
    const watch = new NestingWatch(256, 'application/json');
    return (piece) => watch.take(Buffer.from(piece));
  },
  'NestingWatch, a stream': () => {
    const watch = new NestingWatch(256, 'text/event-stream');
    return (piece) => watch.take(Buffer.from(piece));
  },
  RepetitionFilter: () => {
    const filter = new RepetitionFilter('a'.repeat(CHARS * 64), true);
    return (piece) => filter.push(piece);
  },
  StopCutter: () => {
    const cutter = new StopCutter({ on() {} }, [`${'a'.repeat(CHARS * 64)}b`, 'abc abd'], () => {});
    return (text) => cutter.on({ type: 'text', index: 0, part: 0, kind: 'text', text });
  },
};

const redact = createRedactor(['a secret of the operator']);

/** Scanners of a whole text. */
const SCANNERS: Readonly<Record<string, (text: string) => unknown>> = {
  scanJson: (text) => scanJson(Buffer.from(text, 'latin1')),
  nestsDeeper: (text) => nestsDeeper(text, 256),
  parseJson,
  editMembers: (text) => text.endsWith('}') && editMembers(text, { set: { z: 1 }, remove: ['a'] }),
  redact,
  htmlToText,
  findInPage: (text) => findInPage({ text }, 'a  b c'),
  template: (text) => renderTemplate(parseTemplate({ instructions: text }, 'template'), { a: 'x' }),
};

describe.each(Object.entries(SCANNERS))('%s', (_, scan) => {
  test('takes as long as the text is long', () => {
    expect(slowTexts((text) => () => quietly(() => scan(text)))).toEqual([]);
  });
});

describe.each(Object.entries(READERS))('%s', (_, open) => {
  test.each([1, 1000, 1_000_000])('takes as long as the bytes are many, in pieces of %d', (size) => {
    const slow = slowTexts(
      (text) => {
        const pieces: string[] = [];
        for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
        return () => {
          const read = open();
          quietly(() => {
            for (const piece of pieces) read(piece);
          });
        };
      },
      size === 1 ? LETTERS : CHARS,
    );
    expect(slow).toEqual([]);
  });
});

/** How often it was asked for: each time another share of the texts is tried. */
let asked = 0;

function slowTexts(prepare: (text: string) => () => void, chars = CHARS): string[] {
  return shareOf(Object.entries(TEXTS), asked++).flatMap(([name, text]) => {
    const growth = growthOf((n) => prepare(textOf(text, chars * n)));
    return growth > MOST_GROWTH ? [`${name}: ${growth.toFixed(1)} times as long`] : [];
  });
}
