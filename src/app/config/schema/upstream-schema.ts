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
        'Sharing of connections: between all requests to a provider with the same credential, between those of one gateway key, or none.',
      ),
    max_age_ms: milliseconds(300_000).describe('Maximum age of a reused connection in milliseconds.'),
    max_requests: z
      .number()
      .int()
      .min(1)
      .max(1_000_000)
      .default(1000)
      .describe('Maximum requests per connection.'),
    ca: z
      .union([z.string().min(1), z.array(z.string().min(1))])
      .optional()
      .describe(
        "PEM files of authorities that are trusted in addition to the system's, e.g. that of a TLS-inspecting proxy. One path or several.",
      ),
  }),
)
  .prefault({})
  .describe('Connections to providers.');
