// Sinks in the event chain of a response that supply what the upstream does not do itself, or verify that it did.
import {
  type CanonicalEvent,
  type EventSink,
  outputTokens,
  type CanonicalRequest,
  type CollectedEvents,
  type Item,
} from '../../canonical/index.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { findProtocol, type ServerCodec } from '../../protocols/index.ts';

// Servers that ignore the output limit, or reason although reasoning is disabled. Events pass unchanged, except that a truncated
// answer never ends as a complete one.

/** Tokens by which counts may exceed the limit before the limit is considered ignored. */
const SLACK = 16;

export interface WatchedLimit {
  /** Tokens. */
  readonly limit: number;
  /** False: the server reports answers that its limit truncated as complete. */
  readonly namesCutAnswers: boolean;
  /**
   * Called once when an answer is longer than its limit.
   * @param tokens of the answer
   */
  readonly exceeded: (tokens: number) => void;
}

/**
 * Compares an answer with its limit. Detects servers that ignore it, and truncated answers that the server reports as
 * complete. Uses only token counts and finish events.
 */
export class LimitWatch implements EventSink {
  readonly #next: EventSink;
  readonly #watched: WatchedLimit;
  /** Tokens of the answer. 0: the server has not reported any yet. */
  #tokens = 0;
  #isReported = false;

  constructor(next: EventSink, watched: WatchedLimit) {
    this.#next = next;
    this.#watched = watched;
  }

  on(event: CanonicalEvent): void {
    const { limit, namesCutAnswers } = this.#watched;
    if (event.type === 'usage' && !event.usage.estimated) this.#count(outputTokens(event.usage));
    const isCut = event.type === 'finish' && !namesCutAnswers && this.#tokens >= limit;
    const endsLate = isCut && (event.reason === 'stop' || event.reason === 'tool_calls');
    this.#next.on(endsLate ? { ...event, reason: 'length' } : event);
  }

  #count(tokens: number): void {
    this.#tokens = tokens;
    if (this.#isReported || tokens <= this.#watched.limit + SLACK) return;
    this.#isReported = true;
    this.#watched.exceeded(tokens);
  }
}

/** Detects servers that reason although reasoning is disabled. */
export class UnwantedReasoningWatch implements EventSink {
  readonly #next: EventSink;
  readonly #reasoned: () => void;
  #isReported = false;

  /** @param reasoned called once, when the answer contains reasoning */
  constructor(next: EventSink, reasoned: () => void) {
    this.#next = next;
    this.#reasoned = reasoned;
  }

  on(event: CanonicalEvent): void {
    if (!this.#isReported && event.type === 'reasoning' && event.text !== '') {
      this.#isReported = true;
      this.#reasoned();
    }
    this.#next.on(event);
  }
}

// Sinks that change tool calls, because the upstream lacks a feature: single calls, and custom tools.

/**
 * `parallel_tool_calls: false` for upstreams that ignore it: only the first call of an answer passes. The model repeats
 * the others once it has seen the first result.
 */
export class SingleCall implements EventSink {
  readonly #next: EventSink;
  #called = false;
  /** Upstream item indices of the dropped calls. */
  readonly #dropped: number[] = [];

  constructor(next: EventSink) {
    this.#next = next;
  }

