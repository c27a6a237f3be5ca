// Estimates tokens by length, where no upstream has counted them. `count-tokens.ts` counts with a tokenizer.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { textOfTool, textsOf, tokensBesideText } from './prompt-contents.ts';

/** Characters per token: the usual figure for English text in current tokenizers. */
const CHARS_PER_TOKEN = 4;

/** Estimates the tokens of a text. @param chars its length */
export function estimatedTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/**
 * Estimates the tokens of a prompt, independent of its protocol. Each image or file counts as a fixed number of tokens.
 */
export function estimatedInputTokens({ items, tools }: Pick<CanonicalRequest, 'items' | 'tools'>): number {
  let chars = 0;
  let tokens = 0;
  for (const item of items) {
    for (const text of textsOf(item)) chars += text.length;
    tokens += tokensBesideText(item);
  }
  for (const tool of tools) chars += textOfTool(tool).length;
  return tokens + estimatedTokens(chars);
}
