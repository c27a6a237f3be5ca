// Answers of search engines in the shapes that their owners document (SearXNG's search API, Brave's "Web search",
// Tavily's "Search", Exa's "Search"; read 2026-11), members that nobody reads included.
import type { Answer } from './scripted-upstream.ts';

/** A page as an engine knows it. */
export interface Hit {
  readonly url: string;
  readonly title?: string;
  readonly text?: string;
  readonly date?: string | null;
}

export const HITS: readonly Hit[] = [
  {
    url: 'https://docs.example.com/rivers',
    title: 'Rivers of the north',
    text: 'The longest river of the north is the Ounas.',
    date: '2026-03-01T10:00:00',
  },
  { url: 'https://blog.example.org/rivers?page=2', title: 'A walk', text: 'Along the water.', date: null },
];

export function searxngAnswer(hits: readonly Hit[], failed: readonly (readonly string[])[] = []): unknown {
  return {
    query: 'rivers',
    number_of_results: 0,
    results: hits.map(({ url, title, text, date }, at) => ({
      url,
      title,
      content: text,
      publishedDate: date,
      thumbnail: null,
      engine: 'duckduckgo',
      template: 'default.html',
      parsed_url: ['https', 'example.com', '/', '', '', ''],
      engines: ['duckduckgo'],
      positions: [at + 1],
      score: 1,
      category: 'general',
    })),
    answers: [],
    corrections: [],
    infoboxes: [],
    suggestions: [],
    unresponsive_engines: failed,
  };
}

export function braveAnswer(hits: readonly Hit[], snippets: readonly string[] = []): unknown {
  const results = hits.map(({ url, title, text, date }) => ({
    title,
    url,
    is_source_local: false,
    description: text,
    page_age: date ?? undefined,
    age: 'March 1, 2026',
    language: 'en',
    meta_url: { scheme: 'https', netloc: 'example.com', hostname: 'example.com', path: '' },
    ...(snippets.length > 0 && { extra_snippets: snippets }),
  }));
  return {
    type: 'search',
    query: { original: 'rivers', spellcheck_off: false, more_results_available: true },
    ...(hits.length > 0 && { web: { type: 'search', results, family_friendly: true } }),
    mixed: { type: 'mixed', main: [{ type: 'web', index: 0, all: false }], top: [], side: [] },
  };
}

export function tavilyAnswer(hits: readonly Hit[], page?: string): unknown {
  return {
    query: 'rivers',
    answer: null,
    images: [],
    results: hits.map(({ url, title, text, date }) => ({
      title,
      url,
      content: text,
      score: 0.8,
      raw_content: page ?? null,
      ...(date && { published_date: date }),
    })),
    response_time: 1.2,
    request_id: '123e4567-e89b-12d3-a456-426614174111',
  };
}

export function exaAnswer(hits: readonly Hit[]): unknown {
  return {
    requestId: 'b5947044c4b78efa9552a7c89b306d95',
    resolvedSearchType: 'neural',
    results: hits.map(({ url, title, text, date }) => ({
      id: url,
      title,
      url,
      publishedDate: date,
      author: '',
      text,
    })),
    costDollars: { total: 0.005 },
  };
}

/** An answer of JSON, or of text as it is. */
export function answers(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return (exchange) => {
    const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    exchange.head(status, {
      'content-type': 'application/json',
      'content-length': String(bytes.length),
      ...headers,
    });
    exchange.raw(bytes);
  };
}
