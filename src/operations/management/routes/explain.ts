// Explains how a request of a key would be routed, for an admin who does not have the key. Nothing is sent.
import { z } from 'zod';
import type { JsonObject } from '../../../base/json/index.ts';
import { route, type Route } from '../route.ts';

export const EXPLAIN_ROUTES: readonly Route[] = [
  route({
    method: 'post',
    path: '/route/explain',
    tag: 'Routing',
    summary: 'Explains how a request of a key would be routed, without sending it.',
    body: z.strictObject({
      key: z.string().min(1).max(256).describe('Id or name of the key.'),
      request: z.record(z.string(), z.unknown()).describe('Request body of any client protocol.'),
    }),
    answer: z.looseObject({}),
    refusals: [404, 409],
    run: async ({ deps, keys, body }) => {
      const { id } = await keys.find(body.key);
      return { ...deps.explain(deps.keyById(id), body.request as JsonObject) };
    },
  }),
];
