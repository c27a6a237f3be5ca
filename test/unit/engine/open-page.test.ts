// Which pages a model may open: those that it was shown. An address that it makes up could carry what it was told to a
// stranger, or reach what only the gateway reaches. Pages come over real sockets; the search is at hand.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { GatewayError, type SearchWish } from '../../../src/canonical/index.ts';
import { systemClock } from '../../../src/base/runtime/clock.ts';
import { FunctionNames, type CallOutcome } from '../../../src/engine/tools/gateway-tool.ts';
import { addressesIn, addressesMeantIn } from '../../../src/engine/tools/pages/addresses.ts';
import { PageReader } from '../../../src/engine/tools/pages/read-page.ts';
import { Sources } from '../../../src/engine/tools/sources.ts';
import { WebSearchTool } from '../../../src/engine/tools/web-search-tool.ts';
import { UpstreamClient } from '../../../src/upstream/client.ts';
import { GuardedFetch } from '../../../src/upstream/fetch-guarded.ts';
import { usedMs } from '../../../src/base/runtime/machine.ts';
import { startUpstream, type Answer } from '../../support/upstreams/scripted-upstream.ts';

const client = new UpstreamClient(Date.now);

const site = await startUpstream();
beforeEach(() => site.script());
afterAll(async () => {
  client.close();
  await site.stop();
});

const WISH: SearchWish = { allowedDomains: [], blockedDomains: [], contextSize: 'medium' };

/** The tool of one answer, whose searches all find `/start`. */
function tool(
  isMentioned?: (address: string) => boolean,
  wish = WISH,
  readPdf?: () => Promise<string>,
): WebSearchTool {
  const fetch = new GuardedFetch({
    client,
    clock: systemClock,
    resolve: async () => [],
    allow: () => [new URL(site.origin).host],
  });
  const search = async (): Promise<readonly { url: string; title: string; text: string }[]> => [
    { url: `${site.origin}/start`, title: 'Start', text: `See ${site.origin}/from-snippet` },
  ];
  return new WebSearchTool({
    wish,
    native: 'prefer',
    priceUsd: null,
    backend: { name: 'test', search },
    pages: new PageReader({ fetch, readPdf }),
    sources: new Sources(),
    names: new FunctionNames([]),
    isMentioned,
  });
}

function page(body: string, contentType = 'text/html'): Answer {
  return (exchange) => {
    const bytes = Buffer.from(body);
    exchange.head(200, { 'content-type': contentType, 'content-length': String(bytes.length) });
    exchange.raw(bytes);
  };
}

function run(its: WebSearchTool, name: string, args: object): Promise<CallOutcome> {
  return its.call(name, JSON.stringify(args)).run(new AbortController().signal);
}

async function opens(its: WebSearchTool, url: string, ...answers: readonly Answer[]): Promise<boolean> {
  site.script(...answers);
  const outcome = await run(its, 'open_page', { url });
  if (!outcome.isError) return true;
  expect(outcome.parts).toMatchObject([{ text: expect.stringContaining('may not be opened') }]);
  // Nothing was sent to anybody.
  expect(site.requests).toEqual([]);
  return false;
}

