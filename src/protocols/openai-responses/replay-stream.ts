// The events of an answer that was kept, as if it were made now. Order and form are the stream encoder's; only the
// response object inside the events is the kept one. Knows nothing of where answers are kept.
import { GatewayError, Report } from '../../canonical/index.ts';
import type { JsonObject } from '../../base/json/index.ts';
import type { CanonicalRequest } from '../../canonical/index.ts';
import type { CodecContext } from '../protocol.ts';
import type { AnswerContext } from '../server-codec.ts';
import { decodeResponse } from './decode-response.ts';
import { RESPONSE_PREFIX, type Outcome } from './encode-response-object.ts';
import { encodeStream } from './encode-stream.ts';

/**
 * The frames of the whole stream, in order: the place of each is its sequence number.
 * @param response the answer as it was kept; members that only `include` shows are left out unless it names them
 */
export function replayResponse(
  response: JsonObject,
  include: ReadonlySet<string>,
  context: CodecContext,
  words: Pick<AnswerContext, 'readsOpenWords'> = {},
): readonly string[] {
  let text = '';
  const sink = encodeStream(
    (frames) => (text += frames),
    {
      id: String(response['id']).slice(RESPONSE_PREFIX.length),
      createdSeconds: Number(response['created_at']),
      model: String(response['model']),
      request: replayedRequest(include),
      reasoningContentMirror: false,
      ...words,
    },
    (_, outcome, output) => envelope(response, outcome, output),
  );
  try {
    decodeResponse(response, sink, context);
  } catch (error) {
    // An answer that failed is told as one.
    sink.on({ type: 'error', error: GatewayError.from(error) });
  }
  return text.split(/(?<=\n\n)/);
}

function envelope(kept: JsonObject, { status }: Outcome, output: readonly JsonObject[]): JsonObject {
  if (status !== 'in_progress') return { ...kept, output };
  const begun = { status, output, completed_at: null, error: null, incomplete_details: null, usage: null };
  return { ...kept, ...begun };
}

/** Members that the encoder asks of a request once the echoes are not its business. */
function replayedRequest(include: ReadonlySet<string>): CanonicalRequest {
  return {
    protocol: 'openai-responses',
    raw: {},
    model: '',
    items: [],
    tools: [],
    reasoning: {},
    stream: true,
    gateway: {},
    logprobs: include.has('message.output_text.logprobs'),
    state: { store: true, truncation: 'disabled', include, background: false },
    extra: {},
    report: new Report(),
  };
}
