// Time range in the header. Its popover is loaded when first opened.
import { lazy, Suspense, useState, type ReactNode } from 'react';
import { buttonClass } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import { USUAL, type RangeSearch } from './range.ts';
import { useSpan, useZone } from './use-span.ts';

const RangePopover = lazy(async () => ({ default: (await import('./range-popover.tsx')).RangePopover }));

interface RangePickerProps {
  readonly value: RangeSearch;
  readonly onChange: (range: RangeSearch) => void;
}

export function RangePicker({ value, onChange }: RangePickerProps): ReactNode {
  const [isWanted, setWanted] = useState(false);
  const { span } = useSpan(value);
  const zone = useZone();
  const text = (
    <>
      <Icon name="calendar" />
      <span className="figures">{span.label}</span>
      <Icon name="down" size={14} />
    </>
  );
  const button = (
    <button
      type="button"
      className={buttonClass()}
      aria-label={`Time: ${span.label}`}
      aria-haspopup="dialog"
      aria-expanded="false"
      onClick={() => setWanted(true)}
    >
      {text}
    </button>
  );
  if (!isWanted) return button;
  return (
    <Suspense fallback={button}>
      <RangePopover
        span={span}
        zone={zone}
        current={value.from === undefined ? (value.range ?? USUAL) : null}
        onTake={onChange}
      >
        {text}
      </RangePopover>
    </Suspense>
  );
}
