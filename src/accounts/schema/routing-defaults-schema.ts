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
    .describe('Order in which endpoints are tried. `order` is an alias of `priority`. Default: priority.'),
  primary_factor: z
    .enum(PRIMARY_FACTORS)
    .optional()
    .describe(
      "Primary factor of `priority`. `price` is an alias of `cost`; `latency` and `throughput` are the two parts of `speed`. Default: the order of the model's endpoints.",
    ),
  providers: names()
    .optional()
    .describe('Only these, in this order: providers, or endpoints as `provider/name`.'),
  order: names().optional().describe('Try these first, then the others.'),
  only: names().optional().describe('Only these, in any order.'),
  ignore: names().optional().describe('Exclude these.'),
  require_parameters: z
    .boolean()
    .optional()
    .describe('Only endpoints that support all parameters of the request.'),
  max_price: z
    .strictObject({
      prompt: dollars().optional().describe('USD per million input tokens.'),
      completion: dollars().optional().describe('USD per million output tokens.'),
      request: dollars().optional().describe('USD per request.'),
    })
    .optional()
    .describe('Maximum prices.'),
  fallback: z
    .union(
      [z.boolean(), z.string().min(1), names()],
      'must be true, false, a provider, a `provider/name`, a model, or a list of these',
    )
    .optional()
    .describe(
      'Whether to fail over to other endpoints, or to which: a provider, `provider/name`, a model, or a list of these. Default: true.',
    ),
  stream_safety: z
    .enum(STREAM_SAFETIES)
    .optional()
    .describe('What happens when a stream breaks off after its first content. Default: error.'),
  hedge: z
    .boolean()
    .optional()
    .describe('Whether a second attempt may start if the first one is slow. Default: false.'),
});
