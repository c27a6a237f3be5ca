// What the relay lane changes in a response object, and what it reads off an answer for the records.
import type {
  EventSink,
  FinishEvent,
  GatewayError,
  JsonObject,
  JsonValue,
  Usage,
} from '../../canonical/index.ts';
import type { CodecContext, RelayFacts, RelayTap } from '../protocol.ts';
import { emitEnding } from './decode-answer.ts';
import { RESPONSE_PREFIX } from './encode-response-object.ts';
import { ItemEmitter } from './item-emitter.ts';

/** What a response object says instead. */
export function patches(facts: RelayFacts): Record<string, JsonValue> {
  const set: Record<string, JsonValue> = { id: RESPONSE_PREFIX + facts.id, model: facts.model };
  if (facts.store !== undefined) set['store'] = facts.store;
  return set;
}

/** Reads the end of a relayed stream: token counts, the reason, or the failure. */
export function readEnding(ending: 'completed' | 'incomplete' | 'failed', response: JsonObject): AnswerTap {
  const tap = new AnswerTap();
  emitEnding(ending, response, new ItemEmitter(tap, NO_IDS), tap);
  return tap;
}

/** Nothing that is read here needs an id. */
export const NO_IDS: CodecContext = { newId: (prefix) => prefix, nowSeconds: () => 0 };

/** Keeps what the records need of an answer that passes. */
export class AnswerTap implements EventSink, RelayTap {
  upstreamId: string | undefined;
  usage: Usage | undefined;
  finish: FinishEvent | undefined;
  error: GatewayError | undefined;
  outputChars = 0;
  whole: string | undefined;

  answer(): string | undefined {
    return this.whole;
  }

  on(event: Parameters<EventSink['on']>[0]): void {
    switch (event.type) {
      case 'text':
      case 'reasoning':
      case 'arguments':
        this.outputChars += event.text.length;
        return;
      case 'usage':
        this.usage = event.usage;
        return;
      case 'finish':
        this.finish = event;
        return;
      case 'error':
        this.error = event.error;
        return;
      default:
    }
  }
}
