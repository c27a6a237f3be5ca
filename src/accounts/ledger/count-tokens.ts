// Counts tokens locally, for truncation and for token counting endpoints. The tokenizer's tables are large, and loaded on
// first use.
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { loadBytePairs } from './byte-pairs.ts';
import { textOfTool, textsOf, tokensBesideText } from './prompt-contents.ts';

let loaded: ReturnType<typeof loadBytePairs> | undefined;

/** Texts are counted in pieces of this many characters. A cut costs half a token. */
const PIECE_CHARS = 512;
/** Pieces that are counted without a pause: a few milliseconds. */
const PIECES_AT_ONCE = 16;
/** Characters that are counted exactly. The rest is extrapolated. */
const MOST_CHARS = 1_000_000;

/** Promise of the last queued turn. */
let turns: Promise<void> = Promise.resolve();

/** Queues for a turn of the event loop. Only one of all running counts continues per turn. */
function nextTurn(): Promise<void> {
  turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));
  return turns;
}

/** Estimates the tokens of a prompt: items and tools. */
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

/**
 * Estimates the tokens of items by OpenAI's `o200k_base`. For other families the error is about 20 %.
 * @param isOver returns true if the caller no longer waits; the result is meaningless then
 */
export async function countItemTokens(
  items: readonly Item[],
  isOver?: () => boolean,
): Promise<readonly number[]> {
  const count = await (loaded ??= loadBytePairs());
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
        if (++pieces % PIECES_AT_ONCE !== 0) continue;
        await nextTurn();
        if (isOver?.() === true) return [];
      }
    }
    counts.push(tokens);
  }
  return counts;
}

/** Number of text characters in the items. Cheap, to decide whether counting is worthwhile. */
export function textCharsOf(items: readonly Item[]): number {
  let chars = 0;
  for (const item of items) for (const text of textsOf(item)) chars += text.length;
  return chars;
}
