// Sums of requests by time and dimensions, as JSON or CSV.
import { z } from 'zod';
import type { JsonObject } from '../../../base/json/index.ts';
import { GatewayError, TEXTS } from '../../../canonical/index.ts';
import {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageQuery,
  type UsageReport,
  type UsageRow,
  type UsageStore,
} from '../../../accounts/ports/index.ts';
import {
  addUsageSums,
  END_USER_COLUMNS,
  endUserEntry,
  noUsageSums,
  sumsOf,
  USAGE_COLUMNS,
  isMinutes,
  MINUTES_KEPT_MS,
  USAGE_ENTRIES,
  USAGE_INTERVALS,
  usageCsv,
  usageEntry,
} from '../../../accounts/usage/index.ts';
import { route, type Route } from '../route.ts';
import { isoTime, type Moment, momentMs, time } from '../time.ts';
import type { UnixMs } from '../../../base/units.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const USUAL_MS = 7 * DAY_MS;

const count = z.number();
const COLUMN = 'Absent if `columns` does not include it.';
const nullableCount = z.number().nullable();
const rowSchema = z.looseObject({
  start: z.iso.datetime().nullable().describe('Start of the interval; null: no interval was requested.'),
  ...Object.fromEntries(
    USAGE_DIMENSIONS.map((name) => [name, z.string().nullable().optional().describe('If requested.')]),
  ),
  ...Object.fromEntries(USAGE_COLUMNS.map((name) => [name, nullableCount.optional().describe(COLUMN)])),
  usd: nullableCount
    .optional()
    .describe('USD of requests with a known price; null: none. Does not include `unpriced_requests`.'),
  cache_saved_usd: count.optional().describe(COLUMN),
  duration_ms_p95: nullableCount.optional().describe(COLUMN),
  first_content_ms_p95: nullableCount.optional().describe(COLUMN),
  errors_by_kind: z.record(z.string(), z.number()).optional().describe(COLUMN),
  tools: z.record(z.string(), z.number()).optional().describe(COLUMN),
});

const totalsSchema = z.object({
  all: rowSchema.nullable().describe('Total; null: no requests.'),
  groups: z.array(rowSchema).describe('Of all groups, including those that `largest` omits.'),
});

const endUserSchema = z.object({
  project: z.string(),
  end_user: z
    .string()
    .nullable()
    .describe(
      'As records have it: a hash. Null: all others of the project, where an hour has more than 10,000, or the response has too many rows.',
    ),
  requests: count,
  errors: count,
  input: count.describe('Tokens.'),
  output: count.describe('Tokens.'),
  nano_usd: count,
  usd: nullableCount.describe(TEXTS.noKnownPrice),
  unpriced_requests: count,
});

const filter = z.string().optional().describe('Only these values, separated by commas.');

const TIMES = {
  from: time.optional().describe('Default: a week ago. Days begin in `server.timezone`.'),
  to: time.optional().describe('Default: now.'),
};
const FORMAT = { format: z.enum(['json', 'csv']).optional() };
const complete = z.boolean().describe('Always true: sums include a record as soon as it is in the database.');

