// Configuration of web search: what is needed at the start, and what the program makes of it.
import { describe, expect, test } from 'bun:test';
import { loadConfig } from '../../../src/app/config/index.ts';
import type { Config } from '../../../src/app/config/index.ts';

function load(
  search: string,
  environment: Readonly<Record<string, string>> = {},
): Config['tools']['webSearch'] {
  const input = {
    environment,
    flags: { config: 'x.yaml' },
    readFile: () => `tools: { web_search: ${search} }`,
  };
  return loadConfig(input).config.tools.webSearch;
}

test('is disabled by default, with default limits', () => {
  for (const { config } of [
    loadConfig({ environment: {}, exists: () => false }),
    loadConfig({ environment: {}, flags: { config: 'x.yaml' }, readFile: () => 'tools: { web_search: {} }' }),
  ])
    expect(config.tools.webSearch).toEqual({
      backend: null,
      url: null,
      apiKey: null,
      native: 'prefer',
      maxResults: 10,
      timeoutMs: 10_000,
      priceUsdPerSearch: null,
      pages: true,
    });
});

test('applies its settings, and prints no key', () => {
  const search = load(
    '{ backend: brave, api_key: "${ENGINE_KEY}", native: never, max_results: 3, timeout_ms: 500, price_usd_per_search: 0.005, pages: false }',
    { ENGINE_KEY: 'sk-test-engine' },
  );
  expect(search.apiKey?.reveal()).toBe('sk-test-engine');
  expect(JSON.stringify(search)).not.toContain('sk-test-engine');
  expect(search).toMatchObject({
    backend: 'brave',
    native: 'never',
    maxResults: 3,
    timeoutMs: 500,
    priceUsdPerSearch: 0.005,
    pages: false,
  });
  expect(load('{ backend: searxng, url: "http://127.0.0.1:8888" }')).toMatchObject({
    backend: 'searxng',
    url: 'http://127.0.0.1:8888',
    apiKey: null,
  });
});

describe('stops the start', () => {
  test.each([
    ['{ backend: searxng }', 'tools.web_search.url: is needed for the backend searxng'],
    ['{ backend: brave }', 'tools.web_search.api_key: is needed for the backend brave'],
    ['{ backend: tavily, api_key: "" }', 'tools.web_search.api_key: is needed for the backend tavily'],
    ['{ backend: exa, api_key: "${NOT_SET:-}" }', 'tools.web_search.api_key: is needed for the backend exa'],
    ['{ backend: bing }', 'tools.web_search.backend'],
    ['{ url: "searx.lan" }', 'tools.web_search.url: must be an http or https address'],
    ['{ max_results: 0 }', 'tools.web_search.max_results'],
    ['{ max_results: 21 }', 'tools.web_search.max_results'],
    ['{ timeout_ms: 0 }', 'tools.web_search.timeout_ms'],
    ['{ price_usd_per_search: -1 }', 'tools.web_search.price_usd_per_search'],
    ['{ pages: maybe }', 'tools.web_search.pages'],
  ])('%s', (search, message) => {
    expect(() => load(search)).toThrow(message);
  });
});
