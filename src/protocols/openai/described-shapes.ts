// Schemas of OpenAI's objects that several routes return, for the API description.
import { z } from 'zod';
import type { NamedShape } from '../../base/lib/route-description.ts';

const text = z.string();
const count = z.int().min(0);

/** Schema of the errors that `encode-error.ts` writes. */
export const ERROR_SHAPE: NamedShape = {
  name: 'Error',
  schema: z.object({
    error: z.object({ message: text, type: text, param: text.nullable(), code: text.nullable() }),
  }),
};

export const usage = z.looseObject({ prompt_tokens: count, completion_tokens: count, total_tokens: count });

/** Returns the schema of one page of a list. */
export function listShape(entry: z.ZodType): z.ZodType {
  return z.looseObject({
    object: z.literal('list'),
    data: z.array(entry),
    first_id: text.nullable().optional(),
    last_id: text.nullable().optional(),
    has_more: z.boolean().optional(),
  });
}
