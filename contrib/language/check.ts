// Checks the language of the project: `npm run language`, a part of `npm run check`. Long sentences in documents and
// READMEs are errors. Comments without a subject, and names with words listed in `names.ts`, are counted in
// `counts.json`. The counts may only decrease; `-- --write` updates them, and `-- --list` prints the findings.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderReadmes, markdownPages, ROOT } from '../../test/support/doc-snippets.ts';
import { commentsWithoutSubject } from './comments.ts';
import { refusedNames, WORDS } from './names.ts';
import { longSentences, MOST_WORDS } from './sentences.ts';

const COUNTS = join(import.meta.dirname, 'counts.json');
const FOLDERS = ['bench', 'bin', 'console', 'contrib', 'docs', 'sim', 'src', 'test'];
/** Generated files, and the lists of words themselves. */
const LEFT_OUT = /^(console\/api\/schema\.ts|contrib\/language\/\w+\.ts)$/;

/** Counts by a word in names, or by a folder for its comments. */
type Counts = Record<string, number>;

const problems: string[] = [];
const found: { readonly counted: string; readonly text: string }[] = [];

for (const page of [...markdownPages(), ...folderReadmes()])
  for (const sentence of longSentences(readFileSync(join(ROOT, page), 'utf8')))
    problems.push(`${page}: a sentence has more than ${MOST_WORDS} words: ${sentence}`);

for (const file of sources()) {
  const text = readFileSync(join(ROOT, file), 'utf8');
  for (const { line, text: comment } of commentsWithoutSubject(text)) {
    const counted = `comments without a subject in ${file.split('/', 1)[0]}/`;
    found.push({ counted, text: `${file}:${line}: the comment begins without a subject: ${comment}` });
  }
  for (const [name, word] of refusedNames(text)) {
    // Name of an HTML element.
    if (word === 'aside' && file.endsWith('.tsx')) continue;
    found.push({ counted: `names with "${word}"`, text: `${file}: ${name}: use ${WORDS[word]}` });
  }
}

const counts: Counts = {};
for (const { counted } of found) counts[counted] = (counts[counted] ?? 0) + 1;
if (process.argv.includes('--list')) console.log(found.map(({ text }) => text).join('\n'));
if (process.argv.includes('--write')) {
  const sorted = Object.fromEntries(Object.entries(counts).sort(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(COUNTS, `${JSON.stringify(sorted, null, 2)}\n`);
} else {
  const known = existsSync(COUNTS) ? (JSON.parse(readFileSync(COUNTS, 'utf8')) as Counts) : {};
  for (const counted of new Set([...Object.keys(known), ...Object.keys(counts)])) {
    const [count, most] = [counts[counted] ?? 0, known[counted] ?? 0];
    if (count > most)
      problems.push(`${counted}: ${count} (before: ${most}). List them with \`npm run language -- --list\`.`);
    if (count < most)
      console.log(
        `${counted}: ${count} (before: ${most}). Save the lower count with \`npm run language -- --write\`.`,
      );
  }
}
if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exitCode = 1;
}

function sources(): readonly string[] {
  const found = FOLDERS.flatMap((folder) =>
    [...new Bun.Glob(`${folder}/**/*.{ts,tsx,mjs,js}`).scanSync({ cwd: ROOT })].filter(
      (file) => !LEFT_OUT.test(file) && !file.includes('node_modules'),
    ),
  );
  return found.sort();
}