export const USAGE_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/usage',
    tag: 'Usage',
    summary: 'Returns requests, tokens, cost, errors and latencies, by time and other dimensions.',
    description:
      'Times are extended to whole hours or intervals. Days and months are in `server.timezone`. `format=csv` or `Accept: text/csv` returns CSV.',
    query: z.strictObject({
      ...TIMES,
      interval: z
        .enum(USAGE_INTERVALS)
        .optional()
        .describe(
          'One row for each interval; absent: one row for the whole period. Minutes are available for the last two days.',
        ),
      compare: z
        .enum(['true', 'false'])
        .optional()
        .describe('`true`: also return the preceding period of the same length. Not in CSV.'),
      group_by: z
        .string()
        .optional()
        .refine((text) => text === undefined || namesIn(text).every(isDimension), {
          error: TEXTS.mustBeSomeOf(USAGE_DIMENSIONS),
        })
        .meta({ pattern: namesPattern(USAGE_DIMENSIONS) })
        .describe(`Any of ${USAGE_DIMENSIONS.join(', ')}, separated by commas.`),
      ...Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, filter])),
      largest: z.coerce
        .number()
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe('Return only this number of groups: the largest. Requires exactly one name in `group_by`.'),
      largest_by: z
        .enum(['requests', 'usd'])
        .default('requests')
        .describe('Size of a group: its requests, or its known cost.'),
      columns: z
        .string()
        .optional()
        .refine((text) => text === undefined || namesIn(text).every((name) => USAGE_ENTRIES.includes(name)), {
          error: 'must be names of columns, separated by commas',
        })
        .meta({ pattern: namesPattern(USAGE_ENTRIES) })
        .describe('Only these columns, separated by commas; fewer are faster. Default: all.'),
      totals: z
        .enum(['true', 'false'])
        .optional()
        .describe('`true`: also return totals of the whole period. Not in CSV.'),
      ...FORMAT,
    }),
    answer: z.object({
      object: z.literal('usage'),
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      timezone: z.string().describe('Time zone of days and months.'),
      complete,
      before: z
        .object({ from: z.iso.datetime(), to: z.iso.datetime(), all: rowSchema.nullable() })
        .optional()
        .describe('The preceding period, if requested. `all` is null if it has no requests.'),
      data: z.array(rowSchema).describe('By time, then by cost in descending order.'),
      totals: totalsSchema.optional().describe('If requested.'),
    }),
    alsoAs: { 'text/csv': z.string() },
    run: async ({ deps, query, now, accept, timeZone }) => {
      const groupBy = namesIn(query.group_by).filter(isDimension);
      const columns = query.columns === undefined ? undefined : namesIn(query.columns);
      const isTable = wantsCsv(query, accept);
      const several = isTable && columns?.find((name) => !USAGE_COLUMNS.includes(name));
      if (several)
        throw new GatewayError('invalid_request', `columns: CSV does not support ${several}`, {
          param: 'columns',
        });
      const times = timesOf(query, now, timeZone);
      const interval = query.interval ?? null;
      const byMinutes = isMinutes(interval);
      if (byMinutes && times.fromMs < now - MINUTES_KEPT_MS)
        throw new GatewayError(
          'invalid_request',
          `interval: ${interval} is available for the last two days only; use \`hour\`, or \`from\` at ${isoTime(now - MINUTES_KEPT_MS)} or later`,
          { param: 'interval' },
        );
      const asked: UsageQuery = {
        ...times,
        groupBy,
        filters: filtersOf(query),
        interval,
        timeZone,
        byMinutes,
        ...(columns && { wanted: sumsOf(columns) }),
      };
      const { report, whole } = await reportOf(deps.usage, asked, query, query.totals === 'true');
      const { rows, fromMs, toMs } = report;
      const data = rows.map((row) => entryOf(row, columns));
      if (isTable)
        return csv([...(query.interval ? ['start'] : []), ...groupBy, ...(columns ?? USAGE_COLUMNS)], data);
      return {
        object: 'usage' as const,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        timezone: timeZone,
        complete: true,
        ...(query.compare === 'true' && { before: await beforeOf(deps.usage, asked, columns, now) }),
        data: data as z.input<typeof rowSchema>[],
        ...(whole && { totals: totalsOf(whole, columns) }),
      };
    },
  }),
  route({
    method: 'get',
    path: '/usage/end-users',
    tag: 'Usage',
    summary: 'Returns requests, tokens and cost by end user.',
    description: 'Times are extended to whole hours. `format=csv` or `Accept: text/csv` returns CSV.',
    query: z.strictObject({ ...TIMES, project: filter, key: filter, model: filter, ...FORMAT }),
    answer: z.object({
      object: z.literal('usage.end_users'),
      complete,
      data: z
        .array(endUserSchema)
        .describe('By cost, the largest first: at most 10,000 end users, and the others together.'),
    }),
    alsoAs: { 'text/csv': z.string() },
    run: async ({ deps, query, now, accept, timeZone }) => {
      const found = await deps.usage.endUsers({
        ...timesOf(query, now, timeZone),
        filters: filtersOf(query),
      });
      const data = found.map(endUserEntry);
      if (wantsCsv(query, accept)) return csv(END_USER_COLUMNS, data);
      return { object: 'usage.end_users' as const, complete: true, data };
    },
  }),
];

/**
 * Sums, and optionally those of the whole time, which also determine the largest groups.
 * @param largest number of groups to return rows for; undefined: all
 * @throws GatewayError `invalid_request` if `largest` is used with several dimensions or none
 */
