// Estimates cost and routes of past requests under another routing policy, other prices, or without a provider. Based
// on a sample of records.
import { priceSchema } from '../../../catalog/schema/index.ts';
import { routingDefaultsSchema } from '../../../accounts/schema/index.ts';
import { z } from 'zod';
import { GatewayError, toWishes } from '../../../canonical/index.ts';
import { nextTurn } from '../../../base/runtime/clock.ts';
import type { GenerationFilters, LedgerStore } from '../../../accounts/ports/index.ts';
import { ASSUMPTIONS, estimate, type Part, type PastRequest, pastRequest } from '../../what-if/index.ts';
import { route, type Route } from '../route.ts';
import { momentMs, time } from '../time.ts';
import type { UnixMs } from '../../../base/units.ts';

const WEEK_MS = 7 * 86_400_000;
const MOST_SAMPLED = 10_000;
/** Number of parts of the time range. The sample takes about the same number of requests from each. */
const SLICES = 24;
/** Records per read. */
const AT_ONCE = 100;
/** Milliseconds after which the result so far is returned. */
const LONGEST_MS = 5_000;

const names = z.array(z.string().min(1)).max(100);
const partSchema = z.object({
  requests: z.int(),
  share: z.number().describe('Share of all requests, 0 to 1.'),
  usd: z.number().describe('USD of requests with a known price.'),
  unpriced: z.int().describe('Requests with an unknown price.'),
  first_content_ms: z.number().nullable().describe('Mean of streams where it is known.'),
  duration_ms: z.number().nullable().describe('Mean of requests where it is known.'),
});

export const WHAT_IF_ROUTES: readonly Route[] = [
  route({
    method: 'post',
    path: '/what-if',
    tag: 'What if',
    summary: 'Estimates cost and routing of past requests under changed conditions.',
    description:
      'The estimate uses a sample of records and the real planner, and sends nothing. `assumptions` lists its limitations.',
    body: z.strictObject({
      from: time.optional().describe('Default: a week before `to`.'),
      to: time.optional().describe('Default: now.'),
      filters: z
        .strictObject({
          project: names.optional(),
          key: names.optional().describe('Ids.'),
          model: names.optional().describe('Models that ran.'),
          provider: names.optional(),
          endpoint: names.optional(),
          protocol: names.optional().describe('Of clients.'),
        })
        .default({})
        .describe('Only these requests.'),
      sample: z.int().min(1).max(MOST_SAMPLED).default(2_000).describe('Maximum size of the sample.'),
      policy: routingDefaultsSchema.optional().describe('Replaces `routing.default` of the configuration.'),
      prices: z
        .array(
          z.strictObject({
            model: z.string().optional().describe('Id of the model; absent: all models.'),
            provider: z
              .string()
              .optional()
              .describe('A provider, or an endpoint as `provider/name`; absent: all.'),
            price: priceSchema.optional(),
            factor: z.number().min(0).max(1_000).optional().describe('Factor for all prices.'),
          }),
        )
        .max(100)
        .default([])
        .describe('Other prices.'),
      without: names.default([]).describe('Providers, or endpoints as `provider/name`, to remove.'),
      models: z
        .record(z.string(), z.string())
        .default({})
        .describe('Replacement models, by requested model.'),
    }),
    answer: z.object({
      object: z.literal('what_if'),
      from: z.iso.datetime(),
      to: z.iso.datetime(),
      sampled: z.int().describe('Size of the sample of served requests.'),
      whole: z.boolean().describe('True: the sample contains all requests.'),
      moved: z.int().describe('Requests that another endpoint would serve.'),
      unserved: z.record(z.string(), z.int()).describe('Requests that no endpoint could serve, by reason.'),
      before: partSchema,
      after: partSchema,
      groups: z.array(
        z.object({
          model: z.string(),
          provider: z.string(),
          endpoint: z.string(),
          before: partSchema,
          after: partSchema,
        }),
      ),
      assumptions: z.array(z.string()),
    }),
    run: async ({ deps, body, timeZone }) => {
      const { policy, prices, without, models, filters, sample: most } = body;
      if (policy) deps.checkRouting(policy);
      const { now } = deps.clock;
      const to = momentMs(body.to, timeZone) ?? deps.now();
      const from = momentMs(body.from, timeZone) ?? to - WEEK_MS;
      if (from >= to)
        throw new GatewayError('invalid_request', 'from: must be before `to`', { param: 'from' });
      const end = now() + LONGEST_MS;
      const found = await sampleOf(
        deps.ledger,
        { ...filters, fromMs: from, toMs: to },
        most,
        () => now() < end,
      );
      const made = await estimate({
        sample: found.sample,
        catalog: deps.catalog(),
        settings: deps.routingSettings(),
        state: deps.routing,
        nowMs: now(),
        changes: { prices, without },
        policy: policy ? toWishes(policy, 'policy') : null,
        models,
        pause: async () => {
          await new Promise<void>(nextTurn);
          return now() < end;
        },
      });
      const shown = (part: Part): z.input<typeof partSchema> => partView(part, made.sampled);
      return {
        object: 'what_if' as const,
        from: new Date(from).toISOString(),
        to: new Date(to).toISOString(),
        sampled: made.sampled,
        whole: found.isWhole && made.sampled === found.sample.length,
        moved: made.moved,
        unserved: { ...made.unserved },
        before: shown(made.before),
        after: shown(made.after),
        groups: made.groups.map(({ before, after, ...place }) => ({
          ...place,
          before: shown(before),
          after: shown(after),
        })),
        assumptions: [...ASSUMPTIONS],
      };
    },
  }),
];

