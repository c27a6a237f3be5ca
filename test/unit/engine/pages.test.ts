// Reading web pages: what becomes of HTML, encodings, other types, sizes, hostile documents, and addresses that may not
// be opened. Pages come over real sockets, through the guard.
import { afterAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { GatewayError } from '../../../src/canonical/index.ts';
import { systemClock } from '../../../src/base/runtime/clock.ts';
import { findInPage } from '../../../src/engine/tools/pages/find-in-page.ts';
import { readHtml } from '../../../src/engine/tools/pages/html-to-text.ts';
import { HtmlReader } from '../../../src/engine/tools/pages/html-reader.ts';
import { PageReader, type Page, type PageReaderOptions } from '../../../src/engine/tools/pages/read-page.ts';
import { TextWriter } from '../../../src/engine/tools/pages/text-writer.ts';
import { UpstreamClient } from '../../../src/upstream/client.ts';
import { GuardedFetch } from '../../../src/upstream/fetch-guarded.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { rejection } from '../../support/rejection.ts';
import { startUpstream, type Answer } from '../../support/upstreams/scripted-upstream.ts';
import { casesOf } from '../../support/share.ts';

const client = new UpstreamClient(Date.now);

const site = await startUpstream();
afterAll(async () => {
  client.close();
  await site.stop();
});

/** Reads from the site, which is exempt as an operator could exempt it; no other private address is. */
function reader(options: Partial<PageReaderOptions> = {}): PageReader {
  const fetch = new GuardedFetch({
    client,
    clock: systemClock,
    resolve: async (host) => (host === 'private.example' ? ['10.0.0.1'] : []),
    allow: () => [new URL(site.origin).host],
  });
  return new PageReader({ fetch, ...options });
}

function serves(
  body: string | Uint8Array,
  contentType: string | null = 'text/html; charset=utf-8',
  status = 200,
): Answer {
  return (exchange) => {
    const bytes = Buffer.from(body as Uint8Array);
    exchange.head(status, {
      ...(contentType !== null && { 'content-type': contentType }),
      'content-length': String(bytes.length),
    });
    exchange.raw(bytes);
  };
}

async function read(
  answer: Answer,
  path = '/docs/page',
  options: Partial<PageReaderOptions> = {},
): Promise<Page> {
  site.script(answer);
  return reader(options).read(site.origin + path, new AbortController().signal);
}

async function text(html: string): Promise<string> {
  return (await read(serves(html))).text.replaceAll(site.origin, 'SITE');
}

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await rejection(promise);
  if (!(error instanceof GatewayError)) throw error;
  return error;
}

