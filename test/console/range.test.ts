// Bars of a range of time: the bucket that has just begun has one, like those before it.
import { expect, test } from 'bun:test';
import { gridOf, spanOf, type RangeSearch } from '../../console/time/range.ts';

const MINUTE_MS = 60_000;

test.each([
  ['1h', '2026-11-29T10:35:00.000Z'],
  ['6h', '2026-11-29T10:35:00.000Z'],
  ['24h', '2026-11-29T10:30:00.000Z'],
  ['7d', '2026-11-29T12:00:00.000Z'],
  ['30d', '2026-11-29T00:00:00.000Z'],
  ['today', '2026-11-29T00:00:00.000Z'],
  ['month', '2026-11-01T00:00:00.000Z'],
] as const satisfies readonly (readonly [RangeSearch['range'], string])[])(
  'a chart of the range %s has a last bar for the bucket that begins at %s, and keeps it',
  (range, start) => {
    for (const nowMs of [Date.parse(start), Date.parse(start) + MINUTE_MS]) {
      const grid = gridOf(spanOf({ range }, nowMs, 'UTC'), nowMs, 'UTC');
      expect(grid.placeOf(start)).toBe(grid.times.length - 1);
      expect(grid.times.at(-1)).toBe(Date.parse(start) / 1_000);
    }
  },
);

test('a range with an end has no bar at or after its end', () => {
  const own = { from: '2026-11-29T08:00:00.000Z', to: '2026-11-29T10:30:00.000Z' };
  const nowMs = Date.parse(own.to);
  const grid = gridOf(spanOf(own, nowMs, 'UTC'), nowMs, 'UTC');
  expect(grid.placeOf(own.to)).toBe(-1);
});
