// How much memory there is, and what requests may hold of it.
import type { Config } from '../../config/index.ts';
import { memoryLimitBytes } from '../../runtime/machine.ts';
import type { BudgetLimits } from '../../server/body/memory-budget.ts';

/** Of the memory that there is, unless the configuration says otherwise; it takes a few times a body to answer it. */
const BUDGET_SHARE = 1 / 4;

/** Bytes that the process may have. */
export const availableBytes = memoryLimitBytes();

/** What requests may hold under a configuration. */
export function budgetOf({ memory, bodyLimitBytes }: Config['server']): BudgetLimits {
  const totalBytes = memory.bodiesBytes ?? Math.max(availableBytes * BUDGET_SHARE, bodyLimitBytes);
  const perKeyBytes = Math.max(totalBytes * memory.sharePerKey, bodyLimitBytes);
  return { totalBytes: Math.floor(totalBytes), perKeyBytes: Math.floor(perKeyBytes) };
}
