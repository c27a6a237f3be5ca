// The routing part of the configuration file: what holds when a request says nothing, for everybody or for one key,
// and the limits of time. Says what may stand there; what it means is decided in `routing/`.
import { z } from 'zod';
import { PRIMARY_FACTORS, ROUTING_TYPES, STREAM_SAFETIES, toWishes } from '../../canonical/index.ts';
import { inProgram } from '../in-program.ts';

/** Milliseconds up to a day, with a default. */
export const milliseconds = (value: number): z.ZodDefault<z.ZodNumber> =>
  z.number().int().min(1).max(86_400_000).default(value);

/** What may be done about an endpoint that asks for a short pause. */
const RATE_LIMITED = ['next', 'wait'] as const;

/** As many as a request may name. */
const names = (): z.ZodArray<z.ZodString> => z.array(z.string().min(1)).min(1).max(100);
const dollars = (): z.ZodNumber => z.number().min(0);

/** The wishes of one level: of the whole gateway, or of one key. */
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

export const routingSchema = inProgram(
  z.strictObject({
    default: routingDefaultsSchema
      .prefault({})
      .describe('Used when neither a request nor its key says anything.'),
    task_types: z
      .record(z.string().min(1), names())
      .default({})
      .describe('Models by task type, for `model_routing_config.task_info.task_type`.'),
    retries: z
      .number()
      .int()
      .min(0)
      .max(10)
      .default(1)
      .describe('Further tries of one endpoint before the next.'),
    rate_limited: z
      .enum(RATE_LIMITED)
      .default('next')
      .describe(
        'When an endpoint asks for a pause of up to 5 s: `next` tries the next endpoint at once, `wait` waits for it, because the next one costs more.',
      ),
    timeouts: inProgram(
      z.strictObject({
        connect_ms: milliseconds(5_000).describe('Until the connection stands.'),
        first_token_ms: milliseconds(60_000).describe('Streamed calls: until the first content.'),
        response_ms: milliseconds(300_000).describe("Other calls: until the answer's head."),
        idle_ms: milliseconds(60_000).describe('Silence in the middle of an answer.'),
        total_ms: milliseconds(600_000).describe('All attempts together.'),
      }),
    )
      .prefault({})
      .describe('In milliseconds.'),
    breaker: inProgram(
      z.strictObject({
        failures: z.number().int().min(1).default(5).describe('Failures within the window that open it.'),
        window_ms: milliseconds(30_000).describe('Length of the window.'),
        open_ms: milliseconds(15_000).describe('How long a failing endpoint is left alone.'),
      }),
    )
      .prefault({})
      .describe('Sets failing endpoints aside.'),
  }),
)
  .transform(({ default: words, ...rest }) => ({ ...rest, defaults: toWishes(words, 'routing.default') }))
  .prefault({})
  .describe('Choice of endpoints, timeouts and retries.');
