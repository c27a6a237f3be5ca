// The `telemetry` section of the configuration file: export of traces.
import { TEXTS } from '../../../canonical/index.ts';
import { inProgram, orNull, secret } from '../../../catalog/schema/index.ts';
import { z } from 'zod';

const otlpSchema = inProgram(
  z.strictObject({
    endpoint: z
      .string()
      .regex(/^https?:\/\/[^\s/]+/, TEXTS.mustBeHttpAddress)
      .transform((address) => address.replace(/\/+$/, ''))
      .describe('Collector of OTLP over HTTP (`http://localhost:4318`); `/v1/traces` is appended.'),
    headers: z
      .record(
        z.string().regex(/^[\w-]+$/, 'is no name of a header'),
        secret(z.string().regex(/^[\x20-\x7e]*$/, 'must be printable ASCII')),
      )
      .default({})
      .describe('Headers for the collector, such as its key.'),
    sample: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe(
        'Share of requests that are sampled. A client that sends `traceparent` decides for its own requests.',
      ),
    service_name: z.string().min(1).default('dragoman').describe('`service.name` of the spans.'),
  }),
);

export const telemetrySchema = z
  .strictObject({
    otlp: orNull(otlpSchema).describe('Sends traces to a collector. Absent: no traces.'),
  })
  .prefault({})
  .describe('Traces. Metrics have their own section.');
