// The lock file: `npm ci` takes it on every system, and it names no registry.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Locked {
  readonly dev?: boolean;
  readonly deprecated?: string;
  readonly engines?: { readonly node?: string };
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const text = readFileSync(join(import.meta.dir, '..', '..', 'package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as { readonly packages: Readonly<Record<string, Locked>> };

test('the lock file contains the packages of other systems', () => {
  const optional = Object.values(packages).flatMap(({ optionalDependencies = {} }) =>
    Object.keys(optionalDependencies),
  );
  expect(optional.length).toBeGreaterThan(40);
  // An install on one system leaves out, without a word, what is for others: `npm ci` then refuses on all of them.
  expect(
    optional.filter((name) => !Object.keys(packages).some((path) => path.endsWith(`node_modules/${name}`))),
  ).toEqual([]);
});

test('the lock file names no registry', () => {
  expect(Object.values(packages).filter(({ resolved }) => resolved !== undefined)).toEqual([]);
});

/** Node under which npm may install it; the program itself runs on its own runtime. */
const NODES = ['20.19.0', '22.12.0', '24.0.0'];

test.each(NODES)('dependencies of the program require at most Node %s, and none is deprecated', (node) => {
  const needed = Object.entries(packages).filter(([path, { dev }]) => path !== '' && dev !== true);
  expect(needed.length).toBeGreaterThan(40);
  const refused = needed.filter(
    ([, { engines, deprecated }]) =>
      deprecated !== undefined || !Bun.semver.satisfies(node, engines?.node ?? '*'),
  );
  expect(refused.map(([path]) => path)).toEqual([]);
});

test('packages for tests cause no warnings on installation', () => {
  expect(readFileSync(join(import.meta.dir, '..', '..', '.npmrc'), 'utf8')).toContain('loglevel=error');
});

test('docs/dependencies.md gives the reason for every dependency, and their number', () => {
  const page = readFileSync(join(import.meta.dir, '..', '..', 'docs', 'dependencies.md'), 'utf8');
  const { dependencies } = JSON.parse(
    readFileSync(join(import.meta.dir, '..', '..', 'package.json'), 'utf8'),
  ) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  const named = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .flatMap((line) => [...(line.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => name));
  // The table of upstream clients names one of the runtime's own.
  expect(named.filter((name) => name !== 'fetch').toSorted()).toEqual(Object.keys(dependencies).toSorted());
  expect(page).toContain(`has ${Object.keys(dependencies).length} direct dependencies`);
});