describe('HTML', () => {
  test('becomes text with headings, lists, links and tables', async () => {
    const html = `<!DOCTYPE html>
      <html><head><title> Rivers &amp;
        lakes </title><style>p { color: red }</style>
      <script>document.write("<p>never</p>")</script></head>
      <body><nav><a href="/">Home</a></nav>
      <h1>Rivers</h1>
      <p>The <b>longest</b>   one is the <a href="../ounas?x=1&amp;y=2">Ounas&nbsp;river</a>.<br>It is cold.</p>
      <ul><li>One<li>Two <ul><li>inner</li></ul></li></ul>
      <ol><li><p>first</p></li><li>second</li></ol>
      <table><tr><th>Name<th>km<tr><td>Ounas<td>299</table>
      <pre>
  a = 1
    b = 2</pre>
      <img src="x.png" alt="A map"><img src="y.png" alt="">
      <button>Subscribe</button>
      <footer>Imprint</footer></body></html>`;
    const page = await read(serves(html));
    expect(page.title).toBe('Rivers & lakes');
    expect(page.url).toBe(`${site.origin}/docs/page`);
    expect(page.text.replaceAll(site.origin, 'SITE')).toBe(
      [
        '# Rivers',
        '',
        'The longest one is the [Ounas river](SITE/ounas?x=1&y=2).',
        'It is cold.',
        '',
        '- One',
        '- Two',
        '  - inner',
        '',
        '1. first',
        '2. second',
        '',
        'Name | km',
        'Ounas | 299',
        '',
        '```',
        '',
        '  a = 1',
        '    b = 2',
        '```',
        '',
        '[image: A map]',
      ].join('\n'),
    );
  });

  test.each([
    ['<a href="https://other.example/x">there</a>', '[there](https://other.example/x)'],
    ['<base href="https://base.example/d/"><a href="x">there</a>', '[there](https://base.example/d/x)'],
    [
      '<a href="#top">up</a> <a href="javascript:alert(1)">js</a> <a href="mailto:a@b.c">mail</a>',
      'up js mail',
    ],
    ['<a href="/a"></a>x <a href="/b"> </a>y', 'x y'],
    ['<a href="/a">one<a href="/b">two</a>', '[one](SITE/a)[two](SITE/b)'],
    [`<a href="/${'x'.repeat(2000)}">long</a>`, 'long'],
    ['<a href="/a">never closed', '[never closed](SITE/a)'],
    ['<a href="http://[bad/">broken</a>', 'broken'],
  ])('links are resolved in %s', async (html, expected) => {
    expect(await text(html)).toBe(expected);
  });

  test.each([
    ['<p>a</p><p hidden>b</p><p>c</p>', 'a\n\nc'],
    ['<div style="color:red; DISPLAY : none">b<div>b</div></div>a', 'a'],
    ['<span aria-hidden="true">b</span>a', 'a'],
    ['<p hidden>b<p>a', 'a'],
    ['<div role="navigation">menu</div>a', 'a'],
    ['a<svg><title>b</title><text>b</text></svg>c', 'ac'],
    ['a<svg/>c', 'ac'],
    ['a<!-- b --><template><p>b</p></template><textarea>b</textarea>c', 'ac'],
    ['ig\u00adnore\u200b this\u{e0041}', 'ignore this'],
    ['<input hidden>a', 'a'],
    ...[
      'font-size:0',
      'color: red; FONT-SIZE : 0px !important',
      'opacity:0',
      'opacity: 0.0;color:red',
      'opacity:.0%',
      'visibility:collapse',
      'content-visibility: hidden',
      'position:absolute;left:-9999px',
      'position:absolute; top: -10000.5px',
      'text-indent:-999em',
      'margin-left:-100vw',
    ].map((style) => [`<p style="${style}">b<b>b</b></p>a`, 'a'] as const),
  ])('invisible content is removed: %s', async (html, expected) => {
    expect(await text(html)).toBe(expected);
  });

  test.each(['text/html', 'text/plain', 'text/markdown', 'application/json', 'application/pdf'])(
    'text in invisible characters is removed: %s',
    async (contentType) => {
      const tags = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)));
      const selectors = '\u{e0100}\u{e0155}\u{e01ef}';
      const bidi = '\u200e\u200f\u061c\u202a\u202e\u202c\u2066\u2069';
      const others = '\u00ad\u200b\u2060\u2064\ufeff\u3164\u{1d173}';
      // Nor in a run of those that emoji need.
      const joiners = '\u200d\u200c\u200d\u200c\ufe00\ufe0e';
      const hidden = `${tags.join('')}${selectors}${bidi}${others}`;
      const seen =
        '\u{1f9d1}\u200d\u{1f680} \u2764\ufe0f\u200d\u{1f525} 1\ufe0f\u20e3 \u0645\u06cc\u200c\u062e';
      const readPdf = async (bytes: Uint8Array): Promise<string> => new TextDecoder().decode(bytes);
      const body = `a${hidden}b ${seen} c${joiners}d`;
      const page = await read(serves(body, `${contentType}; charset=utf-8`), '/x', { readPdf });
      expect(page.text).toBe(`ab ${seen} c\u200d\u200cd`);
    },
  );

  test.each([
    'opacity:0.5',
    'opacity:1',
    'font-size:0.8em',
    'font-size:10px',
    '--bg-opacity:0;color:red',
    'border-left:0;padding-left:600px',
    'margin-left:-15px',
    'left:-50%',
    'display:block',
  ])('visible content is read: %s', async (style) => {
    expect(await text(`<p style="${style}">b</p><form action="/x">c <input value="d"></form>`)).toBe(
      'b\n\nc',
    );
  });

  test('a page of only invisible content has no text', async () => {
    const failure = await failureOf(
      read(serves('\u{e0041}'.repeat(200), 'text/plain'), '/x', { maxChars: 100 }),
    );
    expect(failure.message).toContain('it has no text');
  });

  test.each([
    ['<nav>never closed <p>the page', 'never closed\n\nthe page'],
    ['<div style="display:none">shown by a script</div>', 'shown by a script'],
    ['<body style="visibility:hidden">a</body>', 'a'],
  ])('the whole page is not removed: %s', async (html, expected) => {
    expect(await text(html)).toBe(expected);
  });

  test.each([
    ['&lt;b&gt; &amp;amp; &euro; &#8364; &#x20ac; &zzz; &#0; &#xd800; &', '<b> &amp; € € € &zzz; � � &'],
    ['a < b and c > d', 'a < b and c > d'],
    ['<p>a</p', 'a'],
    ['<>a</>b', '<>ab'],
    ['<h2></h2><ul><li></li><li>a</ul>', '- a'],
  ])('odd markup is read: %s', async (html, expected) => {
    expect(await text(html)).toBe(expected);
  });

  test('without a title has the name of its file, or of its host', async () => {
    expect((await read(serves('a'), '/docs/caf%C3%A9.html?x')).title).toBe('café.html');
    expect((await read(serves('a'), '/%E0%A4%A/')).title).toBe('%E0%A4%A');
    expect((await read(serves('a'), '/')).title).toBe('127.0.0.1');
  });

  test('without text is an error', async () => {
    const failure = await failureOf(read(serves('<div id="root"></div><script src="app.js"></script>')));
    expect(failure).toMatchObject({ kind: 'unsupported', code: 'page_not_read' });
    expect(failure.message).toContain('it has no text');
  });
});

