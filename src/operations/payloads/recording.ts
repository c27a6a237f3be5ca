// The bytes of one payload as they were sent or came, by reference, and when each read came. Bounded: what is beyond is only
// counted.
import { joined } from '../../base/lib/slices.ts';

/** Reads whose times are kept; what comes later counts as one with the last of them. */
const MOST_READS = 4_000;

export class Recording {
  /** Bytes of the whole payload. */
  bytes = 0;
  /** Milliseconds since the request arrived, and bytes, in turn: of each read or write. */
  readonly reads: number[] = [];
  readonly #most: number;
  readonly #pieces: Buffer[] = [];
  #kept = 0;

  /** @param most bytes that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of the next piece that would be kept. */
  roomFor({ length }: Buffer): number {
    return Math.min(length, Math.max(0, this.#most - this.#kept));
  }

  /** @param atMs since the request arrived */
  add(data: Buffer, atMs: number): void {
    const last = this.reads.length - 1;
    if (last + 1 >= MOST_READS * 2) this.reads[last] = (this.reads[last] ?? 0) + data.length;
    else this.reads.push(atMs, data.length);
    this.bytes += data.length;
    const kept = this.roomFor(data);
    if (kept === 0) return;
    this.#kept += kept;
    // The part that is cut off must not stay in memory with the rest.
    this.#pieces.push(kept < data.length ? Buffer.from(data.subarray(0, kept)) : data);
  }

  /** Kept bytes, as a byte string. */
  text(): string {
    return joined(this.#pieces).toString('latin1');
  }
}
