// What requests came to, over time and by whatever they have: sums that are exact, as JSON or CSV.
import { z } from 'zod';
import type { JsonObject } from '../../canonical/index.ts';
import { USAGE_DIMENSIONS, type UsageDimension, type UsageRow } from '../../storage/ports.ts';
import { USAGE_COLUMNS, usageCsv, usageEntry, USAGE_COUNTS } from '../../usage/index.ts';
import { route, type Route } from '../route.ts';
import { isoTime, time } from '../time.ts';

const DAY_MS = 24 * 3_600_000;
const USUAL_MS = 7 * DAY_MS;
const INTERVALS = ['hour', 'day', 'month'] as const;

const count = z.number();
const nullableCount = z.number().nullable();
const rowSchema = z.looseObject({
  start: z.iso.datetime().nullable().describe('Of the interval; null where no interval was asked for.'),
  ...Object.fromEntries(
    USAGE_DIMENSIONS.map((name) => [
      name,
      z.string().nullable().optional().describe('Where it was asked for.'),
    ]),
  ),
  ...Object.fromEntries(USAGE_COUNTS.map((name) => [name, count])),
  usd: count,
  cache_saved_usd: count,
  duration_ms_p95: nullableCount,
  first_content_ms_p95: nullableCount,
  errors_by_kind: z.record(z.string(), z.number()),
  tools: z.record(z.string(), z.number()),
});

const filter = z.string().optional().describe('Only these: one or several, behind commas.');

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
      from: time.optional().describe('A week ago unless given.'),
      to: time.optional().describe('Now unless given.'),
      interval: z.enum(INTERVALS).optional().describe('A row for each; absent: all the time together.'),
      group_by: z
        .string()
        .optional()
        .refine((text) => text === undefined || namesIn(text).every(isDimension), {
          error: `must be some of ${USAGE_DIMENSIONS.join(', ')}, behind commas`,
        })
        .describe(`Any of ${USAGE_DIMENSIONS.join(', ')}, behind commas.`),
      ...Object.fromEntries(USAGE_DIMENSIONS.map((name) => [name, filter])),
      format: z.enum(['json', 'csv']).optional(),
    }),
    answer: z.object({
      object: z.literal('usage'),
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      complete: z
        .boolean()
        .describe('False while records of before there were sums are still being added up.'),
      data: z.array(rowSchema).describe('By time, then by cost, the largest first.'),
    }),
    alsoAs: { 'text/csv': z.string() },
    run: async ({ deps, query, now, accept }) => {
      const groupBy = namesIn(query.group_by).filter(isDimension);
      const given = query as Readonly<Record<string, unknown>>;
      const { rows, fromMs, toMs, complete } = await deps.usage.query({
        fromMs: query.from ?? now - USUAL_MS,
        toMs: query.to ?? now,
        interval: query.interval ?? null,
        groupBy,
        filters: Object.fromEntries(
          USAGE_DIMENSIONS.filter((name) => given[name] !== undefined).map((name) => [
            name,
            namesIn(String(given[name])),
          ]),
        ),
      });
      const data = rows.map(entryOf);
      if (query.format === 'csv' || (query.format === undefined && accept.startsWith('text/csv')))
        return csv([...(query.interval ? ['start'] : []), ...groupBy, ...USAGE_COLUMNS], data);
      return {
        object: 'usage' as const,
        from: new Date(fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        complete,
        data: data as z.input<typeof rowSchema>[],
      };
    },
  }),
];

function entryOf({ startMs, group, sums }: UsageRow): JsonObject {
  return { start: isoTime(startMs), ...group, ...usageEntry(sums) };
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
