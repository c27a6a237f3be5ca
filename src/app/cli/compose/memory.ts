// Memory of the process: its limit, the budget of requests, and release after a burst.
import type { Config } from '../../config/index.ts';
import type { Clock } from '../../../base/runtime/clock.ts';
import { collectGarbage, memoryLimitBytes, residentBytes, usedMs } from '../../../base/runtime/machine.ts';
import type { BudgetLimits } from '../../../server/body/memory-budget.ts';
import { returnMemory } from '../../../server/body/memory-return.ts';

/** Default share for requests; an answer takes a few times the size of its body. */
const BUDGET_SHARE = 1 / 4;

/** Bytes available to the process. */
export const availableBytes = memoryLimitBytes();

/** Memory that requests may hold under a configuration. */
export function budgetOf({ memory, bodyLimitBytes }: Config['server']): BudgetLimits {
  const totalBytes = memory.bodiesBytes ?? Math.max(availableBytes * BUDGET_SHARE, bodyLimitBytes);
  const perKeyBytes = Math.max(totalBytes * memory.sharePerKey, bodyLimitBytes);
  return { totalBytes: Math.floor(totalBytes), perKeyBytes: Math.floor(perKeyBytes) };
}

/** Starts watching for the end of bursts. @returns a function that stops it */
export function releaseMemory(clock: Clock): () => void {
  return returnMemory({ clock, residentBytes, usedMs, collect: collectGarbage });
}
