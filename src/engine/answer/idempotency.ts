// Idempotency keys: which answer belongs to which key, how long it can be had again, and what all answers together
// may weigh. Knows nothing of how an answer is made. Answers are held in memory only, on purpose: prompts and answers
// are not stored on disk unless content logging is on, so a restart forgets them.
import { createHash } from 'node:crypto';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { type ApiCall, type ByteAccount, HeldBytes } from '../call.ts';
import type { PublicAnswer } from './answer-exchange.ts';
import { SharedAnswer } from '../streams/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Request header that carries the key. */
export const IDEMPOTENCY_HEADER = 'idempotency-key';
/** A longer answer is not kept, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1_048_576;
/** Bytes of an entry besides its answer (key, hash, headers), by estimate. */
const ENTRY_BYTES = 2_048;
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Headers by which a request steers the gateway. */
const STEERING = 'x-dragoman-';

export interface IdempotencyLimits {
  /** How long a complete answer can be had again, from its end. */
  readonly ttlMs: DurationMs;
  /** All answers together. */
  readonly maxBytes: number;
}

/** An answer under its key. */
export interface IdempotentAnswer {
  /** Project and idempotency key. */
  readonly name: string;
  /** Hash of the request. */
  readonly fingerprint: string;
  readonly answer: SharedAnswer;
  /** While it is made, what is kept of it counts for the request that causes it. */
  readonly held: HeldBytes;
  /** Unix milliseconds; known once the answer is complete. */
  expiresAt: UnixMs;
}

export class IdempotentAnswers {
  /** Clients that are reading: an answer may be complete before all of them have it. */
  readers = 0;
  readonly #limits: () => IdempotencyLimits;
  readonly #now: () => UnixMs;
  readonly #running = new Map<string, IdempotentAnswer>();
  /** Least recently used first. */
  readonly #complete = new Map<string, IdempotentAnswer>();
  #bytes = 0;

  constructor(limits: () => IdempotencyLimits, now: () => UnixMs) {
    this.#limits = limits;
    this.#now = now;
  }

  /**
   * Gives the call's client the answer that its key has, or makes a new one with that client as its first reader.
   * Throws GatewayError: `invalid_request` for a key that is none, `conflict` for one that stands for another request.
   * @returns the new answer: run the call with it as the client, then `settle` it; null when there was one already
   */
  open(key: string, call: ApiCall): IdempotentAnswer | null {
    if (!KEY.test(key)) {
      throw new GatewayError('invalid_request', TEXTS.mustBeVisible(IDEMPOTENCY_HEADER), {
        param: IDEMPOTENCY_HEADER,
      });
    }
    this.#expire();
    const name = `${call.principal.projectId}\n${key}`;
    const fingerprint = fingerprintOf(call);
    const found = this.#find(name);
    if (!found) return this.#start(name, fingerprint, call);
    if (found.fingerprint !== fingerprint) throw otherRequest();
    found.answer.join(call.client, true);
    return null;
  }

  /** The account of a run: where there is no room, what is kept of its answer goes before the run is refused anything. */
  accountOf(entry: IdempotentAnswer, account: ByteAccount): ByteAccount {
    return {
      add: (bytes) => {
        try {
          account.add(bytes);
        } catch {
          this.#forget(entry);
          account.add(bytes);
        }
      },
    };
  }

  /** Ends a run. @param good true: the answer may be given again; false: a retry is to try again */
  settle(entry: IdempotentAnswer, good: boolean): void {
    if (!good) return this.#forget(entry);
    // Not when it was forgotten meanwhile; its key may stand for another run by now.
    if (this.#running.get(entry.name) !== entry) return;
    this.#running.delete(entry.name);
    entry.expiresAt = this.#now() + this.#limits().ttlMs;
    this.#complete.set(entry.name, entry);
  }

  #find(name: string): IdempotentAnswer | undefined {
    const complete = this.#complete.get(name);
    if (!complete) return this.#running.get(name);
    if (complete.expiresAt <= this.#now()) {
      this.#forget(complete);
      return undefined;
    }
    this.#complete.delete(name);
    this.#complete.set(name, complete);
    return complete;
  }

