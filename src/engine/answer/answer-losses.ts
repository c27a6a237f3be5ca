// Parts of an answer that the client's protocol cannot express: added to the loss report, and rendered as text when
// nothing else remains. Precedes every sink of the client's answer. Reads items and citations, never text deltas.
import type {
  Annotation,
  CanonicalEvent,
  CloseEvent,
  EventSink,
  FoundPage,
  HostedFacts,
  OpenItem,
  Report,
  Source,
  Usage,
} from '../../canonical/index.ts';
import { MOST_COUNTED } from '../../canonical/index.ts';
import { isJsonObject } from '../../base/json/index.ts';
import type { ApiCall } from '../call.ts';

/** Items that another protocol may be unable to express. */
type Work = Extract<OpenItem, { type: 'hosted_call' | 'unknown' | 'compaction' }>;

/** A search that the client's protocol shows only through citations. */
interface Search {
  readonly path: string;
  readonly query: string | undefined;
  readonly pages: readonly FoundPage[];
}

export class AnswerLosses implements EventSink {
  readonly #next: EventSink;
  readonly #client: ApiCall['protocol'];
  readonly #report: () => Report;
  readonly #open = new Map<number, Work>();
  readonly #lost: string[] = [];
  readonly #searches: Search[] = [];
  /** URLs of pages that the answer cites. */
  readonly #cited = new Set<string>();
  /** True once the answer contains something visible. */
  #hasContent = false;
  #items = 0;

  /**
   * @param next receives the answer for the client
   * @param report returns the report of the answering attempt; called for each loss
   */
  constructor(next: EventSink, client: ApiCall['protocol'], report: () => Report) {
    this.#next = next;
    this.#client = client;
    this.#report = report;
  }

  on(event: CanonicalEvent): void {
    switch (event.type) {
      case 'open':
        this.#onOpen(event.index, event.item);
        break;
      case 'close':
        this.#onClose(event);
        break;
      case 'annotate':
        this.#onAnnotate(event.index, event.annotation);
        break;
      case 'usage':
        this.#onUsage(event.usage);
        break;
      case 'finish':
        this.#reportSearches();
        if (event.unreported && !this.#isOwn(event.source))
          this.#addLoss('output', event.unreported.join(', '));
        if (!this.#hasContent && this.#lost.length > 0) this.#renderLosses();
        break;
      default:
    }
    this.#next.on(event);
  }

  #onUsage({ inconsistent = [], input }: Usage): void {
    for (const { count, said, counted } of inconsistent)
      this.#report().add(
        `usage.${count}`,
        'clamped',
        `the upstream reported ${said}, which ${said > MOST_COUNTED ? 'exceeds any possible response' : 'contradicts its totals'}; ${counted} tokens are counted`,
      );
    if (input.cacheWrite5m + input.cacheWrite1h > 0 && !this.#client.server.represents.has('cache_writes'))
      this.#addLoss('usage.cache_writes', 'the number of tokens written to a cache');
  }

  #onOpen(index: number, item: OpenItem): void {
    this.#items = Math.max(this.#items, index + 1);
    if (item.type === 'message' || item.type === 'tool_call') this.#hasContent = true;
    else if (item.type !== 'reasoning') this.#open.set(index, item);
  }

