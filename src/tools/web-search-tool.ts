// The gateway's own web search as tools of a model: search, open a page, find in a page. Owns what the model is told
// and what the items say; which engine is asked and how pages are read is decided below this.
import {
  asArray,
  asObject,
  asString,
  GatewayError,
  isJsonObject,
  parseJson,
  cutText,
  startOf,
} from '../canonical/index.ts';
import type {
  FunctionTool,
  JsonObject,
  JsonValue,
  MutableJsonObject,
  SearchWish,
} from '../canonical/index.ts';
import {
  type CallOutcome,
  type FunctionNames,
  type GatewayCall,
  type GatewayTool,
  said,
} from './gateway-tool.ts';
import { addressesIn, canonicalAddress } from './pages/addresses.ts';
import { findInPage } from './pages/find-in-page.ts';
import type { Page, PageReader } from './pages/read-page.ts';
import type { Sources } from './sources.ts';
import type { SearchBackend, SearchResult } from './web-search/index.ts';
import { decodeDomain, type Domain, isWithin } from './web-search/index.ts';

export interface WebSearchInput {
  readonly wish: SearchWish;
  readonly backend: SearchBackend;
  /** null: pages may not be opened. */
  readonly pages: PageReader | null;
  readonly sources: Sources;
  readonly names: FunctionNames;
  /**
   * Whether an address stands in what the client itself said; absent: none does. Is asked for one without a fragment, in
   * the spelling of `canonicalAddress`.
   */
  readonly isMentioned?: ((address: string) => boolean) | undefined;
}

/** Longest piece of a page that the model reads at once, in characters, by how much it shall read. */
const PAGE_CHARS = { low: 8_000, medium: 24_000, high: 60_000 };
const MOST_EXCERPTS = 20;
/** Name in usage and in prices. */
const USE = 'web_search';

const CITE =
  'Put the number of the source in square brackets, like [1], right after every statement that rests on it.';

const MAY_OPEN =
  'Only results of searches, links of pages that were opened, and addresses that the user gave can be opened, exactly as they stand there. Search for the page, or follow a link to it.';

const FORGOTTEN = 'What was found is not at hand any more. Call this again if you need it.';

/** Codes of pages that stay as they are for as long as an answer takes. */
const LASTING: ReadonlySet<string> = new Set(['pdf_not_readable', 'url_too_large']);

const ACTIONS = ['search', 'open_page', 'find_in_page'] as const;
type Action = (typeof ACTIONS)[number];

/** A call that an earlier answer made. */
export interface EarlierCall {
  readonly name: string;
  readonly args: JsonObject;
  readonly text: string;
  readonly isError: boolean;
}

export class WebSearchTool implements GatewayTool {
  readonly functions: readonly FunctionTool[];
  readonly #input: WebSearchInput;
  readonly #actions = new Map<string, Action>();
  readonly #opened = new Map<string, Promise<Page>>();
  /** Addresses that the model was shown. Others it makes up, perhaps of what it was told, for a stranger to read. */
  readonly #shown = new Set<string>();
  #searches = 0;

