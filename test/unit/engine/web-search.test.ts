// Search engines: what each is asked, what is read from its answer, and what the operator is told when it fails. Stubs
// answer in the documented shapes, over real sockets and through the guard.
import { afterAll, describe, expect, test } from 'bun:test';
import { GatewayError } from '../../../src/canonical/index.ts';
import { systemClock } from '../../../src/base/runtime/clock.ts';
import { Secret } from '../../../src/base/telemetry/secret.ts';
import {
  openSearchBackend,
  searchHost,
  type SearchEngineName,
  type SearchQuery,
  type SearchResult,
  type SearchSettings,
} from '../../../src/engine/tools/web-search/index.ts';
import { UpstreamClient } from '../../../src/upstream/client.ts';
import { GuardedFetch } from '../../../src/upstream/fetch-guarded.ts';
import { rejection } from '../../support/rejection.ts';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { startUpstream, type Answer } from '../../support/upstreams/scripted-upstream.ts';
import {
  answers,
  braveAnswer,
  exaAnswer,
  HITS,
  searxngAnswer,
  tavilyAnswer,
  type Hit,
} from '../../support/upstreams/search-stub.ts';

const KEY = 'sk-test-engine';
const ENGINES: Readonly<Record<SearchEngineName, (hits: readonly Hit[]) => unknown>> = {
  searxng: searxngAnswer,
  brave: braveAnswer,
  tavily: tavilyAnswer,
  exa: exaAnswer,
};
const names = Object.keys(ENGINES) as SearchEngineName[];

const engine = await startUpstream();
const client = new UpstreamClient(Date.now);
afterAll(async () => {
  client.close();
  await engine.stop();
});

function settings(backend: SearchEngineName, more: Partial<SearchSettings> = {}): SearchSettings {
  const apiKey = backend === 'searxng' ? null : new Secret(KEY);
  return { backend, url: engine.origin, apiKey, maxResults: 10, timeoutMs: 10_000, ...more };
}

/** A fetch that may connect to the engine, and to no other private address. */
function fetchFor(its: SearchSettings, clock = systemClock): GuardedFetch {
  return new GuardedFetch({
    client,
    clock,
    resolve: async () => ['127.0.0.1'],
    allow: () => [searchHost(its)],
  });
}

function search(
  its: SearchSettings,
  query: Partial<SearchQuery> = {},
  signal = new AbortController().signal,
): Promise<readonly SearchResult[]> {
  const whole = {
    query: 'rivers',
    allowedDomains: [],
    blockedDomains: [],
    contextSize: 'medium' as const,
    ...query,
  };
  return openSearchBackend(its, fetchFor(its)).search(whole, signal);
}

/** The address as it arrived. */
function asked(): URL {
  return new URL(engine.requests[0]?.path ?? '', 'http://engine.example');
}

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  const error = await rejection(promise);
  if (!(error instanceof GatewayError)) throw error;
  return error;
}

