// Routing preferences of the gateway or a key, for requests without any.
import { z } from 'zod';
import { PRIMARY_FACTORS, ROUTING_TYPES, STREAM_SAFETIES } from '../../canonical/index.ts';

/** As many as a request may list. */
const names = (): z.ZodArray<z.ZodString> => z.array(z.string().min(1)).min(1).max(100);
const dollars = (): z.ZodNumber => z.number().min(0);

/** Preferences of the gateway or of a key. */
export const routingDefaultsSchema = z.strictObject({
  type: z
    .enum(ROUTING_TYPES)
    .optional()
    .describe(
      'Order in which endpoints are tried. `order` is another word for `priority`. Default: priority.',
    ),
  primary_factor: z
    .enum(PRIMARY_FACTORS)
    .optional()
    .describe(
      "What `priority` puts first; `price` is `cost`, `latency` and `throughput` are the halves of `speed`. Default: the order of the model's endpoints.",
    ),
  providers: names()
    .optional()
    .describe('Providers, or endpoints as `provider/name`: these alone, in this order.'),
  order: names().optional().describe('These first; the others may follow.'),
  only: names().optional().describe('These alone, in any order.'),
  ignore: names().optional().describe('Never these.'),
  require_parameters: z
    .boolean()
    .optional()
    .describe('Only endpoints that take every parameter of the request.'),
  max_price: z
    .strictObject({
      prompt: dollars().optional().describe('USD per million input tokens.'),
      completion: dollars().optional().describe('USD per million output tokens.'),
      request: dollars().optional().describe('USD per request.'),
    })
    .optional()
    .describe('Highest acceptable prices.'),
  fallback: z
    .union(
      [z.boolean(), z.string().min(1), names()],
      'must be true, false, a provider, a `provider/name`, a model, or a list of these',
    )
    .optional()
    .describe(
      'Whether others stand in for an endpoint that fails, or which: a provider, `provider/name`, a model, or a list of these. Default: true.',
    ),
  stream_safety: z
    .enum(STREAM_SAFETIES)
    .optional()
    .describe('What happens when a stream breaks off after its first content. Default: error.'),
  hedge: z
    .boolean()
    .optional()
    .describe('Whether a second attempt may start when the first is late. Default: false.'),
});
