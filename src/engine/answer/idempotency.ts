// Idempotency keys: maps keys to answers, with a lifetime per answer and a memory limit for all. Answers are kept only
// in memory on purpose, because prompts and answers are not stored on disk unless content logging is on. A restart
// forgets them.
import { createHash } from 'node:crypto';
import { GatewayError, TEXTS } from '../../canonical/index.ts';
import { type ApiCall, type ByteAccount, HeldBytes } from '../call.ts';
import type { PublicAnswer } from './answer-exchange.ts';
import { SharedAnswer } from '../streams/index.ts';
import type { DurationMs, UnixMs } from '../../base/units.ts';

/** Request header that carries the key. */
export const IDEMPOTENCY_HEADER = 'idempotency-key';
/** Maximum size of an answer that is kept, in bytes. */
const MAX_ANSWER_BYTES = 16 * 1_048_576;
/** Estimated bytes of an entry in addition to its answer (key, hash, headers). */
const ENTRY_BYTES = 2_048;
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Prefix of headers by which a request controls the gateway. */
const CONTROL_PREFIX = 'x-dragoman-';

export interface IdempotencyLimits {
  /** Lifetime of a complete answer, from its end. */
  readonly ttlMs: DurationMs;
  /** Maximum bytes of all answers together. */
  readonly maxBytes: number;
}

/** An answer under its key. */
export interface IdempotentAnswer {
  /** Project and idempotency key. */
  readonly name: string;
  /** Hash of the request. */
  readonly fingerprint: string;
  readonly answer: SharedAnswer;
  /** While the answer is produced, the kept bytes count against the request that produces it. */
  readonly held: HeldBytes;
  /** Unix milliseconds. Set once the answer is complete. */
  expiresAt: UnixMs;
}

export class IdempotentAnswers {
  /** Number of clients that are still reading; an answer may be complete before they have received it. */
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
   * Gives the call's client the existing answer of its key, or creates one with that client as its first reader. Throws
   * GatewayError: `invalid_request` for a malformed key, `conflict` for a key of a different request.
   * @returns the new answer: run the call with it as the client, then `settle` it. Null: there was one already
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

  /** Memory account of a run. When memory is short, the kept answer is dropped before the run is refused memory. */
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

  /**
   * Ends a run.
   * @param good true: the answer may be replayed; false: a retry runs again
   */
  settle(entry: IdempotentAnswer, good: boolean): void {
    if (!good) return this.#forget(entry);
    // The entry may have been forgotten, and its key may belong to another run by now.
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

  /**
   * Forgets answers until the others fit: complete ones first, because forgetting a running one may cause a second run.
   */
  #makeRoom(): void {
    const { maxBytes } = this.#limits();
    for (const answers of [this.#complete, this.#running]) {
      for (const entry of answers.values()) {
        if (this.#bytes <= maxBytes) return;
        this.#forget(entry);
      }
    }
  }

  /** Forgets expired answers in order of least recent use, up to the first that has not expired. */
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

/** The answer as other processes can access it. */
export function publicAnswer({ answer }: IdempotentAnswer): PublicAnswer {
  return {
    join(reader) {
      if (answer.isKept) answer.join(reader, false);
      return answer.isKept;
    },
    isKept: () => answer.isKept,
  };
}

/** Error for a key that was used for a different request. */
export function otherRequest(): GatewayError {
  return new GatewayError(
    'conflict',
    `${IDEMPOTENCY_HEADER}: the key was already used for a different request. Use a new key.`,
    { param: IDEMPOTENCY_HEADER, code: 'idempotency_conflict' },
  );
}

/** False: no memory is available. An answer that might be replayed is dropped before any request is refused. */
function holds({ held, answer }: IdempotentAnswer): boolean {
  try {
    held.set(answer.bytes);
    return true;
  } catch {
    return false;
  }
}

/**
 * Hash of a request: method, path, body bytes or form, and control headers. Calls with equal fingerprints are the same
 * request.
 */
function fingerprintOf(call: ApiCall): string {
  const hash = createHash('sha256');
  // The path includes operation and query, independent of its spelling.
  hash.update(`${call.request.method} ${call.api}\n`);
  const steering: string[] = [];
  for (const [name, value] of call.headers)
    if (name.startsWith(CONTROL_PREFIX)) steering.push(`${name}:${value}\n`);
  for (const line of steering.toSorted()) hash.update(line);
  if (call.route) hash.update(JSON.stringify(call.route));
  hash.update('\n');
  // A form that is sent again has a different boundary.
  if (!call.files) return hash.update(call.body.bytes).digest('base64');
  hash.update(JSON.stringify(call.json));
  for (const { bytes } of call.files) hash.update(bytes);
  return hash.digest('base64');
}