describe('encodings', () => {
  const latin = (text: string): Buffer => Buffer.from(text, 'latin1');

  test.each([
    ['the header', latin('caf\xe9'), 'text/html; charset="ISO-8859-1"', 'café'],
    ['a meta tag', latin('<meta charset=windows-1251>\xcf\xf0\xe8'), 'text/html', 'При'],
    [
      'the old meta tag',
      latin('<meta http-equiv="Content-Type" content="text/html; charset=shift_jis">\x82\xa0'),
      'text/html',
      'あ',
    ],
    [
      'an XML declaration',
      latin('<?xml version="1.0" encoding="iso-8859-2"?><p>\xb1'),
      'application/xhtml+xml',
      'ą',
    ],
    ['a byte order mark', Buffer.from('\ufeffπ', 'utf16le'), 'text/html; charset=iso-8859-1', 'π'],
    ['nothing, UTF-8', Buffer.from('naïve π'), 'text/html', 'naïve π'],
    ['nothing, not UTF-8', latin('na\xefve'), 'text/html', 'naïve'],
    ['an unknown name', Buffer.from('π'), 'text/html; charset=klingon', 'π'],
    ['a meta tag that cannot be true', Buffer.from('<meta charset="utf-16">π'), 'text/html', 'π'],
    ['the header, for plain text', latin('caf\xe9'), 'text/plain; charset=latin1', 'café'],
  ])('are found by %s', async (_, bytes, contentType, expected) => {
    expect((await read(serves(bytes, contentType))).text).toBe(expected);
  });
});

