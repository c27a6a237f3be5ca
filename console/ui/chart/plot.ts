// Draws series over time on a canvas: stacked bars, or lines. The only place that knows the chart library.
import UPlot from 'uplot';

/** A value for each time; null: nothing is known. */
export type Values = readonly (number | null)[];

interface Drawn {
  /** Beginnings of the buckets, in Unix seconds. */
  readonly times: readonly number[];
  /** Length of a bucket, in seconds. */
  readonly step: number;
  readonly series: readonly { readonly values: Values; readonly colour: string }[];
  readonly kind: 'bars' | 'lines';
  /** The same beside the axis, where two may not look alike. */
  readonly writeAxis: (value: number | null) => string;
  readonly height: number;
  /** True: the last bucket still runs. */
  readonly isRunning: boolean;
}

interface Received {
  /** The bucket under the cursor, and where it is, in pixels from the left. */
  readonly onCursor: (at: number | null, left: number) => void;
  /** A range that was drawn with the pointer, in Unix milliseconds. */
  readonly onRange: ((from: number, to: number) => void) | undefined;
}

/** Charts of one page have one cursor. */
const SYNC = UPlot.sync('page');

export function drawPlot(element: HTMLElement, drawn: Drawn, received: Received): UPlot {
  const { times, step, series, kind, writeAxis, height } = drawn;
  const isBars = kind === 'bars';
  const [faint = '', line = '', card = '', ...strokes] = coloursIn(element, [
    '--color-faint',
    '--color-line',
    '--color-card',
    ...series.map(({ colour }) => colour),
  ]);
  const axis = { stroke: faint, font: '11px "Inter Variable", system-ui', ticks: { show: false } };
  const middles = times.map((time) => time + step / 2);
  const bars = isBars && UPlot.paths.bars ? { paths: UPlot.paths.bars({ size: [0.82, 40], radius: 0 }) } : {};
  const first = times[0] ?? 0;
  const last = (times.at(-1) ?? 0) + step;
  return new UPlot(
    {
      width: element.clientWidth,
      height,
      legend: { show: false },
      cursor: {
        sync: { key: SYNC.key, setSeries: false, scales: ['x', null] },
        drag: { x: received.onRange !== undefined, y: false, setScale: false },
        points: { show: !isBars, size: 6 },
      },
      // The last time is written around the right end.
      padding: [10, 32, 0, 0],
      scales: {
        x: { range: [first, last] },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
      },
      axes: [
        { ...axis, size: 26, grid: { show: false }, space: 70, values: timeLabels },
        {
          ...axis,
          size: 58,
          space: 36,
          grid: { stroke: line, width: 1 },
          values: (_, ticks) => ticks.map(writeAxis),
        },
      ],
      series: [
        {},
        ...strokes.map((stroke) => ({
          stroke,
          width: isBars ? 0 : 1.75,
          points: {
            show: !isBars,
            size: 5,
            fill: stroke,
            filter: (plot: UPlot, at: number) => alone(plot, at),
          },
          ...(isBars && { fill: stroke }),
          ...bars,
        })),
      ],
      hooks: {
        draw: [(plot) => isBars && drawn.isRunning && hatch(plot, card)],
        setCursor: [
          ({ cursor: { idx, left } }) =>
            received.onCursor(left === undefined || left < 0 ? null : (idx ?? null), left ?? 0),
        ],
        setSelect: [
          (plot) => {
            const { left, width } = plot.select;
            if (width < 4) return;
            received.onRange?.(plot.posToVal(left, 'x') * 1_000, plot.posToVal(left + width, 'x') * 1_000);
            plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          },
        ],
      },
    },
    [
      middles,
      ...(isBars ? stacked(series.map(({ values }) => values)) : series.map(({ values }) => [...values])),
    ],
    element,
  );
}

/** Each series on top of those behind it: what is drawn first is the whole, and the others lie over it. */
function stacked(all: readonly Values[]): (number | null)[][] {
  return all.map((values, of) =>
    values.map((_, at) => all.slice(of).reduce((sum, each) => sum + (each[at] ?? 0), 0)),
  );
}

/** Lines across the last bar in the colour of the card: the bucket is not full yet. */
function hatch(plot: UPlot, card: string): void {
  const [xs, whole] = plot.data;
  const at = xs.length - 1;
  const value = whole?.[at];
  const x = xs[at];
  if (value == null || value <= 0 || x === undefined) return;
  const { ctx } = plot;
  const before = xs[at - 1] ?? x - 1;
  const middle = plot.valToPos(x, 'x', true);
  const half = Math.abs(middle - plot.valToPos(before, 'x', true)) / 2;
  const [top, bottom] = [plot.valToPos(value, 'y', true), plot.valToPos(0, 'y', true)];
  ctx.save();
  ctx.beginPath();
  ctx.rect(middle - half, top, 2 * half, bottom - top);
  ctx.clip();
  ctx.strokeStyle = card;
  ctx.lineWidth = 2 * devicePixelRatio;
  for (let from = middle - half - (bottom - top); from < middle + half; from += 5 * devicePixelRatio) {
    ctx.beginPath();
    ctx.moveTo(from, bottom);
    ctx.lineTo(from + (bottom - top), top);
    ctx.stroke();
  }
  ctx.restore();
}

const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' });
const DAY = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** Times of one day by the clock; where a day begins, or days go by, its date. */
function timeLabels(_: UPlot, splits: number[]): string[] {
  const span = (splits.at(-1) ?? 0) - (splits[0] ?? 0);
  const texts = splits.map((split) => {
    const time = new Date(split * 1_000);
    const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
    return span > 3 * 86_400 || isMidnight ? DAY.format(time) : CLOCK.format(time);
  });
  // A day is named once.
  return texts.map((text, at) => (text === texts[at - 1] ? '' : text));
}

/** Places of values that no line leads to. */
function alone(plot: UPlot, of: number): number[] {
  const values = plot.data[of] ?? [];
  return [...values].flatMap((value, at) =>
    value != null && values[at - 1] == null && values[at + 1] == null ? [at] : [],
  );
}

/** Colours of the theme as a canvas takes them: it knows no variables. */
function coloursIn(element: HTMLElement, names: readonly string[]): readonly string[] {
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
