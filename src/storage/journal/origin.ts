// Origin entries: identify the database to which the following journal entries belong.
import type { Entry } from './entries.ts';

/** Kind of origin entries. */
export const ORIGIN_ENTRY = 0;

export interface Origin {
  /** Origin of new entries. Returns the same object until it changes. */
  current(): Uint8Array;
  /** True if entries after this origin belong to this database in its current state. */
  isHere(content: Uint8Array): boolean;
}

/** The entries before the first one that belongs to another database. */
export function entriesFor(origin: Origin | null, entries: readonly Entry[]): readonly Entry[] {
  const end = entries.findIndex(
    ({ kind, content }) => kind === ORIGIN_ENTRY && origin !== null && !origin.isHere(content),
  );
  return end < 0 ? entries : entries.slice(0, end);
}
