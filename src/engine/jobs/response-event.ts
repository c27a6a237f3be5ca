// Event at the end of a background answer, named as in OpenAI's webhooks (2026-11).
import {
  type Announcement,
  eventId,
  type JobEnd,
  type JobView,
  type Storage,
} from '../../accounts/ports/index.ts';
import type { UnixMs } from '../../base/units.ts';

/** @param nowMs Unix milliseconds */
export async function responseEvent(
  { id, projectId }: Pick<JobView, 'id' | 'projectId'>,
  { state }: JobEnd,
  responses: Pick<Storage['responses'], 'find'>,
  nowMs: UnixMs,
): Promise<Announcement> {
  const stored = state === 'completed' ? await responses.find(projectId, id, nowMs) : null;
  const isCut = stored?.response['status'] === 'incomplete';
  return {
    id: eventId(id, state),
    type: `response.${isCut ? 'incomplete' : state}`,
    projectId,
    data: { id },
  };
}
