// Writes the items of an answer as canonical events, for the decoders of all protocols. Numbers the items, keeps at
// most one message open and numbers its parts.
import type { JsonValue } from '../../base/json/index.ts';
import type {
  Annotation,
  CanonicalEvent,
  EventSink,
  HostedFacts,
  OpaqueReasoning,
  OpenItem,
  Source,
} from '../../canonical/index.ts';

const NONE = -1;
const NO_LOGPROBS: readonly JsonValue[] = [];

export class ItemWriter implements EventSink {
  readonly #sink: EventSink;
  #items = 0;
  /** Index of the open message, and its number of parts. */
  #message = NONE;
  #parts = 0;

  constructor(sink: EventSink) {
    this.#sink = sink;
  }

  /** True until the first item. */
  get isEmpty(): boolean {
    return this.#items === 0;
  }

  /** Passes on an event that belongs to no item. */
  on(event: CanonicalEvent): void {
    this.#sink.on(event);
  }

  /**
   * Opens the next item. An open message ends, because text that follows belongs to another one.
   * @returns the item's index
   */
  open(item: OpenItem): number {
    this.closeMessage();
    const index = this.#items++;
    this.#sink.on({ type: 'open', index, item });
    return index;
  }

  close(index: number, source?: Source, facts?: HostedFacts, unreported?: readonly string[]): void {
    this.#sink.on({ type: 'close', index, source, facts, unreported });
  }

  /** Writes an item that is already complete. @param facts of a hosted call */
  whole(item: OpenItem, source?: Source, facts?: HostedFacts): void {
    this.close(this.open(item), source, facts);
  }

  /** Returns the index of the open message, and opens one if there is none. */
  message(): number {
    if (this.#message === NONE) {
      this.#message = this.open({ type: 'message' });
      this.#parts = 0;
    }
    return this.#message;
  }

  /** True for the index of the open message. */
  isMessage(index: number): boolean {
    return index !== NONE && index === this.#message;
  }

  /** Returns the number of the next part of the open message. */
  nextPart(): number {
    return this.#parts++;
  }

  /** Ends the open message, if there is one. */
  closeMessage(): void {
    if (this.#message === NONE) return;
    const index = this.#message;
    this.#message = NONE;
    this.close(index);
  }

  text(
    index: number,
    part: number,
    text: string,
    kind: 'text' | 'refusal' = 'text',
    logprobs = NO_LOGPROBS,
  ): void {
    if (logprobs.length === 0) this.#sink.on({ type: 'text', index, part, kind, text });
    else this.#sink.on({ type: 'text', index, part, kind, text, logprobs });
  }

  annotate(index: number, part: number, annotation: Annotation): void {
    this.#sink.on({ type: 'annotate', index, part, annotation });
  }

  reasoning(index: number, text: string, kind: 'text' | 'summary' = 'text', part = 0): void {
    this.#sink.on({ type: 'reasoning', index, kind, part, text });
  }

  /** Writes the signature or the encrypted form of reasoning. @param kind of the text that it belongs to */
  opaque(index: number, opaque: OpaqueReasoning, kind: 'text' | 'summary' = 'text'): void {
    this.#sink.on({ type: 'reasoning', index, kind, part: 0, text: '', opaque });
  }

  /** Writes a piece that only its own protocol has. @param part of a message */
  extra(index: number, part: number, source: Source): void {
    this.#sink.on({ type: 'extra', index, part, source });
  }

  arguments(index: number, text: string): void {
    this.#sink.on({ type: 'arguments', index, text });
  }
}
