// Options that both databases are opened with.
import { type Later, soon } from './journal/indexer.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface OpenOptions {
  /** Master secrets, newest first. Every process of a database has the same. */
  readonly secrets?: readonly Uint8Array[] | undefined;
  /** Unix milliseconds; for the record of schema versions, and how long journals that were set aside are kept. */
  readonly now?: (() => UnixMs) | undefined;
  /** Version of the program that asks; its own by default. */
  readonly program?: string | undefined;
  /** The most that one project may store of responses, conversations, prompts and files; asked at every write. */
  readonly maxBytesPerKey?: (() => number) | undefined;
  /** Milliseconds that an answer may wait for the database; null: it does not. */
  readonly confirmMs?: DurationMs | null | undefined;
  /** Timer after which the journal is brought into the database; two seconds by default. */
  readonly later?: Later | undefined;
  /** Receives sentences about what an operator should know: modes that were too loose, entries that cannot be read. */
  readonly notice?: ((sentence: string) => void) | undefined;
}

/** Bytes that a key may store unless somebody says otherwise: 1024 MB. */
const MAX_BYTES_PER_KEY = 1024 * 1_000_000;
/** The most that waits for the database, in memory and in the journal: some hundred thousand records. */
export const MAX_JOURNAL_BYTES = 128_000_000;
/** The options with their usual values. */
export function completed({ now, maxBytesPerKey, later, notice }: OpenOptions) {
  return {
    now: now ?? Date.now,
    maxBytesPerKey: maxBytesPerKey ?? (() => MAX_BYTES_PER_KEY),
    later: later ?? soon,
    notice: notice ?? (() => {}),
  };
}
