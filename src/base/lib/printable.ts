// Makes texts of others safe to print at a terminal. Knows nothing of what the text is.

/** Control characters, those that turn the direction of text, and invisible ones: a terminal obeys or hides them. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/gu;

/** The text with `\u001b` and the like in the place of such characters. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, (character) => `\\u${codeOf(character)}`);
}

/** The same for text of several lines, which keeps its line ends and tabs. */
export function printableLines(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join('');
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
}
