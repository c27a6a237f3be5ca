// Compares an answer with its output limit. Finds limits that the server ignores, and cut answers that it calls complete.
// Sees token counts and ends, never text.
import { type CanonicalEvent, type EventSink, outputTokens } from '../../canonical/index.ts';

/** Tokens beyond the limit that are a matter of counting, not of a limit that is ignored. */
const SLACK = 16;

export interface WatchedLimit {
  /** Tokens. */
  readonly limit: number;
  /** False: the server calls an answer complete that its limit cut. */
  readonly namesCutAnswers: boolean;
  /** Called once, for an answer that is longer than its limit. @param tokens of the answer */
  readonly exceeded: (tokens: number) => void;
}

export class LimitWatch implements EventSink {
  readonly #next: EventSink;
  readonly #watched: WatchedLimit;
  /** Tokens of the answer; 0 while the server has counted none. */
  #tokens = 0;
  #isReported = false;

  constructor(next: EventSink, watched: WatchedLimit) {
    this.#next = next;
    this.#watched = watched;
  }

  on(event: CanonicalEvent): void {
    const { limit, namesCutAnswers } = this.#watched;
    if (event.type === 'usage' && !event.usage.estimated) this.#count(outputTokens(event.usage));
    const isCut = event.type === 'finish' && !namesCutAnswers && this.#tokens >= limit;
    const endsLate = isCut && (event.reason === 'stop' || event.reason === 'tool_calls');
    this.#next.on(endsLate ? { ...event, reason: 'length' } : event);
  }

  #count(tokens: number): void {
    this.#tokens = tokens;
    if (this.#isReported || tokens <= this.#watched.limit + SLACK) return;
    this.#isReported = true;
    this.#watched.exceeded(tokens);
  }
}
