// Deferred usage: tokens that an upstream counts only after a request has ended, because it went on without a client. It is a record of its own,
// written by whoever reads the finished answer first. Its id follows from that of the request, so that it is written once.
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
 * Writes what was counted. Nothing changes where that was done before. Money counts from when it is known. Never throws.
 * @param endpoint who keeps the answer, and what it costs there
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
    // The answer is worth more to its reader; the log keeps what the ledger refused.
    log.error('counts could not be recorded', { record: late, error });
  }
}

/** A record with what was counted after it had been written, if anything was. */
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

/** The time in it stays, so that both records lie together. */
function lateId(id: string): string {
  return id.slice(0, 12) + createHash('sha256').update(id).digest('hex').slice(0, 20);
}
