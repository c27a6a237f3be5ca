// Parts of a move, piece by piece: each piece is read at once, bounded in rows and bytes, and written with one transaction.
import type { SqlValue } from '../../base/runtime/sqlite.ts';
import type { Queries } from '../tables/database.ts';

/** The most rows of a piece, and about the most bytes: a row may be larger. */
export const PIECE_ROWS = 1_000;
export const PIECE_BYTES = 4_000_000;

/** Place of a row among its table's, in their order. */
export type Cursor = readonly SqlValue[];

export interface Piece {
  readonly rows: number;
  /** Place of its last row. */
  readonly cursor: Cursor;
  /** Work that cannot be part of a transaction; doing it again changes nothing. */
  readonly prepare?: (() => Promise<void>) | undefined;
  /** Inside the transaction that notes the progress. */
  readonly write: () => Queries<void>;
}

export interface Part {
  readonly name: string;
  /** Rows of all pieces. */
  total(): number;
  /** @param after of the piece before; null: the first. @returns null when nothing is left */
  next(after: Cursor | null): Piece | null;
}

/** Cursor as JSON: bytes as an object with their hexadecimal digits. */
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
