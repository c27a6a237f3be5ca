// Names the database that the entries of a journal are for, by an entry before them.
import type { Entry } from './entries.ts';

/** The kind of such an entry. */
export const ORIGIN_ENTRY = 0;

export interface Origin {
  /** Origin of entries from now on; the same object as long as it is the same. */
  current(): Uint8Array;
  /** Whether entries behind such a content are for this database as it is. */
  isHere(content: Uint8Array): boolean;
}

/** The entries up to the first that are for another database; all where none is. */
export function entriesFor(origin: Origin | null, entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex(
    ({ kind, content }) => kind === ORIGIN_ENTRY && origin !== null && !origin.isHere(content),
  );
  return end < 0 ? entries : entries.slice(0, end);
}
