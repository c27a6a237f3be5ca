// Grounding of an answer (search results, retrieved documents, visited pages) as citations of its text. Owns the
// conversion from Google's byte offsets; the raw metadata travels along for clients that speak Gemini.
import type { Annotation, HostedFacts, JsonObject, MutableJsonObject } from '../../canonical/index.ts';
import { asArray, asNumber, asObject, asString } from '../../canonical/index.ts';

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
  const metadata = asObject(raw['groundingMetadata']);
  const chunks = asArray(metadata['groundingChunks']);
  let isTold = true;
  for (const support of asArray(metadata['groundingSupports'])) {
    const { segment, groundingChunkIndices } = asObject(support);
    const { start, end } = placeOf(asObject(segment), text);
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
    else annotations.push({ type: 'url_citation', ...page, ...placeOf(asObject(cited), text) });
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
  return url ? { url, title: asString(title) ?? '' } : undefined;
}

/** Offsets in UTF-16 units. Google's are bytes of UTF-8, of the part of the answer: its words are the better witness. */
function placeOf(segment: JsonObject, text: string): { readonly start: number; readonly end: number } {
  const words = asString(segment['text']) ?? '';
  const start = charOffset(text, asNumber(segment['startIndex']) ?? 0);
  if (words !== '') {
    const at = text.startsWith(words, start) ? start : text.indexOf(words);
    if (at >= 0) return { start: at, end: at + words.length };
  }
  return { start, end: Math.max(start, charOffset(text, asNumber(segment['endIndex']) ?? 0)) };
}

/** The UTF-16 offset of an offset in UTF-8 bytes, at most the length of the text. */
function charOffset(text: string, bytes: number): number {
  let left = bytes;
  let at = 0;
  while (left > 0 && at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    at += code < 0x10000 ? 1 : 2;
  }
  return at;
}
