// The judgement of the benchmark: medians, ratios in the same run, goals and limits; and how profiles, counts of calls
// and slopes are read. The measuring itself is not tested here: it needs a quiet machine.
import { expect, test } from 'bun:test';
import { dirname } from 'node:path';
import type { Figures } from '../../bench/measure.ts';
import { pairTable } from '../../bench/pairs.ts';
import { callsOf } from '../../bench/calls.ts';
import { bordersOf, type Coverage, executedFiles } from '../../bench/path.ts';
import { type CpuProfile, sharesOf } from '../../bench/profile.ts';
import { type Budget, judge, median } from '../../bench/report.ts';
import { quartiles, trend } from '../../bench/spread.ts';

const budget: Budget = {
  says: 'CPU per request, times nginx',
  scenario: 'requests',
  target: 'relay',
  figure: 'cpuPerRequest',
  times: { target: 'nginx' },
  goal: 4,
  limit: 5,
};

const requests = (relay: number, nginx: number[]): Parameters<typeof judge>[0] => ({
  requests: {
    relay: [{ cpuPerRequest: relay }],
    nginx: nginx.map((cpuPerRequest) => ({ cpuPerRequest })),
  },
});

test('the median of an even number of runs is the mean of the middle two', () => {
  const runs = [40, 10, 20, 90].map((resident) => ({ resident }));
  expect(median(runs, 'resident')).toBe(30);
  expect(median(runs.slice(0, 3), 'resident')).toBe(20);
  expect(median(runs, 'p50')).toBeNull();
  expect(median(undefined, 'resident')).toBeNull();
});

test('a ratio between goal and limit is kept but not reached', () => {
  expect(judge(requests(45, [10, 90, 5]), [budget])).toMatchObject([
    { value: 4.5, kept: true, reached: false },
  ]);
  expect(judge(requests(40, [10]), [budget])).toMatchObject([{ value: 4, kept: true, reached: true }]);
  expect(judge(requests(51, [10]), [budget])).toMatchObject([{ value: 5.1, kept: false, reached: false }]);
});

test('a comparison without its other side is skipped and never fails', () => {
  expect(judge(requests(40, []), [budget])).toMatchObject([{ value: null, kept: true, reached: false }]);
});

test('a figure may have to be at least something, or to exceed the direct one by no more than something', () => {
  const absolute = { says: '', scenario: 'requests', target: 'relay' } as const;
  const streams: Budget = {
    ...absolute,
    figure: 'streamsAtOnce',
    goal: 1000,
    limit: 1000,
    atLeast: true,
  };
  const added: Budget = {
    ...absolute,
    figure: 'p50',
    scale: 0.001,
    minus: { target: 'direct' },
    goal: 0.3,
    limit: 0.5,
  };
  const results = {
    requests: { relay: [{ streamsAtOnce: 999, p50: 420 }], direct: [{ p50: 20 }] },
  };
  expect(judge(results, [streams, added])).toMatchObject([
    { value: 999, kept: false },
    { value: 0.4, kept: true, reached: false },
  ]);
});

test('a figure can be compared with that of another scenario', () => {
  const cold: Budget = { ...budget, scenario: 'start', times: { scenario: 'requests', target: 'relay' } };
  const results = {
    ...requests(50, [10]),
    start: { relay: [{ cpuPerRequest: 225, idleResident: 70 }] },
  };
  expect(judge(results, [cold])).toMatchObject([{ value: 4.5, kept: true, reached: false }]);
});

test('the slowest of all targets can be judged, in multiples of one of them', () => {
  const chunk = (...cpuPerChunk: number[]): Figures[] => cpuPerChunk.map((value) => ({ cpuPerChunk: value }));
  const results = {
    pairs: {
      'pair-chat-chat': chunk(40),
      'pair-chat-gemini': chunk(90, 60, 50),
      'pair-gemini-chat': chunk(20),
    },
  };
  const dearest: Budget = {
    ...budget,
    scenario: 'pairs',
    target: 'dearest',
    figure: 'cpuPerChunk',
    times: { target: 'pair-chat-chat' },
    goal: 1.4,
    limit: 1.6,
  };
  expect(judge(results, [dearest])).toMatchObject([{ value: 1.5, kept: true, reached: false }]);
  expect(judge({ pairs: {} }, [dearest])).toMatchObject([{ value: null, kept: true }]);
  const rows = pairTable(results).split('\n');
  expect(rows[0]).toBe('CPU per chunk, times chat → chat (40.0 µs)');
  expect(rows.filter((row) => /^ +(Chat|Gemini)/.test(row)).map((row) => row.match(/[\d.]+×/g))).toEqual([
    ['1.00×', '1.50×'],
    ['0.50×'],
  ]);
  expect(pairTable({})).toBe('');
});

