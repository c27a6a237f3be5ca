// Table with columns that can be sorted and hidden. If the columns do not fit, each row becomes a block with labelled
// values. Arrow keys, or j and k, move between rows.
import {
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
  type RefObject,
} from 'react';
import { cx } from './cx.ts';
import { Icon } from './icon.tsx';
import { nextOrder, ordered, readOrder, type Comparable } from './order.ts';
import { useRoving } from './roving.ts';

export interface Column<Row> {
  readonly name: string;
  /** Id of the column in the address; absent: not sortable. */
  readonly id?: string;
  /** True: the name is only for screen readers. */
  readonly unnamed?: boolean;
  /** True: numbers, aligned to the right. */
  readonly number?: boolean;
  readonly className?: string;
  /** Value to sort by in the browser; absent: the source of the rows sorts them. */
  readonly sort?: (row: Row) => Comparable;
  readonly cell: (row: Row) => ReactNode;
}

interface TableProps<Row> {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** The first column identifies the row. */
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  readonly className?: string;
  /** True if a row is the subject of the page. */
  readonly isCurrent?: (row: Row) => boolean;
  /** Current order; undefined: as given. */
  readonly order?: string | undefined;
  readonly onOrder?: ((order: string) => void) | undefined;
  /** Names of hidden columns. */
  readonly hidden?: readonly string[];
}

/** Number of rows per render, so that long tables do not block the page. */
const AT_ONCE = 25;

/** Explicit roles, because some browsers drop the table semantics of elements with `display: block`. */
export function Table<Row>(props: TableProps<Row>): ReactNode {
  const { label, className, rows, order = '', onOrder, hidden = [] } = props;
  const columns = props.columns.filter(({ name }) => !hidden.includes(name));
  const { by, isDescending } = readOrder(order);
  const { sort } = columns.find(({ id }) => id !== undefined && id === by) ?? {};
  const shown = { ...props, columns, rows: sort ? ordered(rows, sort, isDescending) : rows };
  const { ref, onKeyDown } = useRoving<HTMLTableRowElement>();
  const { box, isStacked } = useStacked();
  return (
    <div ref={box}>
      <table
        role="table"
        aria-label={label}
        data-stacked={isStacked || undefined}
        className={cx('table', className)}
        onKeyDown={moveAmongRows}
      >
        <thead role="rowgroup">
          <tr role="row" ref={ref} onKeyDown={onKeyDown}>
            {columns.map(({ name, id, unnamed, number, className: size }) => (
              <th
                key={name}
                role="columnheader"
                scope="col"
                aria-sort={
                  id !== undefined && onOrder && id === by
                    ? isDescending
                      ? 'descending'
                      : 'ascending'
                    : undefined
                }
                className={cx(number === true && 'number', size)}
              >
                {id !== undefined && onOrder ? (
                  <button
                    type="button"
                    onClick={() => onOrder(nextOrder(order, id, number === true))}
                    className={cx(
                      'target group inline-flex min-h-6 items-center gap-1 rounded font-medium hover:text-ink',
                      number === true && 'flex-row-reverse',
                    )}
                  >
                    {name}
                    <span
                      className={cx(id !== by && 'opacity-0 group-hover:opacity-100 group-focus:opacity-100')}
                    >
                      <Icon name={id !== by ? 'sort' : isDescending ? 'low' : 'up'} size={12} />
                    </span>
                  </button>
                ) : (
                  <span className={cx(unnamed === true && 'sr-only')}>{name}</span>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          <Rows of={shown} from={0} />
        </tbody>
      </table>
    </div>
  );
}

/** True if the columns of the table are wider than its container. */
function useStacked(): { readonly box: RefObject<HTMLDivElement | null>; readonly isStacked: boolean } {
  const box = useRef<HTMLDivElement>(null);
  /** Width in pixels that the columns last needed when they did not fit. */
  const needed = useRef(0);
  const [isStacked, setStacked] = useState(false);
  const look = useEffectEvent(() => {
    const { current: element } = box;
    if (!element) return;
    const width = element.clientWidth;
    const own = element.firstElementChild?.scrollWidth ?? 0;
    if (!isStacked && own > width + 1) {
      needed.current = own;
      setStacked(true);
    } else if (isStacked && width >= needed.current) setStacked(false);
  });
  useLayoutEffect(() => {
    const { current: element } = box;
    if (!element) return undefined;
    look();
    const sized = new ResizeObserver(() => look());
    sized.observe(element);
    if (element.firstElementChild) sized.observe(element.firstElementChild);
    return () => sized.disconnect();
  }, []);
  return { box, isStacked };
}

/** Moves the focus to the link of the next or previous row. Works for all links with `data-row`. */
function moveAmongRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1, j: 1, k: -1 }[event.key];
  const target = event.target as HTMLElement;
  if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
  if (target.matches('input, select, textarea, [role^=menu]')) return;
  const links = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-row]')];
  const from = links.findIndex((link) => link === target || link.closest('[role=row]')?.contains(target));
  const to = links[from < 0 ? (step > 0 ? 0 : -1) : from + step];
  if (!to) return;
  event.preventDefault();
  to.focus();
}

/** Renders some rows immediately, and the rest in a later render. */
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
        <tr key={keyOf(row)} role="row" aria-current={isCurrent?.(row)} className="relative">
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
