// Rows of one kind, in columns. Where there is no room for columns each row is a block, with their names beside the values.
import { useEffect, useState, type ReactNode } from 'react';
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

/** Rows that are made in one go: the page answers in between, however many there are. */
const AT_ONCE = 25;

/** Roles are written out: to some browsers what is shown as blocks is no table any more. */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { label, columns, className } = props;
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
        <Rows of={props} from={0} />
      </tbody>
    </table>
  );
}

/** Some rows, and in a moment those that follow. */
function Rows<Row>({ of, from }: { readonly of: TableProps<Row>; readonly from: number }): ReactNode {
  const { columns, rows, keyOf, isCurrent } = of;
  const [first, ...others] = columns;
  const to = from + AT_ONCE;
  const hasMore = to < rows.length;
  const [isLater, setLater] = useState(false);
  useEffect(() => {
    if (!hasMore) return undefined;
    const timer = setTimeout(() => setLater(true));
    return () => clearTimeout(timer);
  }, [hasMore]);
  return (
    <>
      {rows.slice(from, to).map((row) => (
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
      {isLater && hasMore && <Rows of={of} from={to} />}
    </>
  );
}
