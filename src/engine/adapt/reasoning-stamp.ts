// Writes down whose reasoning it is. Decoders know a protocol's default format; the endpoint knows which family
// really runs behind it.
import type { CanonicalEvent, EventSink } from '../../canonical/index.ts';

export class ReasoningStamp implements EventSink {
  readonly #next: EventSink;
  readonly #format: string;

  /** @param format the endpoint's `reasoningFormat` */
  constructor(next: EventSink, format: string) {
    this.#next = next;
    this.#format = format;
  }

  on(event: CanonicalEvent): void {
    if (event.type === 'open' && event.item.type === 'reasoning') {
      this.#next.on({ ...event, item: { ...event.item, format: this.#format } });
    } else if (event.type === 'reasoning' && event.opaque) {
      this.#next.on({ ...event, opaque: { ...event.opaque, format: this.#format } });
    } else {
      this.#next.on(event);
    }
  }
}
