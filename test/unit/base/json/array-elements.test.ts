// The reader of long bodies against JSON.parse: bodies cut into pieces at every place.
import { describe, expect, test } from 'bun:test';
import { ArrayElements, type ArrayPlace } from '../../../../src/base/json/index.ts';

interface Found {
  readonly elements: readonly unknown[];
  readonly rest: unknown;
  readonly wasThere: boolean;
}

function read(text: string, place: Omit<ArrayPlace, 'most'>, size: number, most = 1_000): Found {
  const reader = new ArrayElements({ ...place, most });
  const elements: unknown[] = [];
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += size)
    for (const element of reader.read(bytes.subarray(at, at + size)))
      elements.push(JSON.parse(element.toString()));
  return { rest: JSON.parse(reader.end()), elements, wasThere: reader.wasThere };
}

const list = [{ a: '},{"requests":[' }, 1, 'x\\"]', [[], {}], { batch: { list: [2] } }, null];
const deep = ['batch', 'inputConfig', 'list'];

describe('elements of an array', () => {
  test.each([
    [
      'at the top',
      ['list'],
      { before: [1], list, after: { list: [3] } },
      { before: [1], list: [], after: { list: [3] } },
    ],
    [
      'further below, beside members of the same names',
      deep,
      {
        list: [1],
        other: { batch: 1 },
        batch: { x: 'batch', list: [2], inputConfig: { y: {}, list, z: [] }, w: 1 },
      },
      {
        list: [1],
        other: { batch: 1 },
        batch: { x: 'batch', list: [2], inputConfig: { y: {}, list: [], z: [] }, w: 1 },
      },
    ],
  ])('%s: finds the same elements and the same rest for any division of the bytes', (_, path, body, rest) => {
    for (const indent of [0, 2])
      for (const size of [1, 2, 3, 7, 64, 10_000])
        expect(read(JSON.stringify(body, null, indent), { path }, size)).toEqual({
          elements: list,
          rest,
          wasThere: true,
        });
  });

  test.each([
    ['another kind of value', { batch: { inputConfig: [list] } }],
    ['an object in its place', { batch: { inputConfig: { list: { list } } } }],
    ['nothing', {}],
  ])('are empty if there is %s', (_, body) => {
    for (const size of [1, 5, 10_000])
      expect(read(JSON.stringify(body), { path: deep }, size)).toEqual({
        elements: [],
        rest: body,
        wasThere: false,
      });
  });

  test('are found in either spelling', () => {
    const canonicalName = (name: string): string => name.replaceAll('_', '');
    const found = read('{"a_b":[1,2]}', { path: ['ab'], canonicalName }, 3);
    expect(found).toEqual({ elements: [1, 2], rest: { a_b: [] }, wasThere: true });
  });

  test('are refused if they occur twice, are too long, or are outside an object', () => {
    const refused: [text: string, word: string][] = [
      ['{"batch":{"inputConfig":{"list":[1],"list":[2]}}}', 'duplicate member batch.inputConfig.list'],
      ['{"batch":{"inputConfig":{"list":[1]}},"batch":{}}', 'duplicate member batch'],
      ['[1]', 'one JSON object'],
      ['{} {}', 'one JSON object'],
      ['{"batch":{"inputConfig":{"list":[1', 'ends unexpectedly'],
      [`{"batch":{"inputConfig":{"list":["${'x'.repeat(1_000)}"]}}}`, 'more than 1000 bytes'],
      [`{"batch":{"other":"${'x'.repeat(1_000)}"}}`, 'more than 1000 bytes'],
    ];
    for (const [text, word] of refused)
      for (const size of [1, 10_000]) expect(() => read(text, { path: deep }, size)).toThrow(word);
  });
});
