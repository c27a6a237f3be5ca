// Limits and budgets of an owner as answers have them: in the words of the configuration file.
import type { z } from 'zod';
import { budgetsSchema, limitsSchema } from '../config/index.ts';
import type { LimitEntry } from '../limits/index.ts';

/** Members of whatever may have limits. */
export const limitsOfOwner = { limits: limitsSchema, budgets: budgetsSchema };

interface Owner {
  readonly limits: readonly LimitEntry[];
  readonly budgets: readonly LimitEntry[];
}
type View = z.input<z.ZodObject<typeof limitsOfOwner>>;

/** The entries were checked when they were made: what has no amount of money is a limit. */
export function limitsView({ limits, budgets }: Owner): View {
  return { limits: limits as View['limits'], budgets: budgets as View['budgets'] };
}
