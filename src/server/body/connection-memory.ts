// Unstored turns that one WebSocket connection remembers: the latest of each lane, within a total limit (OpenAI guide
// "WebSocket mode", how continuation works, 2026-11).
import type { JsonObject } from '../../base/json/index.ts';
import type { TurnMemory } from '../../engine/index.ts';
import type { MemoryAccount } from './memory-budget.ts';

interface Turn {
  readonly responseId: string;
  /** All items up to and including the response, as JSON, whose length counts against the limit. */
  readonly items: string;
}

export class ConnectionMemory {
  /** By lane, most recently stored last. */
  readonly #turns = new Map<string, Turn>();
  readonly #maxChars: number;
  readonly #hold: MemoryAccount;
  #chars = 0;
  #isOver = false;

  /**
   * @param maxChars of all turns together, as JSON; the oldest are dropped first
   * @param hold memory account; a turn that exceeds it is not remembered
   */
  constructor(maxChars: number, hold: MemoryAccount) {
    this.#maxChars = maxChars;
    this.#hold = hold;
  }

  /** Memory for a turn of a lane: reads the turns of all lanes and replaces its own. */
  of(lane: string): TurnMemory {
    return {
      recall: (responseId) => this.#recall(responseId),
      remember: (responseId, items) => this.#remember(lane, responseId, items),
    };
  }

  /**
   * Forgets a response if it belongs to the lane: after a failure its turn starts again. A fork does not affect its
   * parent.
   */
  forget(lane: string, responseId: string): void {
    if (this.#turns.get(lane)?.responseId === responseId) this.#drop(lane);
  }

  /** Forgets everything and stops remembering. */
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
