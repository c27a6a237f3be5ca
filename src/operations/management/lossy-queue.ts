// Frames on their way to a reader who may be slow: a bounded number waits, and of more the oldest are lost, which the reader
// is told. Knows neither frames nor sockets.

export class LossyQueue {
  readonly #send: (frame: string) => boolean;
  readonly #noticeOf: (lost: number) => string;
  readonly #most: number;
  #waiting: string[] = [];
  #lost = 0;
  #isFull = false;

  /**
   * @param send false: the reader has no room for more, until `drained` is called
   * @param noticeOf the frame that says how many are lost
   * @param most frames that wait
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

  /** Something without which the reader can do: only where there is room. */
  offer(frame: string): void {
    if (!this.#isFull) this.push(frame);
  }

  /** The reader has room again. */
  drained(): void {
    this.#isFull = false;
    const frames = this.#lost > 0 ? [this.#noticeOf(this.#lost), ...this.#waiting] : this.#waiting;
    this.#waiting = [];
    this.#lost = 0;
    if (frames.length > 0) this.push(frames.join(''));
  }
}