async function reportOf(
  usage: UsageStore,
  asked: UsageQuery,
  {
    largest,
    largest_by: by,
  }: { readonly largest?: number | undefined; readonly largest_by: 'requests' | 'usd' },
  hasTotals: boolean,
): Promise<{ readonly report: UsageReport; readonly whole: readonly UsageRow[] | null }> {
  const [dimension, another] = asked.groupBy;
  if (largest !== undefined && (dimension === undefined || another !== undefined))
    throw new GatewayError('invalid_request', 'largest: requires exactly one name in `group_by`', {
      param: 'largest',
    });
  if (largest === undefined && !hasTotals) return { report: await usage.query(asked), whole: null };
  const all = await usage.query({ ...asked, interval: null });
  const whole = hasTotals ? all.rows : null;
  if (dimension === undefined || largest === undefined)
    return { report: asked.interval === null ? all : await usage.query(asked), whole };
  const measure = by === 'usd' ? 'nano_usd' : 'requests';
  const names = all.rows
    .toSorted((a, b) => b.sums.counts[measure] - a.sums.counts[measure])
    .slice(0, largest)
    .map(({ group }) => group[dimension] ?? '');
  const filters = { ...asked.filters, [dimension]: names };
  return { report: await usage.query({ ...asked, filters }), whole };
}

function totalsOf(
  groups: readonly UsageRow[],
  columns: readonly string[] | undefined,
): z.input<typeof totalsSchema> {
  const sums = noUsageSums();
  for (const group of groups) addUsageSums(sums, group.sums);
  const all = groups.length === 0 ? null : entryOf({ startMs: null, group: {}, sums }, columns);
  return { all, groups: groups.map((row) => entryOf(row, columns)) } as z.input<typeof totalsSchema>;
}

/** Query parameters with different defaults. */
interface ReportQuery {
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
  readonly format?: 'json' | 'csv' | undefined;
}

function timesOf(
  { from, to }: ReportQuery,
  now: UnixMs,
  timeZone: string,
): { readonly fromMs: UnixMs; readonly toMs: UnixMs } {
  return { fromMs: momentMs(from, timeZone) ?? now - USUAL_MS, toMs: momentMs(to, timeZone) ?? now };
}

/** Sums of the preceding period of the same length. */
async function beforeOf(
  usage: UsageStore,
  asked: UsageQuery,
  columns: readonly string[] | undefined,
  now: UnixMs,
): Promise<{ from: string; to: string; all: z.input<typeof rowSchema> | null }> {
  const { byMinutes = false } = asked;
  const step = byMinutes ? 1 : HOUR_MS;
  const toMs = Math.floor(asked.fromMs / step) * step;
  const times = { fromMs: toMs - (asked.toMs - asked.fromMs), toMs };
  const hasMinutes = byMinutes && times.fromMs >= now - MINUTES_KEPT_MS;
  const { rows } = await usage.query({
    ...asked,
    ...times,
    interval: null,
    groupBy: [],
    byMinutes: hasMinutes,
  });
  const [row] = rows;
  return {
    from: new Date(times.fromMs).toISOString(),
    to: new Date(times.toMs).toISOString(),
    all: row ? (entryOf(row, columns) as z.input<typeof rowSchema>) : null,
  };
}

function filtersOf(query: object): { readonly [name in UsageDimension]?: readonly string[] } {
  const given = query as Readonly<Record<string, unknown>>;
  const filters = USAGE_DIMENSIONS.filter((name) => given[name] !== undefined);
  return Object.fromEntries(filters.map((name) => [name, namesIn(String(given[name]))]));
}

function wantsCsv({ format }: ReportQuery, accept: string): boolean {
  return format === 'csv' || (format === undefined && accept.startsWith('text/csv'));
}

function entryOf({ startMs, group, sums }: UsageRow, columns: readonly string[] | undefined): JsonObject {
  return { start: isoTime(startMs), ...group, ...usageEntry(sums, columns) };
}

function csv(columns: readonly string[], rows: readonly JsonObject[]): Response {
  return new Response(usageCsv(columns, rows), {
    headers: {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': 'attachment; filename="usage.csv"',
    },
  });
}

/** Description of a comma-separated list of these names. */
function namesPattern(names: readonly string[]): string {
  const name = ` *(?:${names.join('|')})? *`;
  return `^${name}(?:,${name})*$`;
}

function namesIn(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function isDimension(name: string): name is UsageDimension {
  return USAGE_DIMENSIONS.some((dimension) => dimension === name);
}
