// A chart over time: one line for each of a few series, drawn on a canvas, with the numbers in a table for those who do not
// see it.
import { useEffect, useId, useRef, type ReactNode } from 'react';
import UPlot from 'uplot';

export interface Series {
  readonly name: string;
  /** One for each time; null: nothing is known. */
  readonly values: readonly (number | null)[];
}

interface ChartProps {
  readonly title: string;
  /** Unix seconds. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  /** How a value is written, with its unit. */
  readonly write: (value: number | null) => string;
  /** True: bars of what is counted; else lines. */
  readonly bars?: boolean;
}

const HEIGHT = 150;
/** As many as there are colours for. */
export const MOST_SERIES = 6;

export function Chart({ title, times, series, write, bars = false }: ChartProps): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const says = useRef<HTMLParagraphElement>(null);
  const id = useId();
  useEffect(() => {
    const { current: element } = place;
    if (!element) return undefined;
    const draw = (): UPlot =>
      drawn(element, { times, series, write, bars }, (text) => {
        if (says.current) says.current.textContent = text;
      });
    let plot = draw();
    const sized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }));
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
          {series.map(({ name, values }, at) => (
            <tr key={`${at} ${name}`}>
              <th scope="row">{name}</th>
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
  { times, series, write, bars }: Required<Omit<ChartProps, 'title'>>,
  say: (text: string) => void,
): UPlot {
  const [faint, line] = [colour(element, '--color-faint'), colour(element, '--color-line')];
  const axis = { stroke: faint, font: '11px system-ui', ticks: { show: false } };
  const paths = bars && UPlot.paths.bars ? { paths: UPlot.paths.bars({ size: [0.7, 28] }) } : {};
  return new UPlot(
    {
      width: element.clientWidth,
      height: HEIGHT,
      legend: { show: false },
      cursor: { drag: { x: false, y: false } },
      scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
      axes: [
        { ...axis, grid: { show: false } },
        { ...axis, size: 62, grid: { stroke: line, width: 1 }, values: (_, ticks) => ticks.map(write) },
      ],
      series: [
        {},
        ...series.map(({ name }, at) => {
          const stroke = colour(element, `--color-series-${at + 1}`);
          return {
            label: name,
            stroke,
            width: 2,
            points: { show: true, filter: (_: UPlot, at: number) => alone(series[at - 1]?.values ?? []) },
            ...(bars && { fill: stroke }),
            ...paths,
          };
        }),
      ],
      hooks: {
        setCursor: [
          ({ cursor: { idx } }) => {
            if (idx == null) return say('');
            const time = new Date((times[idx] ?? 0) * 1_000).toLocaleString(undefined, {
              dateStyle: 'medium',
              timeStyle: 'short',
            });
            say(
              [time, ...series.map(({ name, values }) => `${name} ${write(values[idx] ?? null)}`)].join(
                ' · ',
              ),
            );
          },
        ],
      },
    },
    [times as number[], ...series.map(({ values }) => values as (number | null)[])],
    element,
  );
}

/** Places of values that no line leads to. */
function alone(values: Series['values']): number[] {
  return values.flatMap((value, at) =>
    value !== null && values[at - 1] == null && values[at + 1] == null ? [at] : [],
  );
}

/** A colour of the theme as a canvas takes it: it knows no variables. */
function colour(element: HTMLElement, name: string): string {
  const probe = document.createElement('span');
  probe.style.color = `var(${name})`;
  element.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}
