// What requests came to, over time and by whatever they have: sums that are exact, as JSON or CSV.
import { z } from 'zod';
import { GatewayError, type JsonObject } from '../../canonical/index.ts';
import {
  USAGE_DIMENSIONS,
  type UsageDimension,
  type UsageQuery,
  type UsageReport,
  type UsageRow,
  type UsageStore,
} from '../../storage/ports.ts';
import {
  addUsageSums,
  END_USER_COLUMNS,
  endUserEntry,
  noUsageSums,
  sumsOf,
  USAGE_COLUMNS,
  USAGE_COUNTS,
  USAGE_ENTRIES,
  usageCsv,
  usageEntry,
} from '../../usage/index.ts';
import { route, type Route } from '../route.ts';
import { isoTime, time } from '../time.ts';

const DAY_MS = 24 * 3_600_000;
const USUAL_MS = 7 * DAY_MS;
const INTERVALS = ['hour', 'day', 'month'] as const;

const count = z.number();
const COLUMN = 'Unless `columns` leaves it out.';
const nullableCount = z.number().nullable();
const rowSchema = z.looseObject({
  start: z.iso.datetime().nullable().describe('Of the interval; null where no interval was asked for.'),
  ...Object.fromEntries(
    USAGE_DIMENSIONS.map((name) => [
      name,
      z.string().nullable().optional().describe('Where it was asked for.'),
    ]),
  ),
  ...Object.fromEntries(USAGE_COUNTS.map((name) => [name, count.optional().describe(COLUMN)])),
  usd: count.optional().describe(COLUMN),
  cache_saved_usd: count.optional().describe(COLUMN),
  duration_ms_p95: nullableCount.optional().describe(COLUMN),
  first_content_ms_p95: nullableCount.optional().describe(COLUMN),
  errors_by_kind: z.record(z.string(), z.number()).optional().describe(COLUMN),
  tools: z.record(z.string(), z.number()).optional().describe(COLUMN),
});

const totalsSchema = z.object({
  all: rowSchema.nullable().describe('Of everything; null where there was nothing.'),
  groups: z.array(rowSchema).describe('Of every group, also of those that `largest` leaves out.'),
});

const endUserSchema = z.object({
  project: z.string(),
  end_user: z
    .string()
    .nullable()
    .describe('As records have it: a hash. Null: those for whom an hour had no room (10,000 for a project).'),
  requests: count,
  errors: count,
  input: count.describe('Tokens.'),
  output: count.describe('Tokens.'),
  nano_usd: count,
  usd: count,
  unpriced: count,
});

const filter = z.string().optional().describe('Only these: one or several, behind commas.');

const TIMES = {
  from: time.optional().describe('A week ago unless given.'),
  to: time.optional().describe('Now unless given.'),
};
const FORMAT = { format: z.enum(['json', 'csv']).optional() };
const complete = z
  .boolean()
  .describe('False while records of before there were sums are still being added up.');

