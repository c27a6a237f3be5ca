// The explained route as text: alignment, widths, colours, and tables that are not quite as expected.
import { expect, test } from 'bun:test';
import { isRouteTable, routeText } from '../../../../../src/app/cli/commands/route-text.ts';

const FAST = {
  position: 1,
  endpoint: 'groq/fast',
  provider: 'groq',
  model: 'm/one',
  score: 0.9512,
  reason: 'cheapest of those that are sound',
  price: { input: 0.1, output: 0.4 },
  first_token_ms: 182.4,
  tokens_per_second: 240.6,
  success_rate: 0.998,
  in_flight: 2,
  state: 'closed',
  cache_hit_rate: 0.41,
  holds_cache: true,
};
const SLOW = {
  ...FAST,
  position: 2,
  endpoint: 'openai',
  model: 'm/two',
  score: null,
  reason: 'unavailable until 12:00:05: 5 failures in 30 s (upstream_unavailable)',
  price: null,
  first_token_ms: null,
  tokens_per_second: null,
  success_rate: null,
  in_flight: 0,
  state: 'open',
  cache_hit_rate: null,
  holds_cache: false,
};
const TABLE = {
  requested_model: 'dragoman/auto',
  strategy: {
    type: 'priority',
    primary_factor: 'cost',
    fallback: ['groq', 'm/two'],
    stream_safety: 'error',
    hedge: false,
  },
  models: { complexity: 'high', complexity_estimated: true, preference: null, weights: { price: 0.2 } },
  candidates: [FAST, SLOW],
  excluded: [
    { model: 'm/one', endpoint: 'groq/slow', reason: 'ignored by the request' },
    { model: 'm/three', endpoint: null, reason: 'reads no images' },
  ],
};
const PLAIN = { width: null, colour: false };

/** No line of these is longer than the terminal is wide. */
function widest(text: string): number {
  return Math.max(...text.split('\n').map((line) => line.length));
}

test('everything is shown in columns when nothing limits the width', () => {
  expect(routeText(TABLE, PLAIN)).toBe(
    `dragoman/auto: priority by cost, fallback to groq, m/two, stream safety error, hedge off
models by complexity high, complexity_estimated true, weights (price 0.2)

#  ENDPOINT   MODEL  SCORE  STATE        $/M IN+OUT  TTFT    TOK/S  SUCCESS  RUNNING  CACHE         WHY
1  groq/fast  m/one  0.95   ok           0.1+0.4     182 ms  241    99 %     2        cached, 41 %  cheapest of those that are sound
2  openai     m/two  –      unavailable  –           –       –      –        0        –             unavailable until 12:00:05: 5 failures in 30 s (upstream_unavailable)

Not tried:
  groq/slow  m/one    ignored by the request
  (all)      m/three  reads no images
`,
  );
});