describe.each(names)('%s', (name) => {
  const answer = ENGINES[name];

  test('returns its results in their order', async () => {
    engine.script(answers(200, answer(HITS)));
    const backend = openSearchBackend(settings(name), fetchFor(settings(name)));
    const found = await backend.search(
      { query: 'rivers', allowedDomains: [], blockedDomains: [], contextSize: 'medium' },
      new AbortController().signal,
    );
    expect(backend.name).toBe(name);
    expect(found).toEqual([
      {
        url: 'https://docs.example.com/rivers',
        title: 'Rivers of the north',
        text: 'The longest river of the north is the Ounas.',
        publishedAt: '2026-03-01T10:00:00',
      },
      {
        url: 'https://blog.example.org/rivers?page=2',
        title: 'A walk',
        text: 'Along the water.',
        publishedAt: undefined,
      },
    ]);
  });

  test('finding nothing is an answer', async () => {
    engine.script(answers(200, answer([])));
    expect(await search(settings(name))).toEqual([]);
  });

  test('keeps only pages of the requested domains', async () => {
    const hits = [
      'https://example.com/',
      'https://docs.example.com/a',
      'https://notexample.com/',
      'https://example.com.evil.org/',
      'https://bad.example.com/',
      'https://example.org/blog/1',
      'https://example.org/blogger/1',
      'https://example.org/shop/1',
    ].map((url) => ({ url, title: url, text: 'x' }));
    engine.script(answers(200, answer(hits)));
    const found = await search(settings(name), {
      allowedDomains: ['Example.com', 'https://example.org/blog'],
      blockedDomains: ['bad.example.com'],
    });
    expect(found.map(({ url }) => url)).toEqual([
      'https://example.com/',
      'https://docs.example.com/a',
      'https://example.org/blog/1',
    ]);
  });

  test.each([
    ['low', 5, 500],
    ['medium', 8, 1500],
    ['high', 10, 4000],
  ] as const)('gives for a %s context %d results of %d characters', async (contextSize, count, chars) => {
    const hits = Array.from({ length: 30 }, (_, at) => ({
      url: `https://example.com/${at}`,
      title: 'T',
      text: 'w'.repeat(9000),
    }));
    engine.script(answers(200, answer(hits)));
    const found = await search(settings(name), { contextSize });
    expect(found.length).toBe(count);
    expect(new Set(found.map(({ text }) => text.length))).toEqual(new Set([chars + 1]));
  });

  test('ignores results that are no pages, and duplicate pages', async () => {
    const hits = [
      { url: 'javascript:alert(1)', title: 'a' },
      { url: 'not an address', title: 'b' },
      { url: 'ftp://example.com/', title: 'c' },
      { url: 'https://example.com', title: 'one\n  line', text: 'x' },
      { url: 'https://example.com/', title: 'again', text: 'y' },
    ];
    engine.script(answers(200, answer(hits)));
    expect(await search(settings(name))).toEqual([
      { url: 'https://example.com/', title: 'one line', text: 'x', publishedAt: undefined },
    ]);
  });

  test.each([401, 403])(
    'a refusal with %d tells the operator what to do, without the key',
    async (status) => {
      engine.script(answers(status, { error: `no such key: ${KEY}`, detail: { error: KEY } }));
      const error = await failureOf(search(settings(name)));
      expect(error).toMatchObject({ kind: 'upstream_unavailable', fault: 'upstream', code: 'search_failed' });
      expect(error.message).toContain(name === 'searxng' ? 'search.formats' : 'tools.web_search.api_key');
      expect(error.message).not.toContain(KEY);
    },
  );

  test.if(name !== 'searxng')('a key that a result quotes is masked', async () => {
    engine.script(answers(200, answer([{ ...HITS[0], text: `asked with ${KEY}.` } as Hit])));
    const [result] = await search(settings(name));
    expect(result?.text).toContain('asked with [secret].');
  });

  test('a rate limit keeps its retry time', async () => {
    engine.script(answers(429, { error: `slow down, ${KEY}` }, { 'retry-after': '7' }));
    const error = await failureOf(search(settings(name, { apiKey: new Secret(KEY) })));
    expect(error).toMatchObject({ kind: 'rate_limited', fault: 'upstream', retryAfterMs: 7000 });
    expect(error.message).toBe(`Web search (${name}): it returned status 429: slow down, [secret]`);
  });

  test.each([
    ['no JSON', '<html>Welcome</html>'],
    ['other JSON', '{"hello":"world"}'],
    ['a list', '[]'],
    ['half an answer', '{"results":[{"url":'],
    ['nothing', ''],
  ])('an answer that is %s is an error', async (_, body) => {
    engine.script(answers(200, body));
    const error = await failureOf(search(settings(name)));
    expect(error.message).toBe(`Web search (${name}): its response is not a list of results`);
    expect(error).toMatchObject({ kind: 'upstream_unavailable', fault: 'upstream' });
  });

  test('results of any shape do no harm', async () => {
    const list = [null, 5, 'x', [], {}, { url: 7, title: {}, content: [], text: null, description: 3 }];
    engine.script(answers(200, { type: 'search', results: list, web: { results: list } }));
    expect(await search(settings(name))).toEqual([]);
  });

  test('invisible text is not sent to the model', async () => {
    const hidden = [...'obey'].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0)));
    const says = `It${hidden.join('')} is \u202elong\u202c \u{1f9d1}\u200d\u{1f680}\u2764\ufe0f`;
    const hit = { url: 'https://example.com/', title: says, text: says, date: null };
    engine.script(answers(200, answer([hit])));
    const seen = 'It is long \u{1f9d1}\u200d\u{1f680}\u2764\ufe0f';
    expect(await search(settings(name))).toMatchObject([{ title: seen, text: seen }]);
  });

  test('a dot after a host name does not circumvent the filter', async () => {
    const at = (url: string): Hit => ({ url, title: 'x', text: 'x', date: null });
    const hits = ['http://bad.example./', 'http://www.bad.example./x', 'http://good.example./'].map(at);
    engine.script(answers(200, answer(hits)), answers(200, answer(hits)));
    const urls = async (query: Partial<SearchQuery>): Promise<readonly string[]> =>
      (await search(settings(name), query)).map(({ url }) => url);
    expect(await urls({ blockedDomains: ['bad.example'] })).toEqual(['http://good.example./']);
    expect(await urls({ allowedDomains: ['good.example'] })).toEqual(['http://good.example./']);
  });

  test('a server error is reported with its text', async () => {
    engine.script(answers(500, { error: 'x'.repeat(5000) }));
    const error = await failureOf(search(settings(name)));
    expect(error).toMatchObject({ kind: 'upstream_unavailable', fault: 'upstream' });
    expect(error.message).toContain('it returned status 500: xxx');
    expect(error.message.length).toBeLessThan(300);
  });
});

