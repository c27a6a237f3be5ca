// `dragoman usage`: usage over time, grouped by any dimension, as a table, JSON or CSV. Reads the data directory, also
// of a running gateway, including its latest records.
import { printableLines } from '../../../base/lib/printable.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import { GatewayError } from '../../../canonical/index.ts';
import { usdOf } from '../../../accounts/limits/index.ts';
import { systemClock } from '../../../base/runtime/clock.ts';
import {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageRow,
  type Storage,
  type UsageStore,
} from '../../../accounts/ports/index.ts';
import {
  END_USER_COLUMNS,
  endUserEntry,
  inputTokensIn,
  intervalAt,
  isMinutes,
  knownUsd,
  MINUTES_KEPT_MS,
  outputTokensIn,
  startOfDay,
  USAGE_COLUMNS,
  USAGE_INTERVALS,
  type UsageInterval,
  UTC,
  usageCsv,
  usageEntry,
} from '../../../accounts/usage/index.ts';
import { jsonText, type Arguments, parseArguments, printRows, type RunCommand } from '../command.ts';
import { USAGE_OPTIONS } from '../options.ts';
import { openStorage } from '../compose/open-storage.ts';
import { UsageNames } from './usage-names.ts';
import type { Config } from '../../config/index.ts';
import type { UnixMs } from '../../../base/units.ts';

const SINCE = '7d';
const DAY_MS = 86_400_000;
const UNITS: Readonly<Record<string, number>> = { h: 3_600_000, d: 86_400_000, w: 7 * 86_400_000 };
/** Columns of a table; JSON and CSV contain all members. */
const SHOWN = [
  'requests',
  'failed',
  'refused',
  'cancelled',
  'input',
  'cached',
  'output',
  'usd',
  'saved',
  'unpriced',
] as const;
/** Additional columns when attempts are counted. */
const ATTEMPTS = ['attempts', 'attempts failed'] as const;
const END_USER = 'end_user';

export const usage: RunCommand = async (argv) => {
  const args = parseArguments(argv, USAGE_OPTIONS);
  const nowMs = systemClock.wall();
  const { config } = args.load();
  const { timezone } = config.server;
  const now: Now = { nowMs, timeZone: timezone };
  const times = {
    fromMs: timeOf('since', args.option('since') ?? SINCE, now),
    toMs: timeOf('until', args.option('until') ?? new Date(nowMs).toISOString(), now),
  };
  const storage = await openStorage(config, (sentence) => void process.stderr.write(`${sentence}\n`));
  try {
    const recounted = args.option('recount');
    if (recounted !== undefined) {
      const day = Math.floor(timeOf('recount', recounted, { nowMs, timeZone: UTC }) / DAY_MS);
      const records = await storage.usage.recount(day);
      process.stdout.write(`Recomputed the sums of ${dayName(day)} from ${records} records.\n`);
      return 0;
    }
    const isByEndUser = args.option('by') === END_USER;
    const { tenants, filters } = await tenantNames(storage, config, args);
    const asked: UsageRequest = { ...times, ...now, filters, tenants };
    await (isByEndUser ? printEndUsers : printUsage)(storage.usage, asked, args);
  } finally {
    await storage.close();
  }
  return 0;
};

