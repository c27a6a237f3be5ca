// Running lines of one batch, each with a slot of `BatchPace`. The first failure in the gateway itself ends the run.
import { GatewayError } from '../../canonical/index.ts';
import type { BatchPace } from './batch-pace.ts';

export class RunningLines {
  readonly #pace: BatchPace;
  readonly #running = new Set<Promise<void>>();
  #failure: GatewayError | undefined;

  constructor(pace: BatchPace) {
    this.#pace = pace;
  }

  get hasFailed(): boolean {
    return this.#failure !== undefined;
  }

  /** Tracks a line that holds a slot, and releases the slot at its end. */
  add(line: Promise<void>): void {
    const done = line
      .catch((error: unknown) => {
        this.#failure ??= GatewayError.from(error);
      })
      .finally(() => {
        this.#running.delete(done);
        this.#pace.leave();
      });
    this.#running.add(done);
  }

  /** Adds lines, and waits until all have ended, even if `addAll` rejects. @throws GatewayError the first failure */
  async during(addAll: () => Promise<void>): Promise<void> {
    try {
      await addAll();
    } finally {
      await Promise.all(this.#running);
    }
    await this.ended();
  }

  /** Resolves when all have ended. @throws GatewayError the first failure */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure;
  }
}
