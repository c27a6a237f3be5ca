// Grounding of an answer (search results, retrieved documents, visited pages) as citations of its text. Owns the
// conversion from Google's byte offsets; the raw metadata travels along for clients that speak Gemini.
import type { JsonObject, JsonValue, MutableJsonObject } from '../../../base/json/index.ts';
import type { Annotation, HostedFacts } from '../../../canonical/index.ts';
import { asArray, asNumber, asObject, asString } from '../../../base/json/index.ts';
import { citationUri } from '../../citation-address.ts';
import { Utf8Offsets } from './utf8-offsets.ts';

/** Members of a candidate that say where its words come from. */
export const GROUNDING_MEMBERS = ['groundingMetadata', 'citationMetadata', 'urlContextMetadata'] as const;

/** A copy of a candidate's members that say where its words come from, over earlier ones; undefined without any. */
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
 * The citations in a candidate's members: one of a web page for each pair of a stretch of text and a page, also where
 * the model recited one, and one that only this protocol knows, with everything as it came. That one is told by the
 * others where each of its claims has a page.
 * @param text the whole text of the message
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
  // Google AI Studio and Vertex AI name the list differently (API references, `CitationMetadata`, 2026-11).
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
 * Work behind an answer: a search for each query, and each page that was read. Gemini does not say which query found
 * which page: all stand with the first.
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
    // The other words say why a page could not be read (API reference, `UrlRetrievalStatus`, 2026-11).
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

/** Google's data of a page that the model has read. */
export const RETRIEVED = 'URL_RETRIEVAL_STATUS_SUCCESS';

/** Members that say more than which page a stretch of text is from: no citation can. */
const UNREPORTED = [
  'searchEntryPoint',
  'googleMapsWidgetContextToken',
  'imageSearchQueries',
  'retrievalQueries',
] as const;

/** Members of a page that a citation has a place for, or that its address says. */
const REPORTED_OF_PAGES: ReadonlySet<string> = new Set(['uri', 'title', 'domain']);

/** Members of `groundingMetadata` that neither a citation nor a search holds, by its names. */
function unreportedOf(metadata: JsonObject): readonly string[] {
  const unreported = new Set<string>(UNREPORTED.filter((name) => isSaid(metadata[name])));
  const cited = new Set(
    asArray(metadata['groundingSupports']).flatMap((each) =>
      asArray(asObject(each)['groundingChunkIndices']),
    ),
  );
  const isSearched = asArray(metadata['webSearchQueries']).length > 0;
  for (const [index, chunk] of asArray(metadata['groundingChunks']).map(asObject).entries()) {
    // A search tells which pages it has found.
    if (!cited.has(index) && !(isSearched && pageOf(chunk))) unreported.add('groundingChunks');
    for (const kind in chunk)
      for (const [name, value] of Object.entries(asObject(chunk[kind])))
        if (!REPORTED_OF_PAGES.has(name) && isSaid(value)) unreported.add(`${kind}.${name}`);
  }
  return [...unreported];
}

/** The same of the members of a candidate that has no text to cite for. */
export function unreportedWithoutText(raw: JsonObject): readonly string[] {
  const metadata = asObject(raw['groundingMetadata']);
  return [
    ...unreportedOf(metadata),
    ...['groundingSupports'].filter((name) => isSaid(metadata[name])),
    ...['citationMetadata'].filter((name) => isSaid(raw[name])),
  ];
}

/** False for an empty object or list. */
function isSaid(value: JsonValue | undefined): boolean {
  if (value === undefined || value === null || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
}

/** How many queries the hosted search ran. */
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

/** So many characters of cited words are looked for, and so many times in an answer, where they are not at their place. */
const LOOKED_FOR = 256;
const MOST_LOOKS = 256;

/** Stretches of an answer's text that Google says are cited. */
class Places {
  readonly #text: string;
  readonly #offsets: Utf8Offsets;
  /** Offsets of words that were found away from their place; −1 for those that are nowhere. */
  readonly #found = new Map<string, number>();

  constructor(text: string) {
    this.#text = text;
    this.#offsets = new Utf8Offsets(text);
  }

  /**
   * Offsets in UTF-16 units. Google's are bytes of UTF-8, of the part of the answer: its words are the better witness.
   */
  of(segment: JsonObject): { readonly start: number; readonly end: number } {
    const words = asString(segment['text']) ?? '';
    const start = this.#offsets.charAt(asNumber(segment['startIndex']) ?? 0);
    if (words !== '') {
      const at = this.#text.startsWith(words, start) ? start : this.#look(words);
      if (at >= 0) return { start: at, end: at + words.length };
    }
    return { start, end: Math.max(start, this.#offsets.charAt(asNumber(segment['endIndex']) ?? 0)) };
  }

  /** A look goes through the whole text: an answer of many citations must not be read once for each of them. */
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
