// When lines of batches may begin in this process: so many at once, projects in turn, and only while the event loop is on time, so
// that interactive requests do not wait for them.

export interface BatchPaceOptions {
  /** Asked each time: most lines at once, and how late the event loop may be in milliseconds (0: not watched). */
  readonly limits: () => { readonly concurrent: number; readonly maxDelayMs: number };
  /** How late the event loop was of late, in milliseconds. */
  readonly delayMs: () => number;
}

export class BatchPace {
  readonly #options: BatchPaceOptions;
  /** Lines that wait for a place, by project; the first project is next. */
  readonly #queues = new Map<string, (() => void)[]>();
  #running = 0;

  constructor(options: BatchPaceOptions) {
    this.#options = options;
  }

  /** Why no line may begin now, as a sentence; null where one may. */
  get refusal(): string | null {
    const { maxDelayMs } = this.#options.limits();
    const delayMs = this.#options.delayMs();
    if (maxDelayMs === 0 || delayMs < maxDelayMs) return null;
    return `The event loop was ${Math.round(delayMs)} ms late (99th percentile of 10 s): batches wait until that is below ${maxDelayMs} ms (batches.max_delay_ms).`;
  }

  /** Takes a place, which `leave` gives back. */
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
    for (const [projectId, queue] of this.#queues) {
      if (this.#running >= this.#options.limits().concurrent) return;
      const [begin, ...others] = queue;
      // Behind all other projects.
      this.#queues.delete(projectId);
      if (others.length > 0) this.#queues.set(projectId, others);
      this.#running += 1;
      begin?.();
    }
  }
}
