// Sinks in the way of an answer: they do what its upstream does not do by itself, or see that it did.
import {
  type CanonicalEvent,
  type CanonicalRequest,
  type EventSink,
  outputTokens,
} from '../../canonical/index.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';

// Compares an answer with its output limit. Finds limits that the server ignores, and cut answers that it calls complete.
// Sees token counts and ends, never text.

/** Tokens beyond the limit that are a matter of counting, not of a limit that is ignored. */
const SLACK = 16;

export interface WatchedLimit {
  /** Tokens. */
  readonly limit: number;
  /** False: the server calls an answer complete that its limit cut. */
  readonly namesCutAnswers: boolean;
  /** Called once, for an answer that is longer than its limit. @param tokens of the answer */
  readonly exceeded: (tokens: number) => void;
}

export class LimitWatch implements EventSink {
  readonly #next: EventSink;
  readonly #watched: WatchedLimit;
  /** Tokens of the answer; 0 while the server has counted none. */
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

// `parallel_tool_calls: false` for upstreams that do not obey it: the first call of an answer passes, the others never
// happened. The model makes them again when it has seen the first result.

export class SingleCall implements EventSink {
  readonly #next: EventSink;
  #called = false;
  /** Indices of the upstream's that did not pass. */
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
    // Indices stay dense.
    const before = this.#dropped.filter((index) => index < event.index).length;
    this.#next.on({ ...event, index: event.index - before });
  }
}

// Custom (free-form) tools travel to upstreams without them as functions with one string argument. This sink
// turns the model's calls of those functions back into custom tool calls.

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
        // The wrapper can only be taken off when it is complete.
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
