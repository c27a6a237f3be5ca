// Counts tokens where no upstream has counted them: for truncation, and for questions that cost nothing. The tokenizer's
// tables are large and are loaded with the first question.
import type { CanonicalRequest, Item } from '../canonical/index.ts';
import { textOfTool, textsOf, tokensBesideText } from './prompt-contents.ts';

type Count = (text: string) => number;
let loaded: Promise<Count> | undefined;

/**
 * Texts are counted in pieces: the tokenizer's time grows with the square of the longest run of letters (32,768
 * characters of Chinese without a stop: 11 s), while each cut costs half a token. Measured 2026-11.
 */
const PIECE_CHARS = 512;
/** After so many pieces others get their turn: at most some 40 ms, usually one. */
const PIECES_AT_ONCE = 16;
/** Characters that are counted for one answer; the rest is taken to be like them. */
const MOST_CHARS = 1_000_000;

/** An estimate of the tokens of a prompt: its items, and its tools. */
export async function countInputTokens({
  items,
  tools,
}: Pick<CanonicalRequest, 'items' | 'tools'>): Promise<number> {
  const described = tools.map((tool): Item => ({
    type: 'message',
    role: 'system',
    parts: [{ type: 'text', text: textOfTool(tool) }],
  }));
  const counts = await countItemTokens([...items, ...described]);
  return counts.reduce((sum, count) => sum + count, 0);
}

/** An estimate of the tokens of some items, by OpenAI's `o200k_base`: within about a fifth for other families. */
export async function countItemTokens(items: readonly Item[]): Promise<readonly number[]> {
  const count = await (loaded ??= load());
  const counts: number[] = [];
  let chars = 0;
  let pieces = 0;
  let textTokens = 0;
  for (const item of items) {
    let tokens = tokensBesideText(item);
    for (const text of textsOf(item)) {
      for (let at = 0; at < text.length; at += PIECE_CHARS) {
        if (chars >= MOST_CHARS) {
          tokens += Math.ceil(((text.length - at) * textTokens) / chars);
          break;
        }
        const piece = text.slice(at, at + PIECE_CHARS);
        const found = count(piece);
        tokens += found;
        textTokens += found;
        chars += piece.length;
        if (++pieces % PIECES_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      }
    }
    counts.push(tokens);
  }
  return counts;
}

/** How many characters of text the items have: costs next to nothing, and says whether counting is worth while. */
export function textCharsOf(items: readonly Item[]): number {
  let chars = 0;
  for (const item of items) for (const text of textsOf(item)) chars += text.length;
  return chars;
}

async function load(): Promise<Count> {
  const { countTokens } = await import('gpt-tokenizer/encoding/o200k_base');
  // Texts of users may hold the names of special tokens: they are plain text here.
  return (text) => countTokens(text, { disallowedSpecial: new Set() });
}
