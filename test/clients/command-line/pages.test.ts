// The page of every command-line client names the package and the version that is tested.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientPage } from './client-page.ts';
import { CLIENTS } from './command-line-clients.ts';

test.each(Object.entries(CLIENTS))('%s', (name, { package: packageName, version }) => {
  expect(clientPage(name)).toContain(`\`${packageName}\` ${version}:`);
});

const README = readFileSync(join(import.meta.dirname, '..', '..', '..', 'README.md'), 'utf8');
const ROW = /^\| \[[^\]]+\]\(docs\/clients\/([\w-]+)\.md\) \| `([^`]+)` \| (.*) \|$/gm;
const rows = [...README.matchAll(ROW)].map(([, name = '', base = '', settings = '']) => ({
  name,
  base,
  settings,
}));

test('the README has ten clients', () => {
  expect(rows).toHaveLength(10);
});

test.each(rows)('the README agrees with the page of $name', ({ name, base, settings }) => {
  const page = clientPage(name);
  expect(page).toMatch(new RegExp(`${base}(?![\\w/])`));
  const words = [...settings.matchAll(/`([^`]+)`/g)].flatMap(([, setting = '']) => setting.split(/[\s.]+/));
  expect(words.filter((word) => !page.includes(word))).toEqual([]);
});
