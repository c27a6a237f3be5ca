// The order of a table: the name of a column, with a minus before it where the largest come first.

interface Order {
  readonly by: string;
  readonly isDescending: boolean;
}

export function readOrder(text: string): Order {
  return text.startsWith('-') ? { by: text.slice(1), isDescending: true } : { by: text, isDescending: false };
}

/** The order after a click at a column. @param order the one of before */
export function nextOrder(order: string, column: string, isNumber: boolean): string {
  const { by, isDescending } = readOrder(order);
  if (by === column) return isDescending ? column : `-${column}`;
  // Figures begin with the largest, names with the first.
  return isNumber ? `-${column}` : column;
}

export type Comparable = string | number | null | undefined;

/** Rows in an order; what is unknown comes last, whichever way. */
export function ordered<Row>(
  rows: readonly Row[],
  of: (row: Row) => Comparable,
  isDescending: boolean,
): readonly Row[] {
  const sign = isDescending ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [a, b] = [of(one), of(other)];
    if (a == null || b == null) return a == null && b == null ? 0 : a == null ? 1 : -1;
    if (typeof a === 'string' && typeof b === 'string')
      return sign * a.localeCompare(b, 'en', { numeric: true });
    return sign * (Number(a) - Number(b));
  });
}
