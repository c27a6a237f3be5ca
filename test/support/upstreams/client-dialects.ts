// Requests of a client of each protocol, and its view of an answer: its text, whether it was complete, and which
// failure it was told of. Reads only what official SDKs read. Knows nothing of upstreams.
import { frames, streamedText } from './gateway-with-upstreams.ts';
import { at, list, type Json } from './json-path.ts';

/** An answer as its client understands it. */
export interface Received {
  readonly text: string;
  /** The protocol's own sign of a complete answer was there. */
  readonly complete: boolean;
  /** The message of a native error; null without one. */
  readonly error: string | null;
  /** How many answers the client thinks have begun. */
  readonly starts: number;
}

export interface ClientDialect {
  /** Below `/v1`. */
  readonly path: (model: string, stream: boolean) => string;
  /** The body of a request. */
  readonly ask: (model: string, stream: boolean) => Readonly<Record<string, unknown>>;
  /** Throws on a stream that is none of the protocol's. */
  readonly receive: (stream: boolean, text: string) => Received;
}

const errorMessage = (body: unknown): string | null => {
  const message = at(body, 'error', 'message');
  return typeof message === 'string' ? message : null;
};

const chat: ClientDialect = {
  path: () => '/chat/completions',
  ask: (model, stream) => ({ model, stream, messages: [{ role: 'user', content: 'Hello' }] }),
  receive(stream, text) {
    if (!stream) {
      const body: unknown = JSON.parse(text);
      const content = at(body, 'choices', 0, 'message', 'content');
      return {
        text: typeof content === 'string' ? content : '',
        complete: at(body, 'choices', 0, 'finish_reason') === 'stop',
        error: errorMessage(body),
        starts: list(body, 'choices').length,
      };
    }
    const all = frames(text);
    const finishes = all.filter((each) => typeof at(each, 'choices', 0, 'finish_reason') === 'string');
    const done = all.filter((each) => each === '[DONE]').length;
    // Half an end is as wrong as a false one: neither of the two may come alone.
    if (done !== finishes.length || done > 1)
      throw new Error(`${done} end marks, ${finishes.length} finishes`);
    if (done === 1 && all.at(-1) !== '[DONE]') throw new Error('something follows the end');
    return {
      text: streamedText(text),
      complete: done === 1,
      error: all.map(errorMessage).find((message) => message !== null) ?? null,
      starts: all.filter((each) => at(each, 'choices', 0, 'delta', 'role') === 'assistant').length,
    };
  },
};

/** The data of every event that is no comment; data in several lines are one. */
function eventsOf(text: string): readonly Json[] {
  return text
    .split(/\r?\n\r?\n/)
    .map((block) => block.split(/\r?\n/).filter((line) => line.startsWith('data:')))
    .filter((lines) => lines.length > 0)
    .map((lines) => JSON.parse(lines.map((line) => line.slice('data:'.length)).join('\n')) as Json);
}

const responses: ClientDialect = {
  path: () => '/responses',
  ask: (model, stream) => ({ model, stream, input: 'Hello', store: false }),
  receive(stream, text) {
    if (!stream) {
      const body: unknown = JSON.parse(text);
      return {
        text: list(body, 'output')
          .flatMap((item) => list(item, 'content'))
          .map((part) => at(part, 'text') ?? '')
          .join(''),
        complete: at(body, 'status') === 'completed',
        error: errorMessage(body),
        starts: at(body, 'object') === 'response' ? 1 : 0,
      };
    }
    const events = eventsOf(text);
    const ofType = (type: string): readonly Json[] => events.filter((event) => at(event, 'type') === type);
    const terminal = ['completed', 'incomplete', 'failed'].flatMap((name) => ofType(`response.${name}`));
    if (terminal.length > 1) throw new Error(`${terminal.length} terminal events`);
    if (terminal.length === 1 && terminal[0] !== events.at(-1)) throw new Error('something follows the end');
    const failure = ofType('error')[0];
    const message =
      at(failure, 'message') ?? at(ofType('response.failed')[0], 'response', 'error', 'message');
    return {
      text: ofType('response.output_text.delta')
        .map((event) => at(event, 'delta'))
        .join(''),
      complete: ofType('response.completed').length === 1,
      error: typeof message === 'string' ? message : null,
      starts: ofType('response.created').length,
    };
  },
};

const messages: ClientDialect = {
  path: () => '/messages',
  ask: (model, stream) => ({
    model,
    stream,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
  }),
  receive(stream, text) {
    if (!stream) {
      const body: unknown = JSON.parse(text);
      return {
        text: list(body, 'content')
          .map((block) => at(block, 'text') ?? '')
          .join(''),
        complete: at(body, 'stop_reason') === 'end_turn',
        error: errorMessage(body),
        starts: at(body, 'type') === 'message' ? 1 : 0,
      };
    }
    const events = eventsOf(text);
    const ofType = (type: string): readonly Json[] => events.filter((event) => at(event, 'type') === type);
    const stops = ofType('message_stop');
    const reasons = ofType('message_delta').filter((event) => at(event, 'delta', 'stop_reason') !== null);
    if (stops.length !== reasons.length || stops.length > 1)
      throw new Error(`${stops.length} ends, ${reasons.length} reasons`);
    if (stops.length === 1 && stops[0] !== events.at(-1)) throw new Error('something follows the end');
    return {
      text: ofType('content_block_delta')
        .map((event) => at(event, 'delta', 'text') ?? '')
        .join(''),
      complete: stops.length === 1,
      error: ofType('error').map(errorMessage)[0] ?? null,
      starts: ofType('message_start').length,
    };
  },
};

const gemini: ClientDialect = {
  path: (model, stream) => `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  ask: () => ({ contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] }),
  receive(stream, text) {
    const chunks = stream ? eventsOf(text) : [JSON.parse(text) as Json];
    const reasons = chunks.filter((chunk) => at(chunk, 'candidates', 0, 'finishReason') !== undefined);
    if (reasons.length > 1) throw new Error(`${reasons.length} reasons`);
    if (reasons.length === 1 && reasons[0] !== chunks.at(-1)) throw new Error('something follows the end');
    return {
      text: chunks
        .flatMap((chunk) => list(at(chunk, 'candidates', 0), 'content', 'parts'))
        .map((part) => at(part, 'text') ?? '')
        .join(''),
      complete: at(reasons[0], 'candidates', 0, 'finishReason') === 'STOP',
      error: chunks.map(errorMessage).find((message) => message !== null) ?? null,
      // There is no beginning but the first chunk; all chunks of one answer have its id.
      starts: new Set(chunks.map((chunk) => at(chunk, 'responseId')).filter((id) => id !== undefined)).size,
    };
  },
};

/** Every protocol that clients may speak, one line each. */
export const CLIENTS = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  gemini,
} as const;
export type ClientProtocol = keyof typeof CLIENTS;
