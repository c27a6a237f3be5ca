// Makes the site of the documents: a page of HTML for each page of Markdown, with the sidebar of docs/README.md, and the index that
// its search reads. The runtime renders Markdown. `npm run pack` runs it; the gateway serves what it wrote at `/docs/guide`.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';

const DOCS = join(import.meta.dirname, '..');
/** Path under which the gateway serves the site. */
const BASE = '/docs/guide';
const INDEX = 'README.md';
/** Characters of a section that the search looks through. */
const MOST_SEARCHED = 2_000;

interface Section {
  readonly title: string;
  readonly links: readonly { readonly page: string; readonly title: string }[];
}

/** Entry of the search: one section of a page. */
interface Entry {
  readonly url: string;
  readonly page: string;
  readonly title: string;
  readonly text: string;
}

/** Writes the site into a folder. @throws Error where a page cannot be read */
export function writeSite(folder: string): void {
  const sections = readSections(readFileSync(join(DOCS, INDEX), 'utf8'));
  const pages = [INDEX, ...sections.flatMap(({ links }) => links.map(({ page }) => page))];
  const entries: Entry[] = [];
  for (const page of new Set(pages)) {
    const text = readFileSync(join(DOCS, page), 'utf8');
    const html = withLinks(Bun.markdown.html(text, { headings: { ids: true } }), page);
    const title = /^# (.+)$/m.exec(text)?.[1]?.replaceAll('`', '') ?? page;
    // The index leads to pages, which a search finds themselves.
    if (page !== INDEX) entries.push(...entriesOf(html, page, title));
    const path = join(folder, fileOf(page));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, pageOf(title, html, page, sections));
  }
  writeFileSync(join(folder, 'search.json'), JSON.stringify(entries));
  for (const name of ['site.css', 'site.js']) cpSync(join(import.meta.dirname, name), join(folder, name));
  for (const name of readdirSync(join(DOCS, 'pictures')))
    if (!name.endsWith('-dark.png')) {
      mkdirSync(join(folder, 'pictures'), { recursive: true });
      cpSync(join(DOCS, 'pictures', name), join(folder, 'pictures', name));
    }
}

/** Sections of the index, and the pages that each links to, in their order. */
function readSections(index: string): readonly Section[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((part) => ({
      title: part.split('\n', 1)[0] ?? '',
      links: [...part.matchAll(/\[([^\]]+)\]\(([\w./-]+\.md)\)/g)].map(([, title = '', page = '']) => ({
        page,
        title: title.replaceAll('`', ''),
      })),
    }));
}

/** File of a page in the folder of the site. */
function fileOf(page: string): string {
  return page === INDEX ? 'index.html' : page.replace(/\.md$/, '.html');
}

/** Address of a page of Markdown. */
function addressOf(page: string): string {
  return page === INDEX ? BASE : `${BASE}/${page.replace(/\.md$/, '')}`;
}

/** Links to pages become addresses of the site. What lies outside of the documents is only named. */
function withLinks(html: string, page: string): string {
  const rewriter = new HTMLRewriter()
    .on('a', {
      element(link) {
        const href = link.getAttribute('href') ?? '';
        if (/^(https?:|#)/.test(href)) return;
        const [path = '', anchor] = href.split('#');
        const target = posix.normalize(posix.join(posix.dirname(page), path));
        if (target.startsWith('..') || !target.endsWith('.md')) {
          link.removeAttribute('href');
          link.setAttribute('title', `${href}, in the repository`);
          return;
        }
        // The runtime leaves underscores out of the ids of headings; GitHub, for which links are written, keeps them.
        link.setAttribute(
          'href',
          addressOf(target) + (anchor === undefined ? '' : `#${anchor.replaceAll('_', '')}`),
        );
      },
    })
    .on('img', {
      element(picture) {
        picture.setAttribute('src', `${BASE}/${picture.getAttribute('src') ?? ''}`);
      },
    });
  return rewriter.transform(html);
}

/** One entry for each heading of a page. */
function entriesOf(html: string, page: string, title: string): readonly Entry[] {
  return html.split(/(?=<h[12] id=")/).flatMap((part) => {
    const [, id = '', heading = ''] = /^<h[12] id="([^"]*)">(.*?)<\/h/.exec(part) ?? [];
    const text = plain(part).slice(0, MOST_SEARCHED);
    return text === '' ? [] : [{ url: `${addressOf(page)}#${id}`, page: title, title: plain(heading), text }];
  });
}

function plain(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

function pageOf(title: string, html: string, page: string, sections: readonly Section[]): string {
  const sidebar = sections
    .map(({ title: name, links }) => {
      const items = links.map(({ page: target, title: text }) => {
        const current = target === page ? ' aria-current="page"' : '';
        return `<li><a href="${addressOf(target)}"${current}>${escaped(text)}</a></li>`;
      });
      return `<h2>${escaped(name)}</h2><ul>${items.join('')}</ul>`;
    })
    .join('');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)} · Dragoman</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${BASE}/site.css">
<script type="module" src="${BASE}/site.js"></script>
</head>
<body>
<header><a href="${BASE}">Dragoman</a><input id="search" type="search" placeholder="Search" aria-label="Search the documents" autocomplete="off"><a href="#pages">Pages</a><a href="/docs">API</a><a href="/console">Console</a></header>
<nav id="pages" aria-label="Pages">${sidebar}</nav>
<ol id="found" hidden></ol>
<main>
${html}
</main>
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

if (import.meta.main) writeSite(join(DOCS, '..', 'dist', 'docs'));
