// Hostile pages, files and engines, which an honest model searches, opens and quotes.
import { deflateSync, gzipSync } from 'node:zlib';
import { statusesOf } from './client.ts';
import { ask, world, type Outcome } from './model.ts';
import type { Scenario, Scene } from './scene.ts';
import type { Answering, Reply } from './sockets.ts';

const MB = 1024 * 1024;

/** Pages on which a reader of HTML can lose its time or its memory. */
const PAGES: Readonly<Record<string, () => string>> = {
  'nested elements': () => '<div>'.repeat(200_000),
  'nested lists': () => '<ul><li>'.repeat(100_000),
  'nested tables': () => '<table><tr><td>'.repeat(100_000),
  'inline elements that are not closed': () => '<b><i><p>'.repeat(100_000),
  'one tag of attributes': () => `<a ${'a=b '.repeat(300_000)}>`,
  'a comment that is not closed': () => `<!--${'- -!'.repeat(300_000)}`,
  'ends of scripts that are none': () => `<script>${'</scrip'.repeat(200_000)}`,
  entities: () => '&amp;&#x1F600;&nosuch'.repeat(100_000),
  'links to everywhere': () =>
    Array.from({ length: 60_000 }, (_, index) => `<a href="/p${index}">a</a>`).join(' '),
  'hidden text': () => '<p style="color:#fff;display:none">a</p><span hidden>b</span>'.repeat(50_000),
  spaces: () => `a${' '.repeat(1_500_000)}b`,
};

/** A web: the engine finds the page, and the page is this. */
function web(scene: Scene, page: (reply: Reply) => void): Answering {
  return ({ path }, reply) => {
    if (!path.startsWith('/search')) return page(reply);
    const results = [{ url: `${scene.server.origin}/page`, title: 'A page', content: 'A page' }];
    void reply.whole({
      query: 'a',
      results,
      answers: [],
      infoboxes: [],
      suggestions: [],
      unresponsive_engines: [],
    });
  };
}

/** Lets the model search and open what it found. */
async function read(scene: Scene, page: (reply: Reply) => void): Promise<Outcome> {
  const url = `${scene.server.origin}/page`;
  const it = world(
    (_, number) =>
      number === 0
        ? { calls: [{ name: 'web_search', arguments: '{"query":"a"}' }] }
        : number === 1
          ? { calls: [{ name: 'open_page', arguments: JSON.stringify({ url }) }] }
          : number === 2
            ? {
                calls: [
                  {
                    name: 'find_in_page',
                    arguments: JSON.stringify({ url, pattern: 'aaaaaaaaaaaab', text: 'ab' }),
                  },
                ],
              }
            : { text: 'Read. [1]' },
    web(scene, page),
  );
  scene.server.answering = it.answering;
  return ask(scene, { input: 'Read it', tools: [{ type: 'web_search' }] });
}

/** A PDF of one page with this content, of which the lengths are right. */
function pdf(content: Uint8Array): Buffer {
  const before = `%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n3 0 obj<</Type/Page/Parent 2 0 R/Contents 4 0 R/MediaBox[0 0 9 9]>>endobj\n4 0 obj<</Length ${content.length}/Filter/FlateDecode>>stream\n`;
  return Buffer.concat([
    Buffer.from(before),
    content,
    Buffer.from('\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF'),
  ]);
}

export const PAGE: readonly Scenario[] = [
  {
    title: 'HTML pages that are decompression bombs',
    async attack(scene) {
      const got: Outcome[] = [];
      for (const make of Object.values(PAGES)) {
        const html = `<html><title>a</title><body>${make()}`;
        got.push(await read(scene, (reply) => void reply.whole(html, 200, { 'content-type': 'text/html' })));
      }
      return { statuses: statusesOf(got) };
    },
    gets: { statuses: { 200: Object.keys(PAGES).length } },
  },
  {
    title: 'inflated pages, PDFs, endless pages, and circular redirects',
    async attack(scene) {
      const bomb = gzipSync(Buffer.alloc(200 * MB, '<p>a'));
      const file = pdf(deflateSync(Buffer.alloc(30 * MB, '(a) Tj ')));
      const got = [
        await read(
          scene,
          (reply) => void reply.whole(bomb, 200, { 'content-type': 'text/html', 'content-encoding': 'gzip' }),
        ),
        await read(scene, (reply) => void reply.whole(file, 200, { 'content-type': 'application/pdf' })),
        await read(scene, (reply) => void reply.whole('', 302, { location: '/page' })),
        await read(scene, (reply) => void reply.whole('', 302, { location: 'http://169.254.169.254/' })),
        await read(
          scene,
          (reply) => void reply.whole('a'.repeat(60 * MB), 200, { 'content-type': 'text/plain' }),
        ),
      ];
      return { statuses: statusesOf(got) };
    },
    gets: { statuses: { 200: 5 } },
  },
  {
    title: 'a search engine that returns too much',
    async attack(scene) {
      const got: Outcome[] = [];
      const hit = '{"url":"http://a.example/","title":"a","content":"a"},';
      for (const body of [
        `{"results":[${hit.repeat(200_000)}{}]}`,
        `{"results":${'['.repeat(200_000)}`,
        `{"results":[{"url":"http://a.example/","title":"a","content":"${'a'.repeat(12 * MB)}"}]}`,
      ]) {
        scene.server.answering = world(
          (_, number) =>
            number === 0
              ? { calls: [{ name: 'web_search', arguments: '{"query":"a"}' }] }
              : { text: 'Read. [1]' },
          (_, reply) => void reply.whole(body),
        ).answering;
        got.push(await ask(scene, { input: 'Search', tools: [{ type: 'web_search' }] }));
      }
      return { statuses: statusesOf(got) };
    },
    gets: { statuses: { 200: 3 } },
  },
  {
    title: 'a text of hundreds of thousands of source marks, brackets and closing tags',
    async attack(scene) {
      const got: Outcome[] = [];
      for (const piece of ['[1]', '【1】', '[a](http://', '[[[', '<tool_call>', '```json\n', '</think>']) {
        const text = piece.repeat(100_000);
        scene.server.answering = world(
          (_, number) =>
            number === 0 ? { calls: [{ name: 'web_search', arguments: '{"query":"a"}' }] } : { text },
          web(scene, (reply) => void reply.whole('')),
        ).answering;
        for (const stream of [false, true])
          got.push(await ask(scene, { input: 'Search', tools: [{ type: 'web_search' }], stream }));
      }
      return { statuses: statusesOf(got) };
    },
    gets: { statuses: { 200: 14 } },
  },
];
