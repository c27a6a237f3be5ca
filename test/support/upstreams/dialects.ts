// The same short answer in the words of each upstream protocol, whole and streamed, and the same failures: for
// scripts that must hold over every protocol. Knows nothing of the gateway.
import {
  CHAT_ENDING,
  CHAT_OPENING,
  chatBody,
  chatChunk,
  frame,
  messagesBody,
  responsesBody,
  whole,
} from './answers.ts';
import type { Answer } from './scripted-upstream.ts';

export const UPSTREAM_PROTOCOLS = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
] as const;
export type UpstreamProtocol = (typeof UPSTREAM_PROTOCOLS)[number];

/** Answers of one upstream in one protocol. Streams are texts of whole frames. */
export interface Dialect {
  /** A whole answer with this text. */
  readonly whole: (text: string) => object;
  /** The beginning of a stream that has no content yet. */
  readonly opening: string;
  /** More of the text. */
  readonly piece: (text: string) => string;
  /** The end of a stream that said all this, without its end mark. */
  readonly ending: (text: string) => string;
  /** Frame that only says that nothing follows; a complete answer is complete without it. Empty where there is none. */
  readonly endMark: string;
  /** A failure that is told inside a stream. */
  readonly errorFrame: string;
  /** The same as a whole answer, for status 200. */
  readonly errorBody: object;
  /** An error answer; `type` and `code` where clients of the protocol know some. */
  readonly error: (status: number, headers?: Readonly<Record<string, string>>) => Answer;
  /** The prompt is too long for the model. */
  readonly overflow: Answer;
  /** The provider's rules forbid an answer. */
  readonly policy: Answer;
  /** The beginning of an answer is not taken. */
  readonly noPrefill: Answer;
}

/** A whole stream that says these pieces. */
export function streamOf(dialect: Dialect, ...pieces: readonly string[]): string {
  const { opening, piece, ending, endMark } = dialect;
  return opening + pieces.map(piece).join('') + ending(pieces.join('')) + endMark;
}

const NO_PREFILL =
  'This model does not support assistant message prefill. The conversation must end with a user message.';

function openaiError(
  status: number,
  message: string,
  code: string | null,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const type = status < 500 ? 'invalid_request_error' : 'server_error';
  return whole({ error: { message, type, param: null, code } }, status, headers);
}

const openaiErrors = {
  error: (status: number, headers?: Readonly<Record<string, string>>) =>
    openaiError(status, `scripted ${status}`, null, headers),
  overflow: openaiError(400, "This model's maximum context length is 10 tokens.", 'context_length_exceeded'),
  policy: openaiError(400, 'Refused by the content policy.', 'content_policy_violation'),
  noPrefill: openaiError(400, NO_PREFILL, null),
};

const CHAT_END_MARK = 'data: [DONE]\n\n';
const OVERLOADED = { message: 'scripted overload', type: 'server_error', code: null };

const chat = (mark: string): Dialect => {
  const own = (text: string): string => text.replaceAll('chatcmpl-up', mark);
  return {
    whole: (text) => ({ ...chatBody(text), id: mark }),
    opening: own(CHAT_OPENING),
    piece: (content) => own(chatChunk({ content })),
    ending: () => own(CHAT_ENDING.replace(CHAT_END_MARK, '')),
    endMark: CHAT_END_MARK,
    errorFrame: frame({ error: OVERLOADED }),
    errorBody: { error: OVERLOADED },
    ...openaiErrors,
  };
};