function dayName(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

interface Times {
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
}

/** The current time, and the time zone of days. */
interface Now {
  readonly nowMs: UnixMs;
  readonly timeZone: string;
}

interface UsageRequest extends Times, Now {
  readonly filters: ReturnType<typeof filtersOf>;
  readonly tenants: UsageNames;
}

/** Names of keys and projects, and the filters with names resolved to ids. */
async function tenantNames(
  storage: Storage,
  config: Config,
  args: Arguments,
): Promise<Pick<UsageRequest, 'filters' | 'tenants'>> {
  const tenants = await UsageNames.read(storage, config);
  const filters = filtersOf(args);
  return {
    tenants,
    filters: { ...filters, ...(filters.key && { key: filters.key.flatMap(tenants.keyIds) }) },
  };
}

async function printUsage(
  store: UsageStore,
  { filters, tenants, timeZone, nowMs, ...times }: UsageRequest,
  args: Arguments,
): Promise<void> {
  const groupBy = listOf(args.option('by')).map(dimensionOf);
  const interval = intervalOf(args.option('every'));
  if (isMinutes(interval) && times.fromMs < nowMs - MINUTES_KEPT_MS)
    throw new GatewayError(
      'invalid_request',
      `--every ${interval}: supports only the last two days; use --since 24h`,
    );
  const { rows } = await store.query({ ...times, groupBy, interval, timeZone, filters });
  const names = [...(interval ? ['start'] : []), ...groupBy];
  const isByPlace = groupBy.includes('provider') || groupBy.includes('endpoint');
  print(
    args,
    [...names, ...USAGE_COLUMNS],
    rows.map((row) => ({ ...namesOf(row), ...usageEntry(row.sums) })),
    [...names, ...SHOWN.slice(0, 1), ...(isByPlace ? ATTEMPTS : []), ...SHOWN.slice(1)],
    rows.map((row) => ({ ...tenants.shown(namesOf(row), args.flag('ids')), ...shownOf(row) })),
  );
  if (args.flag('csv') || args.json || rows.length === 0) return;
  process.stdout.write(`\n${footer(rows, { ...times, timeZone })}\n`);
}

/** Title of the table, and what its sums exclude. */
function footer(
  rows: readonly UsageRow[],
  { fromMs, toMs, timeZone }: Times & Pick<Now, 'timeZone'>,
): string {
  const time = (ms: number): string => new Date(ms).toISOString().slice(0, 16).replace('T', ' ');
  const unpriced = rows.reduce((sum, { sums }) => sum + sums.counts.unpriced, 0);
  const lacks =
    unpriced === 0
      ? ''
      : ` ${unpriced} ${unpriced === 1 ? 'request has' : 'requests have'} no known price and ${unpriced === 1 ? 'is' : 'are'} not included in USD.`;
  return `From ${time(fromMs)} to ${time(toMs)} UTC. Days are in the time zone ${timeZone}.${lacks}`;
}

async function printEndUsers(
  store: UsageStore,
  { filters, tenants, fromMs, toMs }: UsageRequest,
  args: Arguments,
): Promise<void> {
  const { project, key, model } = filters;
  const rows = await store.endUsers({ fromMs, toMs, filters: { project, key, model } });
  const entries = rows.map(endUserEntry);
  const all = entries.map((entry) => ({ ...entry, end_user: entry.end_user ?? '(others)' }));
  const shown = all.map((entry) => tenants.shown(entry, args.flag('ids')));
  const columns = END_USER_COLUMNS.filter((name) => name !== 'nano_usd');
  print(args, columns, all, columns, shown);
}

function print(
  args: Arguments,
  allColumns: readonly string[],
  all: readonly JsonObject[],
  columns: readonly string[],
  rows: readonly JsonObject[],
): void {
  if (args.flag('csv')) process.stdout.write(printableLines(usageCsv(allColumns, all)));
  else if (args.json) process.stdout.write(jsonText(all));
  else if (rows.length === 0) process.stdout.write('No usage in this period.\n');
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
    attempts: counts.attempts,
    'attempts failed': counts.failed_attempts,
    failed: counts.failed,
    refused: counts.refused,
    cancelled: counts.cancelled,
    input: inputTokensIn(counts),
    cached: counts.input_cache_read,
    output: outputTokensIn(counts),
    usd: knownUsd(counts) ?? 'unknown',
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
  throw new GatewayError('invalid_request', `--by: must be ${known} (got "${name}")`);
}

function intervalOf(text: string | undefined): UsageInterval | null {
  if (text === undefined) return null;
  const interval = USAGE_INTERVALS.find((each) => each === text);
  if (interval) return interval;
  throw new GatewayError(
    'invalid_request',
    `--every: must be one of ${USAGE_INTERVALS.join(', ')} (got "${text}")`,
  );
}

/** Unix milliseconds of a date, a named day, or a duration ago. Time zone of days: `server.timezone`. */
function timeOf(option: string, text: string, { nowMs, timeZone }: Now): UnixMs {
  const today = intervalAt(nowMs, 'day', timeZone).startMs;
  if (text === 'today') return today;
  if (text === 'yesterday') return intervalAt(today - 1, 'day', timeZone).startMs;
  const [, count, unit = ''] = /^(\d{1,6})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return nowMs - Number(count) * (UNITS[unit] ?? 0);
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));
  const ms = isDay ? startOfDay(text, timeZone) : Date.parse(text);
  if (!Number.isNaN(ms)) return ms;
  throw new GatewayError(
    'invalid_request',
    `--${option}: must be today, yesterday, a date such as 2027-01-31, or a duration such as 24h, 7d or 4w (got "${text}")`,
  );
}
