// The gateway's web search as tools for a model: search, open a page, find in a page. Defines the texts for the model
// and the contents of items.
import { asString, isJsonObject, parseJson } from '../../base/json/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type {
  CanonicalRequest,
  ChosenTool,
  FoundPage,
  FunctionTool,
  HostedFacts,
  PageFacts,
  SearchWish,
} from '../../canonical/index.ts';
import type { Native } from './available-tools.ts';
import {
  type CallOutcome,
  failedFacts,
  type FunctionNames,
  type GatewayCall,
  type GatewayTool,
  type RecalledCall,
  said,
  type ToolEndpoint,
} from './gateway-tool.ts';
import { addressesIn, canonicalAddress } from './pages/addresses.ts';
import { findInPage } from './pages/find-in-page.ts';
import type { Page, PageReader } from './pages/read-page.ts';
import type { Sources } from './sources.ts';
import type { SearchBackend, SearchResult } from './web-search/index.ts';
import { decodeDomain, type Domain, isWithin } from './web-search/index.ts';
import { cutText, startOf } from '../../base/lib/cut-text.ts';

export interface WebSearchInput {
  readonly wish: SearchWish;
  readonly native: Native;
  /** USD per search. Null: unknown. */
  readonly priceUsd: number | null;
  readonly backend: SearchBackend;
  /** Null: pages may not be opened. */
  readonly pages: PageReader | null;
  readonly sources: Sources;
  readonly names: FunctionNames;
  /**
   * True when the client's messages contain the address. Absent: never. Called without a fragment, in the form of
   * `canonicalAddress`.
   */
  readonly isMentioned?: ((address: string) => boolean) | undefined;
}

/** Maximum characters of a page shown to the model at once, by context size. */
const PAGE_CHARS = { low: 8_000, medium: 24_000, high: 60_000 };
const MOST_EXCERPTS = 20;
/** Name in usage and in prices. */
const USE = 'web_search';

const CITE =
  'Put the number of the source in square brackets, like [1], right after every statement that is based on it.';

const MAY_OPEN =
  'Only search results, links on opened pages, and addresses from the user can be opened, exactly as written there. Search for the page, or follow a link to it.';

const FORGOTTEN = 'These results are no longer available. Call the tool again if you need them.';

/** Error codes that do not change within one answer. */
const LASTING: ReadonlySet<string> = new Set(['pdf_not_readable', 'url_too_large']);

type Action = 'search' | 'open_page' | 'find_in_page';

type SearchFacts = Extract<HostedFacts, { type: 'web_search' }>;

export class WebSearchTool implements GatewayTool {
  readonly functions: readonly FunctionTool[];
  readonly announced = undefined;
  readonly prices: GatewayTool['prices'];
  readonly #input: WebSearchInput;
  readonly #actions = new Map<string, Action>();
  readonly #opened = new Map<string, Promise<Page>>();
  /** Addresses that the model was shown. Others may be invented, and could leak the conversation to their owner. */
  readonly #shown = new Set<string>();
  #searches = 0;