  constructor(input: WebSearchInput) {
    this.#input = input;
    const functions = [this.#function('search', 'web_search', SEARCH)];
    if (input.pages) {
      functions.push(this.#function('open_page', 'open_page', OPEN));
      functions.push(this.#function('find_in_page', 'find_in_page', FIND));
    }
    this.functions = functions;
  }

  /** The name under which the model searches. */
  get searchName(): string {
    return this.functions[0]?.name ?? '';
  }

  call(name: string, text: string): GatewayCall {
    const args = parseJson(text);
    const given = isJsonObject(args) ? args : {};
    const type = this.#actions.get(name) ?? 'search';
    const action = actionOf(type, given);
    const item = { type: 'web_search_call', status: 'in_progress', action };
    return { item, approval: null, run: (signal) => this.#run(action, signal) };
  }

  /** A call of an earlier answer as the model reads it; what it brought, only as far as the item has it. */
  recall(item: JsonObject): EarlierCall {
    const action = isJsonObject(item['action']) ? item['action'] : {};
    const type = ACTIONS.find((each) => each === action['type']) ?? 'search';
    const name = [...this.#actions].find(([, each]) => each === type)?.[0] ?? type;
    const args: MutableJsonObject = {};
    for (const member of ['query', 'url', 'pattern'])
      if (typeof action[member] === 'string') args[member] = action[member];
    const results = item['results'];
    const isError = item['status'] === 'failed';
    if (!isError)
      for (const each of [action, ...asArray(action['sources'])]) this.#show(asObject(each)['url']);
    if (!Array.isArray(results) || isError)
      return { name, args, text: isError ? 'The call failed.' : FORGOTTEN, isError };
    const found = results.filter(isJsonObject).map((each) => ({
      url: asString(each['url']) ?? '',
      title: asString(each['title']) ?? '',
      text: asString(each['text']) ?? '',
    }));
    return { name, args, text: this.#listing(asString(action['query']) ?? '', found), isError };
  }

  async #run(action: JsonObject, signal: AbortSignal): Promise<CallOutcome> {
    try {
      switch (action['type']) {
        case 'open_page':
          return await this.#open(action, signal);
        case 'find_in_page':
          return await this.#find(action, signal);
        default:
          return await this.#search(action, signal);
      }
    } catch (thrown) {
      return failed(GatewayError.from(thrown).message);
    }
  }

  async #search(action: JsonObject, signal: AbortSignal): Promise<CallOutcome> {
    const { wish, backend } = this.#input;
    const query = asString(action['query'])?.trim();
    if (!query) return failed('The call must have a query: {"query": "…"}.');
    if (wish.maxUses !== undefined && this.#searches >= wish.maxUses)
      return failedSearch(
        query,
        `No more than ${wish.maxUses} searches are allowed. Answer with what was found.`,
      );
    this.#searches++;
    let uses: CallOutcome['uses'] = {};
    let results: readonly SearchResult[];
    try {
      results = await backend.search(
        {
          query,
          allowedDomains: wish.allowedDomains,
          blockedDomains: wish.blockedDomains,
          contextSize: sizeOf(wish),
          ...(wish.userLocation && { userLocation: wish.userLocation }),
        },
        signal,
        () => (uses = { [USE]: 1 }),
      );
    } catch (thrown) {
      // Paid for all the same, where the engine was asked.
      return { ...failedSearch(query, GatewayError.from(thrown).message), uses };
    }
    const found = results.map(({ url, title, text }) => ({ url, title, text }));
    const sources = found.map(({ url }) => ({ type: 'url', url }));
    const item = { status: 'completed', action: { ...action, sources }, results: found };
    const facts = { type: 'web_search', query, pages: found } as const;
    return { ...said(this.#listing(query, found), item), facts, uses };
  }

  async #open(action: JsonObject, signal: AbortSignal): Promise<CallOutcome> {
    const page = await this.#read(asString(action['url']), signal);
    const number = this.#number(page.url, page.title);
    const most = PAGE_CHARS[sizeOf(this.#input.wish)];
    const cut = page.text.length > most ? `\n[The page goes on: ${page.text.length - most} characters.]` : '';
    const text = `[${number}] ${page.title}\n${page.url}\n\n${startOf(page.text, most)}${cut}\n\n${CITE}`;
    return said(text, { status: 'completed', action });
  }

  async #find(action: JsonObject, signal: AbortSignal): Promise<CallOutcome> {
    const pattern = asString(action['pattern']);
    if (!pattern) return failed('The call must say what to find: {"url": "…", "pattern": "…"}.');
    const page = await this.#read(asString(action['url']), signal);
    const number = this.#number(page.url, page.title);
    const places = findInPage(page, pattern).slice(0, MOST_EXCERPTS);
    const item = { status: 'completed', action };
    if (places.length === 0) return said(`"${pattern}" is not on the page [${number}] ${page.url}.`, item);
    const excerpts = places.map(({ excerpt }) => `… ${excerpt} …`).join('\n\n');
    return said(`[${number}] ${page.title}\n${page.url}\n\n${excerpts}\n\n${CITE}`, item);
  }

  /** Reads a page once per answer. */
  async #read(url: string | undefined, signal: AbortSignal): Promise<Page> {
    const { pages, wish } = this.#input;
    if (!url || !pages) throw new GatewayError('invalid_request', 'The call must name a page: {"url": "…"}.');
    checkSite(url, wish);
    const address = this.#checked(url);
    let page = this.#opened.get(address);
    if (!page) {
      page = pages.read(address, signal).then((read) => {
        // A redirect may have left the allowed sites.
        checkSite(read.url, wish);
        for (const each of addressesIn(read.text)) this.#shown.add(each);
        return read;
      });
      this.#opened.set(address, page);
      page.catch((error: unknown) => {
        // What could be read no better the next time is not read again: a PDF takes seconds.
        if (!GatewayError.is(error) || !LASTING.has(error.code ?? '')) this.#opened.delete(address);
      });
    }
    return page;
  }

  /** @throws GatewayError for an address that the model was not shown: its path or query could carry what it was told */
  #checked(url: string): string {
    const address = canonicalAddress(url);
    if (address !== undefined && (this.#shown.has(address) || this.#input.isMentioned?.(address) === true))
      return address;
    throw new GatewayError(
      'invalid_request',
      `This address may not be opened: ${cutText(url, 200)}. ${MAY_OPEN}`,
    );
  }

  #show(url: JsonValue | undefined): void {
    const address = canonicalAddress(asString(url) ?? '');
    if (address !== undefined) this.#shown.add(address);
  }

  #number(url: string, title: string): number {
    this.#show(url);
    return this.#input.sources.add(url, title || url).number;
  }

  #listing(query: string, results: readonly SearchResult[]): string {
    if (results.length === 0) return `Nothing was found for "${query}". Try other words.`;
    const list = results.map(({ url, title, text }) => {
      return `[${this.#number(url, title)}] ${title}\n${url}\n${text}`;
    });
    return `Results for "${query}":\n\n${list.join('\n\n')}\n\n${CITE}`;
  }

  #function(action: Action, wanted: string, { description, properties, required }: Offer): FunctionTool {
    const name = this.#input.names.take(wanted);
    this.#actions.set(name, action);
    const parameters = { type: 'object', properties, required, additionalProperties: false };
    return { type: 'function', name, description, parameters };
  }
}

interface Offer {
  readonly description: string;
  readonly properties: JsonObject;
  readonly required: readonly string[];
}

const SEARCH: Offer = {
  description: `Searches the web and returns numbered sources. Use it for what is recent, or what you are not sure of. ${CITE}`,
  properties: { query: { type: 'string', description: 'What to search for, in a few words.' } },
  required: ['query'],
};
const URL_MEMBER = { type: 'string', description: 'Address of the page.' };
const OPEN: Offer = {
  description:
    'Opens a page and returns its text: a result of a search, a link of an opened page, or an address that the user gave.',
  properties: { url: URL_MEMBER },
  required: ['url'],
};
const FIND: Offer = {
  description: 'Finds words in a page and returns the text around them.',
  properties: {
    url: URL_MEMBER,
    pattern: { type: 'string', description: 'The words, as they stand there.' },
  },
  required: ['url', 'pattern'],
};

/** The action as items tell it (API reference, "Web search tool call", `action`, 2026-11). */
function actionOf(type: Action, args: JsonObject): JsonObject {
  const text = (name: string): string => asString(args[name]) ?? '';
  switch (type) {
    case 'search':
      return { type, query: text('query'), queries: [text('query')] };
    case 'open_page':
      return { type, url: text('url') };
    case 'find_in_page':
      return { type, url: text('url'), pattern: text('pattern') };
  }
}

/** @throws GatewayError when the address lies outside of what may be searched */
function checkSite(address: string, { allowedDomains, blockedDomains }: SearchWish): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const within = (domains: readonly string[]): boolean =>
    url !== undefined &&
    isWithin(
      url,
      domains.map((each): Domain => decodeDomain(each)),
    );
  if ((allowedDomains.length === 0 || within(allowedDomains)) && !within(blockedDomains)) return;
  throw new GatewayError('invalid_request', `Pages of this site may not be opened: ${address}`);
}

function sizeOf({ contextSize }: SearchWish): 'low' | 'medium' | 'high' {
  return contextSize === 'low' || contextSize === 'high' ? contextSize : 'medium';
}

function failedSearch(query: string, message: string): CallOutcome {
  return { ...failed(message), facts: { type: 'web_search', query, isError: true } };
}

function failed(message: string): CallOutcome {
  return said(message, { status: 'failed' }, true);
}
