// What one WebSocket connection remembers of turns that are not stored: the latest of each lane, all of them together
// within a limit (OpenAI guide "WebSocket mode", how continuation works, 2026-11). Knows nothing of sockets.
import type { JsonObject } from '../canonical/index.ts';
import type { TurnMemory } from '../engine/index.ts';

interface Turn {
  readonly responseId: string;
  /** Everything up to and with the response, as JSON: its length is what it weighs. */
  readonly items: string;
}

export class ConnectionMemory {
  /** By lane, the one that was remembered last at the end. */
  readonly #turns = new Map<string, Turn>();
  readonly #maxChars: number;
  #chars = 0;

  /** @param maxChars of all turns together, as JSON; the oldest are forgotten first */
  constructor(maxChars: number) {
    this.#maxChars = maxChars;
  }

  /** The memory as a turn of a lane has it: it reads the turns of every lane and replaces that of its own. */
  of(lane: string): TurnMemory {
    return {
      recall: (responseId) => this.#recall(responseId),
      remember: (responseId, items) => this.#remember(lane, responseId, items),
    };
  }

  /** Forgets a response if it is the lane's own: after a failure its turn begins anew; a fork leaves its parent alone. */
  forget(lane: string, responseId: string): void {
    if (this.#turns.get(lane)?.responseId === responseId) this.#drop(lane);
  }

  #recall(responseId: string): readonly JsonObject[] | undefined {
    for (const turn of this.#turns.values())
      if (turn.responseId === responseId) return JSON.parse(turn.items) as readonly JsonObject[];
    return undefined;
  }

  #remember(lane: string, responseId: string, items: readonly JsonObject[]): void {
    this.#drop(lane);
    const turn = { responseId, items: JSON.stringify(items) };
    this.#turns.set(lane, turn);
    this.#chars += turn.items.length;
    for (const oldest of this.#turns.keys()) {
      if (this.#chars <= this.#maxChars) break;
      this.#drop(oldest);
    }
  }

  #drop(lane: string): void {
    this.#chars -= this.#turns.get(lane)?.items.length ?? 0;
    this.#turns.delete(lane);
  }
}
