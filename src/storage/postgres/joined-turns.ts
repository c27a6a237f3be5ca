// Combines stored responses of a project that arrive while another one is being written into one statement. Separate
// statements would each wait for the lock on the project's usage row until the previous one is durable.
import { isAway } from '../database-away.ts';
import type { ResponseRow } from '../tables/state/response-table.ts';
import type { UsageCounter } from '../tables/state/state-usage.ts';
import type { NewTurn } from '../tables/state/turn-entries.ts';
import type { Driver } from '../tables/database.ts';
import { wroteAtOnce } from './turn-statement.ts';

/** Maximum responses per statement, and maximum bytes from the second on. */
const MOST_JOINED = 64;
const MOST_JOINED_BYTES = 1_000_000;

interface Waiting {
  readonly response: ResponseRow;
  readonly wrote: (isWritten: boolean) => void;
  readonly failed: (error: unknown) => void;
}

export class JoinedTurns {
  readonly #write: Driver['write'];
  readonly #usage: UsageCounter;
  /** Responses by project that arrived while another one of it was being written. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor({ write }: Pick<Driver, 'write'>, usage: UsageCounter) {
    this.#write = write;
    this.#usage = usage;
  }

  /** Same as `wroteAtOnce`; also false for a turn without a stored response. */
  async write({ projectId, response, appendTo, items }: NewTurn): Promise<boolean> {
    if (!response) return false;
    // Two statements with several conversations each could deadlock.
    if (appendTo !== null)
      return wroteAtOnce(this.#write, this.#usage, { projectId, responses: [response], appendTo, items });
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
      // One invalid response must not fail the others: each is then written alone.
      const isOfOne = joined.length > 1 && !isAway(error);
      for (const { wrote, failed } of joined)
        if (isOfOne) wrote(false);
        else failed(error);
    }
  }

  async #writeAll(projectId: string, responses: readonly ResponseRow[]): Promise<boolean> {
    try {
      return await wroteAtOnce(this.#write, this.#usage, { projectId, responses, appendTo: null, items: [] });
    } catch (error) {
      // The waiting ones fail as well, instead of each waiting for the same timeout.
      if (isAway(error))
        for (const { failed } of this.#waiting.get(projectId)?.splice(0) ?? []) failed(error);
      throw error;
    }
  }
}

/** Removes and returns the first waiting responses that fit into one statement. */
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
