// Popover that selects a time range: a named one, or days in a calendar, which is loaded when needed.
import { Popover } from '@base-ui/react/popover';
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { buttonClass } from '../ui/button.tsx';
import { cx } from '../ui/cx.ts';
import { RANGES, type RangeId, type RangeSearch, USUAL } from './range.ts';
import type { Span } from './range.ts';

const Calendar = lazy(async () => ({ default: (await import('./calendar.tsx')).Calendar }));

interface RangePopoverProps {
  readonly span: Span;
  readonly zone: string;
  /** Null: a custom range. */
  readonly current: RangeId | null;
  readonly onTake: (range: RangeSearch) => void;
  /** Content of the button. */
  readonly children: ReactNode;
}

export function RangePopover({ span, zone, current, onTake, children }: RangePopoverProps): ReactNode {
  // Open on mount, because a click loaded this component.
  const [isOpen, setOpen] = useState(true);
  const take = (range: RangeSearch): void => {
    setOpen(false);
    onTake(range);
  };
  return (
    <Popover.Root open={isOpen} onOpenChange={setOpen}>
      <Popover.Trigger className={buttonClass()} aria-label={`Time: ${span.label}`}>
        {children}
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Positioner sideOffset={4} align="end" className="z-50">
          <Popover.Popup
            aria-label="Time"
            className="flex max-w-[calc(100vw-2rem)] flex-col rounded-lg border bg-card shadow-lg sm:flex-row"
          >
            <ul className="grid grid-cols-2 content-start gap-0.5 p-2 sm:w-36 sm:grid-cols-1">
              {RANGES.map(([id, label]) => (
                <li key={id}>
                  <button
                    type="button"
                    aria-pressed={id === current}
                    onClick={() => take(id === USUAL ? {} : { range: id })}
                    className={cx(
                      'target w-full rounded-md px-2 py-1 text-left hover:bg-sunk',
                      id === current && 'bg-sunk font-medium',
                    )}
                  >
                    {label}
                  </button>
                </li>
              ))}
            </ul>
            <div className="min-h-80 min-w-72 border-t p-3 sm:border-t-0 sm:border-l">
              <Suspense fallback={<p className="text-faint">Loading…</p>}>
                <Calendar from={span.from} to={span.to} zone={zone} onChange={take} />
              </Suspense>
            </div>
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
