// A chart over time: one line for each of a few series, drawn on a canvas, with the numbers in a table for those who do not
// see it.
import { useEffect, useId, useLayoutEffect, useRef, type ReactNode } from 'react';
import UPlot from 'uplot';

/** A value for each time; null: nothing is known. */
export type Series = readonly (number | null)[];

interface ChartProps {
  readonly title: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** Of the series. */
  readonly names: readonly string[];
  /** How a value is written, with its unit. */
  readonly write: (value: number | null) => string;
  /** True: bars of what is counted; else lines. */
  readonly bars?: boolean;
}

const HEIGHT = 150;
/** As many as there are colours for. */
export const MOST_SERIES = 6;

export function Chart({ title, times, series, names, write, bars = false }: ChartProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const says = useRef<HTMLParagraphElement>(null);
  // Names may come later than values, and are not drawn.
  const named = useRef(names);
  useLayoutEffect(() => {
    named.current = names;
  }, [names]);
  const id = useId();
  useEffect(() => {
    const { current: element } = place;
    if (!element) return undefined;
    const say = (at: number | null | undefined): void => {
      if (!says.current) return;
      const texts = series.map(
        (values, of) => `${named.current[of] ?? ''} ${write(values[at ?? -1] ?? null)}`,
      );
      says.current.textContent = at == null ? '' : [timeText(times[at] ?? 0), ...texts].join(' · ');
    };
    const draw = (): UPlot => drawn(element, { times, series, write, bars }, say);
    let plot = draw();
    const sized = new ResizeObserver(() => {
      const { clientWidth: width } = element;
      // It also tells that it begins to watch, when all is drawn.
      if (width !== plot.width) plot.setSize({ width, height: HEIGHT });
    });
    sized.observe(element);
    const redraw = (): void => {
      plot.destroy();
      plot = draw();
    };
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    scheme.addEventListener('change', redraw);
    document.addEventListener('themechange', redraw);
    return () => {
      sized.disconnect();
      scheme.removeEventListener('change', redraw);
      document.removeEventListener('themechange', redraw);
      plot.destroy();
    };
  }, [times, series, write, bars]);
  return (
    <figure aria-labelledby={id} className="min-w-0">
      <figcaption id={id} className="sr-only">
        {title}
      </figcaption>
      <div ref={place} aria-hidden="true" />
      <p ref={says} className="figures min-h-5 truncate text-xs text-faint" aria-hidden="true" />
      <table className="sr-only">
        <tbody>
          {series.map((values, at) => (
            <tr key={`${at} ${names[at]}`}>
              <th scope="row">{names[at]}</th>
              <td>
                {write(
                  values.reduce<number | null>(
                    (sum, value) => (value === null ? sum : (sum ?? 0) + value),
                    null,
                  ),
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}

export function Legend({ names }: { readonly names: readonly string[] }): ReactNode {
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 text-xs text-soft">
      {names.map((name, at) => (
        <li key={`${at} ${name}`} className="flex min-w-0 items-center gap-1.5">
          <span
            aria-hidden="true"
            className="size-2.5 shrink-0 rounded-xs"
            style={{ background: `var(--color-series-${at + 1})` }}
          />
          <span className="truncate">{name}</span>
        </li>
      ))}
    </ul>
  );
}

function drawn(
  element: HTMLElement,
  { times, series, write, bars }: Required<Omit<ChartProps, 'title' | 'names'>>,
  say: (at: number | null | undefined) => void,
): UPlot {
  const [faint = '', line = '', ...strokes] = colours(element, [
    '--color-faint',
    '--color-line',
    ...series.map((_, at) => `--color-series-${at + 1}`),
  ]);
  const axis = { stroke: faint, font: '11px system-ui', ticks: { show: false } };
  const paths = bars && UPlot.paths.bars ? { paths: UPlot.paths.bars({ size: [0.7, 28] }) } : {};
  return new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      padding: [8, 12, 0, 0],
      scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
      axes: [
        { ...axis, size: 38, grid: { show: false } },
        { ...axis, size: 62, grid: { stroke: line, width: 1 }, values: (_, ticks) => ticks.map(write) },
      ],
      series: [
        {},
        ...strokes.map((stroke) => ({
          stroke,
          width: 2,
          points: { show: true, filter: (_: UPlot, at: number) => alone(series[at - 1] ?? []) },
          ...(bars && { fill: stroke }),
          ...paths,
        })),
      ],
      hooks: { setCursor: [({ cursor: { idx } }) => say(idx)] },
    },
    [times as number[], ...(series as (number | null)[][])],
    element,
  );
}

/** @param time Unix seconds */
function timeText(time: number): string {
  return new Date(time * 1_000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' });
}

/** Places of values that no line leads to. */
function alone(values: Series): number[] {
  return values.flatMap((value, at) =>
    value !== null && values[at - 1] == null && values[at + 1] == null ? [at] : [],
  );
}

/** Colours of the theme as a canvas takes them: it knows no variables. */
function colours(element: HTMLElement, names: readonly string[]): readonly string[] {
  const probes = names.map((name) => {
    const probe = document.createElement('span');
    probe.style.color = `var(${name})`;
    return probe;
  });
  // All are there before the first is read: each reading behind a change would be a layout of its own.
  element.append(...probes);
  const found = probes.map((probe) => getComputedStyle(probe).color);
  for (const probe of probes) probe.remove();
  return found;
}
