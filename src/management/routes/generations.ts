// Records of requests, of all projects: a list that can be narrowed, and one with everything that is known of it.
import { z } from 'zod';
import { withLateCounts } from '../../engine/index.ts';
import { generationView } from '../../ledger/index.ts';
import { OUTCOMES, type GenerationFilters, type GenerationQuery } from '../../storage/ports.ts';
import { findGeneration } from '../find-generation.ts';
import { generationSchema } from '../generation-schema.ts';
import { generationSummary, generationSummarySchema } from '../generation-summary.ts';
import { listOf, PAGE, pageWith, refuseBoth } from '../page.ts';
import { route, type Route } from '../route.ts';
import { time } from '../time.ts';

const several = (what: string) => z.string().optional().describe(`${what}: one or several, behind commas.`);

export const GENERATION_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/generations',
    tag: 'Generations',
    summary: 'Requests of all projects, newest first unless asked otherwise.',
    query: z.strictObject({
      ...PAGE,
      order: z.enum(['asc', 'desc']).default('desc').describe('By time.'),
      project: several('Projects'),
      key: several('Ids of keys'),
      model: several('Models that ran'),
      provider: several('Providers'),
      endpoint: several('Endpoints'),
      protocol: several('Protocols of clients'),
      end_user: several('End users, as records have them'),
      status: z
        .string()
        .regex(/^\d{3}(,\d{3})*$/, { error: 'must be HTTP statuses, behind commas' })
        .optional()
        .describe('HTTP statuses that clients got: one or several, behind commas.'),
      outcome: z.enum(OUTCOMES).optional().describe('How they ended.'),
      min_cost_usd: z.coerce.number().min(0).optional().describe('Only those that cost as much, or more.'),
      from: time.optional().describe('Only requests at or after this time.'),
      to: time.optional().describe('Only requests before this time.'),
    }),
    answer: listOf(generationSummarySchema),
    run: async ({ deps, query }) => {
      refuseBoth(query);
      const { limit, after, before, order } = query;
      const filters: GenerationFilters = {
        project: namesIn(query.project),
        key: namesIn(query.key),
        model: namesIn(query.model),
        provider: namesIn(query.provider),
        endpoint: namesIn(query.endpoint),
        protocol: namesIn(query.protocol),
        endUser: namesIn(query.end_user),
        status: namesIn(query.status)?.map(Number),
        outcome: query.outcome && [query.outcome],
        minCostUsd: query.min_cost_usd,
        fromMs: query.from,
        toMs: query.to,
      };
      // What comes before something is what follows it in the other order.
      const asked: Pick<GenerationQuery, 'order' | 'after'> =
        before === undefined ? { order, after } : { order: order === 'asc' ? 'desc' : 'asc', after: before };
      const { generations, hasMore } = await deps.ledger.list({ filters, limit, ...asked });
      const found = before === undefined ? generations : generations.toReversed();
      return pageWith(found.map(generationSummary), ({ id }) => id, hasMore);
    },
  }),
  route({
    method: 'get',
    path: '/generations/{id}',
    tag: 'Generations',
    summary: 'One request: attempts, route table, report, costs and, where it was logged, what was said.',
    answer: generationSchema,
    refusals: [404],
    run: async ({ deps: { ledger }, param }) => {
      const found = await findGeneration(ledger, param('id'));
      const { generation, attempts } = await withLateCounts(found, found.generation.projectId, ledger);
      return generationView(generation, attempts) as z.input<typeof generationSchema>;
    },
  }),
];

function namesIn(given: string | undefined): readonly string[] | undefined {
  return given?.split(',').map((name) => name.trim());
}
