// Turns that one WebSocket connection remembers and that are not stored: the latest of each lane, all of them together
// within a limit (OpenAI guide "WebSocket mode", how continuation works, 2026-11). Knows nothing of sockets.
import type { JsonObject } from '../../base/json/index.ts';
import type { TurnMemory } from '../../engine/index.ts';
import type { Hold } from './memory-budget.ts';

interface Turn {
  readonly responseId: string;
  /** Everything up to and with the response, as JSON: its length is what it weighs. */
  readonly items: string;
}

export class ConnectionMemory {
  /** By lane, the one that was remembered last at the end. */
  readonly #turns = new Map<string, Turn>();
  readonly #maxChars: number;
  readonly #hold: Hold;
  #chars = 0;
  #isOver = false;

  /**
   * @param maxChars of all turns together, as JSON; the oldest are forgotten first
   * @param hold what they count for; where there is no room for a turn it is not remembered
   */
  constructor(maxChars: number, hold: Hold) {
    this.#maxChars = maxChars;
    this.#hold = hold;
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

  /** Forgets everything, and remembers nothing any more. */
  clear(): void {
    this.#isOver = true;
    this.#turns.clear();
    this.#chars = 0;
    this.#hold.release();
  }

  #recall(responseId: string): readonly JsonObject[] | undefined {
    for (const turn of this.#turns.values())
      if (turn.responseId === responseId) return JSON.parse(turn.items) as readonly JsonObject[];
    return undefined;
  }

  #remember(lane: string, responseId: string, items: readonly JsonObject[]): void {
    if (this.#isOver) return;
    this.#drop(lane);
    const turn = { responseId, items: JSON.stringify(items) };
    try {
      this.#hold.add(turn.items.length);
    } catch {
      return;
    }
    this.#turns.set(lane, turn);
    this.#chars += turn.items.length;
    for (const oldest of this.#turns.keys()) {
      if (this.#chars <= this.#maxChars) break;
      this.#drop(oldest);
    }
  }

  #drop(lane: string): void {
    const chars = this.#turns.get(lane)?.items.length ?? 0;
    this.#chars -= chars;
    this.#hold.add(-chars);
    this.#turns.delete(lane);
  }
}
