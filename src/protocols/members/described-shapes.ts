// Shapes of which descriptions of the API are made, for several protocols. Answers say what clients may rely on; they may hold
// more. Checks nothing.
import { z } from 'zod';
import { schemaOf, type Field } from './field-table.ts';

/** A stream of events. Readers of descriptions disagree whether a schema is of all of it or of one event. */
export const eventStream = z
  .unknown()
  .describe('Server-sent events, each with a line `data: ` that holds JSON.');

/** An object of which no more is said. */
export const anyObject = z.record(z.string(), z.unknown());

/**
 * The body of a request of which a protocol's own table tells the members; it may hold more.
 * @param required members without which there is no request, with what each is
 */
export function bodyOf(
  fields: readonly Field<string>[],
  required: Readonly<Record<string, z.ZodType>>,
): z.ZodType {
  const described = fields.map(
    (field) =>
      [
        field.name,
        z
          .unknown()
          .optional()
          .meta({ ...schemaOf(field), description: field.note }),
      ] as const,
  );
  const known = Object.entries(required).map(
    ([name, schema]) =>
      [name, schema.describe(fields.find((field) => field.name === name)?.note ?? '')] as const,
  );
  return z.looseObject(Object.fromEntries<z.ZodType>([...described, ...known]));
}
