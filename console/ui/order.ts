// Order of a table: the id of a column, with a leading minus for descending.

interface Order {
  readonly by: string;
  readonly isDescending: boolean;
}

export function readOrder(text: string): Order {
  return text.startsWith('-') ? { by: text.slice(1), isDescending: true } : { by: text, isDescending: false };
}

/** The order after a click on a column. @param order the current one */
export function nextOrder(order: string, column: string, isNumber: boolean): string {
  const { by, isDescending } = readOrder(order);
  if (by === column) return isDescending ? column : `-${column}`;
  // Numbers are first sorted in descending order, names in ascending order.
  return isNumber ? `-${column}` : column;
}

export type Comparable = string | number | null | undefined;

/** Sorted rows. Unknown values come last in both directions. */
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
