// When limits count: what `per` means, where calendar periods begin, and counters under clocks that jump.
import { budgetsSchema, limitsSchema, projectsSchema } from '../../../src/accounts/schema/index.ts';
import { describe, expect, test } from 'bun:test';
import { PeriodCounter } from '../../../src/accounts/limits/period-counter.ts';
import { RollingCounter } from '../../../src/accounts/limits/rolling-counter.ts';
import { Calendar, parseWindow } from '../../../src/accounts/limits/window.ts';

const at = (iso: string): number => Date.parse(iso);
const HOUR = 3_600_000;

describe('per', () => {
  test.each([
    ['second', { type: 'rolling', ms: 1000 }],
    ['minute', { type: 'rolling', ms: 60_000 }],
    ['hour', { type: 'rolling', ms: HOUR }],
    ['5h', { type: 'rolling', ms: 5 * HOUR }],
    ['7d', { type: 'rolling', ms: 168 * HOUR }],
    ['day', { type: 'calendar', unit: 'day', timeZone: 'UTC' }],
    [undefined, { type: 'lifetime' }],
  ] as const)('%s', (per, window) => {
    expect(parseWindow(per, undefined)).toEqual(window);
  });

  test.each(['', 'fortnight', '0h', '5', '5 h', '-1d', '367d', '99999999999d', '1.5h'])(
    'is not %p',
    (per) => {
      expect(() => parseWindow(per, undefined)).toThrow(RangeError);
    },
  );

  test('has a time zone if it is a calendar period', () => {
    expect(parseWindow('week', 'Europe/Berlin')).toMatchObject({ timeZone: 'Europe/Berlin' });
    expect(() => parseWindow('day', 'Europe/Nowhere')).toThrow('is not a time zone');
    expect(() => parseWindow('minute', 'UTC')).toThrow('`timezone` requires');
  });
});

describe('the configuration', () => {
  test('accepts one kind of limit per entry, and names the entry that has none', () => {
    expect(limitsSchema.parse([{ requests: 60, per: 'minute' }, { concurrent: 50 }])).toHaveLength(2);
    expect(budgetsSchema.parse([{ usd: 0.5, per: 'day', timezone: 'Asia/Tokyo' }])).toHaveLength(1);
    const wrong = (entries: unknown): readonly unknown[] =>
      limitsSchema
        .safeParse(entries)
        .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
    expect(wrong([{ concurrent: 1 }, { per: 'day' }])).toEqual([
      '1: must have exactly one of requests, tokens, concurrent, usd',
    ]);
    expect(wrong([{ requests: 1, tokens: 2 }])).toHaveLength(1);
    expect(wrong([{ concurrent: 2, per: 'minute' }])).toEqual([
      '0: `concurrent` has no window; remove `per`',
    ]);
    expect(
      wrong([
        { requests: 5, per: 'day' },
        { requests: 6, per: 'day' },
      ]),
    ).toEqual([': number 2 limits the same as an earlier one; keep the lower one']);
    expect(
      wrong([
        { requests: 5, models: ['a'] },
        { requests: 6, models: ['b'] },
      ]),
    ).toEqual([]);
  });

  test('accepts no other members', () => {
    expect(limitsSchema.safeParse([{ requests: 1, usd: 2 }]).success).toBe(false);
    expect(budgetsSchema.safeParse([{ usd: 0 }]).success).toBe(false);
    expect(budgetsSchema.safeParse([{ usd: 10_000_000 }]).success).toBe(false);
    expect(projectsSchema.parse({ search: { budgets: [{ usd: 5 }] } })).toEqual({
      search: { limits: [], budgets: [{ usd: 5 }] },
    });
  });
});

