// Tests lie in folders by kind and room (`test/README.md`), and no folder grows past what a reader takes in.
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dir, '..');
const KINDS = [
  'clients',
  'console',
  'contract',
  'crash',
  'extending',
  'golden',
  'hostile',
  'packaging',
  'recordings',
  'repository',
  'requirements',
  'scenarios',
  'socket',
  'support',
  'unit',
];
const AT_TOP = ['README.md', 'run.mjs', 'timings.json'];
const MOST_FILES = 40;

function entries(folder: string, isFolder: boolean): readonly string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() === isFolder)
    .map(({ name }) => name)
    .sort();
}

test('no test lies outside a folder of its kind', () => {
  expect(entries(ROOT, true)).toEqual(KINDS);
  expect(entries(ROOT, false)).toEqual(AT_TOP);
});

test('no folder has too many files', () => {
  const full = (folder: string): readonly string[] => [
    ...(entries(folder, false).length > MOST_FILES ? [folder] : []),
    ...entries(folder, true).flatMap((name) => full(join(folder, name))),
  ];
  expect(KINDS.filter((kind) => kind !== 'golden').flatMap((kind) => full(join(ROOT, kind)))).toEqual([]);
});
