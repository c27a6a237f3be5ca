// Limits the size of an upstream's answer before anything of it is kept, so that an endless answer cannot exhaust
// memory. The limits are in canonical/limits.ts.
import {
  type CanonicalEvent,
  type EventSink,
  GatewayError,
  MAX_ANSWER_CHARS,
  MAX_ANSWER_ITEMS,
  MAX_ARGUMENT_CHARS,
  MAX_ITEM_PARTS,
  MAX_STREAM_BYTES,
  TEXTS,
} from '../../canonical/index.ts';
import type { AnswerReader, FrameSink } from './answer-reader.ts';
import { STEP_BYTES } from '../call.ts';

/** Counts of one item. */
interface Counts {
  /** Characters of its arguments. */
  chars: number;
  parts: number;
}

/** Sink that passes events on until a limit is exceeded, then drops the rest. */
export class AnswerBounds implements FrameSink {
  readonly #next: EventSink;
  readonly #exceeded: (error: GatewayError) => void;
  readonly #grown: (chars: number) => void;
  readonly #items = new Map<number, Counts>();
  /** Counts of the item of the last event, which most events continue. */
  #index = -1;
  #counts: Counts = { chars: 0, parts: 0 };
  #chars = 0;
  /** Part of `#chars` that was already reported. */
  #counted = 0;
  #elements = 0;
  #bytes = 0;
  #isOver = false;

  /**
   * @param exceeded called once, with an error that names the limit
   * @param grown called in steps with the number of additional characters, for memory accounting
   */
  constructor(next: EventSink, exceeded: (error: GatewayError) => void, grown: (chars: number) => void) {
    this.#next = next;
    this.#exceeded = exceeded;
    this.#grown = grown;
  }

  on(event: CanonicalEvent): void {
    if (this.#isOver) return;
    const excess = this.#excessOf(event);
    if (excess === undefined) return this.#next.on(event);
    this.#stop(excess);
  }

  /** Wraps the reader with the limit on bytes of a stream. */
  reader(reader: AnswerReader): AnswerReader {
    return {
      data: (bytes) => {
        this.#bytes += bytes.length;
        if (this.#bytes <= MAX_STREAM_BYTES) return reader.data(bytes);
        if (!this.#isOver) this.#stop(TEXTS.moreThanBytes(MAX_STREAM_BYTES));
      },
      end: () => reader.end(),
      interrupt: () => reader.interrupt?.(),
    };
  }

  #stop(excess: string): void {
    this.#isOver = true;
    this.#exceeded(new GatewayError('upstream_unavailable', `the upstream's response has ${excess}`));
  }

  /** Reports a large event, which may contain no text. */
  large(chars: number): void {
    this.#grown(chars);
  }

  #count(): void {
    const grown = this.#chars - this.#counted;
    this.#counted = this.#chars;
    this.#grown(grown);
  }

  /** The limit that this event exceeds. Undefined: none. */
  #excessOf(event: CanonicalEvent): string | undefined {
    switch (event.type) {
      case 'text':
      case 'reasoning': {
        const counts = this.#countsOf(event.index);
        if (event.part >= counts.parts) {
          this.#elements += event.part + 1 - counts.parts;
          counts.parts = event.part + 1;
          if (counts.parts > MAX_ITEM_PARTS) return `an item of more than ${MAX_ITEM_PARTS} parts`;
        }
        return this.#excessOfText(event.text?.length ?? 0);
      }
      case 'arguments': {
        const counts = this.#countsOf(event.index);
        counts.chars += event.text.length;
        if (counts.chars > MAX_ARGUMENT_CHARS)
          return `a call whose arguments have more than ${MAX_ARGUMENT_CHARS} characters`;
        return this.#excessOfText(event.text.length);
      }
      case 'piece':
        this.#elements++;
        return this.#excessOfText(event.chars);
      case 'open':
      case 'annotate':
      case 'unknown':
        this.#elements++;
        return this.#excessOfThings();
      default:
        return undefined;
    }
  }

  #countsOf(index: number): Counts {
    if (index === this.#index) return this.#counts;
    let counts = this.#items.get(index);
    if (!counts) this.#items.set(index, (counts = { chars: 0, parts: 0 }));
    this.#index = index;
    this.#counts = counts;
    return counts;
  }

  #excessOfText(chars: number): string | undefined {
    this.#chars += chars;
    if (this.#chars - this.#counted >= STEP_BYTES) this.#count();
    if (this.#chars > MAX_ANSWER_CHARS) return `more than ${MAX_ANSWER_CHARS} characters`;
    return this.#excessOfThings();
  }

  #excessOfThings(): string | undefined {
    return this.#elements > MAX_ANSWER_ITEMS
      ? `more than ${MAX_ANSWER_ITEMS} items, parts and sources`
      : undefined;
  }
}
