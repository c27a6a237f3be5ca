// Reads the bytes of request bodies: within a size, within the memory that their key may hold, and in a time that grows
// with what has arrived. Knows nothing of what the bytes say.
import { GatewayError } from '../../canonical/index.ts';
import { Roster } from '../../base/lib/roster.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { Hold } from './memory-budget.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface BodyReaderOptions {
  /** Bytes of one body; asked at every request. */
  readonly maxBytes: () => number;
  /** Milliseconds that any body may take. */
  readonly graceMs: () => number;
  readonly clock: Clock;
}

/** Bodies up to this size are read in one go. */
const SMALL_BYTES = 256 * 1024;
/** A body may take the grace, and a second more for so many bytes: slow lines pass, a body that drips does not. */
const SLOWEST_BYTES_PER_SECOND = 8 * 1024;
/** How often the bodies on their way are looked at. */
const LOOK_MS = 1_000;

/** A body on its way. */
interface Reading {
  readonly startedAt: UnixMs;
  /** Bytes that count for its time. */
  bytes: number;
  readonly giveUp: (error: GatewayError) => void;
  /** On the list of those that are looked at. */
  place: number;
}

export class BodyReader {
  readonly #options: BodyReaderOptions;
  readonly #readings = new Roster<Reading>();
  readonly #stop: () => void;

  constructor(options: BodyReaderOptions) {
    this.#options = options;
    this.#stop = options.clock.every(LOOK_MS, () => this.#look());
  }

  /** Looks at no body any more. */
  stop(): void {
    this.#stop();
  }

  /**
   * The whole body.
   * @param announced how many bytes it has; NaN where that is not known
   * @param hold what the body counts for until the request has ended
   * @throws GatewayError `too_large`; 503 where the key or the process holds too much; 408 where it takes too long
   */
  read(request: Request, announced: number, hold: Hold): Promise<Buffer> {
    const body = new Gathered(this.#options.maxBytes(), hold);
    body.expect(announced);
    return announced <= SMALL_BYTES && !body.failure
      ? this.#readSmall(request, announced)
      : this.#gather(request, body);
  }

  async #gather(request: Request, body: Gathered): Promise<Buffer> {
    // To its end even where none of it is kept: a client that is still writing could see a reset connection instead of
    // the answer.
    try {
      for await (const piece of this.pieces(request)) body.take(piece);
    } catch (error) {
      throw body.failure ?? error;
    }
    return body.whole();
  }

  /** The body as it arrives, for those who keep none of it. @throws GatewayError 408 where it takes too long */
  async *pieces(request: Request): AsyncGenerator<Uint8Array, void, undefined> {
    if (!request.body) return;
    const reader = request.body.getReader();
    let failure: GatewayError | undefined;
    const reading = this.#begin(0, (error) => {
      failure = error;
      // The read that waits ends with it.
      void abandon(reader);
    });
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (failure) throw failure;
        if (done) return;
        reading.bytes += value.length;
        yield value;
      }
    } finally {
      this.#readings.remove(reading, reading.place);
      // A reader that stops early wants no more of it.
      if (!failure) void abandon(reader);
    }
  }

  #readSmall(request: Request, announced: number): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const reading = this.#begin(announced, reject);
      const over =
        <T>(settle: (outcome: T) => void) =>
        (outcome: T): void => {
          this.#readings.remove(reading, reading.place);
          settle(outcome);
        };
      request.arrayBuffer().then(
        over((bytes) => resolve(Buffer.from(bytes))),
        over(reject),
      );
    });
  }

  #begin(bytes: number, giveUp: (error: GatewayError) => void): Reading {
    const reading: Reading = { startedAt: this.#options.clock.now(), bytes, giveUp, place: 0 };
    reading.place = this.#readings.add(reading);
    return reading;
  }

  #look(): void {
    if (this.#readings.size === 0) return;
    const now = this.#options.clock.now();
    const graceMs = this.#options.graceMs();
    for (const reading of this.#readings) {
      const allowed = graceMs + (reading.bytes / SLOWEST_BYTES_PER_SECOND) * 1000;
      if (now - reading.startedAt <= allowed) continue;
      this.#readings.remove(reading, reading.place);
      reading.giveUp(tooSlow(graceMs));
    }
  }
}

/** Never rejects: a body whose client has left cannot be given up any more. */
async function abandon(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // It is gone already.
  }
}

/** The pieces of one body, in what they may take. */
class Gathered {
  /** Why none of it is kept. */
  failure: GatewayError | undefined;
  readonly #maxBytes: number;
  readonly #hold: Hold;
  #pieces: Uint8Array[] = [];
  #place: Buffer | undefined;
  #size = 0;

  constructor(maxBytes: number, hold: Hold) {
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  /** Takes the memory at once rather than as it arrives: bodies that wait for each other's would all come to nothing. */
  expect(bytes: number): void {
    if (bytes > this.#maxBytes) this.failure = tooLarge(`has ${bytes} bytes`, this.#maxBytes);
    else if (bytes > 0 && this.#room(bytes) && bytes > SMALL_BYTES)
      this.#place = Buffer.allocUnsafeSlow(bytes);
  }

  take(piece: Uint8Array): void {
    if (this.failure) return;
    const size = this.#size + piece.length;
    if (size > this.#maxBytes)
      this.#refuse(tooLarge(`has more than ${this.#maxBytes} bytes`, this.#maxBytes));
    else if (this.#place) this.#place.set(piece, this.#size);
    else if (this.#room(piece.length)) this.#pieces.push(piece);
    this.#size = size;
  }

  /** Throws GatewayError where it could not be kept. */
  whole(): Buffer {
    if (this.failure) throw this.failure;
    return this.#place?.subarray(0, this.#size) ?? Buffer.concat(this.#pieces, this.#size);
  }

  #room(bytes: number): boolean {
    try {
      this.#hold.add(bytes);
      return true;
    } catch (error) {
      this.#refuse(GatewayError.from(error));
      return false;
    }
  }

  #refuse(failure: GatewayError): void {
    this.failure = failure;
    this.#pieces = [];
    this.#hold.release();
  }
}

function tooLarge(what: string, maxBytes: number): GatewayError {
  return new GatewayError(
    'too_large',
    `the body ${what}; at most ${maxBytes} are accepted (server.body_limit_mb)`,
  );
}

function tooSlow(graceMs: DurationMs): GatewayError {
  const message = `the body did not arrive in time: it has ${graceMs} ms (server.body_grace_ms), and a second for every ${SLOWEST_BYTES_PER_SECOND} bytes`;
  return new GatewayError('invalid_request', message, { httpStatus: 408, code: 'body_timeout' });
}
