// Records of requests of all projects: a list with filters and sort orders, counts, and single records.
import { TEXTS } from '../../../canonical/index.ts';
import { z } from 'zod';
import { withDeferredUsage } from '../../../engine/index.ts';
import { generationView, REQUEST_STATES } from '../../../accounts/ledger/index.ts';
import {
  GENERATION_FACETS,
  GENERATION_ORDERS,
  type GenerationFacet,
  type GenerationFilters,
  type GenerationQuery,
  type UsageDimension,
} from '../../../accounts/ports/index.ts';
import { explainRequest, explanationSchema, timesOutside, tokensPerSecond } from '../explain-request.ts';
import { findGeneration } from '../find-generation.ts';
import { GENERATION_FILTERS, generationFilters, keyNames, namesIn } from '../generation-filters.ts';
import { generationSchema } from '../generation-schema.ts';
import { generationSummary, generationSummarySchema } from '../generation-summary.ts';
import { listOf, PAGE, pageWith, refuseBoth } from '../page.ts';
import { type RawCall, route, type Route } from '../route.ts';
import { isoTime } from '../time.ts';
import type { Baseline, Percentiles } from '../usual-times.ts';
import type { DurationMs, UnixMs } from '../../../base/units.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const USUAL_MS = 7 * DAY_MS;
/** Interval lengths in minutes that are easy to read. */
const LENGTHS = [1, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 43_200];
const FACETS = [...GENERATION_FACETS, 'attempted'] as const;
type Facet = (typeof FACETS)[number];

const facetSchema = z.array(
  z.object({
    value: z.string(),
    name: z.string().nullable().optional().describe('Of a key.'),
    count: z.int(),
  }),
);
const countsSchema = z.object({
  object: z.literal('generation.counts'),
  from: z.iso.datetime(),
  to: z.iso.datetime(),
  total: z.int(),
  states: z.object(Object.fromEntries(REQUEST_STATES.map((state) => [state, z.int()]))),
  failed: z.int(),
  refused: z.int(),
  cancelled: z.int(),
  exact: z
    .boolean()
    .describe('False: there are more than a million requests, and only the newest were counted.'),
  interval_ms: z.number().nullable(),
  histogram: z
    .array(
      z.object({
        start: z.iso.datetime(),
        count: z.int(),
        failed: z.int(),
        refused: z.int(),
        cancelled: z.int(),
      }),
    )
    .describe('Includes intervals without requests.'),
  facets: z
    .partialRecord(z.enum(FACETS), facetSchema)
    .describe('Each without its own filter, with at most 100 values.'),
});

const percentilesSchema = z.object({ p50: z.number(), p95: z.number() });
const baselineSchema = z.object({
  streamed: z
    .object({
      answers: z.int(),
      first_content_ms: percentilesSchema,
      duration_ms: percentilesSchema,
    })
    .nullable(),
  whole: z.object({ answers: z.int(), duration_ms: percentilesSchema }).nullable(),
  since: z.iso.datetime(),
});

const detailSchema = generationSchema.extend({
  key_name: z.string().nullable().describe(TEXTS.goneKey),
  gateway_ms: z.number().describe('Milliseconds before the first attempt and after the last one.'),
  tokens_per_second: z.number().nullable(),
  explanation: explanationSchema,
  attempts: z.array(
    generationSchema.shape.attempts.element.extend({
      baseline: baselineSchema
        .nullable()
        .describe('Of its endpoint: the newest 2,000 responses of the last 24 hours; null: none.'),
    }),
  ),
});

