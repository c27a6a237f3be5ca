// A manual clock that also says when something begins to wait, so that a test moves time exactly then.
import { ManualClock } from '../manual-clock.ts';

export class ArmedClock extends ManualClock {
  /** Durations of the single timers that were set, in milliseconds. */
  readonly waits: number[] = [];
  /** True: every single timer falls due at once, and time with it. */
  impatient = false;
  #armed: (() => void)[] = [];

  override after(ms: number, run: () => void): () => void {
    this.waits.push(ms);
    const cancel = super.after(ms, run);
    for (const resolve of this.#armed.splice(0)) resolve();
    if (this.impatient) queueMicrotask(() => this.advance(ms));
    return cancel;
  }

  /** Settles when the next single timer is set; at once if there is one since `waits` was emptied. */
  armed(): Promise<void> {
    if (this.waits.length > 0) return Promise.resolve();
    return new Promise((resolve) => this.#armed.push(resolve));
  }
}
