// Models that know only functions, in each upstream protocol, and clients with custom tools, in each protocol that has
// them: what is said, and what is heard. For tests of custom tools.
import {
  chatBody,
  chatChunk,
  CHAT_OPENING,
  frame,
  messagesBody,
  messagesStream,
  responsesBody,
  responsesStream,
  stream as sse,
  whole,
} from '../../support/upstreams/answers.ts';
import type { UpstreamProtocol } from '../../support/upstreams/dialects.ts';
import { frames } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';

export interface Said {
  readonly text?: string;
  /** Function calls, in order: name, id and arguments. */
  readonly calls: readonly (readonly [name: string, id: string, args: object])[];
  /** True: the limit of tokens ended it. */
  readonly isCut?: boolean;
}

/** A turn in the words of an upstream. */
export function says(protocol: UpstreamProtocol, streamed: boolean, said: Said): Answer {
  const { text, calls, isCut = false } = said;
  switch (protocol) {
    case 'openai-chat': {
      const finish = isCut ? 'length' : 'tool_calls';
      const toolCalls = calls.map(([name, id, args], index) => ({
        index,
        id,
        type: 'function',
        function: { name, arguments: JSON.stringify(args) },
      }));
      if (!streamed) return whole(chatBody({ content: text ?? null, tool_calls: toolCalls }, finish));
      return sse([
        CHAT_OPENING,
        ...(text === undefined ? [] : [chatChunk({ content: text })]),
        ...toolCalls.map((call) => chatChunk({ tool_calls: [call] })),
        chatChunk({}, finish),
        'data: [DONE]\n\n',
      ]);
    }
    case 'openai-responses': {
      const output = [
        ...(text === undefined
          ? []
          : [
              {
                id: 'msg_1',
                type: 'message',
                role: 'assistant',
                status: 'completed',
                content: [{ type: 'output_text', text, annotations: [] }],
              },
            ]),
        ...calls.map(([name, call_id, args]) => ({
          id: `fc_${call_id}`,
          type: 'function_call',
          status: 'completed',
          call_id,
          name,
          arguments: JSON.stringify(args),
        })),
      ];
      const reason = isCut ? 'max_output_tokens' : null;
      return streamed ? sse(responsesStream(output, reason)) : whole(responsesBody(output, reason));
    }
    case 'anthropic-messages': {
      const blocks = [
        ...(text === undefined ? [] : [{ type: 'text', text }]),
        ...calls.map(([name, id, input]) => ({ type: 'tool_use', id, name, input })),
      ];
      const reason = isCut ? 'max_tokens' : 'tool_use';
      return streamed ? sse(messagesStream(blocks, reason)) : whole(messagesBody(blocks, reason));
    }
    case 'gemini': {
      const parts = [
        ...(text === undefined ? [] : [{ text }]),
        ...calls.map(([name, id, args]) => ({ functionCall: { name, id, args } })),
      ];
      const body = {
        responseId: 'up',
        modelVersion: 'm',
        candidates: [
          { index: 0, content: { role: 'model', parts }, finishReason: isCut ? 'MAX_TOKENS' : 'STOP' },
        ],
        usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 20, totalTokenCount: 30 },
      };
      return streamed ? sse(frame(body)) : whole(body);
    }
  }
}

export const CUSTOM_CLIENTS = ['chat', 'responses'] as const;
export type CustomClient = (typeof CUSTOM_CLIENTS)[number];

export const WEATHER_SCHEMA = { type: 'object', properties: { city: { type: 'string' } } };

/** A request with one custom tool, `run`, and a function beside it. */
export function asks(
  client: CustomClient,
  model: string,
  stream: boolean,
  grammar: { readonly syntax: string; readonly definition: string },
): { readonly path: string; readonly body: Readonly<Record<string, unknown>> } {
  const weather = { name: 'get_weather', parameters: WEATHER_SCHEMA };
  if (client === 'responses')
    return {
      path: '/responses',
      body: {
        model,
        stream,
        store: false,
        input: 'Run it.',
        tools: [
          { type: 'custom', name: 'run', format: { type: 'grammar', ...grammar } },
          { type: 'function', strict: false, ...weather },
        ],
      },
    };
  return {
    path: '/chat/completions',
    body: {
      model,
      stream,
      messages: [{ role: 'user', content: 'Run it.' }],
      tools: [
        { type: 'custom', custom: { name: 'run', format: { type: 'grammar', grammar } } },
        { type: 'function', function: weather },
      ],
    },
  };
}

/** Answer as the client has it in the end, in order: texts, and calls as `name id input`. */
export function receives(client: CustomClient, streamed: boolean, text: string): string[] {
  if (client === 'chat') return streamed ? receivedChunks(frames(text)) : receivedMessage(JSON.parse(text));
  const last = text.slice(text.lastIndexOf('\ndata: ') + '\ndata: '.length);
  const response = streamed ? at(JSON.parse(last), 'response') : (JSON.parse(text) as Json);
  return list(response, 'output').map((item) =>
    at(item, 'type') === 'message'
      ? String(at(item, 'content', 0, 'text'))
      : `${at(item, 'name')} ${at(item, 'call_id')} ${at(item, 'input') ?? at(item, 'arguments')}`,
  );
}

function receivedMessage(body: Json): string[] {
  const message = at(body, 'choices', 0, 'message');
  const content = at(message, 'content');
  return [
    ...(typeof content === 'string' ? [content] : []),
    ...list(message, 'tool_calls').map((call) => {
      const inner = at(call, String(at(call, 'type')));
      return `${at(inner, 'name')} ${at(call, 'id')} ${at(inner, 'input') ?? at(inner, 'arguments')}`;
    }),
  ];
}

function receivedChunks(all: readonly Json[]): string[] {
  let content = '';
  const calls: { head: string; input: string }[] = [];
  for (const each of all) {
    const delta = at(each, 'choices', 0, 'delta');
    content += String(at(delta, 'content') ?? '');
    for (const piece of list(delta, 'tool_calls')) {
      const inner = at(piece, 'custom') ?? at(piece, 'function');
      const call = (calls[Number(at(piece, 'index'))] ??= {
        head: `${at(inner, 'name')} ${at(piece, 'id')}`,
        input: '',
      });
      call.input += String(at(inner, 'input') ?? at(inner, 'arguments') ?? '');
    }
  }
  return [...(content === '' ? [] : [content]), ...calls.map(({ head, input }) => `${head} ${input}`)];
}
