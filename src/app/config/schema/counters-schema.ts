// The `counters` part of the configuration file: how several processes share limits.
import { inProgram } from '../../../catalog/schema/index.ts';
import { z } from 'zod';

export const countersSchema = inProgram(
  z.strictObject({
    when_unreachable: z
      .enum(['local', 'refuse', 'allow', 'share'])
      .default('local')
      .transform((mode) => (mode === 'share' ? 'local' : mode))
      .describe(
        "While the server of `redis_url` does not answer: go on with this process's share of each limit, refuse what limits count, or let it pass. `share` is an older name of `local`.",
      ),
    processes: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(1)
      .describe('How many processes share limits, as long as the server has not counted them.'),
  }),
)
  .prefault({})
  .describe('Limits that several processes share (`redis_url`).');
