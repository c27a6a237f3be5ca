// Counts tokens by OpenAI's `o200k_base`, with the tables and the pattern of `gpt-tokenizer`. Its own code is not used,
// because it blocks for nearly half a second while it builds its tables.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { toByteString } from '../../base/lib/bytes.ts';

/** Longer words are counted in pieces, because merging is quadratic in a word's bytes. Each cut costs half a token. */
const WORD_BYTES = 128;
/** Lines of the table that are read without a pause: about 2 ms. */
const LINES_AT_ONCE = 2_000;
/** Number of cached words. The same merged words occur in most texts. */
const REMEMBERED = 20_000;
const SPACE = 32;
const LF = 10;

/**
 * Reads the tables in small steps.
 * @returns a function that counts the tokens of a text. Special tokens are counted as plain text
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

/** Rank of each token in the order of merging, by its bytes. A line of the table is base64, a space, and the rank. */
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

/** Merges the neighbours with the lowest rank until no pair can be merged. @returns the number of remaining parts */
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
