// Finds an answer stored at its upstream. Only the records know its location and its project.
import type { ProtocolName } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../accounts/ledger/index.ts';
import type { LedgerStore } from '../accounts/ports/index.ts';

export interface RemoteAnswer {
  readonly generation: GenerationRecord;
  /** The attempt that made the answer. */
  readonly attempt: AttemptRecord;
  /** Provider that stores it. */
  readonly provider: string;
  /** Its id at the upstream. */
  readonly upstreamId: string;
}

/**
 * @param id of the generation that made the answer
 * @param protocol of both its client and its upstream
 * @returns null when the project has no such answer
 */
export async function findRemote(
  id: string,
  projectId: string,
  protocol: ProtocolName,
  ledger: Pick<LedgerStore, 'find'>,
): Promise<RemoteAnswer | null> {
  const found = await ledger.find(id, projectId);
  if (!found || found.generation.protocol !== protocol) return null;
  // The id of a failed attempt belongs to a refused request or to an answer that was not shown.
  const attempt = found.attempts.findLast((each) => each.outcome !== 'failed' && each.protocol === protocol);
  if (!attempt || attempt.upstreamId === null) return null;
  const { provider, upstreamId } = attempt;
  return { generation: found.generation, attempt, provider, upstreamId };
}
