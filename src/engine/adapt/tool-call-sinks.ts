// Sinks that change tool calls, because the upstream lacks a feature: single calls, and custom tools.
import type { CanonicalEvent, CanonicalRequest, EventSink } from '../../canonical/index.ts';
import { asObject, asString, parseJson } from '../../base/json/index.ts';

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
