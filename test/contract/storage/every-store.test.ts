// Every store has a contract suite in this folder, under its own name.
import { expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { POSTGRES_STORES } from '../../../src/storage/tables/stores.ts';

test('every store has a suite that runs on its databases', () => {
  const suites = new Set(readdirSync(import.meta.dir));
  const names = Object.keys(POSTGRES_STORES).map(
    (name) => `${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}.test.ts`,
  );
  expect(names.filter((name) => !suites.has(name))).toEqual([]);
});
