// Finds the fenced blocks of the documentation that are marked for testing. A block opened with "```sh test" (or ts,
// python) is run, one of yaml is a configuration that must be valid; one opened with "```text prints" right behind it is what that must print, to the letter.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../..');

export interface Snippet {
  /** `docs/errors.md:12`: where the block begins. */
  readonly place: string;
  readonly language: string;
  readonly code: string;
  /** Expected output; undefined: only success is expected. */
  readonly prints: string | undefined;
}

/** Every Markdown page of the repository that is for people, by path from its root. */
export function markdownPages(): string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return below(path);
      return entry.name.endsWith('.md') ? [path] : [];
    });
  const top = readdirSync(ROOT).filter((name) => name.endsWith('.md'));
  return [...top, ...below('docs')].sort();
}

/** The README of each folder that has one, by path from the root. */
export function folderReadmes(): string[] {
  return ['bench', 'console', 'sim', 'src', 'test'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('README.md'))
      .map((name) => join(folder, name)),
  );
}

/** The marked blocks of all pages, in order. */
export function snippets(): Snippet[] {
  return markdownPages().flatMap((page) => snippetsOf(page, readFileSync(join(ROOT, page), 'utf8')));
}

function snippetsOf(page: string, text: string): Snippet[] {
  const found: { place: string; language: string; code: string; prints: string | undefined }[] = [];
  const fence = /^```(\w+) (test|prints)\n([\s\S]*?)^```$/gm;
  for (const match of text.matchAll(fence)) {
    const [, language = '', mark, code = ''] = match;
    const line = text.slice(0, match.index).split('\n').length;
    const last = found.at(-1);
    if (mark === 'test') found.push({ place: `${page}:${line}`, language, code, prints: undefined });
    else if (last) last.prints = code;
    else throw new Error(`${page}:${line}: output without a block that prints it`);
  }
  return found;
}
