// `dragoman usage`: what requests came to, over time and by whatever they have, as a table, JSON or CSV. Reads the data
// directory, also beside a running gateway, and sees what that has just written.
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import { usdOf } from '../../limits/index.ts';
import { systemClock } from '../../runtime/clock.ts';
import {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageRow,
  type UsageStore,
} from '../../storage/ports.ts';
import {
  END_USER_COLUMNS,
  endUserEntry,
  inputTokensIn,
  outputTokensIn,
  USAGE_COLUMNS,
  usageCsv,
  usageEntry,
} from '../../usage/index.ts';
import { type Arguments, parseArguments, printRows, type RunCommand } from '../command.ts';
import { openStorage } from '../compose/open-storage.ts';

const SINCE = '7d';
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
const INTERVALS = ['hour', 'day', 'month'] as const;
/** What a table shows; JSON and CSV have all that is known. */
const SHOWN = ['requests', 'errors', 'input', 'cached', 'output', 'usd', 'saved', 'unpriced'] as const;
const END_USER = 'end_user';

export const usage: RunCommand = async (argv) => {
  const args = parseArguments(argv, {
    by: { type: 'string' },
    since: { type: 'string' },
    until: { type: 'string' },
    every: { type: 'string' },
    csv: { type: 'boolean' },
    ...Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, { type: 'string' as const }])),
  });
  const nowMs = systemClock.now();
  const times = {
    fromMs: timeOf('since', args.option('since') ?? SINCE, nowMs),
    toMs: timeOf('until', args.option('until') ?? new Date(nowMs).toISOString(), nowMs),
  };
  const { config } = args.load();
  const storage = await openStorage(config, (sentence) => void process.stderr.write(`${sentence}\n`));
  try {
    const isByEndUser = args.option('by') === END_USER;
    const complete = await (isByEndUser ? printEndUsers : printUsage)(storage.usage, times, args);
    if (!complete)
      process.stderr.write(
        'Records of before this version kept sums are still being added up: more will come.\n',
      );
  } finally {
    await storage.close();
  }
  return 0;
};

interface Times {
  readonly fromMs: number;
  readonly toMs: number;
}

/** @returns whether all records are in it */
async function printUsage(store: UsageStore, times: Times, args: Arguments): Promise<boolean> {
  const groupBy = listOf(args.option('by')).map(dimensionOf);
  const interval = intervalOf(args.option('every'));
  const { rows, complete } = await store.query({ ...times, groupBy, interval, filters: filtersOf(args) });
  const names = [...(interval ? ['start'] : []), ...groupBy];
  print(
    args,
    [...names, ...USAGE_COLUMNS],
    rows.map((row) => ({ ...namesOf(row), ...usageEntry(row.sums) })),
    [...names, ...SHOWN],
    rows.map((row) => ({ ...namesOf(row), ...shownOf(row) })),
  );
  return complete;
}

async function printEndUsers(store: UsageStore, times: Times, args: Arguments): Promise<boolean> {
  const { project, key, model } = filtersOf(args);
  const { rows, complete } = await store.endUsers({ ...times, filters: { project, key, model } });
  const entries = rows.map(endUserEntry);
  const shown = entries.map((entry) => ({ ...entry, end_user: entry.end_user ?? '(others)' }));
  const columns = END_USER_COLUMNS.filter((name) => name !== 'nano_usd');
  print(args, columns, shown, columns, shown);
  return complete;
}

function print(
  args: Arguments,
  allColumns: readonly string[],
  all: readonly JsonObject[],
  columns: readonly string[],
  rows: readonly JsonObject[],
): void {
  if (args.flag('csv')) process.stdout.write(usageCsv(allColumns, all));
  else if (args.json) process.stdout.write(`${JSON.stringify(all, null, 2)}\n`);
  else if (rows.length === 0) process.stdout.write('Nothing was used in that time.\n');
  else
    printRows(
      rows.map((row) => ({ ...row, ...dollars(row, 'usd'), ...dollars(row, 'saved') })),
      columns,
      false,
    );
}

function namesOf({ startMs, group }: UsageRow): JsonObject {
  return { ...(startMs !== null && { start: new Date(startMs).toISOString().slice(0, 16) }), ...group };
}

function shownOf({ sums: { counts } }: UsageRow): JsonObject {
  return {
    requests: counts.requests,
    errors: counts.errors,
    input: inputTokensIn(counts),
    cached: counts.input_cache_read,
    output: outputTokensIn(counts),
    usd: usdOf(counts.nano_usd),
    saved: usdOf(counts.cache_saved_nano_usd),
    unpriced: counts.unpriced,
  };
}

function dollars(row: JsonObject, name: string): JsonObject {
  const usd = row[name];
  return typeof usd === 'number' ? { [name]: usd.toFixed(usd < 1 ? 6 : 2) } : {};
}

function filtersOf(args: Arguments): { readonly [name in UsageDimension]?: readonly string[] } {
  const given = USAGE_DIMENSIONS.filter((name) => args.option(name) !== undefined);
  return Object.fromEntries(given.map((name) => [name, listOf(args.option(name))]));
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

function dimensionOf(name: string): UsageDimension {
  const dimension = USAGE_DIMENSIONS.find((each) => each === name);
  if (dimension) return dimension;
  const known = `${USAGE_DIMENSIONS.join(', ')}, or ${END_USER} alone`;
  throw new GatewayError('invalid_request', `--by: there is no "${name}"; use ${known}`);
}

function intervalOf(text: string | undefined): (typeof INTERVALS)[number] | null {
  if (text === undefined) return null;
  const interval = INTERVALS.find((each) => each === text);
  if (interval) return interval;
  throw new GatewayError('invalid_request', `--every: there is no "${text}"; use ${INTERVALS.join(', ')}`);
}

/** Unix milliseconds of a date, or of so long ago. */
function timeOf(option: string, text: string, nowMs: number): number {
  const [, count, unit = ''] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  const ms = count === undefined ? Date.parse(text) : nowMs - Number(count) * (UNITS[unit] ?? 0);
  if (!Number.isNaN(ms)) return ms;
  throw new GatewayError(
    'invalid_request',
    `--${option}: "${text}" is neither a date such as 2027-01-31 nor a time such as 24h, 7d or 4w`,
  );
}
