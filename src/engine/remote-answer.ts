// Location of an answer that its upstream keeps: the records are the only store of that, and know whose it is.
import type { ProtocolName } from '../canonical/index.ts';
import type { AttemptRecord, GenerationRecord } from '../accounts/ledger/index.ts';
import type { LedgerStore } from '../accounts/ports/index.ts';

export interface RemoteAnswer {
  readonly generation: GenerationRecord;
  /** The try whose answer it is. */
  readonly attempt: AttemptRecord;
  /** Provider that keeps it. */
  readonly provider: string;
  /** Its id there. */
  readonly upstreamId: string;
}

/**
 * @param id of the generation that made the answer
 * @param protocol that of its client and of its upstream
 * @returns null where there is none of this project
 */
export async function findRemote(
  id: string,
  projectId: string,
  protocol: ProtocolName,
  ledger: Pick<LedgerStore, 'find'>,
): Promise<RemoteAnswer | null> {
  const found = await ledger.find(id, projectId);
  if (!found || found.generation.protocol !== protocol) return null;
  // The id of a try that failed is that of a request which was refused, or of an answer that nobody was shown.
  const attempt = found.attempts.findLast((each) => each.outcome !== 'failed' && each.protocol === protocol);
  if (!attempt || attempt.upstreamId === null) return null;
  const { provider, upstreamId } = attempt;
  return { generation: found.generation, attempt, provider, upstreamId };
}