  #start(name: string, fingerprint: string, call: ApiCall): IdempotentAnswer {
    const entry: IdempotentAnswer = {
      name,
      fingerprint,
      held: new HeldBytes(call.account),
      answer: new SharedAnswer({
        resized: (bytes) => this.#resized(entry, bytes),
        moved: (readers) => (this.readers += readers),
        abandoned: () => this.#forget(entry),
      }),
      expiresAt: Number.POSITIVE_INFINITY,
    };
    this.#running.set(name, entry);
    this.#bytes += ENTRY_BYTES;
    entry.answer.join(call.client, false);
    this.#makeRoom();
    return entry;
  }

  #resized(entry: IdempotentAnswer, bytes: number): void {
    this.#bytes += bytes;
    const isHeld = holds(entry);
    if (bytes <= 0) return;
    if (!isHeld || entry.answer.bytes > Math.min(MAX_ANSWER_BYTES, this.#limits().maxBytes))
      this.#forget(entry);
    this.#makeRoom();
  }

  /** Forgets answers until the others fit: complete ones first, since forgetting a running one may cost a second run. */
  #makeRoom(): void {
    const { maxBytes } = this.#limits();
    for (const answers of [this.#complete, this.#running]) {
      for (const entry of answers.values()) {
        if (this.#bytes <= maxBytes) return;
        this.#forget(entry);
      }
    }
  }

  /** Forgets answers whose time is over, as far as they are the least recently used: the others follow in time. */
  #expire(): void {
    const now = this.#now();
    for (const entry of this.#complete.values()) {
      if (entry.expiresAt > now) return;
      this.#forget(entry);
    }
  }

  #forget(entry: IdempotentAnswer): void {
    const { name, answer } = entry;
    const answers = this.#running.get(name) === entry ? this.#running : this.#complete;
    if (answers.get(name) !== entry) return;
    answers.delete(name);
    this.#bytes -= ENTRY_BYTES;
    answer.stopKeeping();
  }
}

/** An answer as far as other processes may have it. */
export function publicAnswer({ answer }: IdempotentAnswer): PublicAnswer {
  return {
    join(reader) {
      if (answer.isKept) answer.join(reader, false);
      return answer.isKept;
    },
    isKept: () => answer.isKept,
  };
}

/** The key stands for another request. */
export function otherRequest(): GatewayError {
  return new GatewayError(
    'conflict',
    `${IDEMPOTENCY_HEADER}: this key was used for another request; a new request needs a new key`,
    { param: IDEMPOTENCY_HEADER, code: 'idempotency_conflict' },
  );
}

/** False where there is no room: what somebody may ask for again is let go of before anything is refused. */
function holds({ held, answer }: IdempotentAnswer): boolean {
  try {
    held.set(answer.bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Two calls with the same fingerprint ask for the same: with the same method, at the same address, with the same body, byte
 * for byte, or the same form, and under the same steering.
 */
function fingerprintOf(call: ApiCall): string {
  const hash = createHash('sha256');
  // The operation and what the address says besides are the path, in whichever of its spellings it came.
  hash.update(`${call.request.method} ${call.api}\n`);
  const steering: string[] = [];
  for (const [name, value] of call.headers)
    if (name.startsWith(STEERING)) steering.push(`${name}:${value}\n`);
  for (const line of steering.toSorted()) hash.update(line);
  if (call.route) hash.update(JSON.stringify(call.route));
  hash.update('\n');
  // A form that is sent again has another boundary.
  if (!call.files) return hash.update(call.body.bytes).digest('base64');
  hash.update(JSON.stringify(call.json));
  for (const { bytes } of call.files) hash.update(bytes);
  return hash.digest('base64');
}
