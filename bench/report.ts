// Formats the tables of a benchmark, and judges its figures against budgets.json.
import type { FigureName, Figures } from './measure.ts';
import type { Scenario } from './scenarios.ts';
import { quartiles } from './spread.ts';
import type { TargetName } from './targets.ts';

/** Figures of every repetition, by scenario and target. */
export type Results = Readonly<Record<string, Partial<Record<TargetName, readonly Figures[]>>>>;

export interface Budget {
  readonly says: string;
  readonly scenario: string;
  /** `dearest`: the scenario's target with the largest figure. */
  readonly target: TargetName | 'dearest';
  readonly figure: FigureName;
  /** Factor to convert the unit of the figure. */
  readonly scale?: number;
  /** Target of the same run by whose figure it is divided. */
  readonly times?: Reference;
  /** Target whose figure is subtracted. */
  readonly minus?: Reference;
  /** Desired value. */
  readonly goal: number;
  /** The run fails beyond this value, which includes a margin for noisy machines. With `atLeast`, it fails below. */
  readonly limit: number;
  readonly atLeast?: boolean;
}

export interface Reference {
  /** Default: the scenario of the budget. */
  readonly scenario?: string;
  readonly target: TargetName;
}

export interface Verdict {
  readonly says: string;
  /** Null: no value to compare with. */
  readonly value: number | null;
  readonly goal: number;
  readonly limit: number;
  readonly kept: boolean;
  readonly reached: boolean;
}

/** Median of a figure; null if no repetition has it. */
export function median(repetitions: readonly Figures[] | undefined, figure: FigureName): number | null {
  const values = (repetitions ?? []).flatMap((figures) => figures[figure] ?? []);
  return values.length === 0 ? null : quartiles(values).middle;
}

/** Compares results with the budgets. */
export function judge(results: Results, budgets: readonly Budget[]): Verdict[] {
  return budgets.map((budget) => {
    const value = valueOf(results, budget);
    const within = (bound: number): boolean =>
      value === null || (budget.atLeast ? value >= bound : value <= bound);
    const { says, goal, limit } = budget;
    return { says, value, goal, limit, kept: within(limit), reached: value !== null && within(goal) };
  });
}

function valueOf(results: Results, budget: Budget): number | null {
  const { scenario, figure, scale = 1, times, minus } = budget;
  const own = ownFigure(results[scenario], budget);
  const other = times ?? minus;
  if (own === null || other === undefined) return own === null ? null : own * scale;
  const base = median(results[other.scenario ?? scenario]?.[other.target], figure);
  if (base === null) return null;
  return (times ? own / base : own - base) * scale;
}

function ownFigure(figures: Results[string] | undefined, { target, figure }: Budget): number | null {
  if (target !== 'dearest') return median(figures?.[target], figure);
  const all = Object.values(figures ?? {}).map((runs) => median(runs, figure));
  const known = all.filter((value) => value !== null);
  return known.length > 0 ? Math.max(...known) : null;
}

interface Column {
  readonly title: string;
  readonly figure: FigureName;
  /** Additional comparison: `× nginx`, or `+` over direct. */
  readonly compare?: 'nginx' | 'direct' | undefined;
  /** Factor to convert the unit of the figure. */
  readonly scale?: number;
  readonly digits: number;
}

const COLUMNS: readonly Column[] = [
  { title: 'CPU µs/request', figure: 'cpuPerRequest', compare: 'nginx', digits: 1 },
  { title: 'CPU µs/chunk', figure: 'cpuPerChunk', compare: 'nginx', digits: 1 },
  { title: 'requests/s', figure: 'requestsPerSecond', digits: 0 },
  { title: 'p50 ms', figure: 'p50', compare: 'direct', scale: 0.001, digits: 2 },
  { title: 'p99 ms', figure: 'p99', compare: 'direct', scale: 0.001, digits: 2 },
  { title: 'first text p50 ms', figure: 'first50', compare: 'direct', scale: 0.001, digits: 2 },
  { title: 'first text p99 ms', figure: 'first99', compare: 'direct', scale: 0.001, digits: 2 },
  { title: 'chunk p50 ms', figure: 'chunk50', scale: 0.001, digits: 2 },
  { title: 'chunk p99 ms', figure: 'chunk99', scale: 0.001, digits: 2 },
  { title: 'RSS MB', figure: 'resident', digits: 0 },
  { title: 'streams at once', figure: 'streamsAtOnce', digits: 0 },
];

/** Formats the table of one scenario. */
export function scenarioTable(
  scenario: Scenario,
  results: Results,
  labels: Readonly<Record<string, string>>,
): string {
  const figures = results[scenario.name] ?? {};
  const shown = COLUMNS.filter(({ figure }) => {
    if (scenario.stream && figure === 'requestsPerSecond') return false;
    if (!scenario.stream && figure === 'streamsAtOnce') return false;
    return scenario.targets.some((target) => median(figures[target], figure) !== null);
  });
  const rows = scenario.targets
    .filter((target) => figures[target])
    .map((target) => [labels[target] ?? target, ...shown.map((column) => cell(figures, target, column))]);
  return `${scenario.title}\n${aligned([['', ...shown.map(({ title }) => title)], ...rows])}`;
}

function cell(figures: NonNullable<Results[string]>, target: TargetName, column: Column): string {
  const { figure, compare, scale = 1, digits } = column;
  const value = median(figures[target], figure);
  if (value === null) return '';
  // CPU time and memory of the upstream itself are not comparable with those of a proxy.
  if (
    target === 'direct' &&
    (figure === 'cpuPerChunk' || figure === 'cpuPerRequest' || figure === 'resident')
  )
    return '';
  const text = (value * scale).toFixed(digits);
  if (compare === undefined || target === compare || target === 'direct') return text;
  const other = median(figures[compare], figure);
  if (other === null) return text;
  return compare === 'nginx'
    ? `${text} (${(value / other).toFixed(1)}×)`
    : `${text} (+${((value - other) * scale).toFixed(2)})`;
}

/** Formats the table of budgets. */
export function budgetTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ says, value, goal, limit, kept, reached }) => [
    says,
    value === null ? 'skipped' : value.toFixed(2),
    String(goal),
    String(limit),
    value === null ? '' : !kept ? 'EXCEEDED' : reached ? 'reached' : 'within the limit',
  ]);
  return aligned([['budget', 'measured', 'goal', 'limit', ''], ...rows]);
}

/** Aligns the columns of a table, the first one to the left. */
export function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((text, at) => (at === 0 ? text.padEnd(widths[at] ?? 0) : text.padStart(widths[at] ?? 0)))
        .join('  '),
    )
    .map((line) => `  ${line}`.trimEnd())
    .join('\n');
}
