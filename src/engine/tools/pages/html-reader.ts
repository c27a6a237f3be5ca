// Reads HTML as a stream of tags and words without building a tree, in linear time however deep or invalid it is. The
// text writer formats the words.
import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2';
import {
  HEADINGS,
  isHiddenByStyle,
  LINES,
  PARAGRAPHS,
  SELF_ENDING,
  SITE_PARTS,
  UNREADABLE,
  VOID_ELEMENTS,
} from './html-elements.ts';
import type { TextWriter } from './text-writer.ts';

/** Names of relevant elements are shorter. */
const MAX_NAME_CHARS = 20;
/** Longer links are useless to a model that must repeat them. */
const MAX_URL_CHARS = 1000;
/** Maximum characters of an attribute or title. */
const MAX_VALUE_CHARS = 4000;
const MAX_LIST_DEPTH = 20;
/** Maximum links of one page; of further ones only the text is kept. */
const MAX_LINKS = 5000;
const CODE = '```\n';
const ATTRIBUTES: ReadonlySet<string> = new Set(['alt', 'aria-hidden', 'hidden', 'href', 'role', 'style']);

export interface HtmlOptions {
  /** Address of the document, to resolve its links. Undefined: links are omitted. */
  readonly baseUrl?: string | undefined;
  /** True: includes site navigation and content that is hidden until a script shows it. */
  readonly everything?: boolean | undefined;
}

export class HtmlReader implements TokenizerCallbacks {
  readonly #html: string;
  readonly #writer: TextWriter;
  readonly #everything: boolean;
  readonly #tokenizer: Tokenizer;
  #base: string | undefined;
  #title: string | undefined;
  #inTitle = false;
  /** The element that is being skipped, and the number of open elements of its kind within it. */
  #skipped = '';
  #skippedDepth = 0;
  /** The tag that is being read. */
  #tag = '';
  #attributes = new Map<string, string>();
  #attribute = '';
  #value = '';
  /** Target of the current link, and the length of the text before it. */
  #link: { readonly url: string; readonly from: number } | undefined;
  #links = 0;
  /** Open lists: number of the last item, or -1 for unordered lists. */
  readonly #lists: number[] = [];
  #item = '';
  #cells = 0;
  #preformatted = 0;
  /** Length of the text before the preformatted part. */
  #preformattedFrom = 0;

  constructor(html: string, writer: TextWriter, { baseUrl, everything = false }: HtmlOptions) {
    this.#html = html;
    this.#writer = writer;
    this.#everything = everything;
    this.#base = baseUrl;
    this.#tokenizer = new Tokenizer({ decodeEntities: true }, this);
  }

