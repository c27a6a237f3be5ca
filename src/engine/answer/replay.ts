// Pushes a collected answer again, as if it arrived now.
import type { CollectedEvents, EventSink, Item, OpenItem } from '../../canonical/index.ts';

/** Pushes the items from an index on, the usage and the end of `events`. */
export function replayFrom(events: CollectedEvents, from: number, sink: EventSink): void {
  events.items.forEach((item, index) => {
    if (index < from) return;
    sink.on({ type: 'open', index, item: opening(item) });
    replayContent(item, index, sink);
    sink.on({ type: 'close', index, source: item.source });
  });
  if (events.usage) sink.on({ type: 'usage', usage: events.usage });
  if (events.error) sink.on({ type: 'error', error: events.error });
  else if (events.finish) sink.on(events.finish);
}

function opening(item: Item): OpenItem {
  switch (item.type) {
    case 'message':
      return { type: 'message', id: item.id };
    case 'reasoning':
      return { type: 'reasoning', id: item.id, format: item.format };
    case 'tool_call':
      return {
        type: 'tool_call',
        kind: item.kind,
        id: item.id,
        callId: item.callId,
        name: item.name,
        ...(item.namespace === undefined ? {} : { namespace: item.namespace }),
        ...(item.source === undefined ? {} : { source: item.source }),
      };
    case 'tool_result':
    case 'reference':
      throw new TypeError(`a ${item.type} is never part of an answer`);
    default:
      return item;
  }
}

function replayContent(item: Item, index: number, sink: EventSink): void {
  if (item.type === 'message') {
    item.parts.forEach((part, at) => {
      if (part.type === 'refusal')
        sink.on({ type: 'text', index, part: at, kind: 'refusal', text: part.refusal });
      if (part.type !== 'text') return;
      sink.on({ type: 'text', index, part: at, kind: 'text', text: part.text, logprobs: part.logprobs });
      for (const annotation of part.annotations ?? [])
        sink.on({ type: 'annotate', index, part: at, annotation });
    });
  } else if (item.type === 'reasoning') {
    item.summary.forEach((text, part) => sink.on({ type: 'reasoning', index, kind: 'summary', part, text }));
    item.text.forEach((text, part) => sink.on({ type: 'reasoning', index, kind: 'text', part, text }));
    if (item.opaque)
      sink.on({ type: 'reasoning', index, kind: 'text', part: 0, text: '', opaque: item.opaque });
  } else if (item.type === 'tool_call') {
    sink.on({ type: 'arguments', index, text: item.arguments });
  }
}
