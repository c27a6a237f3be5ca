// How much memory there is, and what requests may hold of it.
import type { Config } from '../../config/index.ts';
import { memoryLimitBytes } from '../../../base/runtime/machine.ts';
import type { BudgetLimits } from '../../../server/body/memory-budget.ts';

/**
 * Part of the memory for requests, unless the configuration names another; an answer takes a few times the size of
 * its body.
 */
const BUDGET_SHARE = 1 / 4;

/** Bytes that the process may have. */
export const availableBytes = memoryLimitBytes();

/** Memory that requests may hold under a configuration. */
export function budgetOf({ memory, bodyLimitBytes }: Config['server']): BudgetLimits {
  const totalBytes = memory.bodiesBytes ?? Math.max(availableBytes * BUDGET_SHARE, bodyLimitBytes);
  const perKeyBytes = Math.max(totalBytes * memory.sharePerKey, bodyLimitBytes);
  return { totalBytes: Math.floor(totalBytes), perKeyBytes: Math.floor(perKeyBytes) };
}