describe('a model opens', () => {
  test('pages that a search found, with any fragment, and no similar ones', async () => {
    const its = tool();
    expect(await opens(its, `${site.origin}/start`)).toBe(false);
    await run(its, 'web_search', { query: 'x' });
    expect(await opens(its, `${site.origin}/start?d=secret`)).toBe(false);
    expect(await opens(its, `${site.origin}/start/secret`)).toBe(false);
    expect(await opens(its, `${site.origin}/from-snippet`)).toBe(false);
    expect(await opens(its, `${site.origin}/start#part`, page('a'))).toBe(true);
    // The same page, hence not fetched once more.
    expect(await opens(its, `${site.origin}/start`)).toBe(true);
  });

  test('a file that cannot be read once, and a page that was not there again', async () => {
    let reads = 0;
    const its = tool(undefined, WISH, async () => {
      reads++;
      throw new GatewayError('unsupported', 'it is corrupt', { code: 'pdf_not_readable' });
    });
    await run(its, 'web_search', { query: 'x' });
    site.script(page('', 'text/html'), page('%PDF-', 'application/pdf'));
    for (let call = 0; call < 4; call++)
      expect((await run(its, 'open_page', { url: `${site.origin}/start` })).isError).toBe(true);
    expect([reads, site.requests.length]).toEqual([1, 2]);
  });

  test.each([
    [
      'text/html',
      '<a href="/next?a=1&amp;b=2">on</a> and <a href="/w_(x)">w</a>',
      ['/next?a=1&b=2', '/w_(x)'],
    ],
    ['text/plain', 'On: URL/next, or <URL/other>.', ['/next', '/other']],
    ['text/markdown', '[on](URL/next)|[URL/other](URL/third "title")', ['/next', '/other', '/third']],
    ['application/json', '{"next":"URL/next"}', ['/next']],
  ])('links of an opened page (%s)', async (contentType, body, paths) => {
    const its = tool();
    await run(its, 'web_search', { query: 'x' });
    for (const path of paths) expect(await opens(its, site.origin + path)).toBe(false);
    expect(
      await opens(its, `${site.origin}/start`, page(body.replaceAll('URL', site.origin), contentType)),
    ).toBe(true);
    for (const path of paths) expect(await opens(its, site.origin + path, page('b'))).toBe(true);
    expect(await opens(its, `${site.origin}${paths[0]}?d=secret`)).toBe(false);
  });

  test('the final address of a page after redirects', async () => {
    const its = tool();
    await run(its, 'web_search', { query: 'x' });
    const moved: Answer = (exchange) =>
      exchange.raw('HTTP/1.1 302 Found\r\nlocation: /moved\r\ncontent-length: 0\r\n\r\n');
    expect(await opens(its, `${site.origin}/start`, moved, page('a'))).toBe(true);
    expect(await opens(its, `${site.origin}/moved`, page('a'))).toBe(true);
  });

  test('addresses in messages of the client', async () => {
    const said = addressesMeantIn(`What does ${site.origin.replace('http', 'HTTP')}/mine#top say?`);
    const its = tool((address) => said.has(address));
    expect(await opens(its, `${site.origin}/other`)).toBe(false);
    expect(await opens(its, `${site.origin}/mine#x`, page('a'))).toBe(true);
  });

  test('pages that an earlier response found or opened', async () => {
    const its = tool();
    its.recall({ type: 'web_page', url: `${site.origin}/opened` });
    its.recall({ type: 'web_page', url: `${site.origin}/refused?d=secret`, isError: true });
    its.recall({ type: 'web_search', query: 'x', pages: [{ url: `${site.origin}/found` }] });
    expect(await opens(its, `${site.origin}/opened`, page('a'))).toBe(true);
    expect(await opens(its, `${site.origin}/found`, page('a'))).toBe(true);
    expect(await opens(its, `${site.origin}/refused?d=secret`)).toBe(false);
  });

  test('and searches text only there', async () => {
    const its = tool();
    const outcome = await run(its, 'find_in_page', { url: `${site.origin}/x?d=secret`, pattern: 'x' });
    expect(outcome).toMatchObject({ isError: true, facts: { isError: true } });
    expect(site.requests).toEqual([]);
  });

  test('no blocked site with a dot after its name', async () => {
    const its = tool(() => true, { ...WISH, blockedDomains: ['blocked.example'] });
    const outcome = await run(its, 'open_page', { url: 'http://blocked.example./' });
    expect(outcome.parts).toMatchObject([{ text: expect.stringContaining('Pages of this site') }]);
  });

  test.each([
    '',
    'x',
    'file:///etc/passwd',
    'javascript:alert(1)',
    `https://evil.example/${'x'.repeat(5000)}`,
  ])('no other addresses: %s', async (url) => {
    const outcome = await run(tool(), 'open_page', { url });
    expect(outcome.isError).toBe(true);
    expect(JSON.stringify(outcome.parts).length).toBeLessThan(700);
  });
});

describe('addresses in a text', () => {
  test.each([
    ['https://a.example', ['https://a.example/']],
    ['see https://a.example/b.', ['https://a.example/b.', 'https://a.example/b']],
    ['[x](https://a.example/b_(c)), y', ['https://a.example/b_(c)']],
    ['(https://a.example/b)', ['https://a.example/b']],
    ['"https://a.example/b?c[]=1" <http://[::1]/>', ['https://a.example/b?c[]=1', 'http://[::1]/']],
    ['HTTPS://A.example/B#c ftp://a.example mailto:a@b.example', ['https://a.example/B']],
    ['https://', []],
  ])('%s', (text, expected) => {
    expect([...addressesIn(text)].toSorted()).toEqual([...expected].toSorted());
  });

  test('can be without a scheme in messages of the user', () => {
    const meant = addressesMeantIn(
      'Compare example.com/a, www.b.example and me@c.example with https://d.example/e.f',
    );
    expect([...meant].filter((each) => each.startsWith('https:')).toSorted()).toEqual([
      'https://d.example/e.f',
      'https://example.com/a',
      'https://example.com/a,',
      'https://www.b.example/',
    ]);
  });

  test('are found quickly in hostile texts', () => {
    const started = usedMs();
    for (const piece of [
      'https://',
      'https://(',
      'https://a(',
      'a.',
      'a-',
      'https://a.example/ ',
      ')',
      'https://a..',
    ])
      addressesMeantIn(piece.repeat(200_000 / piece.length));
    expect(usedMs() - started).toBeLessThan(3000);
  });
});
