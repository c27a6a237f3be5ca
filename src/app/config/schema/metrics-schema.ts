// The `metrics` section of the configuration file: the listener of metrics. Their names are in
// `operations/metrics/names.ts`.
import { orNull } from '../../../catalog/schema/index.ts';
import { z } from 'zod';

const ADDRESS = /^(?:\[([\da-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/;

const address = z
  .string()
  .regex(ADDRESS, 'must be `host:port`')
  .refine((text) => Number(ADDRESS.exec(text)?.[3]) <= 65_535, 'has no such port')
  .transform((text) => {
    const [, address6, host = '', port] = ADDRESS.exec(text) ?? [];
    return { host: address6 ?? host, port: Number(port) };
  });

export const metricsSchema = z
  .strictObject({
    listen: orNull(address).describe(
      'Separate address (`127.0.0.1:9464`) for `GET /metrics` without a key. Restrict access to it. Absent: served by the gateway itself, with an admin key.',
    ),
  })
  .prefault({})
  .describe('Metrics for Prometheus.');