  #onClose({ index, source, facts, unreported = [] }: CloseEvent): void {
    if (!this.#isOwn(source))
      for (const name of unreported) this.#addLoss(`output[${index}].${name}`, `the member ${name}`);
    const item = this.#open.get(index);
    if (!item) return;
    this.#open.delete(index);
    const isOwn = this.#isOwn(source ?? item.source);
    if (
      item.type === 'hosted_call' &&
      !isOwn &&
      this.#isSideWork(index, facts ?? item.facts, source ?? item.source)
    )
      return;
    const kind = item.type === 'hosted_call' ? (facts ?? item.facts)?.type : item.type;
    if (isOwn || (kind !== undefined && kind !== 'unknown' && this.#client.server.represents.has(kind))) {
      this.#hasContent = true;
      return;
    }
    const name = nameOf(item);
    // An empty part loses nothing.
    if (name === undefined) return;
    this.#lost.push(kind === 'image' ? 'a picture' : name);
    this.#addLoss(`output[${index}]`, name);
  }

  /**
   * Checks work whose outcome the model goes on to describe: the answer is complete without it, but what the protocol
   * cannot express is reported.
   * @returns false for work that is an answer in itself
   */
  #isSideWork(index: number, facts: HostedFacts | undefined, source: Source | undefined): boolean {
    const represented = this.#client.server.represents;
    const path = `output[${index}]`;
    switch (facts?.type) {
      case 'web_search': {
        const { query, pages = [] } = facts;
        if (!represented.has('web_search')) this.#searches.push({ path, query, pages });
        // A search that the gateway ran has no source in an upstream protocol.
        else if (source && query === undefined && pages.some(({ age }) => age !== undefined))
          this.#addLoss(`${path}.page_age`, 'the age of a page');
        return true;
      }
      case 'web_page':
        if (!represented.has('web_page')) this.#addLoss(path, 'a page that was opened');
        else if (facts.pattern !== undefined && !represented.has('page_pattern'))
          this.#addLoss(`${path}.pattern`, 'the text searched for in a page');
        return true;
      case 'mcp':
        if (!represented.has('mcp'))
          this.#addLoss(path, `the call of ${facts.name} of the MCP server ${facts.server}`);
        return true;
      case 'mcp_tools':
        // A failed tool listing is reported where it is detected.
        if (source && !represented.has('mcp_tools'))
          this.#addLoss(path, `the tools of the MCP server ${facts.server}`);
        return true;
      case 'image':
        if (facts.revisedPrompt !== undefined && represented.has('image'))
          this.#addLoss(`${path}.revised_prompt`, 'the revised prompt of an image');
        return false;
      default:
        return false;
    }
  }

  /** Reports facts of searches that no citation shows. Called once all citations have arrived. */
  #reportSearches(): void {
    // The result of a search may repeat pages of its call.
    const seen = new Set<FoundPage['url']>();
    for (const { path, query, pages } of this.#searches) {
      const fresh = pages.filter(({ url }) => !seen.has(url));
      for (const { url } of fresh) seen.add(url);
      const uncited = fresh.filter(({ url }) => !this.#cited.has(url)).length;
      const lost = [
        ...(query === undefined ? [] : ['the query of a search']),
        ...(uncited === 0 ? [] : [`${uncited} found but uncited pages`]),
        ...(fresh.some(({ age }) => age !== undefined) ? ['the age of a page'] : []),
      ];
      if (lost.length > 0) this.#addLoss(path, lost.join(', '));
    }
    this.#searches.length = 0;
  }

  #addLoss(path: string, what: string): void {
    this.#report().add(path, 'dropped', `responses of this protocol cannot contain ${what}`);
  }

  #onAnnotate(index: number, annotation: Annotation): void {
    if (annotation.type === 'url_citation') this.#cited.add(annotation.url);
    const isOwn = this.#isOwn(annotation.source);
    const path = `output[${index}].annotations`;
    if (!isOwn && annotation.source?.raw['cited_text'] !== undefined && annotation.type === 'url_citation')
      this.#addLoss(path, 'the cited text of a page');
    if (!isOwn && annotation.type === 'other' && annotation.unreported)
      this.#addLoss(path, annotation.unreported.join(', '));
    if (annotation.type === 'url_citation' || annotation.isReported || isOwn) return;
    const type = annotation.source.raw['type'];
    const kind = typeof type === 'string' ? ` of the type ${type}` : '';
    this.#addLoss(path, `a citation${kind}`);
  }

  #isOwn(source: Source | undefined): boolean {
    return source?.protocol === this.#client.name;
  }

  /** Adds a text about the dropped parts. An answer that contained nothing else would look empty. */
  #renderLosses(): void {
    const index = this.#items;
    const what = [...new Set(this.#lost)].join(', ');
    const text = `[The model's response cannot be expressed in this protocol: ${what}.]`;
    this.#next.on({ type: 'open', index, item: { type: 'message' } });
    this.#next.on({ type: 'text', index, part: 0, kind: 'text', text });
    this.#next.on({ type: 'close', index });
  }
}

/** Name of an item in its own protocol: its type, or the member that identifies the kind of a part. */
function nameOf(item: Work): string | undefined {
  if (item.type !== 'unknown') return item.type === 'hosted_call' ? item.kind : 'a compacted conversation';
  const { raw } = item.source;
  const names = Object.keys(raw);
  return typeof raw['type'] === 'string'
    ? raw['type']
    : (names.find((name) => isJsonObject(raw[name])) ?? names[0]);
}
