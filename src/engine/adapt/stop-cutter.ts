// Stop sequences for upstreams without such a parameter: cuts the visible text before the first match. Text that may
// be the beginning of a match is held back until that is known.
import type { CanonicalEvent, EventSink, TextEvent } from '../../canonical/index.ts';

export class StopCutter implements EventSink {
  readonly #next: EventSink;
  readonly #matchers: readonly SequenceMatcher[];
  readonly #onCut: () => void;
  #held = '';
  #heldEvent: TextEvent | undefined;
  /** Sequence that ended the answer. */
  matched: string | undefined;

  /** @param onCut called at the match, so that the upstream request can be aborted */
  constructor(next: EventSink, sequences: readonly string[], onCut: () => void) {
    this.#next = next;
    this.#matchers = sequences.flatMap((sequence) =>
      sequence === '' ? [] : [new SequenceMatcher(sequence)],
    );
    this.#onCut = onCut;
  }

  on(event: CanonicalEvent): void {
    if (this.matched !== undefined) {
      // Usage that the upstream reports afterwards still belongs to the answer.
      if (event.type === 'usage') this.#next.on(event);
      return;
    }
    if (event.type === 'text' && event.kind === 'text') return this.#text(event);
    if (event.type !== 'usage') this.#release();
    this.#next.on(event);
  }

  #text(event: TextEvent): void {
    if (this.#heldEvent && (this.#heldEvent.index !== event.index || this.#heldEvent.part !== event.part))
      this.#release();
    const cut = this.#firstMatch(event.text);
    const text = this.#held + event.text;
    if (cut) {
      const at = this.#held.length + cut.end - cut.sequence.length;
      this.#held = '';
      this.#heldEvent = undefined;
      if (at > 0) this.#next.on({ ...event, text: text.slice(0, at) });
      this.matched = cut.sequence;
      this.#onCut();
      return;
    }
    let keep = 0;
    for (const { matched } of this.#matchers) keep = Math.max(keep, matched);
    this.#held = text.slice(text.length - keep);
    this.#heldEvent = keep > 0 ? event : undefined;
    if (text.length > keep) this.#next.on({ ...event, text: text.slice(0, text.length - keep) });
  }

  /**
   * The match that is complete first, where a model with these stop sequences would have stopped. Of several, the
   * longest.
   */
  #firstMatch(text: string): { readonly end: number; readonly sequence: string } | undefined {
    let best: { end: number; sequence: string } | undefined;
    for (const matcher of this.#matchers) {
      const end = matcher.seek(text);
      const { sequence } = matcher;
      const isLonger = best !== undefined && end === best.end && sequence.length > best.sequence.length;
      if (end >= 0 && (!best || end < best.end || isLonger)) best = { end, sequence };
    }
    return best;
  }

  #release(): void {
    const event = this.#heldEvent;
    if (!event) return;
    this.#next.on({ ...event, text: this.#held, logprobs: undefined });
    this.#held = '';
    for (const matcher of this.#matchers) matcher.matched = 0;
    this.#heldEvent = undefined;
  }
}

/** Incremental search for one sequence. Each character is examined once (Knuth, Morris and Pratt, 1977). */
class SequenceMatcher {
  readonly sequence: string;
  /** Number of leading characters of the sequence that the text so far ends with. */
  matched = 0;
  /** KMP failure function, by the number of matched characters. */
  readonly #shorter: Int32Array;

  constructor(sequence: string) {
    this.sequence = sequence;
    this.#shorter = new Int32Array(sequence.length);
    let length = 0;
    for (let at = 1; at < sequence.length; at++) {
      const code = sequence.charCodeAt(at);
      this.#shorter[at] = length;
      while (length > 0 && sequence.charCodeAt(length) !== code) length = this.#shorter[length] ?? 0;
      if (sequence.charCodeAt(length) === code) length++;
    }
  }

  /**
   * Consumes characters up to the end of a match.
   * @returns the offset behind the match; -1: none
   */
  seek(text: string): number {
    const { sequence } = this;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      while (this.matched > 0 && sequence.charCodeAt(this.matched) !== code)
        this.matched = this.#shorter[this.matched] ?? 0;
      if (sequence.charCodeAt(this.matched) === code) this.matched++;
      if (this.matched === sequence.length) return at + 1;
    }
    return -1;
  }
}