export const GENERATION_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/generations',
    tag: 'Generations',
    summary: 'Lists requests of all projects. Default order: newest first.',
    query: z.strictObject({
      ...PAGE,
      order: z.enum(['asc', 'desc']).default('desc').describe('By `order_by`.'),
      order_by: z
        .enum(GENERATION_ORDERS)
        .default('time')
        .describe('Requests without such a value come last, in both directions.'),
      ...GENERATION_FILTERS,
    }),
    answer: listOf(generationSummarySchema),
    run: async ({ deps, keys, usual, timeZone, query }) => {
      refuseBoth(query);
      const { limit, after, before, order, order_by: orderBy } = query;
      const filters = await generationFilters(query, { keys, usual, timeZone });
      // Previous rows are those that follow in the reverse order.
      const asked: Pick<GenerationQuery, 'order' | 'after'> =
        before === undefined ? { order, after } : { order: order === 'asc' ? 'desc' : 'asc', after: before };
      const { generations, hasMore } = await deps.ledger.list({ filters, limit, orderBy, ...asked });
      const found = before === undefined ? generations : generations.toReversed();
      const names = await keyNames(
        found.map(({ generation }) => generation.keyId),
        keys,
      );
      const shown = found.map((each) => ({
        ...generationSummary(each),
        key_name: names.get(each.generation.keyId) ?? null,
      }));
      return pageWith(shown, ({ id }) => id, hasMore);
    },
  }),
  route({
    method: 'get',
    path: '/generations/counts',
    tag: 'Generations',
    summary: 'Counts requests that match the filters: by state, over time, and by value.',
    query: z.strictObject({
      ...GENERATION_FILTERS,
      buckets: z.coerce
        .number()
        .int()
        .min(0)
        .max(100)
        .default(48)
        .describe('Maximum number of intervals of the histogram; 0: no histogram.'),
      facets: z
        .string()
        .regex(new RegExp(`^(?:${FACETS.join('|')})(?:,(?:${FACETS.join('|')}))*$`), {
          error: TEXTS.mustBeSomeOf(FACETS),
        })
        .optional()
        .describe(
          'Dimensions to count by, separated by commas. With filters that usage sums support, whole hours are counted; otherwise the newest 200,000 requests.',
        ),
    }),
    answer: countsSchema,
    run: async ({ deps, keys, usual, timeZone, query, now }) => {
      const given = await generationFilters(query, { keys, usual, timeZone });
      const toMs = given.toMs ?? now;
      const filters = { ...given, fromMs: given.fromMs ?? toMs - USUAL_MS, toMs };
      const { edges, intervalMs } = intervalsOf(filters.fromMs, toMs, query.buckets);
      const names = (namesIn(query.facets) ?? []) as Facet[];
      // The total has the counts of states, unless it is restricted to some of them.
      const isStateKnown = names.includes('state') && filters.state === undefined;
      const counting = deps.ledger.count({ filters, edges });
      const others = isStateKnown ? names.filter((name) => name !== 'state') : names;
      const [{ intervals, isExact }, found] = await Promise.all([
        counting,
        facetsOf(others, filters, { deps, keys }),
      ]);
      const states = REQUEST_STATES.map((_, state) =>
        intervals.reduce((sum, each) => sum + (each.states[state] ?? 0), 0),
      );
      const all = outcomesOf(states);
      const facets = isStateKnown ? { ...found, state: facetOfStates(states) } : found;
      return {
        object: 'generation.counts' as const,
        from: new Date(filters.fromMs).toISOString(),
        to: new Date(toMs).toISOString(),
        total: all.count,
        states: Object.fromEntries(REQUEST_STATES.map((state, at) => [state, states[at] ?? 0])),
        failed: all.failed,
        refused: all.refused,
        cancelled: all.cancelled,
        exact: isExact,
        interval_ms: intervalMs,
        histogram:
          intervalMs === null
            ? []
            : intervals.map((each) => ({
                start: new Date(each.startMs).toISOString(),
                ...outcomesOf(each.states),
              })),
        facets,
      };
    },
  }),
  route({
    method: 'get',
    path: '/generations/{id}',
    tag: 'Generations',
    summary: 'Returns one request: attempts, route table, report, cost and, if logged, its content.',
    answer: detailSchema,
    refusals: [404],
    run: async ({ deps: { ledger, limits }, keys, usual, param }) => {
      const found = await findGeneration(ledger, param('id'));
      const { generation, attempts } = await withDeferredUsage(found, found.generation.projectId, ledger);
      const model = generation.model ?? generation.requestedModel;
      const baselines = await Promise.all(attempts.map(({ endpoint }) => usual.of(model, endpoint)));
      const at = attempts.findLastIndex(({ outcome }) => outcome === 'completed');
      const view = generationView(generation, attempts);
      const names = await keyNames([generation.keyId], keys);
      return {
        ...view,
        key_name: names.get(generation.keyId) ?? null,
        gateway_ms: timesOutside(generation, attempts).gatewayMs,
        tokens_per_second: tokensPerSecond(generation),
        explanation: explainRequest({ generation, attempts, baseline: baselines[at] ?? null, limits }),
        attempts: (view['attempts'] as readonly object[]).map((attempt, index) => ({
          ...attempt,
          baseline: baselineView(baselines[index]),
        })),
      } as unknown as z.input<typeof detailSchema>;
    },
  }),
];

/** Intervals between two times, aligned to round boundaries. @param most 0: a single interval, which is not shown */
function intervalsOf(
  fromMs: UnixMs,
  toMs: UnixMs,
  most: number,
): { readonly edges: readonly number[]; readonly intervalMs: DurationMs | null } {
  if (most === 0 || fromMs >= toMs) return { edges: [fromMs, Math.max(fromMs, toMs)], intervalMs: null };
  const lengths = LENGTHS.map((minutes) => minutes * MINUTE_MS);
  const ms =
    lengths.find((each) => Math.ceil(toMs / each) - Math.floor(fromMs / each) <= most) ??
    Math.ceil((toMs - fromMs) / most);
  const edges: number[] = [];
  for (let at = Math.floor(fromMs / ms) * ms; at < toMs; at += ms) edges.push(at);
  return { edges: [...edges, (edges.at(-1) ?? 0) + ms], intervalMs: ms };
}

