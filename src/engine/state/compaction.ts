// Compaction: a summary in the place of a long conversation, sealed under this installation's key. On the way to a model
// it becomes a message again; what another server compacted goes on to that server as it is.
import { GatewayError } from '../../canonical/index.ts';
import type { Item } from '../../canonical/index.ts';
import type { Envelope } from './envelope.ts';

/** Text that a model reads before a summary. */
const HEADING = 'Summary of the conversation so far:';

/**
 * The conversation with summaries in the place of those compactions that were made here.
 * @throws GatewayError `invalid_request` naming one that cannot be opened: the rest would be another conversation
 */
export function openCompactions(
  items: readonly Item[],
  projectId: string,
  envelope: Envelope,
): readonly Item[] {
  if (!items.some((item) => item.type === 'compaction')) return items;
  return items.flatMap((item): Item[] => {
    if (item.type !== 'compaction') return [item];
    const text = envelope.open(projectId, item.encrypted);
    if (text === undefined) return [item];
    if (text === null) {
      const param = item.path ?? 'input';
      throw new GatewayError(
        'invalid_request',
        `${param}: this summary was sealed for another key or by another server`,
        { param },
      );
    }
    return [
      {
        type: 'message',
        role: 'user',
        parts: [{ type: 'text', text: `${HEADING}\n\n${text}` }],
        path: item.path,
      },
    ];
  });
}