describe('other types', () => {
  test.each([
    ['text/plain', 'a <b>\n  c'],
    ['text/markdown; charset=utf-8', '# Title\n\n[x](y)'],
    ['application/json', '{"a": "<b>"}'],
    ['application/problem+json', '{"a":1}'],
    ['text/csv', 'a,b\n1,2'],
    ['application/xml', '<a>1</a>'],
    [null, 'plain words'],
    ['application/octet-stream', 'plain words'],
  ])('%s is returned unchanged', async (contentType, body) => {
    const page = await read(serves(body, contentType), '/a/data.txt');
    expect(page).toEqual({ url: `${site.origin}/a/data.txt`, title: 'data.txt', text: body });
  });

  test('HTML is detected without its type', async () => {
    expect((await read(serves('\n<!doctype html><p>a</p>', null))).text).toBe('a');
  });

  test.each(['image/png', 'application/zip', 'video/mp4', 'x'.repeat(500)])(
    '%s is refused',
    async (contentType) => {
      const failure = await failureOf(read(serves('abc', contentType)));
      expect(failure).toMatchObject({ kind: 'unsupported', code: 'page_not_read' });
      expect(failure.message.length).toBeLessThan(200);
    },
  );

  test('bytes of no type are refused', async () => {
    const failure = await failureOf(read(serves(Buffer.from([1, 0, 2]), 'application/octet-stream')));
    expect(failure.kind).toBe('unsupported');
  });

  test.each(['application/pdf', 'application/octet-stream'])(
    'PDFs (%s) are read if a reader exists',
    async (contentType) => {
      const bytes = '%PDF-1.7 …';
      expect((await failureOf(read(serves(bytes, contentType)))).message).toBe(
        'This page could not be read: it is a PDF; PDF pages are not supported.',
      );
      const readPdf = async (given: Uint8Array): Promise<string> => `${given.length} bytes`;
      const page = await read(serves(bytes, contentType), '/report.pdf', { readPdf });
      expect(page).toMatchObject({ title: 'report.pdf', text: `${Buffer.byteLength(bytes)} bytes` });
    },
  );
});

describe('limits', () => {
  test('a long page is truncated, with a note', async () => {
    const words = Array.from({ length: 2000 }, (_, at) => `word${at}`).join(' ');
    for (const answer of [serves(`<p>${words}`), serves(words, 'text/plain')]) {
      const page = await read(answer, '/x', { maxChars: 1000 });
      expect(page.text.startsWith(words.slice(0, 1000))).toBe(true);
      expect(page.text.slice(1000)).toBe('\n\n[The page was truncated after 1000 characters.]');
    }
    expect((await read(serves(`<p>${words}`), '/x', { maxChars: words.length })).text).toBe(words);
  });

  test('a cut leaves no half characters', async () => {
    const page = await read(serves('😀'.repeat(10), 'text/plain'), '/x', { maxChars: 5 });
    expect(page.text.startsWith('😀😀\n\n[')).toBe(true);
  });

  test('too many bytes are refused', async () => {
    const failure = await failureOf(read(serves('x'.repeat(2000)), '/x', { maxBytes: 1000 }));
    expect(failure.kind).toBe('too_large');
  });

  test.each([
    [404, 'not_found', 'the page does not exist'],
    [410, 'not_found', 'the page does not exist'],
    [403, 'upstream_unavailable', 'its server returned status 403'],
    [500, 'upstream_unavailable', 'its server returned status 500'],
  ] as const)('status %d is reported as a failure', async (status, kind, reason) => {
    const failure = await failureOf(read(serves('<p>sorry', 'text/html', status)));
    expect(failure).toMatchObject({ kind, fault: 'upstream', code: 'page_not_read' });
    expect(failure.message).toBe(`This page could not be read: ${reason}.`);
  });

  test('the cancellation of a request ends the reading', async () => {
    const abort = new AbortController();
    site.script(() => {});
    const pending = reader().read(`${site.origin}/slow`, abort.signal);
    const exchange = await site.arrived(1);
    abort.abort();
    expect((await failureOf(pending)).kind).toBe('cancelled');
    await exchange.closed;
  });

  test('also while a PDF is being read', async () => {
    const abort = new AbortController();
    const readPdf = (_: Uint8Array, signal: AbortSignal): Promise<string> =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new GatewayError('cancelled', 'left')));
        abort.abort();
      });
    site.script(serves('%PDF-1.7', 'application/pdf'));
    const pending = reader({ readPdf }).read(`${site.origin}/x.pdf`, abort.signal);
    expect((await failureOf(pending)).message).toBe('left');
  });

  test('also while it is being read', async () => {
    const abort = new AbortController();
    const pending = readHtml('<i></i>'.repeat(300_000), 'https://example.com/', 1000, abort.signal);
    abort.abort();
    expect((await failureOf(pending)).kind).toBe('cancelled');
  });
});

