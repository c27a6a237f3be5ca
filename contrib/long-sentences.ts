// Refuses sentences of more than 25 words in the documents and the READMEs of folders: `npm run check` runs it.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderReadmes, markdownPages, ROOT } from '../test/support/doc-snippets.ts';

const MOST_WORDS = 25;

/** Sentences of a page that are too long. Code and addresses count as one word; a cell of a table is text of its own. */
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

const problems = [...markdownPages(), ...folderReadmes()].flatMap((page) =>
  longSentences(readFileSync(join(ROOT, page), 'utf8')).map((sentence) => `${page}: ${sentence}`),
);
if (problems.length > 0) {
  console.error(
    `Sentences of more than ${MOST_WORDS} words, of which documents have none:\n  ${problems.join('\n  ')}`,
  );
  process.exitCode = 1;
}
