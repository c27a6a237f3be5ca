// The four clients of the gateway: how each asks, what it is told, as strictly as the strictest of its kind reads it, and
// what it gives back in the next turn. Uses none of the product's code.
import { readAnswer } from '../rules/gemini-stream-rules.ts';
import { readMessage, readMessagesStream } from '../rules/messages-stream-rules.ts';
import { checkResponse, checkResponseStream } from '../rules/responses-stream-rules.ts';
import { at, framesOf, list, word } from './loose.ts';
import type { Loose } from './loose.ts';
import { readStream, readWhole, type Received } from './read-answer.ts';
import { geminiChunks, readGemini } from './read-gemini.ts';
import { readMessages } from './read-messages.ts';
import { readResponses } from './read-responses.ts';
import type { Recording } from './corpus.ts';
import type { Reply } from './replay-gateway.ts';
import { emptySaid, type SaidCall } from './said.ts';

type Body = Readonly<Record<string, unknown>>;

export interface Asked {
  readonly model: string;
  readonly stream: boolean;
  /** Calls whose tools are declared. */
  readonly calls: readonly SaidCall[];
  /** Messages after the first, in the client's own form. */
  readonly more: readonly unknown[];
}

export interface Client {
  /** The path below `/v1`, and the body. Reasoning is asked for. */
  request(asked: Asked): { readonly path: string; readonly body: Body };
  read(reply: Reply): Received;
  /** The messages of the next turn: the answer as it came, then results of its calls or another question. */
  goOn(reply: Reply): readonly unknown[];
}

const BUDGET = 2_000;
const MAX_TOKENS = 8_000;