describe('addresses', () => {
  test('a page has its final address after redirects', async () => {
    site.script(
      (exchange) => exchange.raw('HTTP/1.1 302 Found\r\nlocation: /moved/here\r\ncontent-length: 0\r\n\r\n'),
      serves('<a href="next">on</a>'),
    );
    const page = await reader().read(`${site.origin}/old#part`, new AbortController().signal);
    expect(page).toMatchObject({
      url: `${site.origin}/moved/here`,
      text: `[on](${site.origin}/moved/next)`,
    });
    expect(site.requests.map(({ path, method }) => `${method} ${path}`)).toEqual([
      'GET /old',
      'GET /moved/here',
    ]);
    expect(site.requests[0]?.headers['accept']).toContain('text/html');
    // Nothing else of us is told to the owners of pages.
    expect(Object.keys(site.requests[0]?.headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'host',
      'user-agent',
    ]);
    expect(site.requests[0]?.headers['user-agent']).toBe('dragoman');
  });

  test.each(['http://private.example/', 'http://127.0.0.1:1/', 'http://169.254.169.254/latest/meta-data/'])(
    'neither a page nor a redirect leads to %s',
    async (location) => {
      const { signal } = new AbortController();
      const direct = await failureOf(reader().read(location, signal));
      expect(direct).toMatchObject({ kind: 'invalid_request', code: 'url_not_allowed' });
      site.script((exchange) =>
        exchange.raw(`HTTP/1.1 301 Moved\r\nlocation: ${location}\r\ncontent-length: 0\r\n\r\n`),
      );
      const redirected = await failureOf(reader().read(`${site.origin}/`, signal));
      expect(redirected).toMatchObject({ kind: 'invalid_request', code: 'url_not_allowed' });
    },
  );
});

describe('any markup', () => {
  const fragment = fc.constantFrom(
    ...'a |b|<p>|</p>|<div hidden>|</div>|<nav>|</nav>|<a href="/x?a&amp;b">|</a>|<ul>|<ol>|<li>|</ul>|<pre>|</pre>'.split(
      '|',
    ),
    ...'<script>|</script>|<title>|</title>|<svg/>|<svg>|</svg>|<h1>|</h1>|<td>|<tr>|<!-- |-->|<![CDATA[|]]>|<br/>'.split(
      '|',
    ),
    ...`&amp;|&#x20ac;|&am|<img alt='x>y' src=z>|<|>|"|=|</|<b style="display:none">|</b>|😀|\n|<base href=//h.example>`.split(
      '|',
    ),
  );
  const markup = fc.array(fragment, { maxLength: 40 }).map((parts) => parts.join(''));
  const readBy = (html: string, step: number, everything: boolean): readonly string[] => {
    const writer = new TextWriter(500);
    const reader = new HtmlReader(html, writer, { baseUrl: 'https://example.com/', everything });
    for (let at = 0; reader.read(at, at + step); at += step);
    return [reader.title, writer.toString()];
  };

  test('gives the same text for any division into pieces, and never more than requested', () => {
    fc.assert(
      fc.property(markup, fc.integer({ min: 1, max: 7 }), fc.boolean(), (html, step, everything) => {
        const whole = readBy(html, html.length, everything);
        expect(readBy(html, step, everything)).toEqual(whole);
        expect(whole[1]?.length).toBeLessThanOrEqual(500);
        expect(whole[1]?.isWellFormed()).toBe(true);
      }),
      { numRuns: casesOf(2000), seed: 7 },
    );
  });
});

