// Hidden columns of a table, stored in this browser under the name of the table.
import { useState } from 'react';

const KEY = 'dragoman.columns';

function kept(): Readonly<Record<string, readonly string[]>> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as Readonly<Record<string, readonly string[]>>;
  } catch {
    return {};
  }
}

interface Hidden {
  readonly hidden: readonly string[];
  readonly toggle: (column: string) => void;
}

/** @param table name of the table @param usual columns that are hidden by default */
export function useHiddenColumns(table: string, usual: readonly string[] = []): Hidden {
  const [hidden, setHidden] = useState(() => kept()[table] ?? usual);
  const toggle = (column: string): void => {
    const next = hidden.includes(column) ? hidden.filter((each) => each !== column) : [...hidden, column];
    setHidden(next);
    localStorage.setItem(KEY, JSON.stringify({ ...kept(), [table]: next }));
  };
  return { hidden, toggle };
}
