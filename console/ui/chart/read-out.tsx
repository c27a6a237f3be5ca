// Values of a chart as text: legend, tooltip at the pointer, and table.
import type { ReactNode } from 'react';
import { clockTime } from '../../format/times.ts';
import { cx } from '../cx.ts';
import type { Values } from './plot.ts';

export interface Entry {
  readonly id: string;
  readonly name: string;
  readonly values: Values;
  readonly colour: string;
  readonly total: number;
  /** Share of the total, from 0 to 1. */
  readonly part: number;
}

type Write = (value: number | null) => string;

function Swatch({ colour }: { readonly colour: string }): ReactNode {
  return (
    <span
      aria-hidden="true"
      className="size-2.5 shrink-0 rounded-xs"
      style={{ background: `var(${colour})` }}
    />
  );
}

interface LegendProps {
  readonly entries: readonly Entry[];
  readonly hidden: ReadonlySet<string>;
  readonly note: (entry: Entry) => string;
  /** @param isAlone true: shows only this series */
  readonly onToggle: (id: string, isAlone: boolean) => void;
}

export function Legend({ entries, hidden, note, onToggle }: LegendProps): ReactNode {
  return (
    <ul className="mt-2 flex flex-wrap gap-x-1 gap-y-0.5 text-xs text-soft">
      {entries.map((entry) => (
        <li key={entry.id} className="min-w-0">
          <button
            type="button"
            aria-pressed={!hidden.has(entry.id)}
            title="Click: show only this one. Shift+click: hide it."
            onClick={(event) => onToggle(entry.id, !event.shiftKey)}
            className={cx(
              'target flex min-h-6 max-w-full min-w-0 items-center gap-1.5 rounded px-1.5 hover:bg-sunk',
              hidden.has(entry.id) && 'line-through',
            )}
          >
            <Swatch colour={entry.colour} />
            <span className="truncate text-ink">{entry.name}</span>
            <span className="figures whitespace-nowrap">{note(entry)}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}

function spanText(from: number, step: number): string {
  return `${clockTime(from * 1_000)} – ${clockTime((from + step) * 1_000)}`;
}

interface TipProps {
  /** Index of the bucket. */
  readonly at: number;
  /** Pixels, like the width of the chart. */
  readonly left: number;
  readonly width: number;
  readonly times: readonly number[];
  readonly step: number;
  readonly entries: readonly Entry[];
  readonly write: Write;
  readonly hasTotal: boolean;
}

export function Tip({ at, left, width, times, step, entries, write, hasTotal }: TipProps): ReactNode {
  const rows = entries
    .map((entry) => ({ ...entry, value: entry.values[at] ?? null }))
    .filter(({ value }) => value !== null && (value !== 0 || !hasTotal || entries.length === 1))
    .toSorted((a, b) => (b.value ?? 0) - (a.value ?? 0));
  const total = rows.reduce((sum, { value }) => sum + (value ?? 0), 0);
  const isRight = left > width / 2;
  return (
    <div
      className="pointer-events-none absolute top-2 z-10 min-w-44 rounded-md border bg-card px-3 py-2 text-xs shadow-lg"
      style={isRight ? { right: width - left + 12 } : { left: left + 12 }}
    >
      <p className="figures mb-1 whitespace-nowrap text-faint">{spanText(times[at] ?? 0, step)}</p>
      {rows.map(({ id, name, colour, value }) => (
        <p key={id} className="flex items-center gap-2">
          <Swatch colour={colour} />
          <span className="max-w-56 min-w-0 flex-1 truncate">{name}</span>
          <span className="figures font-medium">{write(value)}</span>
        </p>
      ))}
      {rows.length === 0 && <p className="text-soft">Nothing</p>}
      {hasTotal && rows.length > 1 && (
        <p className="mt-1 flex justify-between gap-4 border-t pt-1 font-medium">
          <span>Total</span>
          <span className="figures">{write(total)}</span>
        </p>
      )}
    </div>
  );
}

interface ChartTableProps {
  readonly label: string;
  readonly times: readonly number[];
  readonly step: number;
  readonly entries: readonly Entry[];
  readonly write: Write;
}

export function ChartTable({ label, times, step, entries, write }: ChartTableProps): ReactNode {
  return (
    <div className="max-h-80 overflow-auto" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            {entries.map(({ id, name }) => (
              <th key={id} scope="col" className="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {times.map((time, at) => (
            <tr key={time}>
              <th scope="row" className="figures font-normal whitespace-nowrap">
                {spanText(time, step)}
              </th>
              {entries.map(({ id, values }) => (
                <td key={id} className="number">
                  {write(values[at] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
