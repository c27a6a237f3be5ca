// A rough count of tokens that costs next to nothing: for what no upstream has counted. The careful one is in
// `count-tokens.ts`.
import type { CanonicalRequest } from '../../canonical/index.ts';
import { textOfTool, textsOf, tokensBesideText } from './prompt-contents.ts';

/** Characters per token where nobody counted: the usual figure for English text in current tokenizers. */
const CHARS_PER_TOKEN = 4;

/** Tokens of a text. @param chars its length */
export function estimatedTokens(chars: number): number {
  return Math.ceil(chars / CHARS_PER_TOKEN);
}

/**
 * Tokens of a prompt: what the model reads of it, whatever protocol it was written in. Images and files count as so
 * many tokens each, however long their bytes are.
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
