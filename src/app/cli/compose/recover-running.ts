// Writes the cost of requests that were running when a process was killed to the ledger, because their upstreams charge
// it anyway.
import { NO_USAGE } from '../../../canonical/index.ts';
import { usdOf } from '../../../accounts/limits/index.ts';
import type { RunningRecord, RunningSpent, Storage } from '../../../accounts/ports/index.ts';

/** Must be called before ledger sums are read. */
export async function recoverRunning({
  running,
  ledger,
}: Pick<Storage, 'running' | 'ledger'>): Promise<void> {
  await running.recover(async (record, spent) => {
    const { id, projectId } = record.generation;
    // The request had ended, or an earlier start recorded it.
    if (await ledger.find(id, projectId)) return;
    const { generation, attempt } = interrupted(record, spent);
    ledger.append(generation, [attempt]);
  });
}

function interrupted(
  { generation, attempt, inputTokens }: RunningRecord,
  { requests, nanoUsd, tokens, atMs }: RunningSpent,
): Omit<RunningRecord, 'inputTokens'> {
  const input = Math.min(inputTokens, tokens);
  const usage = {
    ...NO_USAGE,
    input: { ...NO_USAGE.input, uncached: input },
    output: { ...NO_USAGE.output, text: tokens - input },
    estimated: true,
  };
  const charged = { usage, cost: { usd: usdOf(nanoUsd), items: {}, price: null }, endedAt: atMs };
  return {
    generation: { ...generation, ...charged, turns: requests },
    attempt: { ...attempt, ...charged },
  };
}
