// The rules of the console's own sources: which street may know which, what only one file may do, and how large a file may grow.
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { importStatements } from '../import-statements.ts';

const ROOT = join(import.meta.dir, '..', '..', 'console');
const MAX_LINES = 400;
/** Made by `npm run docs`. */
const GENERATED = 'api/schema.ts';

/** Streets that each may import besides itself. Pages do not know each other. */
const PAGE = ['api', 'format', 'ui'];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  build: [],
  api: [],
  format: [],
  ui: ['format'],
  session: ['api', 'ui'],
  overview: PAGE,
  requests: PAGE,
  playground: PAGE,
  models: PAGE,
  keys: PAGE,
  routing: PAGE,
  app: ['session', ...PAGE],
};
/** Which pages there are, and what stands in their addresses. */
const ROUTER = 'app/router.tsx';

/** Packages, each with the places that may know it; what is not here, nobody may. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  react: /\.tsx?$/,
  'react-dom/client': /^main\.tsx$/,
  '@base-ui/react': /^ui\//,
  '@tanstack/react-query': /\.tsx?$/,
  '@tanstack/react-router': /\.tsx$/,
  '@tanstack/react-virtual': /^requests\/request-rows\.tsx$/,
  tailwindcss: /^build\/tailwind\.ts$/,
  uplot: /^ui\/chart\.tsx$/,
};

const sources = readdirSync(ROOT, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(ROOT, file), 'utf8') }));
const imports = sources.flatMap(({ file, text }) =>
  importStatements(text).map(({ specifier }) => ({
    file,
    specifier,
    target: specifier.startsWith('.') ? relative(ROOT, join(ROOT, dirname(file), specifier)) : null,
  })),
);

const streetOf = (file: string): string => (file.includes('/') ? file.slice(0, file.indexOf('/')) : '');
/** Comments aside. */
const filesWith = (pattern: RegExp): readonly string[] =>
  sources.filter(({ text }) => pattern.test(text.replace(/^\s*\/\/.*$/gm, ''))).map(({ file }) => file);

describe('imports', () => {
  test('follow the streets', () => {
    expect(imports.length).toBeGreaterThan(sources.length);
    const streets = new Set(sources.map(({ file }) => streetOf(file)).filter((street) => street !== ''));
    expect([...streets].toSorted()).toEqual(Object.keys(MAY_IMPORT).toSorted());
    const wrong = imports.filter(({ file, target }) => {
      const from = streetOf(file);
      if (target === null || from === '' || file === ROUTER) return false;
      const to = streetOf(target);
      return to !== from && MAY_IMPORT[from]?.includes(to) !== true;
    });
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  test('name packages only where these are meant to be known', () => {
    const wrong = imports.filter(({ file, specifier, target }) => {
      if (target !== null || specifier.startsWith('node:'))
        return target === null && streetOf(file) !== 'build';
      const known = Object.keys(PACKAGES).find(
        (name) => specifier === name || specifier.startsWith(`${name}/`),
      );
      return known === undefined || PACKAGES[known]?.test(file) !== true;
    });
    expect(wrong.map(({ file, specifier }) => `${file} imports ${specifier}`)).toEqual([]);
  });

  test('use whatever a file offers', () => {
    const taken = new Map<string, Set<string>>();
    for (const { file, text } of sources)
      for (const [, names = '', specifier = ''] of text.matchAll(
        /(?:import|export)\s+(?:type\s+)?\{([^}]*)\}\s+from\s+'(\.[^']+)'/g,
      )) {
        const target = relative(ROOT, join(ROOT, dirname(file), specifier));
        const known = taken.get(target) ?? new Set();
        taken.set(target, known);
        for (const name of names.split(','))
          known.add(
            name
              .trim()
              .replace(/^type\s+/, '')
              .replace(/\s+as.*/, ''),
          );
      }
    // Pages are fetched by name when somebody goes there.
    for (const [, specifier = '', name = ''] of readFileSync(join(ROOT, ROUTER), 'utf8').matchAll(
      /import\('([^']+)'\),\s*'(\w+)'/g,
    ))
      taken.set(relative(ROOT, join(ROOT, 'app', specifier)), new Set([name]));
    const unused = sources
      .filter(({ file }) => file !== GENERATED && streetOf(file) !== 'build')
      .flatMap(({ file, text }) =>
        [...text.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm)]
          .filter(([, name = '']) => taken.get(file)?.has(name) !== true)
          .map(([, name]) => `${file}: ${name}`),
      );
    expect(unused).toEqual([]);
  });
});

describe('only one place may', () => {
  test('ask over the network', () => {
    expect(filesWith(/\bfetch\(/)).toEqual([
      'api/client.ts',
      'playground/stream.ts',
      'routing/explain-route.ts',
    ]);
    expect(filesWith(/\bnew EventSource\(/)).toEqual(['api/events.ts']);
    expect(filesWith(/\b(?:XMLHttpRequest|sendBeacon|new WebSocket)\b/)).toEqual([]);
  });

  test('keep something in the browser, and it is no secret', () => {
    expect(filesWith(/\b(?:localStorage|sessionStorage|indexedDB|document\.cookie)\b/)).toEqual([
      'session/theme.ts',
    ]);
  });
});

describe('how sources are written', () => {
  test(`no file is longer than ${MAX_LINES} lines, and each begins by saying what it owns`, () => {
    expect(
      sources
        .filter(({ file, text }) => file !== GENERATED && text.trimEnd().split('\n').length > MAX_LINES)
        .map(({ file }) => file),
    ).toEqual([]);
    expect(sources.filter(({ text }) => !/^\/\/ \S.{15,}/.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test('texts of others are never markup, and nothing is run that was a text', () => {
    expect(
      filesWith(/dangerouslySetInnerHTML|\.innerHTML\b|insertAdjacentHTML|\beval\(|new Function\(/),
    ).toEqual([]);
  });

  test('no type is given up, and nothing is silenced', () => {
    expect(filesWith(/(?::|\bas|<|\||&|=>)\s*any\b|\bany\[\]|@ts-|(?:oxlint|eslint)-disable/)).toEqual([]);
  });

  test('files are named after what they hold', () => {
    const wrong = sources.filter(
      ({ file }) =>
        !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(file) ||
        /(^|[/-])(utils?|helpers?|manager|service|misc|common)\.tsx?$/.test(file),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });
});
