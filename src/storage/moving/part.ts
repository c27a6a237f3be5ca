// Parts of a move. Each consists of pieces, which are limited in rows and bytes, and are written in one transaction
// each.
import type { SqlValue } from '../../base/runtime/sqlite.ts';
import type { Queries } from '../tables/database.ts';

/** Maximum rows of a piece, and its approximate maximum bytes: a single row may be larger. */
export const PIECE_ROWS = 1_000;
export const PIECE_BYTES = 4_000_000;

/** Key of a row, which is its position in the order of its table. */
export type Cursor = readonly SqlValue[];

export interface Piece {
  readonly rows: number;
  /** Key of its last row. */
  readonly cursor: Cursor;
  /** Work outside the transaction. Must be idempotent. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Runs inside the transaction that stores the progress. */
  readonly write: () => Queries<void>;
}

export interface Part {
  readonly name: string;
  /** Rows of all pieces. */
  total(): number;
  /** @param after cursor of the previous piece; null: the first piece @returns null if no rows are left */
  next(after: Cursor | null): Piece | null;
}

/** Cursor as JSON. Bytes become an object with hexadecimal digits. */
export function cursorText(cursor: Cursor): string {
  return JSON.stringify(
    cursor.map((value) =>
      value instanceof Uint8Array ? { hex: Buffer.from(value).toString('hex') } : value,
    ),
  );
}

export function cursorOf(text: string): Cursor {
  const values = JSON.parse(text) as readonly (string | number | null | { readonly hex: string })[];
  return values.map((value) =>
    typeof value === 'object' && value !== null ? new Uint8Array(Buffer.from(value.hex, 'hex')) : value,
  );
}
