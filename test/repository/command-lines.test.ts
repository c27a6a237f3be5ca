// Every command line of `dragoman` that the documents show: its command, its action and its options exist.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { COMMANDS } from '../../src/app/cli/command-list.ts';
import { COMMON_OPTIONS } from '../../src/app/cli/options.ts';
import { markdownPages, ROOT } from '../support/doc-snippets.ts';

/** A program's name and what follows, up to the end of the line, of the code, of a pipe, or a comment. */
const LINE = /(?:npx --no |bin\/|\.\/|^|`|[A-Z_]+=\S+ |docker exec \S+ \/)dragoman(?:\.mjs)? ([^\n`|#;]+)/gm;
/** Words that stand where a reader puts in something. */
const PLACEHOLDER = /^(?:ACTION|COMMAND|NAME|ID|WORD|…|\[.*)$/;
const ALWAYS = ['help', 'version'];

interface Shown {
  readonly place: string;
  readonly words: readonly string[];
}

const shown: readonly Shown[] = markdownPages().flatMap((page) => {
  const text = readFileSync(join(ROOT, page), 'utf8').replaceAll(/ \\\n\s*/g, ' ');
  return [...text.matchAll(LINE)].map(([, rest = '']) => ({
    place: `${page}: dragoman ${rest.trim()}`,
    words: rest.trim().split(/\s+/),
  }));
});

function problemOf([name = '', ...rest]: readonly string[]): string | null {
  if (name === 'help' || name.startsWith('-') || PLACEHOLDER.test(name)) return null;
  const command = COMMANDS.find((each) => each.name === name);

  if (!command) return `there is no command ${name}`;
  const [action = ''] = rest;
  const isAction = /^[a-z]+$/.test(action) && command.actions !== undefined;
  if (isAction && !Object.hasOwn(command.actions ?? {}, action)) return `${name} has no action ${action}`;
  const known = new Set([...ALWAYS, ...Object.keys(COMMON_OPTIONS), ...Object.keys(command.options)]);
  const options = rest.flatMap((word) => /^--(?:no-)?([a-z][a-z-]*)/.exec(word)?.[1] ?? []);
  const wrong = options.filter((option) => !known.has(option));
  return wrong.length > 0 ? `${name} has no option --${wrong.join(', --')}` : null;
}

test('there are many', () => {
  expect(shown.length).toBeGreaterThan(80);
  expect(new Set(shown.map(({ words: [name] }) => name)).size).toBeGreaterThan(15);
});

test('every command line in the documents can be run', () => {
  const wrong = shown.flatMap(({ place, words }) => {
    const problem = problemOf(words);
    return problem === null ? [] : [`${place} (${problem})`];
  });
  expect(wrong).toEqual([]);
});
