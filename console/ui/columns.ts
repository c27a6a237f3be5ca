// Which columns of a table are hidden: kept by this browser, under the table's name.
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

/** @param table its name @param usual those that are hidden until somebody says otherwise */
export function useHiddenColumns(table: string, usual: readonly string[] = []): Hidden {
  const [hidden, setHidden] = useState(() => kept()[table] ?? usual);
  const toggle = (column: string): void => {
    const next = hidden.includes(column) ? hidden.filter((each) => each !== column) : [...hidden, column];
    setHidden(next);
    localStorage.setItem(KEY, JSON.stringify({ ...kept(), [table]: next }));
  };
  return { hidden, toggle };
}
