// What is moved piece by piece: each piece is read at once, bounded in rows and bytes, and written with one transaction.
import type { SqlValue } from '../../runtime/sqlite.ts';
import type { Tx } from '../postgres/store.ts';

/** The most rows of a piece, and about the most bytes: a row may be larger. */
export const PIECE_ROWS = 1_000;
export const PIECE_BYTES = 4_000_000;

/** Where a row is among its table's, in their order. */
export type Cursor = readonly SqlValue[];

export interface Piece {
  readonly rows: number;
  /** Of its last row. */
  readonly cursor: Cursor;
  /** What cannot be part of a transaction; doing it again changes nothing. */
  readonly prepare?: (() => Promise<void>) | undefined;
  readonly write: (tx: Tx) => Promise<void>;
}

export interface Part {
  readonly name: string;
  /** Rows of all pieces. */
  total(): number;
  /** @param after of the piece before; null: the first. @returns null when nothing is left */
  next(after: Cursor | null): Piece | null;
}

/** As JSON: bytes as an object with their hexadecimal digits. */
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
