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
      'Models it may use; `*` stands for any characters. Default: all.',
    ),
    expires: orNull(z.iso.date().or(z.iso.datetime({ offset: true }))).describe(
      'Date or time after which it is refused (ISO 8601).',
    ),
    log_content: orNull(z.boolean()).describe(
      'Keep prompts and answers in its records. Default: `logging.content`.',
    ),
    project: orNull(projectNameSchema).describe(
      'One of `projects`, to which everything belongs that it stores. Default: it is a project of its own.',
    ),
    roles: z
      .array(z.enum(KEY_ROLES))
      .min(1)
      .default(['models'])
      .describe('`models`: it may call models; `admin`: it may manage the gateway.'),
    limits: limitsSchema.default([]).describe('What it may use of what its project may; as `limits`.'),
    budgets: budgetsSchema.default([]).describe('How much it may cost; as `budgets`.'),
    strict: orNull(z.boolean()).describe(
      'Refuse its requests of which something would be dropped or changed. Default: `strict`.',
    ),
    on_disconnect: orNull(onDisconnectSchema).describe(
      'What becomes of its answers whose client leaves. Default: `streams.on_disconnect`.',
    ),
    routing: orNull(routingDefaultsSchema).describe(
      'Used when its requests say nothing, over `routing.default`, whose members it takes.',
    ),
  }),
);
