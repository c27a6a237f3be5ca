// Encodes an interaction as events, if the upstream sent a whole answer although a stream was requested. Also writes
// failures that the upstream did not report.
import { isEventName } from '../../../base/lib/event-stream.ts';
import type { JsonObject } from '../../../base/json/index.ts';
import type { CanonicalEvent, EventSink, OpenItem, Source, Usage } from '../../../canonical/index.ts';
import type { AnswerContext } from '../../protocol.ts';
import { encodeEnd, encodeEvent, encodeFailure } from './encode-event.ts';
import { encodeEnvelope, encodeUsage } from './encode-response.ts';
import { encodeStatus } from './interaction-status.ts';

const PROTOCOL = 'gemini-interactions';

/** Creates a sink that writes complete events. After `finish` or `error` it ignores further ones. */
export function encodeStream(write: (frames: string) => void, context: AnswerContext): EventSink {
  let usage: Usage | undefined;
  let over = false;
  const send = (event_type: string, members: JsonObject): void => write(encodeEvent(event_type, members));
  const end = (event_type: string, members: JsonObject): void => {
    over = true;
    write(encodeEnd(event_type, members));
  };
  /** Passes on members that only this protocol has. */
  const passOn = ({ protocol, raw }: Source): void => {
    const { event_type: type, ...members } = raw;
    if (protocol === PROTOCOL && isEventName(type)) send(type, members);
  };
  return {
    on(event) {
      if (over) return;
      switch (event.type) {
        case 'start':
          return send('interaction.created', {
            interaction: { ...encodeEnvelope(context), status: 'in_progress' },
          });
        case 'open':
          return send('step.start', { index: event.index, step: encodeOpen(event.item) });
        case 'close':
          return send('step.stop', { index: event.index });
        case 'usage':
          usage = event.usage;
          return;
        case 'finish':
          return end('interaction.completed', {
            interaction: {
              ...encodeEnvelope(context),
              status: encodeStatus(event.reason, event.raw),
              ...encodeUsage(usage),
            },
          });
        case 'error':
          return end('error', { error: encodeFailure(event.error) });
        case 'unknown':
          return passOn(event.source);
        default:
          for (const delta of deltasOf(event)) send('step.delta', delta);
      }
    },
  };
}

function encodeOpen(item: OpenItem): JsonObject {
  if (item.type === 'message') return { type: 'model_output' };
  if (item.type === 'reasoning') return { type: 'thought' };
  if (item.type === 'tool_call')
    return { type: 'function_call', id: item.callId, name: item.name, arguments: {} };
  const { source } = item;
  return source?.protocol === PROTOCOL ? source.raw : { type: item.type };
}

function deltasOf(event: CanonicalEvent): readonly JsonObject[] {
  switch (event.type) {
    case 'text':
      return [{ index: event.index, delta: { type: 'text', text: event.text } }];
    case 'arguments':
      return [{ index: event.index, delta: { type: 'arguments_delta', arguments: event.text } }];
    case 'reasoning': {
      const { index, text, opaque } = event;
      const content = { type: 'text', text };
      return [
        ...(text === '' ? [] : [{ index, delta: { type: 'thought_summary', content } }]),
        ...(opaque ? [{ index, delta: { type: 'thought_signature', signature: opaque.data } }] : []),
      ];
    }
    default:
      return [];
  }
}
