// The `keys` of the configuration file: who may use what, until when, and what holds when their requests say nothing.
import { z } from 'zod';
import { inProgram, orNull, secretOrEmpty } from './in-program.ts';
import { routingDefaultsSchema } from './routing-schema.ts';

/** One API key. Which routing defaults it has is found out where its place in the file is known. */
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
    strict: orNull(z.boolean()).describe(
      'Refuse its requests of which something would be dropped or changed. Default: `strict`.',
    ),
    routing: orNull(routingDefaultsSchema).describe(
      'Used when its requests say nothing, over `routing.default`, whose members it takes.',
    ),
  }),
);
