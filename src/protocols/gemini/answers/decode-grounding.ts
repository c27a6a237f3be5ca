// Decodes grounding (search results, retrieved documents, visited pages) into citations of the text, and converts
// Google's byte offsets. The raw metadata is kept for Gemini clients.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { Annotation, HostedFacts } from '../../../canonical/index.ts';
import { asArray, asNumber, asObject, asString } from '../../../base/json/index.ts';
import { citationUri } from '../../content/citation-address.ts';
import { Utf8Offsets } from './utf8-offsets.ts';

/** Candidate members with the sources of its text. */
export const GROUNDING_MEMBERS = ['groundingMetadata', 'citationMetadata', 'urlContextMetadata'] as const;

/** Merges a candidate's source members over earlier ones; undefined if there are none. */
export function mergeGrounding(
  earlier: MutableJsonObject | undefined,
  candidate: JsonObject,
): MutableJsonObject | undefined {
  let merged = earlier;
  for (const name of GROUNDING_MEMBERS) {
    const value = asObject(candidate[name]);
    if (Object.keys(value).length > 0) merged = { ...merged, [name]: value };
  }
  return merged;
}

/**
 * Returns the citations of a candidate: one web citation per text segment and page, including recitations, and one raw
 * annotation with everything for Gemini clients. The raw one counts as reported if each of its claims has a page.
 * @param text whole text of the message
 */
export function decodeGrounding(raw: JsonObject, text: string): Annotation[] {
  const annotations: Annotation[] = [];
  const places = new Places(text);
  const metadata = asObject(raw['groundingMetadata']);
  const chunks = asArray(metadata['groundingChunks']);
  let isReported = true;
  for (const support of asArray(metadata['groundingSupports'])) {
    const { segment, groundingChunkIndices } = asObject(support);
    const { start, end } = places.of(asObject(segment));
    for (const index of asArray(groundingChunkIndices)) {
      const page = pageOf(asObject(typeof index === 'number' ? chunks[index] : undefined));
      if (page === undefined) isReported = false;
      else annotations.push({ type: 'url_citation', ...page, start, end });
    }
  }
  // Google AI Studio and Vertex AI use different names (API references, `CitationMetadata`, 2026-11).
  const { citationSources, citations } = asObject(raw['citationMetadata']);
  for (const cited of asArray(citationSources ?? citations)) {
    const page = addressOf(asObject(cited));
    if (page === undefined) isReported = false;
    else annotations.push({ type: 'url_citation', ...page, ...places.of(asObject(cited)) });
  }
  const unreported = unreportedOf(metadata);
  const more = unreported.length > 0 ? { unreported } : {};
  annotations.push({ type: 'other', source: { protocol: 'gemini', raw }, isReported, ...more });
  return annotations;
}

/**
 * Returns the work behind an answer: a search per query, and each page that was read. Gemini does not link pages to
 * queries, so all are assigned to the first.
 */
export function readWork(raw: JsonObject): readonly { readonly kind: string; readonly facts: HostedFacts }[] {
  const metadata = asObject(raw['groundingMetadata']);
  const found = asArray(metadata['groundingChunks']).flatMap((chunk) => pageOf(asObject(chunk)) ?? []);
  const searches = asArray(metadata['webSearchQueries'])
    .filter((query) => typeof query === 'string')
    .map((query, index): HostedFacts => ({ type: 'web_search', query, pages: index === 0 ? found : [] }));
  const read = asArray(asObject(raw['urlContextMetadata'])['urlMetadata']).flatMap((page): HostedFacts[] => {
    const { retrievedUrl, urlRetrievalStatus: status } = asObject(page);
    const url = asString(retrievedUrl);
    // All other values say why a page could not be read (API reference, `UrlRetrievalStatus`, 2026-11).
    const isError = status !== RETRIEVED;
    return url
      ? [{ type: 'web_page', url: citationUri(url), isRead: true, ...(isError && { isError }) }]
      : [];
  });
  return [
    ...searches.map((facts) => ({ kind: 'googleSearch', facts })),
    ...read.map((facts) => ({ kind: 'urlContext', facts })),
  ];
}

