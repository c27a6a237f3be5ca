// Draws time series on a canvas as stacked bars or lines. All use of the chart library is here.
import UPlot from 'uplot';

/** A value for each time; null: unknown. */
export type Values = readonly (number | null)[];

interface Drawn {
  /** Start times of the buckets, in Unix seconds. */
  readonly times: readonly number[];
  /** Length of a bucket, in seconds. */
  readonly step: number;
  readonly series: readonly { readonly values: Values; readonly colour: string }[];
  readonly kind: 'bars' | 'lines';
  /** Formats values of the axis, where two ticks must not look equal. */
  readonly writeAxis: (value: number | null) => string;
  readonly height: number;
  /** True: the last bucket has not ended yet. */
  readonly isRunning: boolean;
}

interface Received {
  /** Index of the bucket under the cursor and its offset from the left in pixels. `null`: the cursor is outside. */
  readonly onCursor: (at: number | null, left: number) => void;
  /** Called with a selected range, in Unix milliseconds. */
  readonly onRange: ((from: number, to: number) => void) | undefined;
}

/** Synchronizes the cursors of all charts of a page. */
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
  const font = '11px "Inter Variable", system-ui';
  const axis = { stroke: faint, font, ticks: { show: false } };
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
      // Space on the right for the last time label.
      padding: [10, 32, 0, 0],
      scales: {
        x: { range: [first, last] },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
      },
      axes: [
        { ...axis, size: 26, grid: { show: false }, space: 70, values: timeLabels },
        {
          ...axis,
          size: (plot, labels) => axisWidth(plot, labels, font),
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

/** Narrowest axis of values in pixels, so that charts beside each other begin at the same place. */
const AXIS_WIDTH = 58;
/** Pixels between the labels and the bars. */
const AXIS_GAP = 16;

/** Width in pixels of an axis with these labels, which may be as long as `$0.000075`. */
function axisWidth({ ctx }: UPlot, labels: readonly string[] | null, font: string): number {
  ctx.save();
  ctx.font = font;
  const widths = (labels ?? []).map((label) => ctx.measureText(label).width);
  ctx.restore();
  return Math.ceil(Math.max(AXIS_WIDTH, ...widths.map((width) => width + AXIS_GAP)));
}

/** Cumulated series, from the total down. The total is drawn first and the others over it. */
function stacked(all: readonly Values[]): (number | null)[][] {
  return all.map((values, of) =>
    values.map((_, at) => all.slice(of).reduce((sum, each) => sum + (each[at] ?? 0), 0)),
  );
}

/** Hatches the last bar, because its bucket has not ended. */
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

/** Time labels of an axis: times of day, or dates at midnight and over more than three days. */
function timeLabels(_: UPlot, splits: number[]): string[] {
  const span = (splits.at(-1) ?? 0) - (splits[0] ?? 0);
  const texts = splits.map((split) => {
    const time = new Date(split * 1_000);
    const isMidnight = time.getHours() === 0 && time.getMinutes() === 0;
    return span > 3 * 86_400 || isMidnight ? DAY.format(time) : CLOCK.format(time);
  });
  // Repeated labels are left out.
  return texts.map((text, at) => (text === texts[at - 1] ? '' : text));
}

/** Indices of values without neighbours, which no line would show. */
function alone(plot: UPlot, of: number): number[] {
  const values = plot.data[of] ?? [];
  return [...values].flatMap((value, at) =>
    value != null && values[at - 1] == null && values[at + 1] == null ? [at] : [],
  );
}

/** Resolves CSS variables to colours, because a canvas cannot use variables. */
function coloursIn(element: HTMLElement, names: readonly string[]): readonly string[] {
  const probes = names.map((name) => {
    const probe = document.createElement('span');
    probe.style.color = `var(${name})`;
    return probe;
  });
  // Inserted all at once before the first read, because each read after a change would trigger a layout.
  element.append(...probes);
  const found = probes.map((probe) => getComputedStyle(probe).color);
  for (const probe of probes) probe.remove();
  return found;
}
