// The rules of the console's own sources: which street may know which, what only one file may do, and how large a file may grow.
import { describe, expect, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { importStatements } from '../support/import-statements.ts';

const ROOT = join(import.meta.dir, '..', '..', 'console');
const MAX_LINES = 400;
/** Made by `npm run docs`. */
const GENERATED = 'api/schema.ts';

/** Compared with the catalog by a test. */
const SEEN_BY_TESTS = 'providers/presets.ts';

/** Streets that each may import besides itself. Pages do not know each other. */
const PARTS = ['api', 'format', 'time', 'ui'];
const PAGE = ['charts', 'problems', ...PARTS];
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  build: [],
  api: [],
  format: [],
  ui: ['format'],
  time: ['api', 'ui'],
  charts: PARTS,
  problems: PARTS,
  session: ['api', 'ui'],
  overview: PAGE,
  requests: PAGE,
  usage: PAGE,
  playground: PAGE,
  routing: PAGE,
  providers: PAGE,
  models: PAGE,
  keys: PAGE,
  jobs: PAGE,
  batches: PAGE,
  alerts: PAGE,
  settings: ['session', ...PAGE],
  app: ['session', ...PAGE],
};
/** Which pages there are, and what stands in their addresses. */
const ROUTER = 'app/router.tsx';

/** Packages, each with the places that may know it; what is not here, nobody may. */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  react: /\.tsx?$/,
  'react-dom/client': /^main\.tsx$/,
  '@base-ui/react': /^(?:ui|app|time|requests)\/.*\.tsx$/,
  'lucide-react': /^ui\/icon\.tsx$/,
  'react-day-picker': /^time\/calendar\.tsx$/,
  tinykeys: /^app\/shortcuts\.ts$/,
  '@tanstack/react-query': /\.tsx?$/,
  '@tanstack/react-router': /\.tsx?$/,
  '@tanstack/react-virtual': /^requests\/request-rows\.tsx$/,
  tailwindcss: /^build\/tailwind\.ts$/,
  uplot: /^ui\/chart\/(?:plot\.ts|chart\.tsx)$/,
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
  test('follow the order of folders', () => {
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

  test('name each package only in the files that may use it', () => {
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

  test('use every export of a file', () => {
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
    // Late imports name what they fetch: the router names pages, and parts of pages name their own.
    for (const { file, text } of sources)
      for (const [, specifier = '', name = ''] of text
        .matchAll(/import\('([^']+)'\)(?:,\s*'(\w+)'|\)\.(\w+))/g)
        .map((found) => [found[0], found[1], found[2] ?? found[3]])) {
        const target = relative(ROOT, join(ROOT, dirname(file), specifier));
        taken.set(target, new Set([...(taken.get(target) ?? []), name]));
      }
    const unused = sources
      .filter(({ file }) => file !== GENERATED && file !== SEEN_BY_TESTS && streetOf(file) !== 'build')
      .flatMap(({ file, text }) =>
        [...text.matchAll(/^export (?:async )?(?:const|function|class|interface|type) (\w+)/gm)]
          .filter(([, name = '']) => taken.get(file)?.has(name) !== true)
          .map(([, name]) => `${file}: ${name}`),
      );
    expect(unused).toEqual([]);
  });
});

describe('only one place may', () => {
  test('send requests over the network', () => {
    expect(filesWith(/\bfetch\(/)).toEqual([
      'api/client.ts',
      'keys/try-key.ts',
      'playground/stream.ts',
      'routing/explain-route.ts',
    ]);
    expect(filesWith(/\b(?:XMLHttpRequest|sendBeacon|new WebSocket|new EventSource)\b/)).toEqual([]);
  });

  test('store something in the browser, and it is no secret by itself', () => {
    expect(filesWith(/\b(?:localStorage|sessionStorage|indexedDB|document\.cookie)\b/)).toEqual([
      // Worth nothing without the cookie, as the cookie is worth nothing without it.
      'api/client.ts',
      'playground/first-model.ts',
      'session/theme.ts',
      'ui/columns.ts',
    ]);
  });
});

describe('how sources are written', () => {
  test(`no file is longer than ${MAX_LINES} lines, and each begins with a comment about its contents`, () => {
    expect(
      sources
        .filter(({ file, text }) => file !== GENERATED && text.trimEnd().split('\n').length > MAX_LINES)
        .map(({ file }) => file),
    ).toEqual([]);
    expect(sources.filter(({ text }) => !/^\/\/ \S.{15,}/.test(text)).map(({ file }) => file)).toEqual([]);
  });

  test('received texts are never markup, and no text is run as code', () => {
    expect(
      filesWith(/dangerouslySetInnerHTML|\.innerHTML\b|insertAdjacentHTML|\beval\(|new Function\(/),
    ).toEqual([]);
  });

  test('no type is any, and no rule is disabled', () => {
    expect(filesWith(/(?::|\bas|<|\||&|=>)\s*any\b|\bany\[\]|@ts-|(?:oxlint|eslint)-disable/)).toEqual([]);
  });

  test('files are named after their contents', () => {
    const wrong = sources.filter(
      ({ file }) =>
        !/^([a-z0-9]+(-[a-z0-9]+)*\/)*[a-z0-9]+(-[a-z0-9]+)*\.tsx?$/.test(file) ||
        /(^|[/-])(utils?|helpers?|manager|service|misc|common)\.tsx?$/.test(file),
    );
    expect(wrong.map(({ file }) => file)).toEqual([]);
  });
});
