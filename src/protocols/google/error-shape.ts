// Schema of the errors that `encode-error.ts` writes, for the API description.
import { z } from 'zod';
import type { NamedShape } from '../../base/lib/route-description.ts';

export const ERROR_SHAPE: NamedShape = {
  name: 'GoogleError',
  schema: z.object({ error: z.object({ code: z.int(), message: z.string(), status: z.string() }) }),
};