export const CLIENTS = {
  chat: {
    request: ({ model, stream, calls, more }) => ({
      path: '/chat/completions',
      body: {
        model,
        messages: [{ role: 'user', content: 'x' }, ...more],
        reasoning: { max_tokens: BUDGET },
        ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
        ...tools(calls, ({ kind, name }) => ({ type: kind, [kind]: { name } })),
      },
    }),
    read: (reply) => (isStream(reply) ? readStream(reply.text) : readWhole(reply.status, reply.text)),
    goOn: (reply) => {
      const message = chatMessage(reply);
      const results = list(message['tool_calls'] as Loose).map(({ id }) => ({
        role: 'tool',
        tool_call_id: id,
        content: 'done',
      }));
      return [message, ...(results.length > 0 ? results : [{ role: 'user', content: 'y' }])];
    },
  },
  responses: {
    request: ({ model, stream, calls, more }) => ({
      path: '/responses',
      body: {
        model,
        input: [{ role: 'user', content: 'x' }, ...more],
        include: ['reasoning.encrypted_content'],
        reasoning: { effort: 'low', summary: 'auto' },
        store: false,
        ...(stream ? { stream } : {}),
        ...tools(calls, ({ kind, name }) => ({
          type: kind,
          name,
          ...(kind === 'function' ? { parameters: PARAMETERS } : {}),
        })),
      },
    }),
    read: (reply) => {
      if (reply.status !== 200) return { said: emptySaid(), problems: [] };
      if (!isStream(reply)) {
        const json = JSON.parse(reply.text) as Loose;
        return { said: readResponses({ res: resultOf(reply) }), problems: checkResponse(json) };
      }
      const problems = checkResponseStream(framesOf(reply.text));
      return { said: readResponses({ res: resultOf(reply) }), problems };
    },
    goOn: (reply) => {
      const output = list(responseOf(reply)['output']);
      const results = output
        .filter((item) => /^(function|custom_tool)_call$/.test(word(item['type'])))
        .map((item) => ({ type: `${word(item['type'])}_output`, call_id: item['call_id'], output: 'done' }));
      return [...output, ...(results.length > 0 ? results : [{ role: 'user', content: 'y' }])];
    },
  },
  messages: {
    request: ({ model, stream, calls, more }) => ({
      path: '/messages',
      body: {
        model,
        max_tokens: MAX_TOKENS,
        messages: [{ role: 'user', content: 'x' }, ...more],
        thinking: { type: 'enabled', budget_tokens: BUDGET },
        ...(stream ? { stream } : {}),
        ...tools(calls, ({ name }) => ({ name, input_schema: PARAMETERS })),
      },
    }),
    read: (reply) => {
      if (reply.status !== 200) return { said: emptySaid(), problems: [] };
      const problems: string[] = [];
      try {
        if (isStream(reply)) readMessagesStream(reply.text, false);
        else readMessage(JSON.parse(reply.text) as Loose);
      } catch (error) {
        problems.push(String(error).slice(0, 300));
      }
      return { said: readMessages({ res: resultOf(reply) }), problems };
    },
    goOn: (reply) => {
      const content = isStream(reply)
        ? readMessagesStream(reply.text, false).content
        : (JSON.parse(reply.text) as { content: Body[] }).content;
      const results = content
        .filter((block) => block['type'] === 'tool_use')
        .map((block) => ({ type: 'tool_result', tool_use_id: block['id'], content: 'done' }));
      return [
        { role: 'assistant', content },
        { role: 'user', content: results.length > 0 ? results : 'y' },
      ];
    },
  },
  gemini: {
    request: ({ model, stream, calls, more }) => ({
      path: `/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      body: {
        contents: [{ role: 'user', parts: [{ text: 'x' }] }, ...more],
        generationConfig: { thinkingConfig: { includeThoughts: true, thinkingBudget: BUDGET } },
        ...(calls.length > 0
          ? {
              tools: [
                {
                  functionDeclarations: [...new Set(calls.map(({ name }) => name))].map((name) => ({
                    name,
                    parametersJsonSchema: PARAMETERS,
                  })),
                },
              ],
            }
          : {}),
      },
    }),
    read: (reply) => {
      if (reply.status !== 200) return { said: emptySaid(), problems: [] };
      const recording = { res: resultOf(reply) };
      const chunks = geminiChunks(recording);
      const failed = chunks.some((chunk) => at(chunk, 'error'));
      return { said: readGemini(recording), problems: failed ? [] : readAnswer(chunks).problems };
    },
    goOn: (reply) => {
      const parts = geminiChunks({ res: resultOf(reply) }).flatMap((chunk) =>
        list(at(list(chunk['candidates'])[0], 'content', 'parts')),
      );
      const results = parts.flatMap(({ functionCall: call }) =>
        call
          ? [{ functionResponse: { id: call['id'], name: call['name'], response: { output: 'done' } } }]
          : [],
      );
      return [
        { role: 'model', parts },
        { role: 'user', parts: results.length > 0 ? results : [{ text: 'y' }] },
      ];
    },
  },
} as const satisfies Record<string, Client>;

export type ClientName = keyof typeof CLIENTS;

const PARAMETERS = { type: 'object', properties: {} };

/** One declaration for each name that is called. */
function tools(calls: readonly SaidCall[], declare: (call: SaidCall) => object): { tools?: object[] } {
  const named = new Map(calls.map((call) => [call.name, declare(call)]));
  return named.size > 0 ? { tools: [...named.values()] } : {};
}

function isStream(reply: Reply): boolean {
  return reply.headers.get('content-type')?.startsWith('text/event-stream') ?? false;
}

/** A reply in the form of a recording: what reads those reads these. */
function resultOf(reply: Reply): Recording['res'] {
  return isStream(reply)
    ? { kind: 'sse', text: reply.text }
    : { kind: 'json', json: JSON.parse(reply.text) as Loose };
}

function responseOf(reply: Reply): Loose {
  if (!isStream(reply)) return JSON.parse(reply.text) as Loose;
  return at(JSON.parse(framesOf(reply.text).at(-1)?.data ?? '{}') as Loose, 'response') ?? {};
}

/** The assistant's message as a Chat Completions client keeps it: lists of deltas are joined, fragments of details stay. */
export function chatMessage(reply: Reply): Record<string, unknown> {
  if (!isStream(reply)) return { ...at(list((JSON.parse(reply.text) as Loose)['choices'])[0], 'message') };
  const message: Record<string, unknown> = { role: 'assistant', content: null };
  const calls: Record<string, unknown>[] = [];
  const details: Loose[] = [];
  for (const { data } of framesOf(reply.text)) {
    if (data === '[DONE]') continue;
    const delta = at(list((JSON.parse(data) as Loose)['choices'])[0], 'delta');
    for (const key of ['content', 'reasoning'])
      if (delta?.[key] !== undefined) message[key] = word(message[key]) + word(delta[key]);
    details.push(...list(delta?.['reasoning_details']));
    if (delta?.['extra_content']) message['extra_content'] = delta['extra_content'];
    for (const { index, ...call } of list(delta?.['tool_calls'])) {
      const kind = call['custom'] ? 'custom' : 'function';
      const member = kind === 'custom' ? 'input' : 'arguments';
      const known = (calls[Number(index)] ??= { ...call, [kind]: { ...at(call, kind), [member]: '' } });
      const body = known[kind] as Record<string, unknown>;
      body[member] = word(body[member]) + word(at(call, kind, member));
    }
  }
  if (calls.length > 0) message['tool_calls'] = calls;
  if (details.length > 0) message['reasoning_details'] = details;
  return message;
}