describe('requests', () => {
  const query = {
    query: 'flüsse & seen',
    allowedDomains: ['example.com', 'müller.example'],
    blockedDomains: ['*.bad.example'],
    contextSize: 'high' as const,
    userLocation: { city: 'Zürich', country: 'ch', region: 'Zürich', timezone: 'Europe/Zurich' },
  };

  test('have the form of SearXNG', async () => {
    engine.script(answers(200, searxngAnswer([])));
    await search(settings('searxng', { url: `${engine.origin}/searx/` }), query);
    expect(engine.requests[0]?.method).toBe('GET');
    expect(asked().pathname).toBe('/searx/search');
    expect(Object.fromEntries(asked().searchParams)).toEqual({
      q: 'flüsse & seen site:example.com OR site:xn--mller-kva.example -site:bad.example',
      format: 'json',
    });
    expect(engine.requests[0]?.headers['authorization']).toBeUndefined();
  });

  test('have a key for SearXNG behind a proxy that requires one', async () => {
    engine.script(answers(200, searxngAnswer([])));
    await search(settings('searxng', { apiKey: new Secret(KEY) }));
    expect(engine.requests[0]?.headers['authorization']).toBe(`Bearer ${KEY}`);
  });

  test('have the form of Brave', async () => {
    engine.script(answers(200, braveAnswer([])));
    await search(settings('brave'), query);
    const request = engine.requests[0];
    expect(asked().pathname).toBe('/res/v1/web/search');
    expect(Object.fromEntries(asked().searchParams)).toEqual({
      q: 'flüsse & seen',
      count: '10',
      result_filter: 'web',
      text_decorations: 'false',
      goggles: '$discard\n$site=example.com\n$site=xn--mller-kva.example\n$discard,site=bad.example',
    });
    expect(request?.headers).toMatchObject({
      'x-subscription-token': KEY,
      'x-loc-city': 'Zurich',
      'x-loc-country': 'ch',
      'x-loc-state-name': 'Zurich',
      'x-loc-timezone': 'Europe/Zurich',
    });
    expect(request?.path).not.toContain(KEY);
  });

  test('have the form of Tavily', async () => {
    engine.script(answers(200, tavilyAnswer([])));
    await search(settings('tavily'), query);
    const request = engine.requests[0];
    expect([request?.method, request?.path]).toEqual(['POST', '/search']);
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
    });
    expect(request?.json).toEqual({
      query: 'flüsse & seen',
      max_results: 10,
      search_depth: 'basic',
      include_raw_content: 'text',
      include_domains: ['example.com', 'xn--mller-kva.example'],
      exclude_domains: ['bad.example'],
      country: 'switzerland',
    });
  });

  test('have the form of Exa', async () => {
    engine.script(answers(200, exaAnswer([])));
    await search(settings('exa'), query);
    const request = engine.requests[0];
    expect([request?.method, request?.path]).toEqual(['POST', '/search']);
    expect(request?.headers).toMatchObject({ 'x-api-key': KEY });
    expect(request?.json).toEqual({
      query: 'flüsse & seen',
      type: 'auto',
      numResults: 10,
      includeDomains: ['example.com', 'xn--mller-kva.example'],
      excludeDomains: ['bad.example'],
      userLocation: 'CH',
      contents: { text: { maxCharacters: 4000 } },
    });
  });

  test('a country that Tavily may not support is not sent', async () => {
    engine.script(answers(200, tavilyAnswer([])));
    await search(settings('tavily'), { userLocation: { country: 'CZ' } });
    expect(engine.requests[0]?.json).not.toHaveProperty('country');
  });

  test('a location cannot write headers', async () => {
    engine.script(answers(200, braveAnswer([])));
    await search(settings('brave'), { userLocation: { city: 'A\r\nx-evil: 1', region: '東京' } });
    expect(engine.requests[0]?.headers['x-evil']).toBeUndefined();
    expect(engine.requests[0]?.headers).toMatchObject({ 'x-loc-city': 'Ax-evil: 1' });
    expect(engine.requests[0]?.headers['x-loc-state-name']).toBeUndefined();
  });

  test.each(['', 'a b', 'exa mple.com', 'x\n$boost', 'a@b.com', 'a,site=b', '[::1]'])(
    'an invalid domain is refused: %j',
    async (domain) => {
      engine.script();
      const error = await failureOf(search(settings('brave'), { allowedDomains: [domain] }));
      expect(error).toMatchObject({ kind: 'invalid_request', fault: 'client', code: 'invalid_domain' });
      expect(engine.requests).toEqual([]);
    },
  );

  test.each([
    ['empty', '  '],
    ['too long', 'w'.repeat(401)],
  ])('a query that is %s is refused before it is sent', async (_, text) => {
    engine.script();
    const error = await failureOf(search(settings('exa'), { query: text }));
    expect(error.message).toBe('Web search (exa): a query must have 1 to 400 characters');
    expect(engine.requests).toEqual([]);
  });
});