test('quartiles lie between figures in proportion, and the slope is that of the nearest line', () => {
  expect(quartiles([4, 1, 3, 2])).toEqual({ low: 1.75, middle: 2.5, high: 3.25 });
  expect(quartiles([7])).toEqual({ low: 7, middle: 7, high: 7 });
  expect(quartiles([]).middle).toBeNaN();
  const points = [
    [0, 1],
    [1, 2],
    [2, 6],
    [3, 5],
  ] as const;
  expect(trend(points)).toEqual({ slope: expect.closeTo(1.6), error: expect.closeTo(Math.sqrt(0.42)) });
  expect(trend([[1, 1]]).slope).toBeNaN();
});

test('a profile assigns the runtime to its callers, and packages to their names', () => {
  const node = (id: number, functionName: string, url: string, children: number[] = []): object => ({
    id,
    callFrame: { functionName, url, lineNumber: 8 },
    children,
  });
  const profile = {
    nodes: [
      node(1, '(root)', '', [2, 6]),
      node(2, 'serve', 'file:///tree/src/server/serve.ts', [3, 4]),
      node(3, 'parse', ''),
      node(4, 'prepare', '/tree/src/engine/attempt/prepare.ts', [5]),
      node(5, 'set', '/elsewhere/node_modules/@x/y/index.js'),
      node(6, 'tick', ''),
    ] as CpuProfile['nodes'],
    samples: [2, 3, 3, 3, 4, 4, 5, 6],
  };
  const { folders, files, functions } = sharesOf(profile, '/tree');
  expect(folders).toEqual([
    ['src/server', 0.5],
    ['src/engine/attempt', 0.25],
    ['node_modules/@x/y', 0.125],
    ['(runtime)', 0.125],
  ]);
  expect(files[0]).toEqual(['src/server/serve.ts', 0.5]);
  expect(functions.slice(0, 2)).toEqual([
    ['parse  of the runtime', 0.375],
    ['prepare  src/engine/attempt/prepare.ts:9', 0.25],
  ]);
});

test('a file is on the way of a request when one of its functions ran, not when it was only loaded', () => {
  const file = (url: string, ...calls: number[]): Coverage['result'][number] => ({
    url,
    functions: [
      { functionName: '', ranges: [{ startOffset: 0, count: 1 }] },
      ...calls.map((count) => ({ functionName: 'run', ranges: [{ startOffset: 9, count }] })),
    ],
  });
  const coverage = {
    result: [
      file('file:///tree/src/server/app.ts', 0, 2),
      file('file:///tree/src/server/loaded.ts', 0),
      file('file:///tree/src/routing/plan.ts', 1),
      file('file:///tree/src/routing/factors/cost.ts', 1),
      file('file:///tree/test/server.ts', 1),
    ],
  };
  const files = executedFiles(coverage, '/tree/src');
  expect([...files]).toEqual(['server/app.ts', 'routing/plan.ts', 'routing/factors/cost.ts']);
  expect([...callsOf(coverage, '/tree/src')]).toEqual([
    ['server/app.ts run:9', 2],
    ['routing/plan.ts run:9', 1],
    ['routing/factors/cost.ts run:9', 1],
  ]);
  const imports: Record<string, string[]> = {
    'server/app.ts': ['routing/index.ts', 'routing/plan.ts', 'server/loaded.ts', 'storage/index.ts'],
    'routing/plan.ts': ['routing/factors/index.ts'],
  };
  const importsOf = (path: string): string[] => imports[path] ?? [];
  expect(bordersOf(files, importsOf, dirname)).toEqual(['routing → routing/factors', 'server → routing']);
  expect(bordersOf(files, importsOf, (path) => path.split('/', 1)[0] ?? '')).toEqual(['server → routing']);
});
