// All available models with all their endpoints, more than a key may see.
import { z } from 'zod';
import { GatewayError } from '../../../canonical/index.ts';
import { encodeModel, type Model } from '../../../catalog/index.ts';
import type { ManagementDependencies } from '../dependencies.ts';
import { endpointSchema, endpointView } from '../endpoint-view.ts';
import { listOf, PAGE, pageOf } from '../page.ts';
import { route, type Route } from '../route.ts';

const modelSchema = z.looseObject({
  id: z.string(),
  object: z.literal('model'),
  endpoints: z.array(endpointSchema).describe('In configured order.'),
});

export const MODEL_ROUTES: readonly Route[] = [
  route({
    method: 'get',
    path: '/models',
    tag: 'Models',
    summary: 'Lists models by id, with their endpoints.',
    query: z.strictObject({
      ...PAGE,
      provider: z.string().optional().describe('Only models that this provider serves.'),
      search: z.string().max(200).optional().describe('Only models whose id contains this text.'),
    }),
    answer: listOf(modelSchema),
    run: ({ deps, query }) => {
      const catalog = deps.catalog();
      const models = catalog
        .known()
        .filter(({ id }) => query.search === undefined || id.includes(query.search))
        .filter(
          ({ endpoints }) =>
            query.provider === undefined || endpoints.some(({ provider }) => provider === query.provider),
        );
      const page = pageOf(models, ({ id }) => id, query);
      return { ...page, data: page.data.map((model) => viewOf(model, deps)) };
    },
  }),
  route({
    method: 'get',
    path: '/models/{id}',
    isDeep: true,
    tag: 'Models',
    summary: 'Returns one model: listed, an alias, or `<provider>/<name>` of an enabled provider.',
    answer: modelSchema,
    refusals: [404],
    run: ({ deps, param }) => {
      const id = param('id');
      const model = deps.catalog().find(id);
      if (!model)
        throw new GatewayError('not_found', `Model ${JSON.stringify(id.slice(0, 200))} not found.`, {
          code: 'model_not_found',
        });
      return viewOf(model, deps);
    },
  }),
];

function viewOf(model: Model, deps: ManagementDependencies): z.input<typeof modelSchema> {
  return {
    ...encodeModel(model),
    id: model.id,
    object: 'model',
    endpoints: model.endpoints.map((endpoint) => endpointView(endpoint, deps)),
  };
}