describe('particular answers', () => {
  test("Brave's fragments of HTML become text, with its extra snippets", async () => {
    const hit = {
      url: 'https://example.com/',
      title: 'Tom &amp; Jerry&#x27;s <strong>page</strong>',
      text: 'Use <strong>a</strong> &lt;br&gt; &quot;tag&quot;',
    };
    engine.script(answers(200, braveAnswer([hit], ['one &amp; two', 'three'])));
    expect(await search(settings('brave'))).toMatchObject([
      { title: "Tom & Jerry's page", text: 'Use a <br> "tag"\none & two\nthree' },
    ]);
  });

  test("Brave's answer to a wrong key is 422", async () => {
    const error = {
      id: '1',
      code: 'SUBSCRIPTION_TOKEN_INVALID',
      detail: 'The provided subscription token is invalid.',
      status: 422,
      meta: { component: 'authentication' },
    };
    engine.script(answers(422, { type: 'ErrorResponse', error, time: 1 }));
    const failure = await failureOf(search(settings('brave')));
    expect(failure.message).toContain('the operator must check tools.web_search.api_key');
  });

  test('other refusals of Brave are reported with their text', async () => {
    engine.script(answers(422, { type: 'ErrorResponse', error: { code: 'VALIDATION', detail: 'q is odd' } }));
    const failure = await failureOf(search(settings('brave')));
    expect(failure.message).toBe('Web search (brave): it returned status 422: q is odd');
  });

  test.each([
    ['tavily', 432],
    ['tavily', 433],
    ['exa', 402],
  ] as const)('%s: an account that is used up (%d)', async (name, status) => {
    engine.script(answers(status, { detail: { error: 'limit' } }));
    expect((await failureOf(search(settings(name)))).message).toContain('; the operator must');
  });

  test('the page texts of Tavily are used if much content is requested', async () => {
    engine.script(answers(200, tavilyAnswer(HITS.slice(0, 1), 'The whole page.')));
    const [found] = await search(settings('tavily'), { contextSize: 'high' });
    expect(found?.text).toBe('The longest river of the north is the Ounas.\n\nThe whole page.');
  });

  test('SearXNG of which no engine answered did not find nothing', async () => {
    const failed = [
      ['google', 'CAPTCHA'],
      ['duckduckgo', 'timeout'],
    ];
    engine.script(answers(200, searxngAnswer([], failed)));
    expect((await failureOf(search(settings('searxng')))).message).toBe(
      "Web search: none of SearXNG's engines responded (google: CAPTCHA, duckduckgo: timeout)",
    );
    engine.script(answers(200, searxngAnswer(HITS, failed)));
    expect((await search(settings('searxng'))).length).toBe(2);
  });
});

