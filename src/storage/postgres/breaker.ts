// Circuit breaker of the connection pool. While the database is unreachable or does not answer in time, queries fail
// immediately instead of waiting. A separate connection checks in the background whether it is back.
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import { databaseAway, isAway } from '../database-away.ts';
import { isAnswer } from './failures.ts';

export interface BreakerOptions {
  /** Opens the pool. @param seen must receive the outcome of each statement: its error, or undefined */
  readonly pool: (seen: (error: unknown) => void) => PostgresPool;
  /** Opens a pool of one connection with short timeouts. Called for each check. */
  readonly probe: () => PostgresPool;
  /** Receives a sentence when the database becomes unreachable, and when it is back. */
  readonly notice: (sentence: string) => void;
  /** A number in [0, 1), for jitter: many processes must not check at the same moments. */
  readonly random?: (() => number) | undefined;
  /** Runs a task after a number of milliseconds. @returns a function that cancels it */
  readonly later?: ((task: () => void, ms: number) => () => void) | undefined;
}

/**
 * Maximum pauses before the first check and before later ones. The pause doubles each time, and is randomly up to half
 * shorter.
 */
const FIRST_PAUSE_MS = 500;
const LAST_PAUSE_MS = 1_000;
/** Consecutive statements cancelled by the server, after which the database counts as unreachable. */
const MOST_SLOW = 3;

export class Breaker implements PostgresPool {
  readonly options: object = {};
  readonly #options: BreakerOptions;
  readonly #pool: PostgresPool;
  #stop: (() => void) | undefined;
  /** Failed checks since the database became unreachable. */
  #asked = 0;
  #isOpen = false;
  #isChecking = false;
  #isEnded = false;
  #slow = 0;

  constructor(options: BreakerOptions) {
    this.#options = options;
    this.#pool = options.pool((error) => this.#seen(error));
  }

  /** True while the database is considered unreachable. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** @throws GatewayError 503, immediately while the database is unreachable */
  async connect(): Promise<PostgresPoolClient> {
    if (this.#isOpen) throw databaseAway('the last connection failed');
    try {
      return await this.#pool.connect();
    } catch (error) {
      this.#seen(error);
      throw error;
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#stop?.();
    await this.#pool.end();
  }

  /** Receives the outcome of each statement. */
  #seen(error: unknown): void {
    if (!isAway(error)) {
      this.#slow = 0;
      return;
    }
    this.#slow += 1;
    // A statement that the server cancelled itself says that it is reachable.
    if (!(error instanceof Error && isAnswer(error.cause))) this.#startCheck();
    else if (this.#slow >= MOST_SLOW) this.#open();
  }

  /** Checks on a new connection, because the failure may concern only one. */
  #startCheck(): void {
    if (this.#isChecking || this.#isOpen || this.#isEnded) return;
    this.#isChecking = true;
    void this.#check();
  }

  async #check(): Promise<void> {
    const isThere = await this.#answers();
    this.#isChecking = false;
    if (!isThere) this.#open();
  }

  #open(): void {
    if (this.#isOpen || this.#isEnded) return;
    this.#isOpen = true;
    this.#asked = 0;
    this.#options.notice('the database is unreachable');
    this.#plan();
  }

  #plan(): void {
    if (this.#isEnded) return;
    const { random = Math.random, later = afterwards } = this.#options;
    const most = Math.min(FIRST_PAUSE_MS * 2 ** this.#asked, LAST_PAUSE_MS);
    this.#asked += 1;
    this.#stop = later(() => void this.#ask(), most * (1 - random() / 2));
  }

  async #ask(): Promise<void> {
    if (!(await this.#answers())) return this.#plan();
    this.#isOpen = false;
    this.#slow = 0;
    this.#options.notice('the database is reachable again');
  }

  async #answers(): Promise<boolean> {
    const pool = this.#options.probe();
    try {
      const client = await pool.connect();
      try {
        await client.query('select 1', []);
        return true;
      } finally {
        client.release();
      }
    } catch {
      return false;
    } finally {
      // Not awaited, because the server may not respond.
      pool.end().catch(() => {});
    }
  }
}

/** Uses a timer that does not keep the process alive. */
function afterwards(task: () => void, ms: number): () => void {
  const timer = setTimeout(task, ms).unref();
  return () => clearTimeout(timer);
}
