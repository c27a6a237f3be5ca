// Finds long sentences in documents.

export const MOST_WORDS = 25;

/** Sentences of a page that are too long. Code and URLs count as one word. Each table cell is checked separately. */
export function longSentences(markdown: string): readonly string[] {
  const prose = markdown
    .replaceAll(/^```[\s\S]*?^```$/gm, '\n\n')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/`[^`\n]*`/g, 'code')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/^(#+ .*)$/gm, '\n$1\n')
    .replaceAll(/^ *(?:[-*]|\d+\.) /gm, '\n\n')
    .replaceAll('|', '\n\n');
  return prose
    .split(/\n\s*\n/)
    .flatMap((block) => block.replaceAll(/\s+/g, ' ').split(/(?<=[.!?])["')*]* (?=\S)/))
    .filter((sentence) => sentence.split(' ').filter((word) => /\w/.test(word)).length > MOST_WORDS);
}
