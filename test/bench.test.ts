// The judgement of the benchmark: medians, ratios in the same run, goals and limits. The measuring itself is not
// tested here: it needs a quiet machine.
import { expect, test } from 'bun:test';
import { pairTable } from '../bench/pairs.ts';
import { type Budget, judge, median } from '../bench/report.ts';
import type { Figures } from '../bench/scenarios.ts';

function figures(known: Partial<Figures>): Figures {
  const none = { cpuPerRequest: null, cpuPerChunk: null, p50: null, p99: null };
  const noStream = { first50: null, first99: null, chunk50: null, chunk99: null };
  return { ...none, ...noStream, requestsPerSecond: 0, resident: 0, streamsAtOnce: 0, ...known };
}

const budget: Budget = {
  says: 'CPU per request, times nginx',
  scenario: 'requests',
  target: 'relay',
  figure: 'cpuPerRequest',
  against: 'nginx',
  goal: 4,
  limit: 5,
};

const requests = (relay: number, nginx: number[]): Parameters<typeof judge>[0] => ({
  requests: {
    relay: [figures({ cpuPerRequest: relay })],
    nginx: nginx.map((cpuPerRequest) => figures({ cpuPerRequest })),
  },
});

test('the median of an even number of runs is the mean of the middle two', () => {
  const runs = [40, 10, 20, 90].map((resident) => figures({ resident }));
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
  const streams: Budget = {
    ...budget,
    against: undefined,
    figure: 'streamsAtOnce',
    goal: 1000,
    limit: 1000,
    atLeast: true,
  };
  const added: Budget = { ...budget, against: 'direct', figure: 'p50', goal: 300, limit: 500 };
  const results = {
    requests: { relay: [figures({ streamsAtOnce: 999, p50: 420 })], direct: [figures({ p50: 20 })] },
  };
  expect(judge(results, [streams, added])).toMatchObject([
    { value: 999, kept: false },
    { value: 400, kept: true, reached: false },
  ]);
});

test('of all targets the dearest can be judged, in multiples of one of them', () => {
  const chunk = (...cpuPerChunk: number[]): Figures[] =>
    cpuPerChunk.map((value) => figures({ cpuPerChunk: value }));
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
    against: 'pair-chat-chat',
    times: true,
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
