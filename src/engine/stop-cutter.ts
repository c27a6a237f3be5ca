// Stop sequences for upstreams that have no such field: cuts the visible text at the first match, which is
// never part of the output (requirement 3.8). Text that might begin a match is held back until it is decided.
import type { CanonicalEvent, EventSink, TextEvent } from '../canonical/index.ts';

export class StopCutter implements EventSink {
  readonly #next: EventSink;
  readonly #sequences: readonly string[];
  readonly #longest: number;
  readonly #onCut: () => void;
  #held = '';
  #heldEvent: TextEvent | undefined;
  /** The sequence that ended the answer. */
  matched: string | undefined;

  /** @param onCut called at the match: the upstream may be stopped, nothing it sends is wanted any more */
  constructor(next: EventSink, sequences: readonly string[], onCut: () => void) {
    this.#next = next;
    this.#sequences = sequences.filter((sequence) => sequence !== '');
    this.#longest = Math.max(0, ...this.#sequences.map((sequence) => sequence.length));
    this.#onCut = onCut;
  }

  on(event: CanonicalEvent): void {
    if (this.matched !== undefined) {
      // The counts of what the upstream produced still belong to the answer.
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
    const text = this.#held + event.text;
    const cut = this.#firstMatch(text);
    if (cut) {
      this.#held = '';
      this.#heldEvent = undefined;
      if (cut.at > 0) this.#next.on({ ...event, text: text.slice(0, cut.at) });
      this.matched = cut.sequence;
      this.#onCut();
      return;
    }
    const keep = this.#possibleStart(text);
    this.#held = text.slice(text.length - keep);
    this.#heldEvent = keep > 0 ? event : undefined;
    if (text.length > keep) this.#next.on({ ...event, text: text.slice(0, text.length - keep) });
  }

  #release(): void {
    const event = this.#heldEvent;
    if (!event) return;
    this.#next.on({ ...event, text: this.#held, logprobs: undefined });
    this.#held = '';
    this.#heldEvent = undefined;
  }

  /** The match that is complete first, as a model that knew the sequences would have stopped. */
  #firstMatch(text: string): { at: number; sequence: string } | undefined {
    let best: { at: number; end: number; sequence: string } | undefined;
    for (const sequence of this.#sequences) {
      const at = text.indexOf(sequence);
      const end = at + sequence.length;
      if (at >= 0 && (!best || end < best.end || (end === best.end && at < best.at)))
        best = { at, end, sequence };
    }
    return best;
  }

  /** Length of the longest end of `text` that begins some sequence. */
  #possibleStart(text: string): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.#sequences.some((sequence) => sequence.startsWith(end))) return length;
    }
    return 0;
  }
}
