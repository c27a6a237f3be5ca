// The `keys` section of the configuration file: permissions, expiry, and defaults for requests.
import { onDisconnectSchema } from './durable-schema.ts';
import { inProgram, orNull, secretOrEmpty } from '../../../catalog/schema/index.ts';
import {
  budgetsSchema,
  limitsSchema,
  projectNameSchema,
  routingDefaultsSchema,
} from '../../../accounts/schema/index.ts';
import { z } from 'zod';
import { KEY_ROLES } from '../../../canonical/index.ts';

/** One API key. Its routing defaults are validated later, when its position in the file is known. */
export const keySchema = inProgram(
  z.strictObject({
    name: z.string().min(1).describe('Name in records and logs.'),
    key: secretOrEmpty().describe('The key itself. An entry with an empty key is ignored.'),
    models: orNull(z.array(z.string())).describe(
      'Models that it may use, with `*` for any characters. Default: all.',
    ),
    expires: orNull(z.iso.date().or(z.iso.datetime({ offset: true }))).describe(
      'Date or time after which it is refused (ISO 8601).',
    ),
    log_content: orNull(z.boolean()).describe(
      'Store prompts and responses in its records. Default: `logging.content`.',
    ),
    project: orNull(projectNameSchema).describe(
      'One of `projects`, which owns everything that the key stores. Default: the key is its own project.',
    ),
    roles: z
      .array(z.enum(KEY_ROLES))
      .min(1)
      .default(['models'])
      .describe('`models`: it may call models; `admin`: it may manage the gateway.'),
    limits: limitsSchema.default([]).describe('Limits of the key, within those of its project; as `limits`.'),
    budgets: budgetsSchema.default([]).describe('Budgets of the key; as `budgets`.'),
    strict: orNull(z.boolean()).describe(
      'Refuse its requests if something would be dropped or changed. Default: `strict`.',
    ),
    on_disconnect: orNull(onDisconnectSchema).describe(
      'What happens to its responses when the client disconnects. Default: `streams.on_disconnect`.',
    ),
    routing: orNull(routingDefaultsSchema).describe(
      'Routing preferences of its requests, with the members of `routing.default`, which they override.',
    ),
  }),
);
