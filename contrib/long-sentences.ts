// Counts sentences of more than 25 words in the documents: `npm run check` runs it. All together have no more than `long-sentences.json`
// says, and none are in pages that it does not name. The number may only fall: `npm run sentences -- --write` lowers them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { markdownPages, ROOT } from '../test/doc-snippets.ts';

const COUNTS = join(import.meta.dirname, 'long-sentences.json');
const MOST_WORDS = 25;

/** Sentences of a page that are too long. Code, addresses and the cells of tables that are lists of words do not count as one. */
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

interface Allowed {
  /** Of all pages together. */
  readonly total: number;
  /** Pages that still have some; all others have none. */
  readonly pages: readonly string[];
}

const allowed = JSON.parse(readFileSync(COUNTS, 'utf8')) as Allowed;
const pages: string[] = [];
const problems: string[] = [];
let total = 0;
for (const page of markdownPages()) {
  const long = longSentences(readFileSync(join(ROOT, page), 'utf8'));
  total += long.length;
  if (long.length > 0) pages.push(page);
  if (long.length > 0 && !allowed.pages.includes(page))
    problems.push(
      `${page}: ${long.length} sentences of more than ${MOST_WORDS} words, where there were none:`,
      ...long,
    );
}
if (total > allowed.total)
  problems.push(
    `${total} sentences of more than ${MOST_WORDS} words in all documents, at most ${allowed.total}`,
  );
if (process.argv.includes('--write')) {
  const left: Allowed = {
    total: Math.min(total, allowed.total),
    pages: pages.filter((page) => allowed.pages.includes(page)),
  };
  writeFileSync(COUNTS, `${JSON.stringify(left, null, 2)}\n`);
} else if (problems.length > 0) {
  console.error(problems.join('\n  '));
  process.exit(1);
}
