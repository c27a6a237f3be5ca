// Table of `/route/explain` as text for a terminal: aligned, fitted to its width, optionally coloured. Tolerates tables
// of other versions.
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../../base/json/index.ts';
import { padColumns } from '../command.ts';
import { modelLines, withoutModelsWords } from './route-models-text.ts';
import { painter, rounded, rowsOf, shown, UNKNOWN, wrap, type Colour, type Painter } from './format-value.ts';

export interface RouteTextOptions {
  /** Characters per line. Null: unlimited. */
  readonly width: number | null;
  readonly colour: boolean;
}

const GAP = '  ';
/** Minimum width of a reason; less important columns are dropped first. */
const LEAST_REASON = 28;
/** Maximum lines about excluded models and endpoints, because an open choice excludes hundreds. */
const MOST_EXCLUDED = 30;

interface Column {
  readonly title: string;
  readonly cell: (candidate: JsonObject) => string;
  /** Columns with higher numbers are dropped first on a narrow terminal. 0: never. */
  readonly dispensable: number;
}

const COLUMNS: readonly Column[] = [
  { title: '#', dispensable: 0, cell: (row) => shown(row['position']) },
  { title: 'ENDPOINT', dispensable: 0, cell: (row) => shown(row['endpoint']) },
  { title: 'MODEL', dispensable: 1, cell: (row) => shown(row['model']) },
  { title: 'SCORE', dispensable: 2, cell: (row) => rounded(row['score'], 2) },
  { title: 'STATE', dispensable: 3, cell: (row) => stateWord(row['state']) },
  { title: '$/M IN+OUT', dispensable: 4, cell: (row) => priceText(row['price']) },
  { title: 'TTFT', dispensable: 5, cell: (row) => rounded(row['first_token_ms'], 0, ' ms') },
  { title: 'DURATION', dispensable: 6, cell: (row) => rounded(row['answer_ms'], 0, ' ms') },
  { title: 'TOK/S', dispensable: 7, cell: (row) => rounded(row['tokens_per_second'], 0) },
  { title: 'SUCCESS', dispensable: 8, cell: (row) => percent(row['success_rate']) },
  { title: 'RUNNING', dispensable: 9, cell: (row) => shown(row['in_flight']) },
  { title: 'CACHE', dispensable: 10, cell: cacheText },
];

/** True for an answer of `/route/explain`. */
export function isRouteTable(value: unknown): value is JsonObject {
  return isJsonObject(value) && isJsonArray(value['candidates']) && isJsonArray(value['excluded']);
}

/** The whole text, ending in a newline. */
export function routeText(table: JsonObject, options: RouteTextOptions): string {
  const candidates = rowsOf(table['candidates']).map((row) => withoutModelsWords(row, table['models']));
  const excluded = rowsOf(table['excluded']);
  const paint = painter(options.colour);
  const lines = [
    ...wrap(`${shown(table['requested_model'])}: ${strategyText(table['strategy'])}`, options.width),
  ];
  lines.push(...modelLines(table['models'], options.width, paint));
  const limits = table['limits'];
  const refused = isJsonObject(limits) ? limits['refused'] : null;
  if (isJsonObject(refused)) lines.push(...wrap(`Refused now: ${shown(refused['message'])}`, options.width));
  lines.push('', ...candidateLines(candidates, options.width, paint));
  if (excluded.length > 0) {
    const first = excluded.slice(0, MOST_EXCLUDED);
    lines.push('', 'Not tried:', ...excludedLines(first, options.width, paint));
  }
  if (excluded.length > MOST_EXCLUDED)
    lines.push(`${GAP}… and ${excluded.length - MOST_EXCLUDED} more (--json shows all)`);
  return `${lines.join('\n')}\n`;
}

