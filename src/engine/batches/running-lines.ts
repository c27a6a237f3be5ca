// Lines of one batch that are under way, each in a place of the pace. The first that fails here, and not at its upstream, ends the run.
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

  /** Follows a line whose place was taken; it is given back at the end. */
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

  /** Resolves when all have ended. @throws GatewayError the first failure */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure;
  }
}