describe('a calendar', () => {
  test.each([
    ['day', 'UTC', '2026-02-28T23:59:59.999Z', '2026-02-28T00:00:00Z', '2026-03-01T00:00:00Z'],
    ['week', 'UTC', '2026-11-22T12:00:00Z', '2026-11-16T00:00:00Z', '2026-11-23T00:00:00Z'],
    ['month', 'UTC', '2028-02-10T00:00:00Z', '2028-02-01T00:00:00Z', '2028-03-01T00:00:00Z'],
    // The clocks go forward: a day of 23 hours; back: one of 25.
    ['day', 'Europe/Berlin', '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
    ['day', 'Europe/Berlin', '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
    // There was no midnight: the day began at one.
    ['day', 'America/Sao_Paulo', '2018-11-04T12:00:00Z', '2018-11-04T03:00:00Z', '2018-11-05T02:00:00Z'],
    // A day that never was: Samoa went from Thursday to Saturday.
    ['day', 'Pacific/Apia', '2011-12-30T09:59:59Z', '2011-12-29T10:00:00Z', '2011-12-30T10:00:00Z'],
    ['month', 'Asia/Kathmandu', '2026-05-31T18:20:00Z', '2026-05-31T18:15:00Z', '2026-06-30T18:15:00Z'],
  ] as const)('finds the %s in %s at %s', (unit, zone, now, start, end) => {
    const calendar = new Calendar(unit, zone);
    expect(new Date(calendar.startOf(at(now)))).toEqual(new Date(start));
    expect(new Date(calendar.endOf(at(now)))).toEqual(new Date(end));
    expect(calendar.startOf(at(end))).toBe(at(end));
  });
});

describe('a calendar counter', () => {
  const noon = at('2026-11-22T12:00:00Z');
  const day = 24 * HOUR;
  const counter = (): PeriodCounter => new PeriodCounter(new Calendar('day', 'UTC'));

  test('starts again with each period', () => {
    const daily = counter();
    daily.settle(daily.reserve(5, noon), 5, 5);
    expect(daily.used(noon + 12 * HOUR - 1)).toBe(5);
    expect(daily.used(noon + 12 * HOUR)).toBe(0);
  });

  test('counts a request in the period of its admission', () => {
    const daily = counter();
    const slot = daily.reserve(5, noon);
    expect(daily.used(noon + day)).toBe(0);
    daily.grow(slot, 2);
    daily.settle(slot, 7, 6);
    expect([daily.used(noon + day), daily.reserved, daily.used(noon)]).toEqual([0, 0, 6]);
  });

  test('spends no period twice when the clock is set forward and back', () => {
    const daily = counter();
    daily.reserve(5, noon);
    daily.reserve(3, noon + 3 * day);
    expect(daily.used(noon)).toBe(8);
    daily.reserve(1, noon);
    expect(daily.used(noon + 3 * day)).toBe(3);
    expect(daily.used(noon + 4 * day)).toBe(0);
  });

  test('keeps few periods, and loses nothing if the clock is set far back', () => {
    const daily = counter();
    for (let days = 1; days <= 5; days += 1) daily.reserve(1, noon + days * day);
    // Three that are remembered, and as much as in one of the others.
    expect(daily.used(noon - 100 * day)).toBe(4);
    expect(daily.used(noon - 99 * day)).toBe(4);
  });

  test('spends no period twice that was forgotten', () => {
    const daily = counter();
    for (let days = 0; days <= 3; days += 1) daily.reserve(days === 0 ? 9 : 1, noon + days * day);
    expect(daily.used(noon)).toBeGreaterThanOrEqual(9);
  });

  test('keeps later usage in its period while the clock is set back day after day', () => {
    const daily = counter();
    for (let days = 0; days >= -30; days -= 1) daily.reserve(1, noon + days * day);
    expect(daily.used(noon - 30 * day)).toBe(31);
    for (let days = -30; days <= 0; days += 1)
      expect(daily.used(noon + days * day)).toBeGreaterThanOrEqual(1 - days);
  });

  test('returns the time when capacity is free again', () => {
    const daily = counter();
    const slot = daily.reserve(8, noon);
    expect(daily.freesAt(5, 10, noon)).toBe('settled');
    daily.settle(slot, 8, 8);
    expect(daily.freesAt(5, 10, noon)).toBe(noon + 12 * HOUR);
    expect(daily.freesAt(11, 10, noon)).toBe('never');
    const total = new PeriodCounter(null);
    total.settle(total.reserve(8, noon), 8, 8);
    expect([total.freesAt(3, 10, noon), total.clearsAt(noon)]).toEqual(['never', null]);
  });
});

describe('a rolling counter', () => {
  test('releases each unit one window after it was taken', () => {
    const counter = new RollingCounter(1000);
    counter.reserve(1, 0);
    counter.reserve(2, 400);
    expect([counter.used(999), counter.used(1000), counter.used(1400)]).toEqual([3, 2, 0]);
    expect(counter.clearsAt(1400)).toBe(1400);
  });

  test('returns the time when capacity is free again', () => {
    const counter = new RollingCounter(1000);
    counter.reserve(1, 0);
    counter.reserve(2, 400);
    expect([1, 2, 3, 4].map((amount) => counter.freesAt(amount, 3, 500))).toEqual([
      1000,
      1400,
      1400,
      'never',
    ]);
    expect(counter.freesAt(1, 4, 500)).toBe(500);
    expect(counter.clearsAt(500)).toBe(1400);
  });

  test('holds few runs, and frees none before its time', () => {
    const counter = new RollingCounter(100 * HOUR);
    for (let ms = 0; ms < 100 * HOUR; ms += 60_000) counter.reserve(1, ms);
    expect(counter.used(100 * HOUR - 1)).toBe(6000);
    // The hour and two thirds that share a run are freed with its last.
    expect(counter.used(100 * HOUR + 99 * 60_000 - 1)).toBe(6000);
    expect(counter.used(100 * HOUR + 99 * 60_000)).toBe(5900);
  });

  test('counts usage after the window of a request from now on', () => {
    const counter = new RollingCounter(1000);
    const slot = counter.reserve(5, 0);
    const later = counter.grow(slot, 2, 1500);
    expect(counter.used(1500)).toBe(2);
    counter.settle(later, 7, 6, 1600);
    expect([counter.used(1600), counter.reserved]).toEqual([1, 0]);
  });

  test('holds nothing longer than a window when the clock is set back', () => {
    const counter = new RollingCounter(1000);
    const slot = counter.reserve(5, 1_000_000);
    expect([counter.used(500), counter.used(1499), counter.used(1500)]).toEqual([5, 5, 0]);
    // The run is gone, whatever the clock says now.
    counter.settle(slot, 5, 3, 400);
    expect(counter.used(400)).toBe(0);
  });

  test('imports earlier usage into its period', () => {
    const counter = new RollingCounter(1000);
    counter.reserve(1, 900);
    counter.restore(4, 500, 950);
    counter.restore(7, -100, 950);
    expect([counter.used(950), counter.used(1499), counter.used(1500), counter.used(1900)]).toEqual([
      5, 5, 1, 0,
    ]);
  });
});
