// Compaction: a summary in the place of a long conversation, sealed under this installation's key. On the way to a model
// it becomes a message again; what another server compacted goes on to that server as it is.
import type { Item, Report } from '../canonical/index.ts';
import type { Envelope } from './envelope.ts';

/** What a model reads before a summary. */
const HEADING = 'Summary of the conversation so far:';

/** The conversation with summaries in the place of those compactions that were made here. */
export function openCompactions(
  items: readonly Item[],
  keyId: string,
  envelope: Envelope,
  report: Report,
): readonly Item[] {
  if (!items.some((item) => item.type === 'compaction')) return items;
  return items.flatMap((item): Item[] => {
    if (item.type !== 'compaction') return [item];
    const text = envelope.open(keyId, item.encrypted);
    if (text === undefined) return [item];
    if (text === null) {
      report.add(item.path ?? 'input', 'dropped', 'a summary that was sealed for another key or server');
      return [];
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