test('unknown values have no column, and switches are printed as words', () => {
  const text = routeText(
    {
      ...TABLE,
      models: null,
      strategy: { ...TABLE.strategy, primary_factor: null, fallback: true, hedge: true },
      candidates: [{ ...SLOW, position: 1 }],
      excluded: [],
    },
    PLAIN,
  );
  expect(text).toStartWith('dragoman/auto: priority, fallback on, stream safety error, hedge on\n\n#');
  expect(text).toMatch(/^# {2}ENDPOINT {2}MODEL {2}STATE {8}RUNNING {2}WHY$/m);
  expect(text).not.toContain('Not tried');
});

test.each([120, 100, 80, 60])('a terminal of %i columns is not overrun, and reasons stay whole', (width) => {
  const text = routeText(TABLE, { width, colour: false });
  expect(widest(text)).toBeLessThanOrEqual(width);
  const words = text.split(/\s+/).join(' ');
  for (const word of ['groq/fast', 'openai', '(upstream_unavailable)', 'ignored by the request'])
    expect(words).toContain(word);
});

test('less important columns are dropped first', () => {
  const titles = (width: number): string[] =>
    routeText(TABLE, { width, colour: false })
      .split('\n')
      .filter((line) => line.startsWith('#'))
      .flatMap((line) => line.split(/ {2,}/));
  expect(titles(200)).toContain('CACHE');
  expect(titles(110)).not.toContain('CACHE');
  expect(titles(110)).toContain('TTFT');
  expect(titles(50)).toEqual(['#', 'ENDPOINT', 'MODEL', 'WHY']);
});

test('colours are added if enabled, and change nothing else', () => {
  const coloured = routeText(TABLE, { width: 100, colour: true });
  expect(coloured).toContain('\x1b[32mok');
  expect(coloured).toContain('\x1b[31munavailable');
  expect(coloured.replace(/\x1b\[\d+m/g, '')).toBe(routeText(TABLE, { width: 100, colour: false }));
});

test('a long list of skipped endpoints is truncated, with a note', () => {
  const excluded = Array.from({ length: 42 }, (_, at) => ({
    model: `m/${at}`,
    endpoint: null,
    reason: 'no',
  }));
  const lines = routeText({ ...TABLE, excluded }, PLAIN).split('\n');
  expect(lines.filter((line) => line.includes('(all)'))).toHaveLength(30);
  expect(lines.at(-2)).toBe('  … and 12 more (--json shows all)');
});

test('whole responses have their own duration', () => {
  const text = routeText({ ...TABLE, candidates: [{ ...SLOW, answer_ms: 2100.4 }] }, PLAIN);
  expect(text).toMatch(/^# .* DURATION .*\n1? ?.* 2100 ms /m);
});

test('names cannot control the terminal', () => {
  const text = routeText({ ...TABLE, requested_model: 'a\x1b[2Jb\u009b\nc' }, PLAIN);
  expect(text).toStartWith(String.raw`a\u001b[2Jb\u009b\u000ac: priority`);
});

test('a table of another version is shown as far as possible', () => {
  const odd = { candidates: [{ endpoint: 'x', state: 'idle', reason: 7 }, 'nonsense'], excluded: [null] };
  expect(isRouteTable(odd)).toBe(true);
  expect(routeText(odd, PLAIN)).toMatch(/^–  x +idle {3}7$/m);
  expect([{}, null, [], { candidates: [] }, 'text'].filter(isRouteTable)).toEqual([]);
});

test('compared models have their own table, and their endpoints do not repeat it', () => {
  const measures = { quality: 0.9, cheapness: 0.2, speed: 0.5 };
  const reason = 'quality 0.90, cheapness 0.20, speed 0.50';
  const text = routeText(
    {
      ...TABLE,
      models: {
        complexity: 'high',
        order: [
          { model: 'm/one', score: 0.951, measures, reason },
          { model: 'm/two', score: null, measures: null, reason: 'requested' },
        ],
        excluded: { 'cannot reason': 3 },
      },
      candidates: [
        { ...FAST, reason: `${reason}; priority 1` },
        { ...SLOW, reason: 'requested; priority 1' },
      ],
      excluded: [],
    },
    PLAIN,
  );
  expect(text).toBe(
    `dragoman/auto: priority by cost, fallback to groq, m/two, stream safety error, hedge off
models by complexity high
left out: cannot reason (3)

#  MODEL  SCORE  QUALITY  CHEAPNESS  SPEED  WHY
1  m/one  0.95   0.90     0.20       0.50
2  m/two  –      –        –          –      requested

#  ENDPOINT   MODEL  STATE        $/M IN+OUT  TTFT    TOK/S  SUCCESS  RUNNING  CACHE         WHY
1  groq/fast  m/one  ok           0.1+0.4     182 ms  241    99 %     2        cached, 41 %  priority 1
2  openai     m/two  unavailable  –           –       –      –        0        –             priority 1
`,
  );
});
