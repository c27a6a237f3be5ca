// The `models` section of the configuration file: capabilities, prices and endpoints that differ from the catalog.
import { TEXTS } from '../../../canonical/index.ts';
import { inProgram, quirksSchema, priceSchema } from '../../../catalog/schema/index.ts';
import { z } from 'zod';
import { PROTOCOL_NAMES } from '../../../protocols/index.ts';
import { batchRoute, protocolName, unsupported } from './endpoint-parts-schema.ts';

const tokens = (): z.ZodNumber => z.number().int().min(1);
const quality = z.number().min(0).max(1);
const reasoning = z
  .enum(['none', 'effort', 'budget', 'both'])
  .describe('How reasoning is controlled. Known families need no entry.');

const endpoint = inProgram(
  z.strictObject({
    provider: z.string().describe('Name of an enabled provider.'),
    model: z
      .string()
      .min(1)
      .optional()
      .describe("The server's own name of the model. Default: the model id without its prefix."),
    protocol: protocolName
      .optional()
      .describe(`How the endpoint is spoken to: ${PROTOCOL_NAMES.join(', ')}.`),
    name: z
      .string()
      .regex(/^[\w.-]+$/, TEXTS.nameCharacters)
      .optional()
      .describe('Name for the slug `provider/name`, by which requests select this endpoint.'),
    price: priceSchema.optional(),
    batch: batchRoute.optional().describe('How batch lines are sent. Default: the setting of the provider.'),
    batch_price: priceSchema
      .optional()
      .describe(
        "USD per million tokens in the vendor's batch API. Default: the normal price times `batch_price_factor` of the provider.",
      ),
    context_length: tokens().optional().describe('Tokens.'),
    max_output_tokens: tokens().optional().describe('Tokens.'),
    reasoning: reasoning.optional(),
    quality: quality
      .optional()
      .describe("Operator's score of this endpoint from 0 to 1. Default: that of the model."),
    quirks: quirksSchema.optional(),
    unsupported: unsupported.optional(),
  }),
);

/** One model, as far as it differs from the catalog. */
export const modelSchema = inProgram(
  z.strictObject({
    id: z
      .string()
      .min(1)
      .max(200)
      .regex(/^\S+$/, 'may not hold spaces')
      .describe('Model id for clients, `<provider>/<name>`.'),
    display_name: z.string().optional().describe('Shown in model lists.'),
    context_length: tokens().optional().describe('Tokens.'),
    max_output_tokens: tokens().optional().describe('Tokens.'),
    reasoning: reasoning.optional(),
    quality: quality
      .optional()
      .describe("Operator's score from 0 to 1, for `primary_factor: quality` and the choice among models."),
    input_modalities: z
      .array(z.enum(['text', 'image', 'file', 'audio', 'video']))
      .optional()
      .describe('Input modalities.'),
    output_modalities: z
      .array(z.string().min(1))
      .optional()
      .describe(
        'Output modalities: `text`, `image`, `file`, `audio`, `video`, or that of another task. Absent: derived from its name, else text.',
      ),
    price: priceSchema.optional(),
    endpoints: z
      .array(endpoint)
      .prefault([])
      .describe('Endpoints in order of preference. Default: the provider in the id.'),
  }),
);
