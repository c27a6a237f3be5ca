// `parallel_tool_calls: false` for upstreams that do not obey it: the first call of an answer passes, the others never
// happened. The model makes them again when it has seen the first result.
import type { CanonicalEvent, EventSink } from '../../canonical/index.ts';

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
