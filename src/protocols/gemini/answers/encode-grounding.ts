// Encodes citations of an answer, and the searches behind them, as members of a candidate. Gemini's own are passed
// unchanged. Others become `groundingMetadata`, with offsets in UTF-8 bytes.
import type { JsonObject, MutableJsonObject } from '../../../base/json/index.ts';
import type { Annotation, HostedFacts } from '../../../canonical/index.ts';
import { GROUNDING_MEMBERS, RETRIEVED } from './decode-grounding.ts';
import { Utf8Offsets } from './utf8-offsets.ts';

/** Google's status of a page that could not be read (API reference, `UrlRetrievalStatus`, 2026-11). */
const FAILED = 'URL_RETRIEVAL_STATUS_ERROR';

interface Citation {
  readonly annotation: Extract<Annotation, { type: 'url_citation' }>;
  /** Length of the answer's text before the annotation's part, in UTF-16 units. */
  readonly offset: number;
}

/** Collects the citations of one answer. */
export class GroundingWriter {
  readonly #citations: Citation[] = [];
  readonly #queries: string[] = [];
  readonly #pages: { readonly url: string; readonly title: string }[] = [];
  readonly #read: JsonObject[] = [];
  #own: MutableJsonObject | undefined;

  /** @param offset length of the answer's text before the annotation's part, in UTF-16 units */
  add(annotation: Annotation, offset: number): void {
    if (annotation.type === 'url_citation') this.#citations.push({ annotation, offset });
    else if (annotation.source.protocol === 'gemini') this.addOwn(annotation.source.raw);
  }

  /** Adds another vendor's search, or a page that it read. Other work cannot be expressed here. */
  addWork(facts: HostedFacts | undefined): void {
    if (facts?.type === 'web_page') {
      const urlRetrievalStatus = facts.isError ? FAILED : RETRIEVED;
      this.#read.push({ retrievedUrl: facts.url, urlRetrievalStatus });
    }
    if (facts?.type !== 'web_search') return;
    if (facts.query) this.#queries.push(facts.query);
    for (const { url, title = '' } of facts.pages ?? []) this.#pages.push({ url, title });
  }

  /** Adds members of a candidate from Gemini. */
  addOwn(raw: JsonObject): void {
    for (const name of GROUNDING_MEMBERS)
      if (raw[name] !== undefined) this.#own = { ...this.#own, [name]: raw[name] };
  }

  /**
   * Returns the members for the candidate; undefined without citations and searches.
   * @param text whole text of the answer
   */
  members(text: string): JsonObject | undefined {
    if (this.#own) return this.#own;
    const read = this.#read.length > 0 && { urlContextMetadata: { urlMetadata: this.#read } };
    if (this.#citations.length === 0 && this.#queries.length === 0) return read || undefined;
    const chunks: JsonObject[] = [];
    const places = new Map<string, number>();
    const placeOf = ({ url, title }: { readonly url: string; readonly title: string }): number => {
      const key = JSON.stringify([url, title]);
      let index = places.get(key);
      if (index === undefined) {
        index = chunks.push({ web: { uri: url, title } }) - 1;
        places.set(key, index);
      }
      return index;
    };
    for (const page of this.#pages) placeOf(page);
    const offsets = new Utf8Offsets(text);
    const supports = this.#citations.map(({ annotation, offset }): JsonObject => {
      const [start, end] = [annotation.start + offset, annotation.end + offset];
      const startIndex = offsets.byteAt(start);
      const endIndex = Math.max(startIndex, offsets.byteAt(end));
      return {
        segment: { startIndex, endIndex, text: text.slice(start, end) },
        groundingChunkIndices: [placeOf(annotation)],
      };
    });
    const queries = this.#queries.length > 0 ? { webSearchQueries: this.#queries } : {};
    const groundingMetadata = { ...queries, groundingChunks: chunks, groundingSupports: supports };
    return { groundingMetadata, ...read };
  }
}
