// Sends searches and sanitises results for every engine: limits, error messages, domain filters and plain text.
import { asObject, asString, isJsonObject, parseJson } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { ErrorKind } from '../../../canonical/index.ts';
import type { GuardedAnswer, GuardedFetch } from '../../../upstream/fetch-guarded.ts';
import { EchoMask, secretsOfAsking } from '../../../base/telemetry/echo-mask.ts';
import { visibleText } from '../visible-text.ts';
import { decodeDomain, isWithin } from './domain.ts';
import type { FoundResult, PlannedSearch, SearchApi } from './search-api.ts';
import type { ContextSize, SearchBackend, SearchQuery, SearchResult, SearchSettings } from './backend.ts';
import { retryAfterMs } from '../../../base/lib/retry-after.ts';
import { cutText } from '../../../base/lib/cut-text.ts';
import { toByteString } from '../../../base/lib/bytes.ts';
import type { DurationMs } from '../../../base/units.ts';

/** The part of the guarded fetch that a search needs. */
export type Fetch = Pick<GuardedFetch, 'fetchWhole'>;

/** Number of results and characters of each: in total about 600, 3,000 and 12,000 tokens. */
const SIZES: Readonly<Record<ContextSize, { readonly results: number; readonly chars: number }>> = {
  low: { results: 5, chars: 500 },
  medium: { results: 8, chars: 1500 },
  high: { results: 12, chars: 4000 },
};
/** Maximum bytes of the engine's answer, which may contain whole pages. */
const MAX_BYTES = 8 * 1_048_576;
/** One pool, because there is one engine with the operator's key. */
const POOL = { id: 'web search', label: 'web search' };
/** Engines refuse longer queries in different ways; 400 is the limit of the strictest. */
const MAX_QUERY_CHARS = 400;
const MAX_TITLE_CHARS = 300;
const MAX_DATE_CHARS = 40;
const MAX_WORDS_OF_ENGINE = 200;

/** @param address of the engine; its path is kept */
export function openBackend(
  api: SearchApi,
  address: string,
  settings: Pick<SearchSettings, 'apiKey' | 'maxResults' | 'timeoutMs'>,
  fetch: Fetch,
): SearchBackend {
  const base = address.replace(/\/+$/, '');
  const { apiKey, maxResults, timeoutMs } = settings;
  // Some engines echo the key in errors or results.
  const mask = apiKey && EchoMask.of([apiKey.reveal(), ...secretsOfAsking(base, {})]);

  return {
    name: api.name,
    async search(query, signal, charged) {
      const planned = plan(api, query, maxResults);
      const { path, headers, json } = api.encodeSearch(planned, apiKey);
      const answer = await ask(api, fetch, signal, charged, {
        url: base + path,
        method: json ? 'POST' : 'GET',
        headers: toByteStrings({
          accept: 'application/json',
          ...(json && { 'content-type': 'application/json' }),
          ...headers,
        }),
        body: json && JSON.stringify(json),
        maxBytes: MAX_BYTES,
        timeoutMs,
      });
      const said = answer.bytes.toString('utf8');
      const body = parseJson(mask ? mask.apply(said) : said);
      if (answer.status < 200 || answer.status > 299) throw refusal(api, answer, asObject(body));
      charged?.();
      const found = isJsonObject(body) ? api.decodeResults(body) : undefined;
      if (!found) throw failure(api, 'upstream_unavailable', 'its response is not a list of results');
      return select(found, planned);
    },
  };
}

function plan(api: SearchApi, search: SearchQuery, maxResults: number): PlannedSearch {
  const { results, chars } = SIZES[search.contextSize];
  const query = search.query.trim();
  // The model can search again with fewer words. A truncated query would return other results.
  if (query === '' || query.length > MAX_QUERY_CHARS)
    throw failure(api, 'invalid_request', `a query must have 1 to ${MAX_QUERY_CHARS} characters`);
  return {
    query,
    allowed: search.allowedDomains.map(decodeDomain),
    blocked: search.blockedDomains.map(decodeDomain),
    contextSize: search.contextSize,
    location: search.userLocation ?? {},
    results: Math.min(results, maxResults),
    charsPerResult: chars,
  };
}

async function ask(
  api: SearchApi,
  fetch: Fetch,
  signal: AbortSignal,
  charged: (() => void) | undefined,
  request: Parameters<Fetch['fetchWhole']>[0],
): Promise<GuardedAnswer> {
  let isSent = false;
  try {
    return await fetch.fetchWhole({ ...request, pool: POOL, sent: () => (isSent = true) }, signal);
  } catch (thrown) {
    // The engine performs the search even if its result is not read.
    if (isSent) charged?.();
    const error = GatewayError.from(thrown);
    if (error.kind === 'cancelled' || error.fault === 'gateway') throw error;
    throw failure(api, 'upstream_unavailable', error.message, { cause: error });
  }
}

/** Error for an answer with a status other than 2xx. */
function refusal(api: SearchApi, answer: GuardedAnswer, body: JsonObject): GatewayError {
  const { status, header } = answer;
  const said = asObject(body['error'] ?? body['detail']);
  const explained = api.explainRefusal(status, asString(said['code']));
  if (explained !== undefined) return failure(api, 'upstream_unavailable', explained);
  const words =
    asString(body['error']) ?? asString(body['detail']) ?? asString(said['detail'] ?? said['error']) ?? '';
  const reason = `it returned status ${status}${words === '' ? '' : `: ${cutText(words, MAX_WORDS_OF_ENGINE)}`}`;
  return status === 429
    ? failure(api, 'rate_limited', reason, { retryAfterMs: retryAfterMs(header) })
    : failure(api, 'upstream_unavailable', reason);
}

function failure(
  { name }: SearchApi,
  kind: ErrorKind,
  reason: string,
  details: { readonly retryAfterMs?: DurationMs | undefined; readonly cause?: unknown } = {},
): GatewayError {
  return new GatewayError(kind, `Web search (${name}): ${reason}`, {
    code: 'search_failed',
    fault: 'upstream',
    ...details,
  });
}

/** Usable results: unique pages of permitted domains, in the engine's order. */
function select(found: readonly FoundResult[], search: PlannedSearch): readonly SearchResult[] {
  const results = new Map<string, SearchResult>();
  for (const result of found) {
    if (results.size === search.results) break;
    const address = asString(result.url) ?? '';
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (!url || (url.protocol !== 'http:' && url.protocol !== 'https:') || results.has(url.href)) continue;
    // Engines do not filter reliably, and not by path.
    if (search.allowed.length > 0 && !isWithin(url, search.allowed)) continue;
    if (isWithin(url, search.blocked)) continue;
    const publishedAt = asString(result.publishedAt);
    results.set(url.href, {
      url: url.href,
      title: cutText(oneLine(visibleText(asString(result.title) ?? '')), MAX_TITLE_CHARS) || url.hostname,
      text: cutText(visibleText(asString(result.text) ?? '').trim(), search.charsPerResult),
      publishedAt: publishedAt && cutText(publishedAt, MAX_DATE_CHARS),
    });
  }
  return [...results.values()];
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function toByteStrings(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, toByteString(value)]));
}