  on(event: CanonicalEvent): void {
    if (event.type === 'open' && event.item.type === 'tool_call') {
      if (this.#called) {
        this.#dropped.push(event.index);
        return;
      }
      this.#called = true;
    }
    if (this.#dropped.length === 0 || !('index' in event)) return this.#next.on(event);
    if (this.#dropped.includes(event.index)) return;
    // Indices must stay contiguous.
    const before = this.#dropped.filter((index) => index < event.index).length;
    this.#next.on({ ...event, index: event.index - before });
  }
}

/**
 * Custom (free-form) tools are sent to upstreams that lack them as functions with one string argument. This sink turns
 * the model's calls of those functions back into custom tool calls.
 */
export class CustomToolRestorer implements EventSink {
  readonly #next: EventSink;
  readonly #names: ReadonlySet<string>;
  /** Arguments of the calls being restored, by item index. */
  readonly #arguments = new Map<number, string>();

  constructor(next: EventSink, names: ReadonlySet<string>) {
    this.#next = next;
    this.#names = names;
  }

  on(event: CanonicalEvent): void {
    switch (event.type) {
      case 'open': {
        const { item } = event;
        if (item.type !== 'tool_call' || item.kind !== 'function' || !this.#names.has(item.name)) break;
        this.#arguments.set(event.index, '');
        this.#next.on({ ...event, item: { ...item, kind: 'custom' } });
        return;
      }
      case 'arguments': {
        const soFar = this.#arguments.get(event.index);
        if (soFar === undefined) break;
        // The wrapper can be removed only once the arguments are complete.
        this.#arguments.set(event.index, soFar + event.text);
        return;
      }
      case 'close': {
        const text = this.#arguments.get(event.index);
        if (text === undefined) break;
        this.#arguments.delete(event.index);
        const input = asString(asObject(parseJson(text))['input']) ?? text;
        if (input !== '') this.#next.on({ type: 'arguments', index: event.index, text: input });
        break;
      }
      default:
    }
    this.#next.on(event);
  }
}

/** Names of the custom tools of a request; empty when there are none. */
export function customToolNames(request: CanonicalRequest): ReadonlySet<string> {
  return new Set(request.tools.filter((tool) => tool.type === 'custom').map((tool) => tool.name));
}

// Hidden reasoning at the end of an answer: signatures without readable text. Clients of some protocols take the last
// item as the answer, so the signatures are withheld from them and stored in the vault.

/**
 * True when the end of an answer may be hidden from the client: its protocol reads the last item as the answer, and the
 * model signs last.
 */
export function mayHideEnd(server: ServerCodec, endpoint: Pick<Endpoint, 'protocol'>): boolean {
  return server.endsInAnswer === true && findProtocol(endpoint.protocol)?.upstream.signsLast === true;
}

/**
 * Holds back reasoning without text that follows text or calls until the answer continues, and drops it at the end.
 * @param isExcluded true: reasoning text is not shown to the client
 */
export function withoutHiddenEnd(inner: EventSink, isExcluded: boolean): EventSink {
  return new HiddenEndFilter(inner, isExcluded);
}

/** The same for a complete answer. */
export function cutHiddenEnd(events: CollectedEvents, isExcluded: boolean): CollectedEvents {
  const { items } = events;
  let end = items.length;
  while (end > 0 && isHidden(items[end - 1], isExcluded)) end--;
  return end === items.length || !items.slice(0, end).some(says)
    ? events
    : { ...events, items: items.slice(0, end) };
}

function isHidden(item: Item | undefined, isExcluded: boolean): boolean {
  if (item?.type !== 'reasoning') return false;
  return isExcluded || [...item.text, ...item.summary].every((text) => text === '');
}

function says(item: Item): boolean {
  if (item.type === 'tool_call') return true;
  return item.type === 'message' && item.parts.some((part) => part.type !== 'text' || part.text !== '');
}

class HiddenEndFilter implements EventSink {
  readonly #inner: EventSink;
  readonly #isExcluded: boolean;
  #hasContent = false;
  #held: CanonicalEvent[] = [];
  /** Indices of the items whose events are held. */
  readonly #indices = new Set<number>();

  constructor(inner: EventSink, isExcluded: boolean) {
    this.#inner = inner;
    this.#isExcluded = isExcluded;
  }

  on(event: CanonicalEvent): void {
    switch (event.type) {
      case 'text':
        if (event.text !== '') this.#hasContent = true;
        this.#release();
        break;
      case 'arguments':
        this.#release();
        break;
      case 'open':
        if (event.item.type === 'reasoning' && this.#hasContent) {
          this.#indices.add(event.index);
          this.#held.push(event);
          return;
        }
        if (event.item.type === 'tool_call') this.#hasContent = true;
        this.#release();
        break;
      case 'reasoning':
      case 'close':
        if (!this.#indices.has(event.index)) break;
        this.#held.push(event);
        if (event.type === 'reasoning' && event.text !== '' && !this.#isExcluded) this.#release();
        return;
      case 'finish':
      case 'error':
        this.#held = [];
        break;
      default:
    }
    this.#inner.on(event);
  }

  #release(): void {
    if (this.#held.length === 0) return;
    const held = this.#held;
    this.#held = [];
    this.#indices.clear();
    for (const event of held) this.#inner.on(event);
  }
}
