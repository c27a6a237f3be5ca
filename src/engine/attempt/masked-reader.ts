// Stands before the reader of an upstream's answer, in both lanes: what the request proved its sender with reaches neither
// a client nor anything that is kept.
import { type EchoMask, EchoFilter } from '../../telemetry/echo-mask.ts';
import type { AnswerReader } from './answer-reader.ts';

/** The same reader behind a search for the credentials that were sent, by their exact values; null: there is none. */
export function masked(reader: AnswerReader, mask: EchoMask | null): AnswerReader {
  if (!mask) return reader;
  const filter = new EchoFilter(mask);
  return {
    data(bytes) {
      const safe = filter.push(bytes);
      if (safe !== '') reader.data(safe);
    },
    end() {
      const rest = filter.end();
      if (rest !== '') reader.data(rest);
      reader.end();
    },
  };
}
