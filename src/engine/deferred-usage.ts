// Deferred usage: tokens that an upstream reports only after a request has ended, because it continued without a
// client. It is a separate record, written by the first reader of the finished answer. Its id is derived from the
// request's id, so it is written once.
import { createHash } from 'node:crypto';
import { costOf, type AttemptRecord, type GenerationRecord } from '../accounts/ledger/index.ts';
import { type Endpoint, isListPriced } from '../catalog/index.ts';
import type { RemoteCounts } from '../protocols/index.ts';
import type { LedgerStore } from '../accounts/ports/index.ts';
import type { GatewayDependencies } from './dependencies.ts';
import type { RemoteAnswer } from './remote-answer.ts';

interface Recorded {
  readonly generation: GenerationRecord;
  readonly attempts: readonly AttemptRecord[];
}

/**
 * Records deferred usage, unless it was already recorded. Its cost counts from the time it is known. Never throws.
 * @param endpoint that stores the answer, with its price
 */
export function recordDeferredUsage(
  { generation, attempt }: RemoteAnswer,
  { usage, serviceTier }: RemoteCounts,
  endpoint: Endpoint,
  { ledger, clock, log }: Pick<GatewayDependencies, 'ledger' | 'clock' | 'log'>,
): void {
  const nowMs = clock.wall();
  const id = lateId(generation.id);
  const isListed = isListPriced({ serviceTier, protocol: generation.protocol }, endpoint);
  const cost = costOf(usage, isListed ? endpoint.price : null);
  const times = { firstContentAt: nowMs, endedAt: nowMs };
  const late = { ...generation, ...times, id, createdAt: nowMs, attempts: 1, usage, cost, content: null };
  const counted = { ...attempt, ...times, id: `${id}-0`, generationId: id, ordinal: 0, startedAt: nowMs };
  try {
    ledger.append(late, [{ ...counted, usage, cost }]);
  } catch (error) {
    // The answer is still delivered; the log keeps what the ledger refused.
    log.error('deferred usage could not be recorded', { record: late, error });
  }
}

/** Adds deferred usage to a record, if there is any. */
export async function withDeferredUsage(
  found: Recorded,
  projectId: string,
  ledger: Pick<LedgerStore, 'find'>,
): Promise<Recorded> {
  const { generation } = found;
  if (generation.usage !== null || found.attempts.every(({ upstreamId }) => upstreamId === null))
    return found;
  const late = await ledger.find(lateId(generation.id), projectId);
  if (!late) return found;
  const { usage, cost } = late.generation;
  return { ...found, generation: { ...generation, usage, cost } };
}

/** Keeps the time part, so that both records are adjacent. */
function lateId(id: string): string {
  return id.slice(0, 12) + createHash('sha256').update(id).digest('hex').slice(0, 20);
}
