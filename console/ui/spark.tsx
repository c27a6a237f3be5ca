// Small inline charts: bars, parts of a total, and use of a limit.
import type { ReactNode } from 'react';
import { cx } from './cx.ts';

interface SparkProps {
  readonly values: readonly number[];
  /** Failed part of each value, drawn in another colour. */
  readonly bad?: readonly number[];
  readonly width?: number;
  readonly height?: number;
  /** Label for screen readers; absent: decorative. */
  readonly label?: string;
}

export function Spark({ values, bad, width = 96, height = 20, label }: SparkProps): ReactNode {
  const most = Math.max(...values, 0);
  const step = width / Math.max(1, values.length);
  return (
    <svg
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className="block max-w-full"
      {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}
    >
      <line x1="0" x2={width} y1={height - 0.5} y2={height - 0.5} className="stroke-line" />
      {values.map((value, at) => {
        const tall = most === 0 ? 0 : Math.max(value > 0 ? 1.5 : 0, (value / most) * (height - 1));
        const failed = value > 0 ? ((bad?.[at] ?? 0) / value) * tall : 0;
        const box = { x: at * step + 0.5, width: Math.max(0.8, step - 1) };
        return (
          <g key={at}>
            <rect {...box} y={height - tall} height={tall - failed} className="fill-faint" />
            {failed > 0 && <rect {...box} y={height - failed} height={failed} className="fill-bad" />}
          </g>
        );
      })}
    </svg>
  );
}

interface UsedBarProps {
  /** Share that is used: from 0 to 1, or more if the limit is exceeded. */
  readonly part: number;
  readonly className?: string;
}

interface PartsBarProps {
  /** Total, above 0. */
  readonly of: number;
  /** Parts from left to right, each with the class of its colour. */
  readonly parts: readonly (readonly [value: number, colour: string])[];
  readonly className?: string;
}

/** Parts of a total as one bar. */
export function PartsBar({ of, parts, className }: PartsBarProps): ReactNode {
  let from = 0;
  return (
    <svg
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      className={cx('h-1.5 rounded-sm bg-sunk', className)}
      aria-hidden="true"
    >
      {parts.map(([value, colour]) => {
        const x = from;
        const width = Math.min(100 - x, (value / of) * 100);
        from += width;
        return <rect key={colour} x={x} width={Math.max(0, width)} height="6" className={colour} />;
      })}
    </svg>
  );
}

/** How much of a limit is used. */
export function UsedBar({ part, className }: UsedBarProps): ReactNode {
  const tone = part >= 1 ? 'fill-bad' : part >= 0.8 ? 'fill-warn' : 'fill-faint';
  return (
    <svg
      viewBox="0 0 100 6"
      preserveAspectRatio="none"
      className={cx('h-1.5 rounded-sm bg-sunk', className ?? 'w-20')}
      aria-hidden="true"
    >
      <rect width={Math.min(1, part) * 100} height="6" className={tone} />
    </svg>
  );
}
