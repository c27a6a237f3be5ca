// The bytes of one payload as they were sent or came, by reference, and when each read came. Bounded: what is beyond is only
// counted.
import type { Encoding } from '../engine/index.ts';

/** Reads whose times are kept; what comes later counts as one with the last of them. */
const MOST_READS = 4_000;

interface Piece {
  readonly data: string;
  readonly encoding: Encoding;
}

export class Recording {
  /** Of the whole payload, in bytes; of text that is not ASCII, a little less. */
  bytes = 0;
  /** Milliseconds since the request arrived, and bytes, in turn: of each read or write. */
  readonly reads: number[] = [];
  readonly #most: number;
  #pieces: Piece[] = [];
  #kept = 0;

  /** @param most bytes that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  /** Bytes of the next piece that would be kept. */
  roomFor({ length }: string): number {
    return Math.min(length, Math.max(0, this.#most - this.#kept));
  }

  /** @param atMs since the request arrived */
  add(data: string, encoding: Encoding, atMs: number): void {
    const last = this.reads.length - 1;
    if (last + 1 >= MOST_READS * 2) this.reads[last] = (this.reads[last] ?? 0) + data.length;
    else this.reads.push(atMs, data.length);
    this.bytes += data.length;
    const kept = this.roomFor(data);
    if (kept === 0) return;
    this.#kept += kept;
    this.#pieces.push({ data: kept < data.length ? data.slice(0, kept) : data, encoding });
  }

  /** What was kept, as a byte string. */
  text(): string {
    return this.#pieces
      .map(({ data, encoding }) =>
        encoding === 'bytes' ? data : Buffer.from(data, 'utf8').toString('latin1'),
      )
      .join('');
  }
}
