// Bounded queue of frames for a slow reader. When it is full, the oldest frames are dropped, and the reader is told how
// many.

export class LossyQueue {
  readonly #send: (frame: string) => boolean;
  readonly #noticeOf: (lost: number) => string;
  readonly #most: number;
  #waiting: string[] = [];
  #lost = 0;
  #isFull = false;

  /**
   * @param send returns false if the reader cannot take more, until `drained` is called
   * @param noticeOf frame with the number of dropped frames
   * @param most maximum number of queued frames
   */
  constructor(send: (frame: string) => boolean, noticeOf: (lost: number) => string, most: number) {
    this.#send = send;
    this.#noticeOf = noticeOf;
    this.#most = most;
  }

  push(frame: string): void {
    if (!this.#isFull) {
      this.#isFull = !this.#send(frame);
      return;
    }
    this.#waiting.push(frame);
    if (this.#waiting.length <= this.#most) return;
    this.#waiting.shift();
    this.#lost += 1;
  }

  /** Sends an optional frame, only if the reader is not blocked. */
  offer(frame: string): void {
    if (!this.#isFull) this.push(frame);
  }

  /** The reader can take more. */
  drained(): void {
    this.#isFull = false;
    const frames = this.#lost > 0 ? [this.#noticeOf(this.#lost), ...this.#waiting] : this.#waiting;
    this.#waiting = [];
    this.#lost = 0;
    if (frames.length > 0) this.push(frames.join(''));
  }
}
