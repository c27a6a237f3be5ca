// Grounding of an answer (search results, retrieved documents, visited pages) as citations of its text. Owns the
// conversion from Google's byte offsets; the raw metadata travels along for clients that speak Gemini.
import type { Annotation, HostedFacts, JsonObject, MutableJsonObject } from '../../canonical/index.ts';
import { asArray, asNumber, asObject, asString } from '../../canonical/index.ts';
import { citationUri } from '../citation-address.ts';
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
  let isTold = true;
  for (const support of asArray(metadata['groundingSupports'])) {
    const { segment, groundingChunkIndices } = asObject(support);
    const { start, end } = places.of(asObject(segment));
    for (const index of asArray(groundingChunkIndices)) {
      const page = pageOf(asObject(typeof index === 'number' ? chunks[index] : undefined));
      if (page === undefined) isTold = false;
      else annotations.push({ type: 'url_citation', ...page, start, end });
    }
  }
  // Google AI Studio and Vertex AI name the list differently (API references, `CitationMetadata`, 2026-11).
  const { citationSources, citations } = asObject(raw['citationMetadata']);
  for (const cited of asArray(citationSources ?? citations)) {
    const page = addressOf(asObject(cited));
    if (page === undefined) isTold = false;
    else annotations.push({ type: 'url_citation', ...page, ...places.of(asObject(cited)) });
  }
  annotations.push({ type: 'other', source: { protocol: 'gemini', raw }, isTold });
  return annotations;
}

/**
 * The searches behind an answer, one for each query. Gemini does not say which query found which page: all stand with
 * the first.
 */
export function readSearches(raw: JsonObject): readonly HostedFacts[] {
  const metadata = asObject(raw['groundingMetadata']);
  const pages = asArray(metadata['groundingChunks']).flatMap((chunk) => pageOf(asObject(chunk)) ?? []);
  return asArray(metadata['webSearchQueries'])
    .filter((query) => typeof query === 'string')
    .map((query, index) => ({ type: 'web_search', query, pages: index === 0 ? pages : [] }));
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

/** Where the stretches of an answer's text are that Google says are cited. */
class Places {
  readonly #text: string;
  readonly #offsets: Utf8Offsets;
  /** Where words were found that were not at their place; −1 for those that are nowhere. */
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
