// Options of both databases.
import { type Later, soon } from './journal/indexer.ts';
import type { DurationMs, UnixMs } from '../base/units.ts';

export interface OpenOptions {
  /** Master secrets, newest first; the same in all processes of a database. */
  readonly secrets?: readonly Uint8Array[] | undefined;
  /** Unix milliseconds. For schema versions, and for how long damaged journals are kept. */
  readonly now?: (() => UnixMs) | undefined;
  /** Version of the program; its own by default. */
  readonly program?: string | undefined;
  /** Maximum bytes of responses, conversations, prompts and files per project; read at every write. */
  readonly maxBytesPerKey?: (() => number) | undefined;
  /** Milliseconds that an answer may wait for the database; null: it does not wait. */
  readonly confirmMs?: DurationMs | null | undefined;
  /** Timer for writing the journal to the database; two seconds by default. */
  readonly later?: Later | undefined;
  /** Receives sentences for the operator, such as corrected file permissions or unreadable entries. */
  readonly notice?: ((sentence: string) => void) | undefined;
}

/** Default bytes per project: 1024 MB. */
const MAX_BYTES_PER_KEY = 1024 * 1_000_000;
/** Default maximum bytes waiting for the database, in memory and in the journal: several hundred thousand records. */
export const MAX_JOURNAL_BYTES = 128_000_000;
/** Fills in default values. */
export function completed({ now, maxBytesPerKey, later, notice }: OpenOptions) {
  return {
    now: now ?? Date.now,
    maxBytesPerKey: maxBytesPerKey ?? (() => MAX_BYTES_PER_KEY),
    later: later ?? soon,
    notice: notice ?? (() => {}),
  };
}
