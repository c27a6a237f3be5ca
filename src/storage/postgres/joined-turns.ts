// Stored responses of one project that come while another of them is written go together in the next statement: each would wait
// for the row that counts what the project stores, until the one before it is on the disk.
import type { Kysely } from 'kysely';
import { isAway } from '../database-away.ts';
import type { ResponseRow } from '../tables/response-table.ts';
import type { UsageCounter } from '../tables/state-usage.ts';
import type { NewTurn } from '../tables/turn-entries.ts';
import type { PostgresSchema } from './store.ts';
import { wroteAtOnce } from './turn-statement.ts';

/** Responses of one statement, and bytes of those after the first. */
const MOST_JOINED = 64;
const MOST_JOINED_BYTES = 1_000_000;

interface Waiting {
  readonly response: ResponseRow;
  readonly wrote: (isWritten: boolean) => void;
  readonly failed: (error: unknown) => void;
}

export class JoinedTurns {
  readonly #db: Kysely<PostgresSchema>;
  readonly #usage: UsageCounter;
  /** Responses by project that came while another one of it is written. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(db: Kysely<PostgresSchema>, usage: UsageCounter) {
    this.#db = db;
    this.#usage = usage;
  }

  /** As `wroteAtOnce`. False for a turn whose response is not stored. */
  async write({ projectId, response, appendTo, items }: NewTurn): Promise<boolean> {
    if (!response) return false;
    // Two statements with several conversations each could wait for each other.
    if (appendTo !== null)
      return wroteAtOnce(this.#db, this.#usage, { projectId, responses: [response], appendTo, items });
    const waiting = this.#waiting.get(projectId);
    if (waiting) return new Promise((wrote, failed) => void waiting.push({ response, wrote, failed }));
    this.#waiting.set(projectId, []);
    return this.#writeAll(projectId, [response]).finally(() => this.#next(projectId));
  }

  #next(projectId: string): void {
    const joined = taken(this.#waiting.get(projectId) ?? []);
    if (joined.length === 0) this.#waiting.delete(projectId);
    else void this.#writeJoined(projectId, joined).finally(() => this.#next(projectId));
  }

  async #writeJoined(projectId: string, joined: readonly Waiting[]): Promise<void> {
    try {
      const isWritten = await this.#writeAll(
        projectId,
        joined.map(({ response }) => response),
      );
      for (const { wrote } of joined) wrote(isWritten);
    } catch (error) {
      // One that cannot be kept must not fail the others: each goes on alone.
      const isOfOne = joined.length > 1 && !isAway(error);
      for (const { wrote, failed } of joined)
        if (isOfOne) wrote(false);
        else failed(error);
    }
  }

  async #writeAll(projectId: string, responses: readonly ResponseRow[]): Promise<boolean> {
    try {
      return await wroteAtOnce(this.#db, this.#usage, { projectId, responses, appendTo: null, items: [] });
    } catch (error) {
      // Nobody waits for a database twice.
      if (isAway(error))
        for (const { failed } of this.#waiting.get(projectId)?.splice(0) ?? []) failed(error);
      throw error;
    }
  }
}

/** Takes the first of those who wait, as many as go together. */
function taken(waiting: Waiting[]): readonly Waiting[] {
  let bytes = 0;
  let count = 0;
  for (const { response } of waiting.slice(0, MOST_JOINED)) {
    bytes += response.bytes;
    if (count > 0 && bytes > MOST_JOINED_BYTES) break;
    count += 1;
  }
  return waiting.splice(0, count);
}