  constructor(input: WebSearchInput) {
    this.#input = input;
    this.prices = { [USE]: input.priceUsd };
    const functions = [this.#function('search', 'web_search', SEARCH)];
    if (input.pages) {
      functions.push(this.#function('open_page', 'open_page', OPEN));
      functions.push(this.#function('find_in_page', 'find_in_page', FIND));
    }
    this.functions = functions;
  }

  runsAt({ quirks }: ToolEndpoint): boolean {
    return !quirks.searchesWeb || this.#input.native === 'never';
  }

  async ready(): Promise<void> {}

  without(request: CanonicalRequest): CanonicalRequest {
    const tools = request.tools.filter(
      (tool) => tool.type !== 'hosted' || tool.meaning?.type !== 'web_search',
    );
    return { ...request, tools, webSearch: undefined };
  }

  chosen(choice: ChosenTool): readonly string[] {
    return choice.type === 'web_search' ? [this.#nameOf('search')] : [];
  }

  owns({ type }: HostedFacts): boolean {
    return type === 'web_search' || type === 'web_page';
  }

  call(name: string, text: string): GatewayCall {
    const args = parseJson(text);
    const facts = factsOf(this.#actions.get(name) ?? 'search', isJsonObject(args) ? args : {});
    return { facts, question: null, run: (signal) => this.#run(facts, signal) };
  }

  /** Result of an earlier call, as far as its item contains it. */
  recall(facts: HostedFacts): RecalledCall {
    const isError = 'isError' in facts && facts.isError === true;
    const { type, ...args } = actionOf(facts);
    const pages = facts.type === 'web_search' ? (facts.pages ?? []) : [];
    if (!isError) for (const url of [args['url'], ...pages.map((page) => page.url)]) this.#show(url);
    const isKept = facts.type === 'web_search' && pages.every((page) => page.text !== undefined);
    const kept = isKept && facts.pages ? this.#listing(facts.query ?? '', pages) : FORGOTTEN;
    const text = isError ? 'The call failed.' : kept;
    return {
      name: this.#nameOf(type),
      arguments: JSON.stringify(args),
      parts: [{ type: 'text', text }],
      isError,
    };
  }

  #nameOf(action: Action): string {
    return [...this.#actions].find(([, each]) => each === action)?.[0] ?? action;
  }

  async #run(facts: SearchFacts | PageFacts, signal: AbortSignal): Promise<CallOutcome> {
    try {
      if (facts.type === 'web_search') return await this.#search(facts, signal);
      if (facts.pattern === undefined) return await this.#open(facts, signal);
      return await this.#find(facts, facts.pattern, signal);
    } catch (thrown) {
      return failed(GatewayError.from(thrown).message, facts);
    }
  }

  async #search(facts: SearchFacts, signal: AbortSignal): Promise<CallOutcome> {
    const { wish, backend } = this.#input;
    const query = facts.query?.trim();
    if (!query) return failed('The call must have a query: {"query": "…"}.', facts);
    if (wish.maxUses !== undefined && this.#searches >= wish.maxUses)
      return failed(
        `At most ${wish.maxUses} searches are allowed. Answer with the results that you have.`,
        facts,
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
      // A search that reached the engine is charged even if it failed.
      return { ...failed(GatewayError.from(thrown).message, facts), uses };
    }
    const pages = results.map(({ url, title, text, publishedAt }) => {
      return { url, title, text, ...(publishedAt === undefined ? {} : { age: publishedAt }) };
    });
    return { ...said(this.#listing(query, pages), { ...facts, pages }), uses };
  }

  async #open(facts: PageFacts, signal: AbortSignal): Promise<CallOutcome> {
    const page = await this.#read(facts.url, signal);
    const number = this.#number(page.url, page.title);
    const most = PAGE_CHARS[sizeOf(this.#input.wish)];
    const cut =
      page.text.length > most
        ? `\n[The page was truncated: ${page.text.length - most} more characters.]`
        : '';
    const text = `[${number}] ${page.title}\n${page.url}\n\n${startOf(page.text, most)}${cut}\n\n${CITE}`;
    return said(text, { ...facts, isRead: true });
  }

  async #find(facts: PageFacts, pattern: string, signal: AbortSignal): Promise<CallOutcome> {
    if (pattern === '') return failed('The call must say what to find: {"url": "…", "pattern": "…"}.', facts);
    const page = await this.#read(facts.url, signal);
    const number = this.#number(page.url, page.title);
    const places = findInPage(page, pattern).slice(0, MOST_EXCERPTS);
    const read = { ...facts, isRead: true };
    if (places.length === 0) return said(`"${pattern}" is not on the page [${number}] ${page.url}.`, read);
    const excerpts = places.map(({ excerpt }) => `… ${excerpt} …`).join('\n\n');
    return said(`[${number}] ${page.title}\n${page.url}\n\n${excerpts}\n\n${CITE}`, read);
  }

  /** Reads each page once per answer. */
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
        // A lasting failure is not retried, because reading a PDF takes seconds.
        if (!GatewayError.is(error) || !LASTING.has(error.code ?? '')) this.#opened.delete(address);
      });
    }
    return page;
  }

  /**
   * @throws GatewayError for an address that the model was not shown, because its path or query could leak the
   * conversation
   */
  #checked(url: string): string {
    const address = canonicalAddress(url);
    if (address !== undefined && (this.#shown.has(address) || this.#input.isMentioned?.(address) === true))
      return address;
    throw new GatewayError(
      'invalid_request',
      `This address may not be opened: ${cutText(url, 200)}. ${MAY_OPEN}`,
    );
  }

  #show(url: string | undefined): void {
    const address = canonicalAddress(url ?? '');
    if (address !== undefined) this.#shown.add(address);
  }

  #number(url: string, title: string): number {
    this.#show(url);
    return this.#input.sources.add(url, title || url).number;
  }

  #listing(query: string, results: readonly FoundPage[]): string {
    if (results.length === 0) return `Nothing was found for "${query}". Try other words.`;
    const list = results.map(({ url, title = '', text = '' }) => {
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
  description: `Searches the web and returns numbered sources. Use it for recent information, or if you are not sure. ${CITE}`,
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
    pattern: { type: 'string', description: 'The text to find, exactly as on the page.' },
  },
  required: ['url', 'pattern'],
};

/** Facts of a call. @param args the model's arguments */
function factsOf(action: Action, args: JsonObject): SearchFacts | PageFacts {
  const text = (name: string): string => asString(args[name]) ?? '';
  switch (action) {
    case 'search':
      return { type: 'web_search', query: text('query') };
    case 'open_page':
      return { type: 'web_page', url: text('url') };
    case 'find_in_page':
      return { type: 'web_page', url: text('url'), pattern: text('pattern') };
  }
}

/** The reverse: action and arguments of the facts. */
function actionOf(facts: HostedFacts): { readonly type: Action } & Readonly<Record<string, string>> {
  if (facts.type !== 'web_page')
    return facts.type === 'web_search' && facts.query !== undefined
      ? { type: 'search', query: facts.query }
      : { type: 'search' };
  const { url, pattern } = facts;
  return pattern === undefined ? { type: 'open_page', url } : { type: 'find_in_page', url, pattern };
}

/** @throws GatewayError when the address is outside of the allowed sites */
function checkSite(address: string, { allowedDomains, blockedDomains }: SearchWish): void {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const within = (domains: readonly string[]): boolean =>
    url !== undefined &&
    isWithin(
      url,
      domains.map((each): Domain => decodeDomain(each)),
    );
  if ((allowedDomains.length === 0 || within(allowedDomains)) && !within(blockedDomains)) return;
  throw new GatewayError('invalid_request', `Pages of this site are not allowed: ${address}`);
}

function sizeOf({ contextSize }: SearchWish): 'low' | 'medium' | 'high' {
  return contextSize === 'low' || contextSize === 'high' ? contextSize : 'medium';
}

function failed(message: string, facts: HostedFacts): CallOutcome {
  return said(message, failedFacts(facts, message), true);
}
