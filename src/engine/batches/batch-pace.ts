// Decides when batch lines may begin in this process: limited concurrency, fair between projects, and only while the
// event loop is on time, so that interactive requests are not delayed.
import type { DurationMs } from '../../base/units.ts';

export interface BatchPaceOptions {
  /** Read each time: maximum concurrent lines, and maximum event loop delay in milliseconds (0: not checked). */
  readonly limits: () => { readonly concurrent: number; readonly maxDelayMs: DurationMs };
  /** Recent event loop delay while requests of others ran, in milliseconds. */
  readonly delayMs: () => number;
  /** Weight of a project among those that are queued. Absent: 1 for all. */
  readonly weightOf?: (projectId: string) => number;
}

export class BatchPace {
  readonly #options: BatchPaceOptions;
  /** Queued lines, by project. */
  readonly #queues = new Map<string, (() => void)[]>();
  /** Virtual time of a fair queue: of the last line that began, and of each project's next line. */
  #turn = 0;
  readonly #turns = new Map<string, number>();
  #running = 0;

  constructor(options: BatchPaceOptions) {
    this.#options = options;
  }

  /** Reason why no line may begin now, as a sentence. Null: one may. */
  get refusal(): string | null {
    const { maxDelayMs } = this.#options.limits();
    const delayMs = this.#options.delayMs();
    if (maxDelayMs === 0 || delayMs < maxDelayMs) return null;
    return `The event loop was ${Math.round(delayMs)} ms late (99th percentile of 10 s). Batches wait until the delay is below ${maxDelayMs} ms (batches.max_delay_ms).`;
  }

  /** Waits for a slot, which `leave` releases. */
  async enter(projectId: string): Promise<void> {
    if (this.#queues.size === 0 && this.#running < this.#options.limits().concurrent) {
      this.#running += 1;
      return;
    }
    await new Promise<void>((begin) => {
      const queue = this.#queues.get(projectId);
      if (queue) queue.push(begin);
      else this.#queues.set(projectId, [begin]);
    });
  }

  leave(): void {
    this.#running -= 1;
    while (this.#queues.size > 0 && this.#running < this.#options.limits().concurrent) this.#beginNext();
  }

  /** Begins a line of the project with the earliest virtual time; a higher weight gets more turns. */
  #beginNext(): void {
    let next: { readonly projectId: string; readonly turn: number } | undefined;
    for (const projectId of this.#queues.keys()) {
      // Idle projects do not accumulate turns.
      const turn = Math.max(this.#turns.get(projectId) ?? 0, this.#turn);
      if (!next || turn < next.turn) next = { projectId, turn };
    }
    if (!next) return;
    const { projectId, turn } = next;
    const [begin, ...others] = this.#queues.get(projectId) ?? [];
    this.#queues.delete(projectId);
    if (others.length > 0) this.#queues.set(projectId, others);
    for (const [id, its] of this.#turns) if (its < turn) this.#turns.delete(id);
    this.#turn = turn;
    this.#turns.set(projectId, turn + 1 / (this.#options.weightOf?.(projectId) ?? 1));
    this.#running += 1;
    begin?.();
  }
}
