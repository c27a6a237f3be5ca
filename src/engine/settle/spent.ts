// Use of limits by a request: the same as its record says, so that counters and the ledger agree.
import { inputTokens, outputTokens } from '../../canonical/index.ts';
import { countedRequests, type GenerationRecord } from '../../accounts/ledger/index.ts';
import { nanoUsdOf, type Spent } from '../../accounts/limits/index.ts';

export function spentOf({
  usage,
  cost,
  error,
  turns,
}: Pick<GenerationRecord, 'usage' | 'cost' | 'error' | 'turns'>): Spent {
  return {
    requests: countedRequests({ turns, failed: error !== null, isCharged: usage !== null || cost !== null }),
    tokens: usage ? inputTokens(usage) + outputTokens(usage) : 0,
    nanoUsd: cost ? cost.usd && nanoUsdOf(cost.usd) : 0,
  };
}
