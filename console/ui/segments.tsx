// Segmented control: a choice among a few options, all of them on the page.
import type { ReactNode } from 'react';
import { count } from '../format/numbers.ts';
import { cx } from './cx.ts';

interface SegmentsProps<Id> {
  readonly label: string;
  /** Each option with its label. */
  readonly options: readonly (readonly [id: Id, says: ReactNode])[];
  /** True for the selected option. */
  readonly isChosen: (id: Id) => boolean;
  readonly onChoose: (id: Id) => void;
}

export function Segments<Id extends string>({
  label,
  options,
  isChosen,
  onChoose,
}: SegmentsProps<Id>): ReactNode {
  return (
    <div role="group" aria-label={label} className="flex flex-wrap rounded-md border bg-card p-0.5">
      {options.map(([id, says]) => (
        <button
          key={id}
          type="button"
          aria-pressed={isChosen(id)}
          onClick={() => onChoose(id)}
          className={cx(
            'target min-h-7 rounded px-2.5 font-medium',
            isChosen(id) ? 'bg-sunk text-ink' : 'text-soft hover:text-ink',
          )}
        >
          {says}
        </button>
      ))}
    </div>
  );
}

interface NumberedProps {
  readonly word: string;
  /** Undefined: not known yet, so that no number is shown. */
  readonly number: number | undefined;
}

/** Label of an option with the number of its entries. */
export function Numbered({ word, number }: NumberedProps): ReactNode {
  return (
    <>
      {word} {number !== undefined && <span className="figures text-xs text-faint">{count(number)}</span>}
    </>
  );
}
