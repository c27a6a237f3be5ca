// Record of an answer made by a job. A job that was interrupted or had to wait has several tries, each with its own
// record.
import type { LedgerStore, ListedGeneration, Storage } from '../../accounts/ports/index.ts';
import { GatewayError } from '../../canonical/index.ts';
import { recordIdOf } from './response-job.ts';

export interface AnswerRecord {
  readonly found: ListedGeneration;
  /** Number of the try, from 1, and the total. Null: the answer was not made by a job. */
  readonly tries: { readonly number: number; readonly of: number } | null;
}

interface Stores {
  readonly jobs: Pick<Storage['jobs'], 'get'>;
  readonly ledger: Pick<LedgerStore, 'find'>;
}

/**
 * Finds the record of an answer: of several tries, the latest that has one.
 * @param id generation id known to the client
 * @param wanted number of a try; undefined: the latest
 * @returns null when the project has no such record. Throws GatewayError `not_found` for a try without a record
 */
export async function findAnswerRecord(
  id: string,
  projectId: string,
  wanted: number | undefined,
  stores: Stores,
): Promise<AnswerRecord | null> {
  const of = await triesOf(id, projectId, stores.jobs);
  if (of === 0 && (wanted ?? 1) === 1) {
    const found = await stores.ledger.find(id, projectId);
    return found && { found, tries: null };
  }
  for (let number = wanted ?? of; number > 0 && number <= of; number -= 1) {
    const found = await stores.ledger.find(recordIdOf(id, number), projectId);
    if (found) return { found, tries: { number, of } };
    if (wanted !== undefined) break;
  }
  if (wanted === undefined) return null;
  throw new GatewayError(
    'not_found',
    wanted > of
      ? `\`try\` must be at most ${Math.max(1, of)}, the number of tries of this response (got ${wanted}).`
      : `Try ${wanted} of this response has no record, because it called no upstream.`,
    { param: 'try' },
  );
}

/** Number of times that a job started the answer. 0: the project has no such job. */
async function triesOf(id: string, projectId: string, jobs: Stores['jobs']): Promise<number> {
  for (const jobId of [`resp_${id}`, id]) {
    const job = await jobs.get(jobId);
    if (job?.projectId === projectId) return job.attempt;
  }
  return 0;
}
