// What a request has used of limits: the same as its record says, so that counters and the ledger agree.
import { inputTokens, outputTokens } from '../../canonical/index.ts';
import type { GenerationRecord } from '../../ledger/index.ts';
import { nanoUsdOf, type Spent } from '../../limits/index.ts';

export function spentOf({ usage, cost, error }: Pick<GenerationRecord, 'usage' | 'cost' | 'error'>): Spent {
  return {
    // What failed and cost nothing is as if it had never been.
    requests: usage || cost || error === null ? 1 : 0,
    tokens: usage ? inputTokens(usage) + outputTokens(usage) : 0,
    nanoUsd: cost ? cost.usd && nanoUsdOf(cost.usd) : 0,
  };
}
