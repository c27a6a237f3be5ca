// Errors as Google's clients read them, for the description of the API: what `encode-error.ts` writes.
import { z } from 'zod';
import type { NamedShape } from '../../base/lib/route-description.ts';

export const ERROR_SHAPE: NamedShape = {
  name: 'GoogleError',
  schema: z.object({ error: z.object({ code: z.int(), message: z.string(), status: z.string() }) }),
};
