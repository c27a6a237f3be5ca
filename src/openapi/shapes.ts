// Shapes that several operations have. Answers say what clients may rely on; they may hold more.
import { z } from 'zod';
import { servedProtocols, type ServedProtocol } from '../protocols/index.ts';

const text = z.string();
const count = z.int().min(0);

export const openaiError = z.object({
  error: z.object({
    message: text,
    type: text,
    param: text.nullable(),
    code: text.nullable(),
  }),
});
export const anthropicError = z.object({
  type: z.literal('error'),
  error: z.object({ type: text, message: text }),
  request_id: text.nullable().optional(),
});
export const googleError = z.object({
  error: z.object({ code: z.int(), message: text, status: text }),
});

/** What clients of several protocols can get: that of their own. */
export const anyError = z.union([openaiError, anthropicError, googleError]);

/** A stream of events. Readers of descriptions disagree whether a schema is of all of it or of one event. */
export const eventStream = z
  .unknown()
  .describe('Server-sent events, each with a line `data: ` that holds JSON.');

export const usage = z.looseObject({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
});

/** An object of which no more is said. */
export const anyObject = z.record(z.string(), z.unknown());

/** OpenAI's envelope around one page of a list. */
export function openaiList(entry: z.ZodType): z.ZodType {
  return z.looseObject({
    object: z.literal('list'),
    data: z.array(entry),
    first_id: text.nullable().optional(),
    last_id: text.nullable().optional(),
    has_more: z.boolean().optional(),
  });
}

/** What is left of something that was deleted. */
export const deleted = z.looseObject({ id: text, deleted: z.literal(true) });

/** Which page of a list of kept things. */
export const page = {
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe('Most entries of the page; 20 unless given.'),
  after: text.min(1).optional().describe('The id of the last entry of the page before.'),
  order: z.enum(['asc', 'desc']).optional().describe('By time; newest first unless given.'),
};

/**
 * The body of a request of which a protocol's own table tells the members; it may hold more.
 * @param path where clients of the protocol ask for answers
 * @param required members without which there is no request, with what each is
 */
export function bodyAt(path: string, required: Readonly<Record<string, z.ZodType>>): z.ZodType {
  const isThere = ({ server }: ServedProtocol): boolean =>
    server.addresses.routes.some((route) => route.path === path);
  const fields = servedProtocols.find(isThere)?.server.fields ?? [];
  const described = fields.map(({ name, note }) => [name, z.unknown().optional().describe(note)] as const);
  const known = Object.entries(required).map(
    ([name, schema]) =>
      [name, schema.describe(fields.find((field) => field.name === name)?.note ?? '')] as const,
  );
  return z.looseObject(Object.fromEntries<z.ZodType>([...described, ...known]));
}
