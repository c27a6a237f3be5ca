// Chart over time with a legend that toggles series, values at the pointer, selection of a time range, and the values
// as a table.
import {
  useEffect,
  useEffectEvent,
  useId,
  useMemo,
  useRef,
  useState,
  type KeyboardEvent,
  type ReactNode,
} from 'react';
import type UPlot from 'uplot';
import { share, shortUsd, usd } from '../../format/numbers.ts';
import { Button } from '../button.tsx';
import { Card } from '../card.tsx';
import { coloursOf } from './colours.ts';
import { drawPlot, type Values } from './plot.ts';
import { ChartTable, Legend, Tip, type Entry } from './read-out.tsx';

export interface Series {
  readonly id: string;
  readonly name: string;
  readonly values: Values;
  /** CSS variable; absent: derived from the id. */
  readonly colour?: string;
}

interface ChartProps {
  readonly title: string;
  readonly aside?: ReactNode;
  /** Start times of the buckets, in Unix seconds. */
  readonly times: readonly number[];
  /** Length of a bucket, in seconds. */
  readonly step: number;
  readonly series: readonly Series[];
  /** `bars` are stacked, for values that can be added; `lines` are for others. */
  readonly kind: 'bars' | 'lines';
  /** Formats a value with its unit. */
  readonly write: (value: number | null) => string;
  /** Text that replaces the chart if there are no values. */
  readonly empty: string;
  /** Note below the chart, about missing values. */
  readonly note?: string | undefined;
  readonly onRange?: (from: number, to: number) => void;
  readonly height?: number;
  /** True: without card, legend and table. */
  readonly isBare?: boolean;
}

const HEIGHT = 180;

export function Chart(props: ChartProps): ReactNode {
  const {
    title,
    aside,
    times,
    step,
    series,
    kind,
    write,
    empty,
    onRange,
    height = HEIGHT,
    isBare = false,
    note: chartNote,
  } = props;
  const [isTable, setTable] = useState(false);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const entries = useMemo(() => entriesOf(series), [series]);
  const shown = useMemo(() => entries.filter(({ id }) => !hidden.has(id)), [entries, hidden]);
  const isEmpty = entries.every(({ values }) => values.every((value) => value === null || value === 0));
  const toggle = (id: string, isAlone: boolean): void => {
    const others = entries.filter((each) => each.id !== id).map((each) => each.id);
    const isIsolated = !hidden.has(id) && others.every((each) => hidden.has(each));
    if (isAlone) setHidden(isIsolated ? new Set() : new Set(others));
    else
      setHidden(
        hidden.has(id) ? new Set([...hidden].filter((each) => each !== id)) : new Set([...hidden, id]),
      );
  };
  const plot = <Plot {...props} series={shown} height={height} onRange={onRange} />;
  if (isBare) return isEmpty ? <p className="px-4 py-3 text-faint">{empty}</p> : plot;
  return (
    <Card
      title={title}
      aside={
        <span className="flex items-center gap-2">
          {aside}
          {!isEmpty && (
            <Button
              look="quiet"
              icon={isTable ? 'pulse' : 'table'}
              aria-label={isTable ? `Show ${title} as a chart` : `Show ${title} as a table`}
              onClick={() => setTable(!isTable)}
            />
          )}
        </span>
      }
    >
      {isEmpty && <p className="py-6 text-soft">{empty}</p>}
      {!isEmpty && isTable && (
        <ChartTable label={title} times={times} step={step} entries={entries} write={write} />
      )}
      {!isEmpty && !isTable && (
        <>
          {plot}
          <Legend
            entries={entries}
            hidden={hidden}
            note={kind === 'bars' ? ({ total, part }) => `${write(total)} · ${share(part)}` : () => ''}
            onToggle={toggle}
          />
          {chartNote !== undefined && <p className="mt-1 px-1.5 text-xs text-faint">{chartNote}</p>}
        </>
      )}
    </Card>
  );
}

