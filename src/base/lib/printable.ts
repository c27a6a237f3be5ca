// Makes untrusted text safe to print to a terminal.

/** Control characters, bidirectional controls and invisible characters. Terminals obey or hide them. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061C\u200B-\u200F\u202A-\u202E\u2060-\u206F\uFEFF]/gu;

/** Replaces unsafe characters by escapes such as `\u001b`. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, (character) => `\\u${codeOf(character)}`);
}

/** The same for text of several lines: line ends and tabs stay. */
export function printableLines(text: string): string {
  return text
    .split(/(\r?\n|\t)/)
    .map((part, index) => (index % 2 === 0 ? printable(part) : part))
    .join('');
}

function codeOf(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0');
}
