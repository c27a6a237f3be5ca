// Counts what an upstream's answer holds, before anything is kept of it: an answer that never ends, or that has a million
// items, must not become everybody's memory. The numbers are in canonical/limits.ts.
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

/** A sink that passes on what is within the limits; after the first that is not, nothing. */
export class AnswerBounds implements FrameSink {
  readonly #next: EventSink;
  readonly #exceeded: (error: GatewayError) => void;
  readonly #grown: (chars: number) => void;
  readonly #items = new Map<number, Counts>();
  /** Counts of the item that was written last: most events go on with it. */
  #index = -1;
  #counts: Counts = { chars: 0, parts: 0 };
  #chars = 0;
  /** The same, as far as it was told. */
  #counted = 0;
  #things = 0;
  #bytes = 0;
  #isOver = false;

  /**
   * @param exceeded called once, with the error that names the limit
   * @param grown told in steps how much more there is, for whoever keeps it
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

  /** The same reader, for as many bytes as a stream may have. */
  reader(reader: AnswerReader): AnswerReader {
    return {
      data: (bytes) => {
        this.#bytes += bytes.length;
        if (this.#bytes <= MAX_STREAM_BYTES) return reader.data(bytes);
        if (!this.#isOver) this.#stop(TEXTS.moreThanBytes(MAX_STREAM_BYTES));
      },
      end: () => reader.end(),
    };
  }

  #stop(excess: string): void {
    this.#isOver = true;
    this.#exceeded(new GatewayError('upstream_unavailable', `the upstream's answer has ${excess}`));
  }

  /** One event came that is large as a whole: what it brings may be no text. */
  large(chars: number): void {
    this.#grown(chars);
  }

  #count(): void {
    const grown = this.#chars - this.#counted;
    this.#counted = this.#chars;
    this.#grown(grown);
  }

  /** Count that this event takes over its bound. */
  #excessOf(event: CanonicalEvent): string | undefined {
    switch (event.type) {
      case 'text':
      case 'reasoning': {
        const counts = this.#countsOf(event.index);
        if (event.part >= counts.parts) {
          this.#things += event.part + 1 - counts.parts;
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
        this.#things++;
        return this.#excessOfText(event.chars);
      case 'open':
      case 'annotate':
      case 'unknown':
        this.#things++;
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
    return this.#things > MAX_ANSWER_ITEMS
      ? `more than ${MAX_ANSWER_ITEMS} items, parts and sources`
      : undefined;
  }
}
