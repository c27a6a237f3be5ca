// The `counters` part of the configuration file: how several processes share limits.
import { z } from 'zod';
import { inProgram } from '../in-program.ts';

export const countersSchema = inProgram(
  z.strictObject({
    when_unreachable: z
      .enum(['share', 'refuse'])
      .default('share')
      .describe(
        "While the server of `redis_url` does not answer: go on with this process's share of each limit, or admit nothing more than was leased.",
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