function outcomesOf(states: readonly number[]) {
  const of = (state: (typeof REQUEST_STATES)[number]): number => states[REQUEST_STATES.indexOf(state)] ?? 0;
  return {
    count: states.reduce((sum, each) => sum + each, 0),
    failed: of('failed') + of('broken_stream'),
    refused: of('limit_reached') + of('rejected'),
    cancelled: of('cancelled'),
  };
}

/** Filters that sums support. */
const IN_SUMS: Readonly<Partial<Record<keyof GenerationFilters, UsageDimension>>> = {
  project: 'project',
  key: 'key',
  model: 'model',
  requestedModel: 'requested_model',
  provider: 'provider',
  endpoint: 'endpoint',
  protocol: 'protocol',
  outcome: 'outcome',
};
const FILTER_OF: Readonly<Record<Facet, keyof GenerationFilters>> = {
  state: 'state',
  error_kind: 'errorKind',
  project: 'project',
  key: 'key',
  model: 'model',
  provider: 'provider',
  protocol: 'protocol',
  requested_model: 'requestedModel',
  attempted: 'attempted',
};
const MOST_VALUES = 100;

type Facets = Partial<Record<Facet, z.input<typeof facetSchema>>>;

/** Facets one after another, so that each query of a page needs one connection of the database. */
async function facetsOf(
  names: readonly Facet[],
  filters: Parameters<typeof facetOf>[1],
  call: Parameters<typeof facetOf>[2],
): Promise<Facets> {
  const facets: Facets = {};
  for (const name of names) facets[name] = await facetOf(name, filters, call);
  return facets;
}

/** @param states counts in the order of `REQUEST_STATES` */
function facetOfStates(states: readonly number[]): z.input<typeof facetSchema> {
  return REQUEST_STATES.map((value, at) => ({ value, count: states[at] ?? 0 }))
    .filter(({ count }) => count > 0)
    .toSorted((a, b) => b.count - a.count);
}

async function facetOf(
  name: Facet,
  all: GenerationFilters & { readonly fromMs: UnixMs; readonly toMs: UnixMs },
  { deps, keys }: Pick<RawCall, 'deps' | 'keys'>,
): Promise<z.input<typeof facetSchema>> {
  const filters = { ...all, [FILTER_OF[name]]: undefined };
  const given = (Object.keys(filters) as (keyof GenerationFilters)[]).filter(
    (each) => filters[each] !== undefined && each !== 'fromMs' && each !== 'toMs',
  );
  const isInSums = given.every((each) => IN_SUMS[each] !== undefined);
  const values =
    name === 'attempted' || (isInSums && name !== 'state' && name !== 'error_kind')
      ? await inSums(name, filters, deps)
      : await deps.ledger.facet(filters, name as GenerationFacet);
  if (name !== 'key') return values.map((each) => ({ ...each }));
  const names = await keyNames(
    values.map(({ value }) => value),
    keys,
  );
  return values.map((each) => ({ ...each, name: names.get(each.value) ?? null }));
}

/** Counts of a facet's values from the sums: attempts for `attempted`, otherwise requests. */
async function inSums(
  name: Facet,
  filters: GenerationFilters & { readonly fromMs: UnixMs; readonly toMs: UnixMs },
  { usage }: RawCall['deps'],
): Promise<readonly { readonly value: string; readonly count: number }[]> {
  const isTried = name === 'attempted';
  const dimension: UsageDimension = isTried ? 'provider' : (name as UsageDimension);
  const counted = isTried ? 'attempts' : 'requests';
  const known = Object.entries(IN_SUMS).filter(
    ([, of]) => !isTried || (of !== 'provider' && of !== 'endpoint' && of !== 'outcome'),
  );
  const { rows } = await usage.query({
    fromMs: filters.fromMs,
    toMs: filters.toMs,
    interval: null,
    groupBy: [dimension],
    filters: Object.fromEntries(
      known.map(([filter, of]) => [of, filters[filter as keyof GenerationFilters]]),
    ),
    wanted: { counts: [counted], details: false },
  });
  return rows
    .flatMap(({ group, sums }) => {
      const value = group[dimension];
      return value && sums.counts[counted] > 0 ? [{ value, count: sums.counts[counted] }] : [];
    })
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MOST_VALUES);
}

function baselineView(baseline: Baseline | undefined): z.input<typeof baselineSchema> | null {
  if (!baseline || (!baseline.streamed && !baseline.whole)) return null;
  const { streamed, whole, sinceMs } = baseline;
  return {
    streamed: streamed && {
      answers: streamed.answers,
      first_content_ms: shown(streamed.firstContent),
      duration_ms: shown(streamed.duration),
    },
    whole: whole && { answers: whole.answers, duration_ms: shown(whole.duration) },
    since: isoTime(sinceMs) ?? '',
  };
}

function shown({ p50, p95 }: Percentiles): z.input<typeof percentilesSchema> {
  return { p50, p95 };
}
