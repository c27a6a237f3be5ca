// Hidden reasoning at the end of an answer: signatures without readable text. Clients of some protocols take the last
// item as the answer, so the signatures are withheld from them and stored in the vault.
import type { CanonicalEvent, CollectedEvents, EventSink, Item } from '../../canonical/index.ts';
import type { Endpoint } from '../../catalog/index.ts';
import { findProtocol, type ServerCodec } from '../../protocols/index.ts';

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