describe('limits', () => {
  test('a slow engine is abandoned', async () => {
    const clock = new ArmedClock();
    const its = settings('searxng', { timeoutMs: 1234 });
    engine.script(() => {});
    const pending = openSearchBackend(its, fetchFor(its, clock)).search(
      { query: 'x', allowedDomains: [], blockedDomains: [], contextSize: 'low' },
      new AbortController().signal,
    );
    await engine.arrived(1);
    clock.advance(1234);
    expect((await failureOf(pending)).message).toContain('it took longer than 1234 ms');
  });

  test('an endless response is abandoned', async () => {
    engine.script((exchange) => {
      exchange.openStream({ 'content-type': 'application/json' });
      const chunk = 'x'.repeat(1_048_576);
      for (let at = 0; at < 10; at++) exchange.chunk(chunk);
    });
    const error = await failureOf(search(settings('tavily')));
    expect(error.message).toContain('larger than 8388608 bytes');
    expect(error).toMatchObject({ kind: 'upstream_unavailable', fault: 'upstream' });
    await engine.exchanges[0]?.closed;
  });

  test('an engine that is not there', async () => {
    const its = settings('searxng', { url: 'http://127.0.0.1:1' });
    expect((await failureOf(search(its))).message).toContain('no connection could be made');
  });

  test('an engine that sends us to another private address is not followed', async () => {
    engine.script(answers(302, '', { location: 'http://127.0.0.1:1/admin' }));
    expect((await failureOf(search(settings('searxng')))).message).toContain('may not be fetched');
    expect(engine.requests.length).toBe(1);
  });

  test('the cancellation of a request ends the search', async () => {
    const abort = new AbortController();
    engine.script(() => {});
    const pending = search(settings('exa'), {}, abort.signal);
    const exchange = await engine.arrived(1);
    abort.abort();
    expect((await failureOf(pending)).kind).toBe('cancelled');
    await exchange.closed;
    engine.script();
    expect((await failureOf(search(settings('exa'), {}, abort.signal))).kind).toBe('cancelled');
    expect(engine.requests).toEqual([]);
  });
});

describe('paid requests', () => {
  const query = { query: 'x', allowedDomains: [], blockedDomains: [], contextSize: 'low' as const };
  const charges = async (
    its: SearchSettings,
    whole: SearchQuery = query,
    clock = systemClock,
    meanwhile: (abort: AbortController) => void | Promise<void> = () => {},
  ): Promise<number> => {
    let times = 0;
    const abort = new AbortController();
    const pending = openSearchBackend(its, fetchFor(its, clock))
      .search(whole, abort.signal, () => times++)
      .catch(() => []);
    await meanwhile(abort);
    await pending;
    return times;
  };

  test.each([
    ['an answer', answers(200, exaAnswer(HITS)), 1],
    ['an answer that cannot be read', answers(200, 'nonsense'), 1],
    ['an answer that breaks off', (exchange) => exchange.cut(), 1],
    ['a refusal', answers(401, {}), 0],
    ['an error', answers(500, {}), 0],
  ] satisfies [string, Answer, number][])('%s', async (_, answer, times) => {
    engine.script(answer);
    expect(await charges(settings('exa'))).toBe(times);
  });

  test('a search that nobody waits for any longer', async () => {
    engine.script(() => {});
    const leaves = async (abort: AbortController): Promise<void> => {
      await engine.arrived(1);
      abort.abort();
    };
    expect(await charges(settings('exa'), query, systemClock, leaves)).toBe(1);
    const clock = new ArmedClock();
    engine.script(() => {});
    const passes = async (): Promise<void> => {
      await engine.arrived(1);
      clock.advance(10_001);
    };
    expect(await charges(settings('exa'), query, clock, passes)).toBe(1);
  });

  test('no request is charged if none was sent', async () => {
    engine.script();
    expect(await charges(settings('exa'), { ...query, query: 'x'.repeat(500) })).toBe(0);
    expect(await charges(settings('exa'), query, systemClock, (abort) => abort.abort())).toBe(0);
    expect(await charges(settings('exa', { url: 'http://127.0.0.1:1' }))).toBe(0);
    expect(engine.requests).toEqual([]);
  });
});

test('the host that the guard must exempt', () => {
  expect(searchHost({ backend: 'searxng', url: 'http://searx.lan/search' })).toBe('searx.lan:80');
  expect(searchHost({ backend: 'searxng', url: 'http://[::1]:8888' })).toBe('[::1]:8888');
  expect(searchHost({ backend: 'exa', url: null })).toBe('api.exa.ai:443');
});
