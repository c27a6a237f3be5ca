// Refusals of the scan, with their paths, and texts that only look like one. Against the parser: test/unit/base/fuzz-json.test.ts.
import { describe, expect, test } from 'bun:test';
import {
  MAX_ALL_MEMBERS,
  MAX_DEPTH,
  MAX_ESCAPES,
  MAX_MEMBERS,
  MAX_VALUES,
  scanJson,
  type JsonFault,
} from '../../../../src/base/json/scan.ts';
import { nestsDeeper, opensMore } from '../../../../src/base/json/text.ts';

const faultIn = (text: string): JsonFault | undefined => scanJson(Buffer.from(text)).fault;

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
};

describe('refused bodies', () => {
  test.each([
    ['{"a":1,"a":2}', 'a', 'duplicate member'],
    ['{"a":1,"\\u0061":2}', 'a', 'duplicate member'],
    ['{"\\u0061":1,"a":2}', 'a', 'duplicate member'],
    ['{"":1,"b":{"":1,"":2}}', 'b', 'duplicate member'],
    ['{"a\\"":1,"a\\u0022":2}', 'a"', 'duplicate member'],
    ['{"a\\/":1,"a/":2}', 'a/', 'duplicate member'],
    ['[0,[{"x":[]},{"x":0,"y":{"z":1,"z":1}}]]', '[1][1].y.z', 'duplicate member'],
    [`{"${'n'.repeat(300)}":1,"${'n'.repeat(300)}":2}`, `${'n'.repeat(100)}…`, 'duplicate member'],
    ['{"\\ud83d\\ude00":1,"😀":2}', '😀', 'duplicate member'],
    ['{"a":{"__proto__":1}}', 'a.__proto__', 'not an allowed'],
    ['{"\\u005f_proto__":1}', '__proto__', 'not an allowed'],
    ['["\\ud800"]', '[0]', 'lone surrogate'],
    ['{"a":"\\uDC00"}', 'a', 'lone surrogate'],
    ['{"a":"\\ud83d\\ud83d\\ude00"}', 'a', 'lone surrogate'],
    ['{"a":"\\ud83dx\\ude00"}', 'a', 'lone surrogate'],
    ['{"a":"\\\\\\ud800"}', 'a', 'lone surrogate'],
    ['{"a":{"\\ud800":1}}', 'a', 'lone surrogate'],
  ])('%s', (text, path, message) => {
    expect(faultIn(text)).toEqual({ path, message: expect.stringContaining(message) as string });
  });

  test.each([
    '{"a":1,"A":2,"a ":3,"":4}',
    '{"a":{"a":{"a":1}},"b":{"a":1}}',
    '[{"a":1},{"a":1}]',
    '{"a":"\\\\ud800","b":"\\\\\\\\udc00"}',
    '["\\ud83d\\ude00\\uD83D\\uDE00","\\u00d8\\ud83d\\ude00"]',
    '{"a":"__proto__","proto":1,"__proto___":2}',
    '{"\\\\u0061":1,"a":2}',
  ])('accepts %s', (text) => {
    expect(parsed(text)).toBeDefined();
    expect(faultIn(text)).toBeUndefined();
  });

  test('are nested too deep, or have too many values', () => {
    const nested = (levels: number): string => '[{"a":'.repeat(levels / 2) + '[]' + '}]'.repeat(levels / 2);
    expect(faultIn(nested(MAX_DEPTH - 2))).toBeUndefined();
    expect(faultIn(nested(MAX_DEPTH))?.message).toContain('nested');
    expect(faultIn('['.repeat(1000))?.message).toContain('nested');
    expect(faultIn(`[${'0,'.repeat(MAX_VALUES - 2)}0]`)).toBeUndefined();
    expect(faultIn(`[${'0,'.repeat(MAX_VALUES - 1)}0]`)?.message).toContain('values');
  });

  test('have too many members in one object, or in all', () => {
    const object = (members: number): string =>
      `{${Array.from({ length: members }, (_, at) => `"${at}":0`).join(',')}}`;
    expect(faultIn(object(MAX_MEMBERS))).toBeUndefined();
    const fault = faultIn(`{"a":[0,${object(MAX_MEMBERS + 1)}]}`);
    expect(fault).toEqual({ path: 'a[1]', message: `has more than ${MAX_MEMBERS} members` });
    const many = (count: number): string => `[${'{"a":0,"b":0},'.repeat(count / 2)}0]`;
    expect(faultIn(many(MAX_ALL_MEMBERS))).toBeUndefined();
    expect(faultIn(many(MAX_ALL_MEMBERS + 2))?.message).toContain('members');
  });

  test('have too many escapes of two characters', () => {
    const spread = (count: number): string => JSON.stringify('"'.repeat(count) + 'a'.repeat(100));
    expect(faultIn(spread(MAX_ESCAPES))).toBeUndefined();
    expect(faultIn(spread(MAX_ESCAPES + 1))?.message).toContain('escape sequences');
    // Writers that know ASCII only escape each character of most languages.
    expect(faultIn(`"${'\\u6587'.repeat(5_000_000)}"`)).toBeUndefined();
  });

  test('have a short path, even with long names', () => {
    const text = `{"${'n'.repeat(5000)}":`.repeat(100) + '"\\ud800"';
    expect(faultIn(text)?.path.length).toBeLessThan(400);
  });
});

test('a text that opens more arrays and objects than allowed is recognised', () => {
  expect(opensMore('[[],{}]', 3)).toBe(false);
  expect(opensMore('[[],{"a":[]}]', 3)).toBe(true);
  expect(opensMore(`["${'['.repeat(100)}","\\"[[[["]`, 3)).toBe(false);
  expect(opensMore(`[["${'['.repeat(100)}`, 3)).toBe(false);
});

test('a text that nests deeper than allowed is recognised', () => {
  const nested = (levels: number): string => '{"[[[":['.repeat(levels / 2) + ']}'.repeat(levels / 2);
  for (const most of [2, 8, 100]) {
    expect(nestsDeeper(nested(most), most)).toBe(false);
    expect(nestsDeeper(nested(most + 2), most)).toBe(true);
    expect(nestsDeeper('[]'.repeat(1000), most)).toBe(false);
    expect(nestsDeeper(`"${'['.repeat(1000)}`, most)).toBe(false);
  }
});
