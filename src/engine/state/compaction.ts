// Compaction: replaces a long conversation by a sealed summary. It is opened into a message for models; compactions of
// other servers are passed to them unchanged.
import { GatewayError } from '../../canonical/index.ts';
import type { Item } from '../../canonical/index.ts';
import type { Envelope } from './envelope.ts';

/** Heading of a summary for the model. */
const HEADING = 'Summary of the conversation so far:';

/**
 * Opens compactions that were made here.
 * @throws GatewayError `invalid_request` naming one that cannot be opened, because the conversation would be incomplete
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
        `${param}: the summary was encrypted for another key or by another server`,
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
