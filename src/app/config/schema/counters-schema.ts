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
        "Behaviour while the server of `redis_url` does not respond: `local` enforces this process's share of each limit, `refuse` refuses limited requests, `allow` admits them. `share` is an older name of `local`.",
      ),
    processes: z
      .number()
      .int()
      .min(1)
      .max(10_000)
      .default(1)
      .describe('Number of processes that share limits, until the server has counted them.'),
  }),
)
  .prefault({})
  .describe('Limits shared between processes (`redis_url`).');