/** Google's status of a page that the model has read. */
export const RETRIEVED = 'URL_RETRIEVAL_STATUS_SUCCESS';

/** Members that no citation can express. */
const UNREPORTED = [
  'searchEntryPoint',
  'googleMapsWidgetContextToken',
  'imageSearchQueries',
  'retrievalQueries',
] as const;

/** Members of a page that a citation holds, or that its address implies. */
const REPORTED_OF_PAGES: ReadonlySet<string> = new Set(['uri', 'title', 'domain']);

/** Returns the members of `groundingMetadata` that neither a citation nor a search holds. */
function unreportedOf(metadata: JsonObject): readonly string[] {
  const unreported = new Set<string>(UNREPORTED.filter((name) => hasValue(metadata[name])));
  const cited = new Set(
    asArray(metadata['groundingSupports']).flatMap((each) =>
      asArray(asObject(each)['groundingChunkIndices']),
    ),
  );
  const isSearched = asArray(metadata['webSearchQueries']).length > 0;
  for (const [index, chunk] of asArray(metadata['groundingChunks']).map(asObject).entries()) {
    // A search lists the pages that it found.
    if (!cited.has(index) && !(isSearched && pageOf(chunk))) unreported.add('groundingChunks');
    for (const kind in chunk)
      for (const [name, value] of Object.entries(asObject(chunk[kind])))
        if (!REPORTED_OF_PAGES.has(name) && hasValue(value)) unreported.add(`${kind}.${name}`);
  }
  return [...unreported];
}

/** Does the same for a candidate without text to cite. */
export function unreportedWithoutText(raw: JsonObject): readonly string[] {
  const metadata = asObject(raw['groundingMetadata']);
  return [
    ...unreportedOf(metadata),
    ...['groundingSupports'].filter((name) => hasValue(metadata[name])),
    ...['citationMetadata'].filter((name) => hasValue(raw[name])),
  ];
}

/** False for empty values. */
function hasValue(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** Returns the number of queries of the hosted search. */
export function countSearches(raw: JsonObject | undefined): number {
  return asArray(asObject(raw?.['groundingMetadata'])['webSearchQueries']).length;
}

interface Page {
  readonly url: string;
  readonly title: string;
}

function pageOf(chunk: JsonObject): Page | undefined {
  for (const kind of ['web', 'maps', 'retrievedContext'] as const) {
    const page = addressOf(asObject(chunk[kind]));
    if (page !== undefined) return page;
  }
  return undefined;
}

function addressOf({ uri, title }: JsonObject): Page | undefined {
  const url = asString(uri);
  return url ? { url: citationUri(url), title: asString(title) ?? '' } : undefined;
}

/**
 * Limits of the search for cited words that are not at their offset: characters that are compared, and searches per
 * answer.
 */
const LOOKED_FOR = 256;
const MOST_LOOKS = 256;

/** Segments of an answer's text that are cited. */
class Places {
  readonly #text: string;
  readonly #offsets: Utf8Offsets;
  /** Offsets of words found elsewhere in the text; −1: not found. */
  readonly #found = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
    this.#offsets = new Utf8Offsets(text);
  }

  /** Returns offsets in UTF-16 units. Google's are UTF-8 bytes within a part, and less reliable than the cited words. */
  of(segment: JsonObject): { readonly start: number; readonly end: number } {
    const words = asString(segment['text']) ?? '';
    const start = this.#offsets.charAt(asNumber(segment['startIndex']) ?? 0);
    if (words !== '') {
      const at = this.#text.startsWith(words, start) ? start : this.#look(words);
      if (at >= 0) return { start: at, end: at + words.length };
    }
    return { start, end: Math.max(start, this.#offsets.charAt(asNumber(segment['endIndex']) ?? 0)) };
  }

  /** Searches the whole text. Results are cached and limited, so that many citations do not each scan the text. */
  #look(words: string): number {
    let at = this.#found.get(words);
    if (at === undefined && this.#found.size < MOST_LOOKS) {
      at = this.#text.indexOf(words.slice(0, LOOKED_FOR));
      if (!this.#text.startsWith(words, at)) at = -1;
      this.#found.set(words, at);
    }
    return at ?? -1;
  }
}
