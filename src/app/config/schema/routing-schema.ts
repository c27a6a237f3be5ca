// The routing section of the configuration file: default preferences for all requests or one key, and timeouts.
import { routingDefaultsSchema } from '../../../accounts/schema/index.ts';
import { inProgram } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { toWishes, TEXTS } from '../../../canonical/index.ts';

/** Milliseconds up to a day, with a default. */
export const milliseconds = (value: number): z.ZodDefault<z.ZodNumber> =>
  z.number().int().min(1).max(86_400_000).default(value);

/** Behaviour when an endpoint asks for a short delay. */
const RATE_LIMITED = ['next', 'wait'] as const;

/** The same maximum as in requests. */
const names = (): z.ZodArray<z.ZodString> => z.array(z.string().min(1)).min(1).max(100);

export const routingSchema = inProgram(
  z.strictObject({
    default: routingDefaultsSchema
      .prefault({})
      .describe('Preferences for requests without any, if their key has none either.'),
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
      .describe('Retries of an endpoint before the next one is tried.'),
    rate_limited: z
      .enum(RATE_LIMITED)
      .default('next')
      .describe(
        'Behaviour if an endpoint asks to wait up to 5 s. `next` tries the next endpoint immediately. `wait` waits, which is better if the next one is more expensive.',
      ),
    timeouts: inProgram(
      z.strictObject({
        connect_ms: milliseconds(5_000).describe('Until the connection is open.'),
        first_token_ms: milliseconds(60_000).describe(TEXTS.untilFirstContent),
        response_ms: milliseconds(300_000).describe(TEXTS.untilHead),
        idle_ms: milliseconds(60_000).describe('Longest pause within a response.'),
        total_ms: milliseconds(600_000).describe('All attempts together.'),
      }),
    )
      .prefault({})
      .describe('In milliseconds.'),
    breaker: inProgram(
      z.strictObject({
        failures: z
          .number()
          .int()
          .min(1)
          .default(5)
          .describe('Failures within the window that open the circuit breaker.'),
        window_ms: milliseconds(30_000).describe('Length of the window.'),
        open_ms: milliseconds(15_000).describe('How long a failing endpoint is not used.'),
      }),
    )
      .prefault({})
      .describe('Circuit breaker: avoids failing endpoints.'),
  }),
)
  .transform(({ default: words, ...rest }) => ({ ...rest, defaults: toWishes(words, 'routing.default') }))
  .prefault({})
  .describe('Choice of endpoints, timeouts and retries.');
