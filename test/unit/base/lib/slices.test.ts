import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { beginning, behind, bytesIn, joined, slicesOf } from '../../../../src/base/lib/bytes.ts';

test('slices are complete with any size of reads', () => {
  const slices = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 6 });
  fc.assert(
    fc.property(
      slices,
      fc.integer({ min: 1, max: 30 }),
      fc.integer({ min: 1, max: 30 }),
      (all, room, most) => {
        const memory = new Uint8Array(room);
        const sent: number[] = [];
        for (let left: readonly Uint8Array[] = all; bytesIn(left) > 0;) {
          const piece = beginning(left, memory);
          const taken = Math.min(piece.length, most);
          sent.push(...piece.subarray(0, taken));
          const rest = behind(left, taken);
          expect(bytesIn(rest)).toBe(bytesIn(left) - taken);
          left = rest;
        }
        expect(sent).toEqual([...joined(all)]);
      },
    ),
  );
});

test('a text is its UTF-8, and nothing is nothing', () => {
  expect(joined(slicesOf('é')).toString('latin1')).toBe('Ã©');
  expect(slicesOf('')).toEqual([]);
  expect(bytesIn(behind([], 0))).toBe(0);
});
