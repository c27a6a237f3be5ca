// Event at the end of a batch, named as in OpenAI's webhooks (2026-11).
import { type Announcement, type BatchStore, eventId, type JobView } from '../../accounts/ports/index.ts';

/** Null: the batch has not ended. */
export async function batchEvent(
  { id, projectId }: Pick<JobView, 'id' | 'projectId'>,
  batches: Pick<BatchStore, 'get'>,
): Promise<Announcement | null> {
  const batch = await batches.get(id);
  if (!batch?.outcome) return null;
  return { id: eventId(id, batch.outcome), type: `batch.${batch.outcome}`, projectId, data: { id } };
}
