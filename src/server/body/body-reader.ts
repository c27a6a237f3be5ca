// Reads request bodies with limits on size, memory per key, and a time that grows with the bytes received.
import { GatewayError } from '../../canonical/index.ts';
import { Roster } from '../../base/lib/roster.ts';
import type { Clock } from '../../base/runtime/clock.ts';
import type { MemoryAccount } from './memory-budget.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

export interface BodyReaderOptions {
  /** Maximum bytes of one body; read at every request. */
  readonly maxBytes: () => number;
  /** Milliseconds that every body may take. */
  readonly graceMs: () => number;
  readonly clock: Clock;
}

/** Bodies up to this size are read in one go. */
const SMALL_BYTES = 256 * 1024;
/** Minimum rate after the grace period. Permits slow connections, but not clients that send single bytes. */
const SLOWEST_BYTES_PER_SECOND = 8 * 1024;
/** Interval of checking pending bodies. */
const LOOK_MS = 1_000;

/** A pending body. */
interface Reading {
  readonly startedAt: UnixMs;
  /** Bytes that extend its time. */
  bytes: number;
  readonly giveUp: (error: GatewayError) => void;
  /** Index in the list of pending bodies. */
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

  /** Stops checking. */
  stop(): void {
    this.#stop();
  }

  /**
   * Reads the whole body.
   * @param announced its declared bytes; NaN: unknown
   * @param hold memory account until the request has ended
   * @throws GatewayError `too_large`; 503 when the memory limit of the key or process is exceeded; 408 when it takes
   * too long
   */
  read(request: Request, announced: number, hold: MemoryAccount): Promise<Buffer> {
    const body = new Gathered(this.#options.maxBytes(), hold);
    body.expect(announced);
    return announced <= SMALL_BYTES && !body.failure
      ? this.#readSmall(request, announced)
      : this.#gather(request, body);
  }

  async #gather(request: Request, body: Gathered): Promise<Buffer> {
    // Read to the end even if it is discarded: a client that is still writing could see a reset connection instead of
    // the response.
    try {
      for await (const piece of this.pieces(request)) body.take(piece);
    } catch (error) {
      throw body.failure ?? error;
    }
    return body.whole();
  }

  /** Streams the body for consumers that do not keep it. @throws GatewayError 408 when it takes too long */
  async *pieces(request: Request): AsyncGenerator<Uint8Array, void, undefined> {
    if (!request.body) return;
    const reader = request.body.getReader();
    let failure: GatewayError | undefined;
    const reading = this.#begin(0, (error) => {
      failure = error;
      // This also ends the pending read.
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
      // A reader that stops early does not need the rest.
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

/** Never rejects: the body of a disconnected client cannot be cancelled. */
async function abandon(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    await reader.cancel();
  } catch {
    // Already gone.
  }
}

/** Collects the pieces of one body within its limits. */
class Gathered {
  /** Reason why nothing is kept. */
  failure: GatewayError | undefined;
  readonly #maxBytes: number;
  readonly #hold: MemoryAccount;
  #pieces: Uint8Array[] = [];
  #place: Buffer | undefined;
  #size = 0;

  constructor(maxBytes: number, hold: MemoryAccount) {
    this.#maxBytes = maxBytes;
    this.#hold = hold;
  }

  /**
   * Reserves the memory immediately rather than on arrival, because bodies that wait for each other's memory would all
   * fail.
   */
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

  /** Throws GatewayError when the body could not be kept. */
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
    `The request body ${what}; the limit is ${maxBytes} bytes (server.body_limit_mb).`,
  );
}

function tooSlow(graceMs: DurationMs): GatewayError {
  const message = `The request body did not arrive in time. The limit is ${graceMs} ms (server.body_grace_ms) plus one second for every ${SLOWEST_BYTES_PER_SECOND} bytes.`;
  return new GatewayError('invalid_request', message, { httpStatus: 408, code: 'body_timeout' });
}
