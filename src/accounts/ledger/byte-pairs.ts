// Tokens of a text by OpenAI's `o200k_base`, counted with the tables and the pattern of `gpt-tokenizer` but without its code,
// which makes its tables in one go of nearly half a second. Knows nothing of prompts.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { toByteString } from '../../base/lib/byte-string.ts';

/** Longer words are counted in pieces: merging takes the square of a word's bytes, and each cut costs half a token. */
const WORD_BYTES = 128;
/** Lines of the table between two turns of others: some two milliseconds. */
const LINES_AT_ONCE = 2_000;
/** Words whose tokens are remembered: those that are merged come again in most texts. */
const REMEMBERED = 20_000;
const SPACE = 32;
const LF = 10;

/**
 * Reads the tables, a little at a time.
 * @returns counts the tokens of a text, of which no part is a special token
 */
export async function loadBytePairs(): Promise<(text: string) => number> {
  const { O200K_TOKEN_SPLIT_REGEX } = await import('gpt-tokenizer/encodingParams/constants');
  const ranks = await readRanks();
  const remembered = new Map<string, number>();
  const countWord = (bytes: string): number => {
    let tokens = ranks.has(bytes) ? 1 : remembered.get(bytes);
    if (tokens !== undefined) return tokens;
    tokens = countMerged(bytes, ranks);
    if (remembered.size === REMEMBERED) remembered.clear();
    remembered.set(bytes, tokens);
    return tokens;
  };
  return (text) => {
    let tokens = 0;
    for (const [word] of text.matchAll(O200K_TOKEN_SPLIT_REGEX)) {
      const bytes = toByteString(word);
      for (let at = 0; at < bytes.length; at += WORD_BYTES)
        tokens += countWord(
          at === 0 && bytes.length <= WORD_BYTES ? bytes : bytes.slice(at, at + WORD_BYTES),
        );
    }
    return tokens;
  };
}

/** The place of each token in the order of merging, by its bytes. A line of the table is base64, a space, and the place. */
async function readRanks(): Promise<ReadonlyMap<string, number>> {
  const known = import.meta.resolve('gpt-tokenizer/encodingParams/constants');
  const table = await readFile(fileURLToPath(new URL('../../data/o200k_base.tiktoken', known)));
  const ranks = new Map<string, number>();
  for (let at = 0, lines = 1; at < table.length; lines++) {
    const space = table.indexOf(SPACE, at);
    const end = table.indexOf(LF, space);
    const line = end < 0 ? table.length : end;
    ranks.set(atob(table.toString('latin1', at, space)), Number(table.toString('latin1', space + 1, line)));
    at = line + 1;
    if (lines % LINES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  return ranks;
}

/** Merges the two neighbours that come first in the order until none are left that do. @returns how many remain */
function countMerged(bytes: string, ranks: ReadonlyMap<string, number>): number {
  const starts: number[] = [];
  for (let at = 0; at <= bytes.length; at++) starts.push(at);
  const rankAt = (index: number): number =>
    index + 2 < starts.length
      ? (ranks.get(bytes.slice(starts[index], starts[index + 2])) ?? Infinity)
      : Infinity;
  const pairs = starts.map((_, index) => rankAt(index));
  for (;;) {
    let first = -1;
    let lowest = Infinity;
    for (let index = 0; index < pairs.length; index++) {
      const rank = pairs[index] ?? Infinity;
      if (rank < lowest) {
        lowest = rank;
        first = index;
      }
    }
    if (first < 0) return starts.length - 1;
    starts.splice(first + 1, 1);
    pairs.splice(first + 1, 1);
    pairs[first] = rankAt(first);
    if (first > 0) pairs[first - 1] = rankAt(first - 1);
  }
}
