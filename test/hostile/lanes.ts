// The protocols as hostile upstreams and slow clients speak them: for each lane of the gateway a request, and the pieces of
// a stream. Knows no attack.
import { requestBytes } from './sockets.ts';

const HELLO = [{ role: 'user', content: 'Hello' }];

export interface Lane {
  readonly path: string;
  readonly body: object;
  /** Bytes of a stream before anything goes wrong. */
  readonly opening: string;
  /** An event that holds this text; `error` says that something went wrong. */
  readonly event: (text: string, kind: 'text' | 'arguments' | 'error') => string;
  readonly end: string;
  /** Mark in the last bytes of a whole stream. */
  readonly mark: string;
}

const data = (value: object, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(value)}\n\n`;

const chatChunk = (delta: object, finish: string | null = null): string =>
  data({
    id: 'c',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'm',
    choices: [{ index: 0, delta, finish_reason: finish }],
  });

const messagesEvent = (type: string, members: object = {}): string => data({ type, ...members }, type);

export const chatLane = (model: string): Lane => ({
  path: '/v1/chat/completions',
  body: { model, messages: HELLO },
  opening: chatChunk({ role: 'assistant', content: '' }) + chatChunk({ content: 'begun' }),
  event: (text, kind) =>
    kind === 'error'
      ? data({ error: { message: text, type: 'server_error', code: null, param: null } })
      : chatChunk(
          kind === 'text'
            ? { content: text }
            : {
                tool_calls: [
                  { index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: text } },
                ],
              },
        ),
  end: `${chatChunk({}, 'stop')}data: [DONE]\n\n`,
  mark: '[DONE]',
});

const begun = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'in_progress',
  model: 'm',
  output: [],
};
/** By the name of a provider of the scene. */
export const LANES: Readonly<Record<string, Lane>> = {
  relay: chatLane('relay/m'),
  chat: chatLane('chat/m'),
  responses: {
    path: '/v1/responses',
    body: { model: 'responses/m', input: 'Hello' },
    opening: data({ type: 'response.created', sequence_number: 0, response: begun }, 'response.created'),
    event: (text, kind) =>
      kind === 'error'
        ? data(
            { type: 'error', sequence_number: 2, code: 'server_error', message: text, param: null },
            'error',
          )
        : kind === 'text'
          ? data(
              {
                type: 'response.output_text.delta',
                sequence_number: 2,
                item_id: 'msg_1',
                output_index: 0,
                content_index: 0,
                delta: text,
                logprobs: [],
              },
              'response.output_text.delta',
            )
          : data(
              {
                type: 'response.function_call_arguments.delta',
                sequence_number: 2,
                item_id: 'fc_1',
                output_index: 0,
                delta: text,
              },
              'response.function_call_arguments.delta',
            ),
    end: data(
      {
        type: 'response.completed',
        sequence_number: 9,
        response: {
          ...begun,
          status: 'completed',
          usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 },
        },
      },
      'response.completed',
    ),
    mark: 'response.completed',
  },
  messages: {
    path: '/v1/messages',
    body: { model: 'messages/m', max_tokens: 1000, messages: HELLO },
    opening:
      messagesEvent('message_start', {
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          model: 'm',
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { input_tokens: 1, output_tokens: 1 },
        },
      }) + messagesEvent('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    event: (text, kind) =>
      kind === 'error'
        ? messagesEvent('error', { error: { type: 'api_error', message: text } })
        : messagesEvent('content_block_delta', {
            index: 0,
            delta:
              kind === 'text'
                ? { type: 'text_delta', text }
                : { type: 'input_json_delta', partial_json: text },
          }),
    end:
      messagesEvent('content_block_stop', { index: 0 }) +
      messagesEvent('message_delta', {
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 9 },
      }) +
      messagesEvent('message_stop'),
    mark: 'message_stop',
  },
  gemini: {
    path: '/v1beta/models/gemini/m:generateContent',
    body: { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] },
    opening: data({
      candidates: [{ content: { role: 'model', parts: [{ text: 'begun' }] }, index: 0 }],
      modelVersion: 'm',
    }),
    event: (text, kind) =>
      kind === 'error'
        ? data({ error: { code: 500, message: text, status: 'INTERNAL' } })
        : data({
            candidates: [
              {
                content: {
                  role: 'model',
                  parts: [kind === 'text' ? { text } : { functionCall: { name: 'f', args: { text } } }],
                },
                index: 0,
              },
            ],
            modelVersion: 'm',
          }),
    end: data({
      candidates: [{ content: { role: 'model', parts: [{ text: '.' }] }, finishReason: 'STOP', index: 0 }],
      modelVersion: 'm',
    }),
    mark: 'STOP',
  },
};
export const NAMES = Object.keys(LANES);

/** The bytes of an honest request over a lane. @param key default: the attacker's */
export function askLane(name: string, stream: boolean, key?: string): Buffer {
  const lane = LANES[name];
  if (!lane) throw new Error(`no lane ${name}`);
  const isGemini = name === 'gemini';
  const path = isGemini && stream ? `${lane.path.replace('generate', 'streamGenerate')}?alt=sse` : lane.path;
  const body = { ...lane.body, ...(stream && !isGemini ? { stream } : {}) };
  return requestBytes(body, { path, ...(key === undefined ? {} : { key }) });
}