export const USAGE_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/usage',
    tag: 'Usage',
    summary:
      'Requests, tokens, money, errors and latencies, summed up over time and by whatever requests have.',
    description:
      'Times are widened to whole hours, or to whole intervals in UTC. `format=csv`, or `Accept: text/csv`, gives a table.',
    query: z.strictObject({
      ...TIMES,
      interval: z.enum(INTERVALS).optional().describe('A row for each; absent: all the time together.'),
      group_by: z
        .string()
        .optional()
        .refine((text) => text === undefined || namesIn(text).every(isDimension), {
          error: `must be some of ${USAGE_DIMENSIONS.join(', ')}, behind commas`,
        })
        .describe(`Any of ${USAGE_DIMENSIONS.join(', ')}, behind commas.`),
      ...Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, filter])),
      largest: z.coerce
        .number()
        .int()
        .min(1)
        .max(100)
        .optional()
        .describe('Rows of so many groups only: those with the most requests. With one name in `group_by`.'),
      columns: z
        .string()
        .optional()
        .refine((text) => text === undefined || namesIn(text).every((name) => USAGE_ENTRIES.includes(name)), {
          error: 'must be names of what rows have, behind commas',
        })
        .describe(
          'Only these of what is summed up, behind commas: fewer are quicker. All of them unless given.',
        ),
      totals: z
        .enum(['true', 'false'])
        .optional()
        .describe('`true`: also what all the time together came to. Not in a table.'),
      ...FORMAT,
    }),
    answer: z.object({
      object: z.literal('usage'),
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      complete,
      data: z.array(rowSchema).describe('By time, then by cost, the largest first.'),
      totals: totalsSchema.optional().describe('Where they were asked for.'),
    }),
    alsoAs: { 'text/csv': z.string() },
    run: async ({ deps, query, now, accept }) => {
      const groupBy = namesIn(query.group_by).filter(isDimension);
      const columns = query.columns === undefined ? undefined : namesIn(query.columns);
      const isTable = wantsCsv(query, accept);
      const several = isTable && columns?.find((name) => !USAGE_COLUMNS.includes(name));
      if (several)
        throw new GatewayError('invalid_request', `columns: a table has no room for ${several}`, {
          param: 'columns',
        });
      const { report, whole } = await reportOf(
        deps.usage,
        {
          ...timesOf(query, now),
          groupBy,
          filters: filtersOf(query),
          interval: query.interval ?? null,
          ...(columns && { wanted: sumsOf(columns) }),
        },
        query.largest,
        query.totals === 'true',
      );
      const { rows, fromMs, toMs, complete } = report;
      const data = rows.map((row) => entryOf(row, columns));
      if (isTable)
        return csv([...(query.interval ? ['start'] : []), ...groupBy, ...(columns ?? USAGE_COLUMNS)], data);
      return {
        object: 'usage' as const,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        complete,
        data: data as z.input<typeof rowSchema>[],
        ...(whole && { totals: totalsOf(whole, columns) }),
      };
    },
  }),
  route({
    method: 'get',
    path: '/usage/end-users',
    tag: 'Usage',
    summary: 'Requests, tokens and money by end user.',
    description: 'Times are widened to whole hours. `format=csv`, or `Accept: text/csv`, gives a table.',
    query: z.strictObject({ ...TIMES, project: filter, key: filter, model: filter, ...FORMAT }),
    answer: z.object({
      object: z.literal('usage.end_users'),
      complete,
      data: z.array(endUserSchema).describe('By cost, the largest first.'),
    }),
    alsoAs: { 'text/csv': z.string() },
    run: async ({ deps, query, now, accept }) => {
      const found = await deps.usage.endUsers({ ...timesOf(query, now), filters: filtersOf(query) });
      const data = found.rows.map(endUserEntry);
      if (wantsCsv(query, accept)) return csv(END_USER_COLUMNS, data);
      return { object: 'usage.end_users' as const, complete: found.complete, data };
    },
  }),
];

/**
 * Sums, and if they are wanted those of all the time together, which tell the largest groups, too.
 * @param largest rows of so many groups only
 * @throws GatewayError `invalid_request` where the largest are of several things, or of none
 */
async function reportOf(
  usage: UsageStore,
  asked: UsageQuery,
  largest: number | undefined,
  hasTotals: boolean,
): Promise<{ readonly report: UsageReport; readonly whole: readonly UsageRow[] | null }> {
  const [dimension, another] = asked.groupBy;
  if (largest !== undefined && (dimension === undefined || another !== undefined))
    throw new GatewayError('invalid_request', 'largest: needs one name in `group_by`', { param: 'largest' });
  if (largest === undefined && !hasTotals) return { report: await usage.query(asked), whole: null };
  const all = await usage.query({ ...asked, interval: null });
  const whole = hasTotals ? all.rows : null;
  if (dimension === undefined || largest === undefined)
    return { report: asked.interval === null ? all : await usage.query(asked), whole };
  const names = all.rows
    .toSorted((a, b) => b.sums.counts.requests - a.sums.counts.requests)
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

/** What a query asks for, each with its own default. */
interface Asked {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  readonly format?: 'json' | 'csv' | undefined;
}

function timesOf({ from, to }: Asked, now: number): { readonly fromMs: number; readonly toMs: number } {
  return { fromMs: from ?? now - USUAL_MS, toMs: to ?? now };
}

function filtersOf(query: object): { readonly [name in UsageDimension]?: readonly string[] } {
  const given = query as Readonly<Record<string, unknown>>;
  const filters = USAGE_DIMENSIONS.filter((name) => given[name] !== undefined);
  return Object.fromEntries(filters.map((name) => [name, namesIn(String(given[name]))]));
}

function wantsCsv({ format }: Asked, accept: string): boolean {
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

function namesIn(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function isDimension(name: string): name is UsageDimension {
  return USAGE_DIMENSIONS.some((dimension) => dimension === name);
}