function candidateLines(
  candidates: readonly JsonObject[],
  width: number | null,
  paint: Painter,
): readonly string[] {
  const columns = fittingColumns(candidates, width);
  const cells = [
    columns.map((column) => column.title),
    ...candidates.map((row) => columns.map((column) => column.cell(row))),
  ];
  const reasons = ['WHY', ...candidates.map((row) => shown(row['reason']))];
  const state = columns.findIndex((column) => column.title === 'STATE');
  return padColumns(cells).flatMap((row, at) => {
    const indent = row.join(GAP).length + GAP.length;
    const painted = row.map((cell, index) => {
      if (at === 0) return paint('dim', cell);
      return index === state ? paint(STATE_COLOURS.get(cell.trim()) ?? 'plain', cell) : cell;
    });
    const [first = '', ...more] = wrap(reasons[at] ?? '', width === null ? null : width - indent);
    const shownFirst = at === 0 ? paint('dim', first) : first;
    return [
      `${painted.join(GAP)}${GAP}${shownFirst}`.trimEnd(),
      ...more.map((line) => ' '.repeat(indent) + line),
    ];
  });
}

/** Non-empty columns, without the least important ones on a narrow terminal. */
function fittingColumns(candidates: readonly JsonObject[], width: number | null): readonly Column[] {
  let columns = COLUMNS.filter(
    ({ dispensable, cell }) => dispensable === 0 || candidates.some((row) => cell(row) !== UNKNOWN),
  );
  const taken = (): number =>
    columns.reduce(
      (sum, { title, cell }) =>
        sum + GAP.length + Math.max(title.length, ...candidates.map((row) => cell(row).length)),
      0,
    );
  while (width !== null && taken() + LEAST_REASON > width) {
    const least = Math.max(...columns.map((column) => column.dispensable));
    if (least === 0) break;
    columns = columns.filter((column) => column.dispensable !== least);
  }
  return columns;
}

function excludedLines(
  excluded: readonly JsonObject[],
  width: number | null,
  paint: Painter,
): readonly string[] {
  const cells = excluded.map((row) => [
    row['endpoint'] === null ? '(all)' : shown(row['endpoint']),
    shown(row['model']),
  ]);
  return padColumns(cells).flatMap((row, at) => {
    const start = GAP + row.join(GAP) + GAP;
    const reason = shown(excluded[at]?.['reason']);
    const [first = '', ...more] = wrap(reason, width === null ? null : width - start.length);
    return [
      start + paint('dim', first),
      ...more.map((line) => ' '.repeat(start.length) + paint('dim', line)),
    ];
  });
}

/** `priority by cost, fallback on, stream safety error, hedge off`. */
function strategyText(strategy: JsonValue | undefined): string {
  if (!isJsonObject(strategy)) return UNKNOWN;
  const factor = strategy['primary_factor'];
  return [
    typeof factor === 'string' ? `${shown(strategy['type'])} by ${shown(factor)}` : shown(strategy['type']),
    `fallback ${switchText(strategy['fallback'])}`,
    `stream safety ${shown(strategy['stream_safety'])}`,
    `hedge ${switchText(strategy['hedge'])}`,
  ].join(', ');
}

function switchText(value: JsonValue | undefined): string {
  if (isJsonArray(value)) return `to ${value.map(shown).join(', ')}`;
  return value === true ? 'on' : value === false ? 'off' : shown(value);
}

const STATE_WORDS: ReadonlyMap<JsonValue | undefined, string> = new Map([
  ['closed', 'ok'],
  ['open', 'unavailable'],
  ['half-open', 'recovering'],
]);
const STATE_COLOURS: ReadonlyMap<string, Colour> = new Map([
  ['ok', 'green'],
  ['unavailable', 'red'],
  ['recovering', 'yellow'],
]);

function stateWord(state: JsonValue | undefined): string {
  return STATE_WORDS.get(state) ?? shown(state);
}

function priceText(price: JsonValue | undefined): string {
  return isJsonObject(price) ? `${shown(price['input'])}+${shown(price['output'])}` : UNKNOWN;
}

function cacheText(row: JsonObject): string {
  const rate = percent(row['cache_hit_rate']);
  if (row['holds_cache'] !== true) return rate;
  return rate === UNKNOWN ? 'cached' : `cached, ${rate}`;
}

/** Rounded down: one failure in a thousand is not 100 %. The small addend compensates for binary fractions. */
function percent(value: JsonValue | undefined): string {
  return typeof value === 'number' ? `${Math.floor(value * 100 + 1e-9)} %` : UNKNOWN;
}
