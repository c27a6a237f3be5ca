// The lock file: `npm ci` takes it on every system, and it names no registry.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(import.meta.dir, '..', 'package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, Locked>> };

test('the lock file has what other systems than this one need', () => {
  const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(optional.length).toBeGreaterThan(40);
  // An install on one system leaves out, without a word, what is for others: `npm ci` then refuses on all of them.
  expect(
    optional.filter((name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))),
  ).toEqual([]);
});

test('the lock file leaves the registry to whoever installs', () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});
