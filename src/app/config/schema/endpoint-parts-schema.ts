// Parts of the configuration file shared by providers, models and endpoints.
import { z } from 'zod';
import { PARAMETERS, type Parameter, TEXTS } from '../../../canonical/index.ts';
import { PROTOCOL_NAMES } from '../../../protocols/index.ts';

/** Address of a server. */
export const httpUrl = (): z.ZodString => z.string().regex(/^https?:\/\/[^\s/]+/, TEXTS.mustBeHttpAddress);

const parameters = new Map<string, Parameter>(
  (Object.keys(PARAMETERS) as Parameter[]).map((parameter) => [PARAMETERS[parameter], parameter]),
);

/** Parameters by their names in requests (`top_p`). */
export const unsupported = z
  .array(z.enum([...parameters.keys()] as [string, ...string[]]))
  .transform((names) => names.flatMap((name) => parameters.get(name) ?? []))
  .describe('Parameters that the server refuses. They are removed from requests and reported.');

export const protocolName = z.enum(PROTOCOL_NAMES);

/** Route of lines of batches: the vendor's batch API, or ordinary requests. */
export const batchRoute = z.enum(['vendor', 'requests']);
