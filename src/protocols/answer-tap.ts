// Tap of the relay lane on an answer that passes: a sink behind a decoder that keeps almost nothing.
import type { CanonicalEvent, EventSink, FinishEvent, GatewayError, Usage } from '../canonical/index.ts';
import { isContent } from '../canonical/index.ts';
import type { CodecContext, RelayTap, UpstreamCodec } from './protocol.ts';

/** Nothing that is read here needs an id. */
export const NO_IDS: CodecContext = { newId: (prefix) => prefix, nowSeconds: () => 0 };

export class AnswerTap implements EventSink, RelayTap {
  upstreamId: string | undefined;
  usage: Usage | undefined;
  finish: FinishEvent | undefined;
  error: GatewayError | undefined;
  /** Characters of what the model wrote. */
  outputChars = 0;
  hasContent = false;

  get isEmpty(): boolean {
    return !this.hasContent;
  }

  on(event: CanonicalEvent): void {
    switch (event.type) {
      case 'start':
        this.upstreamId = event.id;
        return;
      case 'text':
      case 'reasoning':
      case 'arguments':
        this.outputChars += event.text.length;
        break;
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
    this.hasContent ||= isContent(event);
  }
}

/**
 * Reads a whole answer.
 * @param json undefined: it is no JSON
 * @throws GatewayError when it is no answer of the protocol, or failed
 */
export function readAnswer(json: unknown, decode: UpstreamCodec['decodeResponse']): AnswerTap {
  const tap = new AnswerTap();
  decode(json, tap, NO_IDS);
  if (tap.error) throw tap.error;
  return tap;
}
