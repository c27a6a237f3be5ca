// Rows of one kind, in columns. Where there is no room for columns each row is a block, with their names beside the values.
import type { ReactNode } from 'react';
import { cx } from './cx.ts';

export interface Column<Row> {
  readonly name: string;
  /** True: the name is for those alone who do not see the column. */
  readonly unnamed?: boolean;
  /** True: figures, one below the other. */
  readonly number?: boolean;
  readonly className?: string;
  readonly cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  /** What the rows are, for those who do not see them. */
  readonly label: string;
  /** The first one says which row it is. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly className?: string;
  /** Whether a row is the one that the page is about. */
  readonly isCurrent?: (row: Row) => boolean;
}

/** Roles are written out: to some browsers what is shown as blocks is no table any more. */
export function Table<Row>({
  label,
  columns,
  rows,
  keyOf,
  className,
  isCurrent,
}: TableProps<Row>): ReactNode {
  const [first, ...others] = columns;
  return (
    <table role="table" aria-label={label} className={cx('table stacks', className)}>
      <thead role="rowgroup">
        <tr role="row">
          {columns.map(({ name, unnamed, number, className: size }) => (
            <th key={name} role="columnheader" scope="col" className={cx(number === true && 'number', size)}>
              <span className={cx(unnamed === true && 'sr-only')}>{name}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <tr key={keyOf(row)} role="row" aria-current={isCurrent?.(row)}>
            <th role="rowheader" scope="row" className={first?.className}>
              {first?.cell(row)}
            </th>
            {others.map(({ name, unnamed, number, className: size, cell }) => (
              <td
                key={name}
                role="cell"
                data-name={unnamed === true ? undefined : name}
                className={cx(number === true && 'number', size)}
              >
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