  /** Title of the document; empty when it has none. */
  get title(): string {
    return (this.#title ?? '').replace(/\s+/g, ' ').trim();
  }

  /** True when a skipped element was never closed. */
  get isLeavingOut(): boolean {
    return this.#skipped !== '';
  }

  /** Reads further. @returns true when there is more to read */
  read(from: number, to: number): boolean {
    this.#tokenizer.write(this.#html.slice(from, to));
    if (to < this.#html.length && !this.#writer.isFull) return true;
    if (!this.#writer.isFull) this.#tokenizer.end();
    this.#closeLink();
    return false;
  }

  onopentagname(start: number, end: number): void {
    this.#tag = this.#name(start, end);
    this.#attributes.clear();
  }

  onattribname(start: number, end: number): void {
    const name = end - start > MAX_NAME_CHARS ? '' : this.#html.slice(start, end).toLowerCase();
    this.#attribute = ATTRIBUTES.has(name) ? name : '';
    this.#value = '';
  }

  onattribdata(start: number, end: number): void {
    if (this.#attribute !== '' && this.#value.length < MAX_VALUE_CHARS)
      this.#value += this.#html.slice(start, Math.min(end, start + MAX_VALUE_CHARS));
  }

  onattribentity(codepoint: number): void {
    if (this.#attribute !== '' && this.#value.length < MAX_VALUE_CHARS)
      this.#value += String.fromCodePoint(codepoint);
  }

  onattribend(): void {
    // The first of duplicate attributes counts.
    if (this.#attribute !== '' && !this.#attributes.has(this.#attribute))
      this.#attributes.set(this.#attribute, this.#value);
  }

  onopentagend(): void {
    const tag = this.#tag;
    if (this.#skipped !== '') {
      if (tag !== this.#skipped) return;
      if (!SELF_ENDING.has(tag)) {
        this.#skippedDepth++;
        return;
      }
      this.#skipped = '';
    }
    if (this.#isLeftOut(tag)) {
      this.#skipped = tag;
      this.#skippedDepth = 1;
    } else this.#open(tag);
    // Nothing more is kept, so the rest is skipped.
    if (this.#writer.isFull) this.#tokenizer.pause();
  }

  onselfclosingtag(): void {
    this.onopentagend();
    // The slash only has a meaning in SVG.
    if (this.#tag === 'svg' && this.#skipped === 'svg' && --this.#skippedDepth === 0) this.#skipped = '';
  }

  onclosetag(start: number, end: number): void {
    const tag = this.#name(start, end);
    if (this.#skipped === '') return this.#close(tag);
    if (tag === this.#skipped && --this.#skippedDepth === 0) this.#skipped = '';
  }

  ontext(start: number, end: number): void {
    this.#words(this.#html.slice(start, end));
  }

  ontextentity(codepoint: number): void {
    this.#words(String.fromCodePoint(codepoint));
  }

  oncdata(): void {}
  oncomment(): void {}
  ondeclaration(): void {}
  onprocessinginstruction(): void {}
  onend(): void {}

  #name(start: number, end: number): string {
    return end - start > MAX_NAME_CHARS ? '' : this.#html.slice(start, end).toLowerCase();
  }

  #words(text: string): void {
    if (this.#skipped !== '') return;
    if (this.#inTitle) {
      const title = this.#title ?? '';
      if (title.length < MAX_VALUE_CHARS) this.#title = title + text.slice(0, MAX_VALUE_CHARS);
    } else if (this.#preformatted > 0) this.#writer.verbatim(text);
    else this.#writer.words(text);
    if (this.#writer.isFull) this.#tokenizer.pause();
  }

  #isLeftOut(tag: string): boolean {
    if (VOID_ELEMENTS.has(tag) || tag === 'html' || tag === 'body') return false;
    if (UNREADABLE.has(tag)) return true;
    if (this.#everything) return false;
    const attributes = this.#attributes;
    return (
      SITE_PARTS.has(tag) ||
      attributes.has('hidden') ||
      attributes.get('aria-hidden') === 'true' ||
      attributes.get('role') === 'navigation' ||
      isHiddenByStyle(attributes.get('style') ?? '')
    );
  }

  #open(tag: string): void {
    const writer = this.#writer;
    this.#break(tag);
    switch (tag) {
      case 'title':
        this.#inTitle = this.#title === undefined;
        break;
      case 'base':
        this.#base = this.#resolve(this.#attributes.get('href')) ?? this.#base;
        break;
      case 'a':
        this.#openLink();
        break;
      case 'img':
        if (this.#attributes.get('alt')?.trim()) writer.words(`[image: ${this.#attributes.get('alt')}]`);
        break;
      case 'hr':
        writer.words('---');
        writer.lineBreak(2);
        break;
      case 'ul':
      case 'ol':
        if (this.#lists.length < MAX_LIST_DEPTH) this.#lists.push(tag === 'ol' ? 0 : -1);
        break;
      case 'li':
        this.#openItem();
        break;
      case 'tr':
        this.#cells = 0;
        break;
      case 'td':
      case 'th':
        if (this.#cells++ > 0) writer.words(' | ');
        break;
      case 'pre':
        if (this.#preformatted++ > 0) break;
        this.#preformattedFrom = writer.length;
        writer.mark(CODE);
        break;
      default: {
        const mark = HEADINGS.get(tag);
        if (mark !== undefined) writer.mark(mark);
      }
    }
  }

  #close(tag: string): void {
    switch (tag) {
      case 'title':
        this.#inTitle = false;
        break;
      case 'a':
        this.#closeLink();
        break;
      case 'ul':
      case 'ol':
        this.#lists.pop();
        break;
      case 'pre':
        if (this.#preformatted === 0 || --this.#preformatted > 0) break;
        if (this.#writer.length > this.#preformattedFrom) this.#writer.behind('\n```');
        else this.#writer.forgetMark(CODE);
        break;
      default:
        this.#writer.forgetMark(HEADINGS.get(tag) ?? '');
    }
    this.#break(tag);
  }

  #break(tag: string): void {
    if (PARAGRAPHS.has(tag)) this.#writer.lineBreak(this.#lists.length > 0 ? 1 : 2);
    else if (LINES.has(tag)) this.#writer.lineBreak(1);
  }

  #openItem(): void {
    const depth = this.#lists.length;
    const last = this.#lists.at(-1) ?? -1;
    if (last >= 0) this.#lists[depth - 1] = last + 1;
    this.#writer.forgetMark(this.#item);
    this.#item = `${'  '.repeat(Math.max(0, depth - 1))}${last >= 0 ? `${last + 1}.` : '-'} `;
    this.#writer.mark(this.#item);
  }

  #openLink(): void {
    this.#closeLink();
    const url = this.#links < MAX_LINKS ? this.#resolve(this.#attributes.get('href')) : undefined;
    if (url === undefined) return;
    this.#links++;
    this.#link = { url, from: this.#writer.length };
    this.#writer.mark('[');
  }

  #closeLink(): void {
    const link = this.#link;
    this.#link = undefined;
    if (!link) return;
    if (this.#writer.length > link.from) this.#writer.behind(`](${link.url})`);
    else this.#writer.forgetMark('[');
  }

  /** Target of a link if it is a page that can be opened. Undefined for links within this page. */
  #resolve(href: string | undefined): string | undefined {
    const text = href?.trim() ?? '';
    if (text === '' || text.startsWith('#') || text.length > MAX_URL_CHARS) return undefined;
    if (!URL.canParse(text, this.#base)) return undefined;
    const { href: url, protocol } = new URL(text, this.#base);
    return (protocol === 'http:' || protocol === 'https:') && url.length <= MAX_URL_CHARS ? url : undefined;
  }
}
