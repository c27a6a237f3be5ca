// The site of the documents: every page has its place in the sidebar, every link and anchor leads somewhere, the search finds
// what it should, and the gateway serves it and nothing else.
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeSite } from '../../docs/site/build.ts';
import { guidePage } from '../../src/operations/guide/index.ts';
import { markdownPages, ROOT } from '../support/doc-snippets.ts';

const folder = mkdtempSync(join(tmpdir(), 'dragoman-site-'));
writeSite(folder);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
  name.endsWith('.html'),
);
const fileOf = (address: string): string =>
  `${address === '/docs/guide' ? 'index' : address.slice('/docs/guide/'.length)}.html`;

test('every page of docs/ is a page of the site', () => {
  const expected = markdownPages()
    .filter((page) => page.startsWith('docs/'))
    .map((page) => (page === 'docs/README.md' ? 'index.html' : page.slice(5).replace(/\.md$/, '.html')));
  expect(pages.toSorted()).toEqual(expected.toSorted());
});

test('the sidebar has its sections', () => {
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const [, sidebar = ''] = /<nav[^>]*>(.*)<\/nav>/.exec(page) ?? [];
  const sections = [...sidebar.matchAll(/<h2>([^<]+)/g)].map(([, title]) => title);
  expect(sections).toEqual(['Guides', 'Operations', 'Concepts', 'Reference', 'Decisions']);
});

test.each(pages)('the links of %s lead to pages and headings that exist', (name) => {
  const html = readFileSync(join(folder, name), 'utf8');
  const broken: string[] = [];
  for (const [, target = ''] of html.matchAll(/ (?:href|src)="([^"]*)"/g)) {
    if (/^(https?:|data:)/.test(target) || target === '/docs' || target === '/console') continue;
    const [path = '', anchor] = target.split('#');
    const isFile = /\.\w+$/.test(path);
    const file = path === '' ? name : isFile ? path.slice('/docs/guide/'.length) : fileOf(path);
    if (!existsSync(join(folder, file))) broken.push(target);
    else if (anchor !== undefined && !readFileSync(join(folder, file), 'utf8').includes(` id="${anchor}"`))
      broken.push(target);
  }
  expect(broken).toEqual([]);
});

test('the index of the search has every heading, under an address that exists', () => {
  const entries = JSON.parse(readFileSync(join(folder, 'search.json'), 'utf8')) as {
    readonly url: string;
    readonly title: string;
  }[];
  expect(entries.length).toBeGreaterThan(200);
  expect(entries.find(({ title }) => title === 'Why was it refused?')?.url).toBe(
    '/docs/guide/troubleshooting#why-was-it-refused',
  );
});

test('the gateway serves pages, and files of no other folder', async () => {
  const page = await guidePage('/docs/guide', folder);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await page.text()).toContain('<title>Documentation · Dragoman</title>');
  for (const path of ['clients/codex', 'site.js', 'site.css', 'search.json', 'pictures/overview.png'])
    expect((await guidePage(`/docs/guide/${path}`, folder)).status).toBe(200);
  for (const path of ['../package.json', '..%2fpackage.json', 'no-such-page', 'clients', '.hidden'])
    expect(await guidePage(`/docs/guide/${path}`, folder).catch(String)).toContain('not found');
});

/** Cursor is set up in its own window. */
const WITHOUT_BLOCK = ['docs/clients/cursor.md'];
/** A tour of the pages, with pictures. */
const WITHOUT_NEXT = ['docs/console.md'];

test('a guide or an operations page begins with a working example, and ends with links', () => {
  const index = readFileSync(join(ROOT, 'docs', 'README.md'), 'utf8');
  const [, sections = ''] = /^## Guides$([\s\S]*?)^## Concepts$/m.exec(index) ?? [];
  const named = [...sections.matchAll(/\]\(([\w/-]+\.md)\)/g)].map(([, page = '']) => `docs/${page}`);
  expect(named.length).toBeGreaterThan(40);
  const linesOf = (page: string): readonly string[] => readFileSync(join(ROOT, page), 'utf8').split('\n');
  const late = named.filter(
    (page) =>
      !linesOf(page)
        .slice(0, 25)
        .some((line) => line.startsWith('```')),
  );
  expect(late).toEqual(WITHOUT_BLOCK);
  expect(named.filter((page) => !linesOf(page).includes('## Next'))).toEqual(WITHOUT_NEXT);
});