/** One part of the time range, and how far it has been read. */
interface Slice {
  readonly fromMs: UnixMs;
  readonly toMs: UnixMs;
  after: string | undefined;
}

/** A sample of served requests: about the same number from each part of the time range, the latest of each. */
async function sampleOf(
  ledger: LedgerStore,
  filters: GenerationFilters & { readonly fromMs: UnixMs; readonly toMs: UnixMs },
  most: number,
  goesOn: () => boolean,
): Promise<{ readonly sample: readonly PastRequest[]; readonly isWhole: boolean }> {
  const sample: PastRequest[] = [];
  const length = (filters.toMs - filters.fromMs) / SLICES;
  let slices = Array.from({ length: SLICES }, (_, place): Slice => {
    const start = filters.fromMs + place * length;
    return { fromMs: Math.floor(start), toMs: Math.floor(start + length), after: undefined };
  });
  const share = Math.min(AT_ONCE, Math.ceil(most / SLICES));
  while (slices.length > 0) {
    const unread: Slice[] = [];
    for (const slice of slices.toReversed()) {
      const limit = Math.min(share, most - sample.length);
      if (limit <= 0 || !goesOn()) return { sample, isWhole: false };
      const { fromMs, toMs, after } = slice;
      const page = await ledger.list({
        filters: { ...filters, outcome: ['ok'], fromMs, toMs },
        order: 'desc',
        limit,
        after,
      });
      for (const listed of page.generations) {
        const past = pastRequest(listed);
        if (past) sample.push(past);
      }
      slice.after = page.generations.at(-1)?.generation.id;
      if (page.hasMore) unread.unshift(slice);
    }
    slices = unread;
  }
  return { sample, isWhole: true };
}

function partView(part: Part, all: number): z.input<typeof partSchema> {
  const { requests, usd, unpriced, firstContentMs, durationMs } = part;
  return {
    requests,
    share: all === 0 ? 0 : requests / all,
    // Below picodollars there is only rounding noise.
    usd: Math.round(usd * 1e12) / 1e12,
    unpriced,
    first_content_ms: firstContentMs,
    duration_ms: durationMs,
  };
}
