// Tap of the relay lane: reads usage and finish reason from an answer with the protocol's decoder and keeps no content.
import type { CanonicalEvent, EventSink, FinishEvent, GatewayError, Usage } from '../../canonical/index.ts';
import { isContent } from '../../canonical/index.ts';
import type { CodecContext, RelayTap, UpstreamCodec } from '../protocol.ts';

/** Context for decoders whose output is discarded: ids are not unique, and the time is 0. */
export const NO_IDS: CodecContext = { newId: (prefix) => prefix, nowSeconds: () => 0 };

export class AnswerTap implements EventSink, RelayTap {
  upstreamId: string | undefined;
  usage: Usage | undefined;
  finish: FinishEvent | undefined;
  error: GatewayError | undefined;
  /** Characters of output that the model wrote. */
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
 * @param json the parsed body; undefined: the body is not JSON
 * @throws GatewayError if the body is not an answer of this protocol, or reports a failure
 */
export function readAnswer(json: unknown, decode: UpstreamCodec['decodeResponse']): AnswerTap {
  const tap = new AnswerTap();
  decode(json, tap, NO_IDS);
  if (tap.error) throw tap.error;
  return tap;
}
