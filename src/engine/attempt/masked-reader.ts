// Stands before the reader of an upstream's answer, in both lanes: what the request proved its sender with reaches neither
// a client nor anything that is kept.
import { type EchoMask, EchoFilter } from '../../telemetry/echo-mask.ts';
import type { AnswerReader } from './answer-reader.ts';

/** The same reader behind a search for the credentials that were sent, by their exact values; null: there is none. */
export function masked(reader: AnswerReader, mask: EchoMask | null): AnswerReader {
  return mask ? new MaskedReader(reader, mask) : reader;
}

class MaskedReader implements AnswerReader {
  readonly #reader: AnswerReader;
  readonly #filter: EchoFilter;

  constructor(reader: AnswerReader, mask: EchoMask) {
    this.#reader = reader;
    this.#filter = new EchoFilter(mask);
  }

  data(bytes: string): void {
    const safe = this.#filter.push(bytes);
    if (safe !== '') this.#reader.data(safe);
  }

  end(): void {
    const rest = this.#filter.end();
    if (rest !== '') this.#reader.data(rest);
    this.#reader.end();
  }
}