function entriesOf(series: readonly Series[]): readonly Entry[] {
  const own = series.filter(({ colour }) => colour === undefined).map(({ id }) => id);
  const colours = coloursOf(
    own,
    series.flatMap(({ colour }) => colour ?? []),
  );
  const totals = series.map(({ values }) => values.reduce<number>((sum, value) => sum + (value ?? 0), 0));
  const whole = totals.reduce((sum, each) => sum + each, 0);
  return series.map(({ colour, ...each }, at) => ({
    ...each,
    colour: colour ?? colours[own.indexOf(each.id)] ?? '',
    total: totals[at] ?? 0,
    part: whole === 0 ? 0 : (totals[at] ?? 0) / whole,
  }));
}

interface PlotProps extends Omit<ChartProps, 'series' | 'onRange' | 'height'> {
  readonly series: readonly Entry[];
  readonly onRange: ChartProps['onRange'];
  readonly height: number;
}

interface Cursor {
  readonly at: number;
  readonly left: number;
}

function Plot({ title, times, step, series, kind, write, onRange, height }: PlotProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot>(null);
  const isOver = useRef(false);
  const [cursor, setCursor] = useState<Cursor | null>(null);
  const id = useId();
  const isLast = useEffectEvent(() => ((times.at(-1) ?? 0) + step) * 1_000 > Date.now());
  const ranged = useEffectEvent((from: number, to: number) => onRange?.(from, to));
  const hasRange = onRange !== undefined;
  const writeAxis = write === usd ? shortUsd : write;
  useEffect(() => {
    const { current: element } = place;
    if (!element) return undefined;
    const draw = (): UPlot =>
      drawPlot(
        element,
        { times, step, series, kind, writeAxis, height, isRunning: isLast() },
        {
          onCursor: (at, left) =>
            setCursor(
              at === null || !isOver.current
                ? null
                : { at, left: left + (plot.current?.bbox.left ?? 0) / devicePixelRatio },
            ),
          onRange: hasRange ? (from, to) => ranged(from, to) : undefined,
        },
      );
    plot.current = draw();
    const sized = new ResizeObserver(() => {
      const { clientWidth: width } = element;
      // Also called once when observation begins, at an unchanged width.
      if (width !== plot.current?.width) plot.current?.setSize({ width, height });
    });
    sized.observe(element);
    const redraw = (): void => {
      plot.current?.destroy();
      plot.current = draw();
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    document.addEventListener('themechange', redraw);
    return () => {
      sized.disconnect();
      scheme.removeEventListener('change', redraw);
      document.removeEventListener('themechange', redraw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [times, step, series, kind, writeAxis, height, hasRange]);
  const move = (event: KeyboardEvent): void => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (event.key === 'Escape') setCursor(null);
    if (by === undefined || !plot.current) return;
    event.preventDefault();
    isOver.current = true;
    const next = Math.min(times.length - 1, Math.max(0, (cursor?.at ?? (by > 0 ? -1 : times.length)) + by));
    plot.current.setCursor({ left: plot.current.valToPos((times[next] ?? 0) + step / 2, 'x'), top: 0 });
  };
  return (
    <figure
      className="relative min-w-0"
      onPointerEnter={() => (isOver.current = true)}
      onPointerLeave={() => {
        isOver.current = false;
        setCursor(null);
      }}
    >
      <div
        ref={place}
        role="img"
        tabIndex={0}
        aria-label={`${title}. Use the arrow keys to read values.`}
        aria-describedby={id}
        onKeyDown={move}
        onBlur={() => setCursor(null)}
        className="rounded"
      />
      <div id={id} aria-live="polite">
        {cursor && (
          <Tip
            at={cursor.at}
            left={cursor.left}
            width={place.current?.clientWidth ?? 0}
            times={times}
            step={step}
            entries={series}
            write={write}
            hasTotal={kind === 'bars'}
          />
        )}
      </div>
    </figure>
  );
}