describe('hostile pages', () => {
  const MB = 1_048_576;
  const many = (text: string, bytes = 4 * MB): string => text.repeat(Math.ceil(bytes / text.length));

  test.each([
    ['deep nesting', `${many('<div>')}end`],
    ['deep nesting of lists', `${many('<ul><li>')}end`],
    ['open tags and unmatched ends', `${many('<b>', MB)}${many('</i>', 3 * MB)}end`],
    ['misnested tags', `${many('<a><p><b></a></p>')}end`],
    ['a huge attribute', `<p title="${many('x')}">end`],
    ['a huge style', `<p style="${many('display ')}">end`],
    ['many attributes', `<p ${many('a=b ')}>end`],
    ['a huge tag name', `<${many('x')}>end`],
    ['many links', `${many('<a href=/x></a>')}end`],
    ['many entities', `${many('&amp;')}end`],
    ['an entity bomb', `<!DOCTYPE x [<!ENTITY a "${'x'.repeat(1000)}">]>${many('&a;')}end`],
    ['an unclosed script', `start<script>${many('x < y </scrip ')}`],
    ['an unclosed comment', `start<!-- ${many('-- <! ')}`],
    ['an unclosed attribute', `start<p a="${many("' > ")}`],
    ['an unclosed title', `start<title>${many('&lt; ')}`],
    ['unclosed entities', many('&aacut')],
    ['spaces', `start${many(' \n')}end`],
    ['spaces that count', `<pre>start${many(' \n')}`],
    ['smaller thans', many('<')],
    ['hidden in hidden', `${many('<nav hidden>')}end`],
    ['drawings in drawings', `start${many('<svg/><svg>')}`],
    ['nothing but titles', `start${many('<title>x</title>')}`],
    ['code in code', `${many('<pre>')}end`],
    ['marks upon marks', `${many('<h1><li>', 9 * MB)}end`],
  ])('%s', async (_, html) => {
    const started = usedMs();
    const page = await read(serves(html));
    expect(usedMs() - started).toBeLessThan(3000);
    expect(page.text).toMatch(/start|end|&|</);
    expect(page.text.length).toBeLessThan(200_100);
  });

  test('only a few combining marks before a word are kept', async () => {
    expect(await text(`${'<h1>'.repeat(1000)}end`)).toBe(`${'# '.repeat(8)}end`);
    // The mark itself is taken back, not the end of another.
    expect(await text('<h2></h1>end')).toBe('## end');
  });

  test('other work continues meanwhile', async () => {
    let turns = 0;
    let isOver = false;
    setImmediate(function turn() {
      turns++;
      if (!isOver) setImmediate(turn);
    });
    const before = turns;
    const { signal } = new AbortController();
    await readHtml(`${many('<div>')}end`, 'https://example.com/', 200_000, signal);
    isOver = true;
    expect(turns - before).toBeGreaterThan(20);
  });
});

describe('finding words in a page', () => {
  const page = { text: `${'before '.repeat(100)}The Ounas\n  RIVER is long.${' after'.repeat(100)}` };

  test('finds them in any case and spacing, with their surroundings', () => {
    const [found, ...rest] = findInPage(page, ' ounas river ');
    expect(rest).toEqual([]);
    expect(found?.start).toBe(page.text.indexOf('Ounas'));
    expect(found?.excerpt).toContain('before The Ounas\n  RIVER is long. after');
    expect(found?.excerpt).toMatch(/^before .* after$/s);
    expect(found?.excerpt.length).toBeLessThan(600);
  });

  test.each(['', '  ', 'nowhere', '.*', '(', '[a-z]+'])('does not find %j', (pattern) => {
    expect(findInPage(page, pattern)).toEqual([]);
  });

  test('takes patterns literally', () => {
    const text = 'price: $5.00 (net) [a|b] x^2 \\d a-b c/d {1}';
    for (const pattern of ['$5.00', '(net)', '[a|b]', 'x^2', '\\d', 'a-b', 'c/d', '{1}'])
      expect(findInPage({ text }, pattern).map(({ start }) => start)).toEqual([text.indexOf(pattern)]);
  });

  test('keeps positions if letters change their length', () => {
    const text = 'İİİİ straße needle';
    expect(findInPage({ text }, 'NEEDLE')).toEqual([{ excerpt: text, start: text.indexOf('needle') }]);
  });

  test('does not repeat text of an excerpt, and ends', () => {
    const found = findInPage({ text: 'needle '.repeat(10_000) }, 'needle');
    expect(found.length).toBe(20);
    const [first, second] = found;
    expect((second?.start ?? 0) - (first?.start ?? 0)).toBeGreaterThan(200);
  });

  test('hostile patterns end quickly', () => {
    const started = usedMs();
    findInPage({ text: 'a '.repeat(100_000) }, `${'a '.repeat(200)}c`);
    findInPage({ text: `a${' '.repeat(199_999)}` }, 'a '.repeat(100) + 'b');
    expect(usedMs() - started).toBeLessThan(2000);
  });
});
