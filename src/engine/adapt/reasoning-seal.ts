// Lets opaque reasoning of any model family pass through a client whose protocol supports only one format. It is
// sealed into the client's format and opened when it comes back.
import type {
  CanonicalEvent,
  CollectedEvents,
  EventSink,
  Item,
  OpaqueReasoning,
  ReasoningItem,
  Report,
} from '../../canonical/index.ts';
import { isJsonObject, parseJson } from '../../base/json/index.ts';
import type { Envelope } from '../state/envelope.ts';

type Native = Pick<OpaqueReasoning, 'format' | 'kind'>;

/** Sealed content. The text is included because the signature covers it. */
interface Sealed {
  readonly format: string;
  readonly kind: OpaqueReasoning['kind'];
  readonly data: string;
  readonly text: readonly string[];
}

export class ReasoningSeal {
  readonly #envelope: Envelope;
  readonly #projectId: string;
  readonly #native: Native;
  /** Already sealed reasoning. Every envelope is different, and the stored one must equal the one that was sent. */
  readonly #done = new WeakMap<OpaqueReasoning, OpaqueReasoning>();

  /** @param native the format that the client's protocol can carry */
  constructor(envelope: Envelope, projectId: string, native: Native) {
    this.#envelope = envelope;
    this.#projectId = projectId;
    this.#native = native;
  }

  /** Sink in front of the encoder of a stream. */
  sink(inner: EventSink): EventSink {
    /** Text of the open reasoning items, by index. A signature follows the text it covers. */
    const texts = new Map<number, string[]>();
    return {
      on: (event: CanonicalEvent): void => {
        if (event.type === 'open' && event.item.type === 'reasoning') texts.set(event.index, []);
        if (event.type !== 'reasoning') return inner.on(event);
        const parts = texts.get(event.index);
        if (parts && event.kind === 'text' && event.text !== '')
          parts[event.part] = (parts[event.part] ?? '') + event.text;
        inner.on(event.opaque ? { ...event, opaque: this.#seal(event.opaque, parts ?? []) } : event);
      },
    };
  }

  /** Returns a complete answer with its foreign reasoning sealed. */
  collected(events: CollectedEvents): CollectedEvents {
    if (!events.items.some((item) => item.type === 'reasoning' && this.#isForeign(item.opaque)))
      return events;
    return {
      ...events,
      items: events.items.map((item) =>
        item.type === 'reasoning' && item.opaque
          ? { ...item, opaque: this.#seal(item.opaque, item.text) }
          : item,
      ),
    };
  }

  /**
   * Opens the seals in a client's items. Returns the same array when nothing was sealed. Content sealed for another
   * project is dropped and reported.
   */
  opened(items: readonly Item[], report: Report): readonly Item[] {
    if (!items.some((item) => item.type === 'reasoning' && item.opaque)) return items;
    const opened = items.map((item) => (item.type === 'reasoning' ? this.#open(item, report) : item));
    return opened.some((item, place) => item !== items[place]) ? opened : items;
  }

  #isForeign(opaque: OpaqueReasoning | undefined): boolean {
    return (
      opaque !== undefined && (opaque.format !== this.#native.format || opaque.kind !== this.#native.kind)
    );
  }

  #seal(opaque: OpaqueReasoning, text: readonly string[]): OpaqueReasoning {
    if (!this.#isForeign(opaque)) return opaque;
    const done = this.#done.get(opaque);
    if (done) return done;
    const { format, kind, data } = opaque;
    const content: Sealed = { format, kind, data, text: kind === 'signature' ? text : [] };
    const sealed = { ...this.#native, data: this.#envelope.seal(this.#projectId, JSON.stringify(content)) };
    this.#done.set(opaque, sealed);
    return sealed;
  }

  #open(item: ReasoningItem, report: Report): ReasoningItem {
    if (!item.opaque) return item;
    const text = this.#envelope.open(this.#projectId, item.opaque.data);
    if (text === undefined) return item;
    const { opaque: _, source: _source, ...rest } = item;
    const sealed = text === null ? null : readSealed(text);
    if (!sealed) {
      report.add(item.path ?? 'input', 'dropped', 'the reasoning was encrypted for another key or server');
      return rest;
    }
    const { format, kind, data } = sealed;
    return {
      ...rest,
      // Signed text must come back verbatim, even if the client changed it.
      text: sealed.text.length > 0 ? sealed.text : rest.text,
      // A client that requested a summary received the same text as the summary.
      summary: sealed.text.length > 0 && rest.text.length === 0 ? [] : rest.summary,
      opaque: { format, kind, data },
      format,
    };
  }
}

function readSealed(text: string): Sealed | null {
  const json = parseJson(text);
  if (!isJsonObject(json)) return null;
  const { format, kind, data, text: parts } = json;
  if (typeof format !== 'string' || typeof data !== 'string') return null;
  if (kind !== 'signature' && kind !== 'encrypted') return null;
  return {
    format,
    kind,
    data,
    text: Array.isArray(parts) ? parts.filter((part) => typeof part === 'string') : [],
  };
}
