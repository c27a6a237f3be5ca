// Counting tokens without an upstream: close to the tokenizer's own count, and no text can hold up the process.
import { expect, test } from 'bun:test';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import type { Item } from '../../../src/canonical/index.ts';
import { loadBytePairs } from '../../../src/accounts/ledger/byte-pairs.ts';
import { countItemTokens } from '../../../src/accounts/ledger/index.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';

const say = (text: string): Item => ({ type: 'message', role: 'user', parts: [{ type: 'text', text }] });
const PROSE = 'The quick brown fox jumps over the lazy dog; it was 1999, and "fine" (really)! ';

async function count(text: string): Promise<number> {
  const [counted = 0] = await countItemTokens([say(text)]);
  return counted;
}

test('makes its tables over many turns of the loop, and not in one', async () => {
  let turns = 0;
  let isDone = false;
  const beat = (): void => {
    turns++;
    if (!isDone) setImmediate(beat);
  };
  beat();
  await loadBytePairs();
  isDone = true;
  expect(turns).toBeGreaterThan(50);
});

test('equals the count of the tokenizer', async () => {
  const texts = [
    PROSE.repeat(5),
    '春眠不觉晓处处闻啼鸟。'.repeat(20),
    '😀👩‍👩‍👧 e\u0301 <|endoftext|> \ud800 \0',
    'a'.repeat(500),
    '\r\n\t  x = {"a": [1, 23456, -7.5e3]};  // Straße\n\n',
    Buffer.from(Array.from({ length: 500 }, (_, at) => (at * 7919) % 251))
      .toString('base64')
      .slice(0, 512),
  ];
  const beside = await count('');
  for (const text of texts)
    expect((await count(text)) - beside, text).toBe(countTokens(text, { disallowedSpecial: new Set() }));
});

test('is within a hundredth of the whole text in pieces', async () => {
  const text = PROSE.repeat(500);
  const whole = countTokens(text);
  const counted = await count(text);
  expect(Math.abs(counted - whole) / whole).toBeLessThan(0.01);
});

test('extrapolates the rest of a very long text from its beginning', async () => {
  const once = await count(PROSE.repeat(12_000));
  const [first = 0, second = 0] = await countItemTokens([
    say(PROSE.repeat(12_000)),
    say(PROSE.repeat(12_000)),
  ]);
  expect(first).toBe(once);
  expect(Math.abs(second - once) / once).toBeLessThan(0.01);
});

test('does not stall on runs without a break', async () => {
  await count('warm');
  const hostile = ['春眠不觉晓处处闻啼鸟'.repeat(6_000), 'a'.repeat(60_000), '!'.repeat(60_000)];
  for (const text of hostile) {
    let longest = 0;
    let last = usedMs();
    const beat = setInterval(() => {
      longest = Math.max(longest, usedMs() - last);
      last = usedMs();
    }, 1);
    const counted = await count(text);
    longest = Math.max(longest, usedMs() - last);
    clearInterval(beat);
    expect(counted).toBeGreaterThan(3_000);
    expect(longest).toBeLessThan(500);
  }
});
