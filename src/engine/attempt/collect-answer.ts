// Decodes an answer whose bytes are already complete, in the same way as an attempt does.
import { Collector, type CollectedEvents } from '../../canonical/index.ts';
import type { CodecContext, UpstreamCodec } from '../../protocols/index.ts';
import { ResponseHead } from '../../upstream/response-parser.ts';
import { streamReader, wholeReader } from './answer-reader.ts';
import { isStreamed, unframed } from './event-reader.ts';

/** A complete answer. */
export interface WholeAnswerBytes {
  readonly status: number;
  readonly contentType: string;
  readonly body: Buffer;
}

/** @throws GatewayError for a body that is not an answer of the protocol */
export function collectAnswer(
  codec: UpstreamCodec,
  { status, contentType, body }: WholeAnswerBytes,
  context: CodecContext,
): CollectedEvents {
  const collector = new Collector();
  const head = new ResponseHead(status, `HTTP/1.1 ${status}\r\ncontent-type: ${contentType}\r\n`);
  const reader = isStreamed(contentType)
    ? unframed(streamReader(codec, collector, context), head, codec)
    : wholeReader(codec, collector, context);
  reader.data(body);
  reader.end();
  return collector.result();
}
