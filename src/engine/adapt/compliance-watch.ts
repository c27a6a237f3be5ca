// Sinks that detect servers which ignore the output limit, or reason although reasoning is disabled. Events pass
// unchanged, except that a truncated answer never ends as a complete one.
import { type CanonicalEvent, type EventSink, outputTokens } from '../../canonical/index.ts';

/** Tokens by which counts may exceed the limit before the limit is considered ignored. */
const SLACK = 16;

export interface WatchedLimit {
  /** Tokens. */
  readonly limit: number;
  /** False: the server reports answers that its limit truncated as complete. */
  readonly namesCutAnswers: boolean;
  /**
   * Called once when an answer is longer than its limit.
   * @param tokens of the answer
   */
  readonly exceeded: (tokens: number) => void;
}

/**
 * Compares an answer with its limit. Detects servers that ignore it, and truncated answers that the server reports as
 * complete. Uses only token counts and finish events.
 */
export class LimitWatch implements EventSink {
  readonly #next: EventSink;
  readonly #watched: WatchedLimit;
  /** Tokens of the answer. 0: the server has not reported any yet. */
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

/** Detects servers that reason although reasoning is disabled. */
export class UnwantedReasoningWatch implements EventSink {
  readonly #next: EventSink;
  readonly #reasoned: () => void;
  #isReported = false;

  /** @param reasoned called once, when the answer contains reasoning */
  constructor(next: EventSink, reasoned: () => void) {
    this.#next = next;
    this.#reasoned = reasoned;
  }

  on(event: CanonicalEvent): void {
    if (!this.#isReported && event.type === 'reasoning' && event.text !== '') {
      this.#isReported = true;
      this.#reasoned();
    }
    this.#next.on(event);
  }
}