const responses = (mark: string): Dialect => {
  const item = `msg_${mark}`;
  const place = { item_id: item, output_index: 0, content_index: 0 };
  const part = (text: string): object => ({ type: 'output_text', text, annotations: [], logprobs: [] });
  const message = (text: string | null): object => ({
    id: item,
    type: 'message',
    role: 'assistant',
    status: text === null ? 'in_progress' : 'completed',
    content: text === null ? [] : [part(text)],
  });
  const response = (status: string, output: readonly object[]): object => {
    const body = { ...responsesBody(output), id: mark, status };
    return status === 'completed' ? body : { ...body, completed_at: null, usage: null };
  };
  let number = 0;
  const event = (type: string, members: object): string =>
    frame({ type, sequence_number: number++, ...members });
  return {
    whole: (text) => response('completed', [message(text)]),
    opening:
      event('response.created', { response: response('in_progress', []) }) +
      event('response.in_progress', { response: response('in_progress', []) }) +
      event('response.output_item.added', { output_index: 0, item: message(null) }) +
      event('response.content_part.added', { ...place, part: part('') }),
    piece: (delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] }),
    ending: (text) =>
      event('response.output_text.done', { ...place, text, logprobs: [] }) +
      event('response.content_part.done', { ...place, part: part(text) }) +
      event('response.output_item.done', { output_index: 0, item: message(text) }) +
      event('response.completed', { response: response('completed', [message(text)]) }),
    endMark: '',
    // Numbered when it is said.
    get errorFrame() {
      return event('error', { code: 'server_error', message: OVERLOADED.message, param: null });
    },
    errorBody: {
      ...response('failed', []),
      error: { code: 'server_error', message: OVERLOADED.message },
    },
    ...openaiErrors,
  };
};

const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
};

function messagesError(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  const type = ANTHROPIC_TYPES[status] ?? (status < 500 ? 'invalid_request_error' : 'api_error');
  return whole({ type: 'error', error: { type, message }, request_id: 'req_up' }, status, headers);
}

const messages = (mark: string): Dialect => {
  const content = (text: string): object[] => [{ type: 'text', text }];
  const body = (text: string): Readonly<Record<string, unknown>> => ({
    ...messagesBody(content(text), 'end_turn'),
    id: mark,
  });
  const overloaded = {
    type: 'error',
    error: { type: 'overloaded_error', message: OVERLOADED.message },
  };
  const message = {
    ...body(''),
    content: [],
    stop_reason: null,
    usage: { input_tokens: 10, output_tokens: 1 },
  };
  return {
    whole: body,
    opening:
      frame({ type: 'message_start', message }) +
      frame({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }) +
      frame({ type: 'ping' }),
    piece: (text) => frame({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }),
    ending: () =>
      frame({ type: 'content_block_stop', index: 0 }) +
      frame({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 20 },
      }),
    endMark: frame({ type: 'message_stop' }),
    errorFrame: frame(overloaded),
    errorBody: overloaded,
    error: (status, headers) => messagesError(status, `scripted ${status}`, headers),
    overflow: messagesError(400, 'prompt is too long: 11 tokens > 10 maximum'),
    policy: messagesError(400, 'Output blocked by content filtering policy'),
    noPrefill: messagesError(400, NO_PREFILL),
  };
};

/** Words of google.rpc.Code; statuses that it lacks have none. */
const GOOGLE_STATUSES: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
};

function googleError(code: number, message: string): object {
  const status = GOOGLE_STATUSES[code];
  return { error: { code, message, ...(status === undefined ? {} : { status }) } };
}

const gemini = (mark: string): Dialect => {
  const chunk = (text: string, candidate: object, more: object = {}): object => ({
    candidates: [{ content: { parts: [{ text }], role: 'model' }, ...candidate, index: 0 }],
    ...more,
    modelVersion: mark,
    responseId: mark,
  });
  const end = { finishReason: 'STOP' };
  const usage = {
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 },
  };
  const overloaded = googleError(503, OVERLOADED.message);
  const refused = (message: string): Answer => whole(googleError(400, message), 400);
  return {
    whole: (text) => chunk(text, end, usage),
    opening: frame(chunk('', {})),
    piece: (text) => frame(chunk(text, {})),
    ending: () => frame(chunk('', end, usage)),
    endMark: '',
    errorFrame: frame(overloaded),
    errorBody: overloaded,
    error: (status, headers) => whole(googleError(status, `scripted ${status}`), status, headers),
    overflow: refused('The input token count (11) exceeds the maximum number of tokens allowed (10).'),
    policy: refused('The request was blocked due to a violation of our policies.'),
    noPrefill: refused(NO_PREFILL),
  };
};

/** How an upstream speaks a protocol. @param mark stands in all that it says about itself, so that a leak is seen */
export function dialect(protocol: UpstreamProtocol, mark: string): Dialect {
  switch (protocol) {
    case 'openai-chat':
      return chat(mark);
    case 'openai-responses':
      return responses(mark);
    case 'anthropic-messages':
      return messages(mark);
    case 'gemini':
      return gemini(mark);
  }
}
