// Calendar for the first and last day of a range, in the gateway's time zone.
import { useState, type ReactNode } from 'react';
import { DayPicker, type DateRange } from 'react-day-picker';
import { Button } from '../ui/button.tsx';
import { dateIn, midnight, type RangeSearch } from './range.ts';

interface CalendarProps {
  /** Unix milliseconds. */
  readonly from: number;
  readonly to: number | null;
  readonly zone: string;
  readonly onChange: (range: RangeSearch) => void;
}

export function Calendar({ from, to, zone, onChange }: CalendarProps): ReactNode {
  const [days, setDays] = useState<DateRange | undefined>({
    from: localDay(from, zone),
    to: localDay((to ?? Date.now()) - 1, zone),
  });
  const { from: first, to: last } = days ?? {};
  return (
    <div className="flex flex-col gap-3">
      <DayPicker
        mode="range"
        selected={days}
        onSelect={setDays}
        disabled={{ after: new Date() }}
        defaultMonth={last ?? new Date()}
        weekStartsOn={1}
        labels={{ labelDayButton: (day) => NAMED.format(day) }}
        classNames={CLASSES}
      />
      <div className="flex items-center justify-between gap-2">
        <span className="text-xs text-faint">Days of {zone}</span>
        <Button
          look="primary"
          disabled={!first || !last}
          onClick={() => first && last && onChange({ from: iso(first, 0, zone), to: iso(last, 1, zone) })}
        >
          Show
        </Button>
      </div>
    </div>
  );
}

/** The day of a timestamp in a zone, as the calendar represents days: midnight in the browser's zone. */
function localDay(ms: number, zone: string): Date {
  const [year, month, day] = dateIn(ms, zone);
  return new Date(year, month - 1, day);
}

function iso(day: Date, later: number, zone: string): string {
  return new Date(midnight(day.getFullYear(), day.getMonth() + 1, day.getDate() + later, zone)).toISOString();
}

/** Label for screen readers. It begins with the text that is shown. */
const NAMED = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long' });

const CLASSES = {
  months: 'relative',
  month_caption: 'flex h-8 items-center font-semibold',
  nav: 'absolute top-0 right-0 flex gap-1',
  button_previous: 'target inline-flex size-8 items-center justify-center rounded-md hover:bg-sunk',
  button_next: 'target inline-flex size-8 items-center justify-center rounded-md hover:bg-sunk',
  chevron: 'size-4 fill-current',
  month_grid: 'mt-2 border-collapse',
  weekday: 'w-9 pb-1 text-center text-xs font-medium text-faint',
  day: 'figures p-0 text-center',
  day_button: 'inline-flex size-9 items-center justify-center rounded-md hover:bg-sunk',
  selected: 'font-semibold',
  range_middle: 'bg-sunk',
  range_start: 'rounded-l-md bg-accent text-on-accent [&>button:hover]:text-ink',
  range_end: 'rounded-r-md bg-accent text-on-accent [&>button:hover]:text-ink',
  today: 'underline underline-offset-4',
  outside: 'text-faint',
  disabled: 'text-faint line-through',
} as const;
