// Outcomes of calls that persons allowed are remembered for clients that lost the answer, and give their memory back.
import { describe, expect, test } from 'bun:test';
import { ApprovedCalls } from '../../../src/engine/tool-loop/approved-calls.ts';
import { type CallOutcome, type GatewayCall, said } from '../../../src/engine/tools/gateway-tool.ts';

const { signal } = new AbortController();
const LIMITS = { maxBytes: 40_000, maxProjectBytes: 20_000, outcomeMs: 1_000, mostMade: 100 };

let made = 0;
const call = (name: string, chars = 10): GatewayCall => ({
  facts: { type: 'mcp', server: 'shop', name, input: {} },
  question: null,
  run: async () => {
    made++;
    const text = name.padEnd(chars, '.');
    return said('seen', { type: 'mcp', server: 'shop', name, input: {}, output: text });
  },
});
const outputOf = ({ facts }: CallOutcome): string => ('output' in facts ? (facts.output ?? '') : '');

function remembering(): {
  ask: (key: string, of: GatewayCall) => Promise<string>;
  later: (ms: number) => void;
} {
  let now = 0;
  const calls = new ApprovedCalls(() => now, LIMITS);
  made = 0;
  return {
    ask: async (key, of) => outputOf(await calls.make(key, of, signal)),
    later: (ms) => void (now += ms),
  };
}

describe('a call that was allowed', () => {
  test('is made once, and its result is available for a while', async () => {
    const { ask, later } = remembering();
    expect(await ask('a', call('pay'))).toStartWith('pay');
    expect(await ask('a', call('pay'))).toStartWith('pay');
    later(1_000);
    expect(await ask('a', call('pay'))).toContain('executed before');
    expect(made).toBe(1);
  });

  test('is made once even if its result is too large to be kept', async () => {
    const { ask } = remembering();
    await ask('a', call('photo', 30_000));
    expect(await ask('a', call('photo', 30_000))).toContain('executed before');
    expect(made).toBe(1);
  });

  test('that is requested twice at once is made once', async () => {
    const { ask } = remembering();
    await Promise.all([ask('a', call('pay')), ask('a', call('pay'))]);
    expect(made).toBe(1);
  });
});

test('outcomes of one key displace its own, and those of all keys the oldest', async () => {
  const { ask } = remembering();
  await ask('b', call('first', 9_000));
  for (const name of ['one', 'two', 'three']) await ask('a', call(name, 9_000));
  expect(await ask('a', call('one', 9_000))).toContain('executed before');
  expect(await ask('a', call('three', 9_000))).toStartWith('three');
  expect(await ask('b', call('first', 9_000))).toStartWith('first');
  for (const name of ['four', 'five']) await ask('c', call(name, 9_000));
  expect(await ask('b', call('first', 9_000))).toContain('executed before');
  expect(await ask('c', call('five', 9_000))).toStartWith('five');
});

test('hundreds of large outcomes leave no more than their share in memory', async () => {
  let now = 0;
  const calls = new ApprovedCalls(() => now);
  const before = process.memoryUsage().rss;
  for (let n = 0; n < 150; n++) await calls.make(`key${n % 10}`, call(`${n} `, 4 * 1_048_576), signal);
  Bun.gc(true);
  expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1_048_576);
  now += 24 * 3_600_000;
  expect(outputOf(await calls.make('key9', call('149 ', 4 * 1_048_576), signal))).toContain(
    'executed before',
  );
});
