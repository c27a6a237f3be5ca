// The `upstream` section of the configuration: lifetime and sharing of connections to providers.
import { inProgram } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { milliseconds } from './routing-schema.ts';

export const upstreamSchema = inProgram(
  z.strictObject({
    reuse: z
      .enum(['provider', 'key', 'never'])
      .default('provider')
      .describe(
        'Who shares connections: all requests to a provider with the same credential, those of one key of the gateway, or nobody.',
      ),
    max_age_ms: milliseconds(300_000).describe(
      'Greatest age of a connection that is used again, in milliseconds.',
    ),
    max_requests: z
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .default(1000)
      .describe('Most requests over one connection.'),
    ca: z
      .union([z.string().min(1), z.array(z.string().min(1))])
      .optional()
      .describe(
        'PEM files of authorities that are trusted besides those of the machine, e.g. of a proxy that looks into TLS. One path or several.',
      ),
  }),
)
  .prefault({})
  .describe('Connections to providers.');
