// Schemas for the API description that several protocols share. They validate nothing, and answers may have more
// members.
import { z } from 'zod';
import { schemaOf, type Field } from './field-table.ts';

/** An event stream. Tools disagree whether its schema describes the whole stream or one event. */
export const eventStream = z
  .unknown()
  .describe('Server-sent events, each with a line `data: ` that holds JSON.');

/** An object without a further description. */
export const anyObject = z.record(z.string(), z.unknown());

/**
 * Returns the schema of a request body from a protocol's field table; other members are allowed.
 * @param required required members, with their schemas
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
