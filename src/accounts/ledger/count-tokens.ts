// Counts tokens where no upstream has counted them: for truncation, and for questions that cost nothing. The tokenizer's
// tables are large and are loaded with the first question.
import type { CanonicalRequest, Item } from '../../canonical/index.ts';
import { loadBytePairs } from './byte-pairs.ts';
import { textOfTool, textsOf, tokensBesideText } from './prompt-contents.ts';

let loaded: ReturnType<typeof loadBytePairs> | undefined;

/** Texts are counted in pieces, each of which may be one word; a cut costs half a token. */
const PIECE_CHARS = 512;
/** After so many pieces others get their turn: a few milliseconds. */
const PIECES_AT_ONCE = 16;
/** Characters that are counted for one answer; the rest is taken to be like them. */
const MOST_CHARS = 1_000_000;

/** Settles when the turn has come of whoever asked last. */
let turns: Promise<void> = Promise.resolve();

/** In one turn of the loop only one of all texts that are counted goes on, however many there are. */
function nextTurn(): Promise<void> {
  turns = turns.then(() => new Promise((resolve) => setImmediate(resolve)));
  return turns;
}

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

/**
 * An estimate of the tokens of some items, by OpenAI's `o200k_base`: within about a fifth for other families.
 * @param isOver nobody waits for it any longer, and what is returned means nothing
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

/** Number of characters of text that the items have: costs next to nothing, and says whether counting is worth while. */
export function textCharsOf(items: readonly Item[]): number {
  let chars = 0;
  for (const item of items) for (const text of textsOf(item)) chars += text.length;
  return chars;
}
