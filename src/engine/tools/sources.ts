// Numbered pages that a model was shown, and detection of its citations. Pure functions.
import type { Annotation } from '../../canonical/index.ts';

export interface NumberedSource {
  readonly number: number;
  readonly url: string;
  readonly title: string;
}

/** All pages of one answer. A page keeps its number when it is found again. */
export class Sources {
  readonly #byUrl = new Map<string, NumberedSource>();
  readonly #byNumber: NumberedSource[] = [];

  add(url: string, title: string): NumberedSource {
    const known = this.#byUrl.get(url);
    if (known) return known;
    const source = { number: this.#byNumber.length + 1, url, title };
    this.#byUrl.set(url, source);
    this.#byNumber.push(source);
    return source;
  }

  get size(): number {
    return this.#byNumber.length;
  }

  byNumber(number: number): NumberedSource | undefined {
    return this.#byNumber[number - 1];
  }

  byUrl(url: string): NumberedSource | undefined {
    return this.#byUrl.get(url) ?? this.#byUrl.get(url.endsWith('/') ? url.slice(0, -1) : `${url}/`);
  }
}

/** Citations as models write them: `[3]`, `【3】` and its longer forms, `[words](https://…)`. */
const CITATION =
  /\[(\d{1,3})\](?!\()|【(\d{1,3})[^】\n]{0,40}】|\[[^\]\n]{0,300}\]\((https?:\/\/[^\s()]+)\)/g;
/** Maximum characters of an incomplete citation. */
const LONGEST = 2_500;
/** A possible beginning of a citation at the end of a text; a complete `[3]` may still become a link. */
const BEGUN = /(?:\[[^\]\n]{0,300}(?:\](?:\([^\s()]{0,2000})?)?|【[^】\n]{0,44})$/;

/** Finds the citations in a streamed text. */
export class CitationFinder {
  readonly #sources: Sources;
  /** Text that may begin a citation, and its offset. */
  #rest = '';
  #restAt = 0;

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** @returns the citations that this piece completes; indices are UTF-16 code units from the start of the text */
  push(piece: string): readonly Annotation[] {
    // Fast path: most pieces contain no brackets.
    if (this.#rest === '' && !piece.includes('[') && !piece.includes('【')) {
      this.#restAt += piece.length;
      return [];
    }
    const text = this.#rest + piece;
    const begun = text.slice(-LONGEST).match(BEGUN)?.[0] ?? '';
    const found = this.#find(text.slice(0, text.length - begun.length));
    this.#restAt += text.length - begun.length;
    this.#rest = begun;
    return found;
  }

  /** Citations that are only complete at the end of the text. */
  end(): readonly Annotation[] {
    const found = this.#find(this.#rest);
    this.#restAt += this.#rest.length;
    this.#rest = '';
    return found;
  }

  #find(text: string): Annotation[] {
    const found: Annotation[] = [];
    for (const match of text.matchAll(CITATION)) {
      const [whole, number, bracketed, url] = match;
      const source =
        url === undefined ? this.#sources.byNumber(Number(number ?? bracketed)) : this.#sources.byUrl(url);
      if (!source) continue;
      const start = this.#restAt + match.index;
      const { url: address, title } = source;
      found.push({ type: 'url_citation', url: address, title, start, end: start + whole.length });
    }
    return found;
  }
}
