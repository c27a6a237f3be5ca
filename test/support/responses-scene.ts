// A client of the Responses API, a gateway, and a scripted upstream that is reached in four ways: relayed, and translated
// to each protocol. What a model says, and what it was told, in the same words for all four. For scenarios of responses.
import { checkResponse, checkResponseStream } from './rules/responses-stream-rules.ts';
import { startGateway, TEST_KEY, type TestGateway } from './harness.ts';
import { framesOf, type Frame } from './recordings/loose.ts';
import {
  chatBody,
  chatChunk,
  CHAT_OPENING,
  CHAT_ENDING,
  messagesBody,
  messagesStream,
  responsesBody,
  responsesStream,
  stream as sse,
  whole,
} from './upstreams/answers.ts';
import { dialect, type Dialect } from './upstreams/dialects.ts';
import { providerAt, UPSTREAM_KEY } from './upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from './upstreams/json-path.ts';
import {
  startUpstream,
  type Answer,
  type Arrived,
  type ScriptedUpstream,
} from './upstreams/scripted-upstream.ts';
import type { Clock } from '../../src/base/runtime/clock.ts';
import { CITY } from './city-schema.ts';

/** Ways to the upstream; `to/<way>` is the model. `relay` has no reasoning: what is kept of that needs translation. */
export const WAYS = ['relay', 'responses', 'chat', 'messages'] as const;
export type Way = (typeof WAYS)[number];
/** Each way in both modes. */
export const WAYS_AND_MODES = WAYS.flatMap((way) => [false, true].map((stream) => [way, stream] as const));

export const OTHER_KEY = 'sk-test-other';
export const OTHER_KEY_HEADERS = { authorization: `Bearer ${OTHER_KEY}` };

/** Protocol of the second endpoint of `two/<way>`: another each. It takes the beginning of an answer. */
export const SECOND = { relay: 'responses', responses: 'chat', chat: 'messages', messages: 'chat' } as const;

/** Tokens of `small/<way>`. */
export const SMALL_CONTEXT = 600;

function modelAt(id: string, endpoint: object, max_output_tokens: number): object {
  return {
    id,
    max_output_tokens,
    endpoints: [{ model: 'm', price: { input: 1, output: 4 }, ...endpoint }],
  };
}

export interface ResponsesScene extends AsyncDisposable {
  readonly gateway: TestGateway;
  readonly upstream: ScriptedUpstream;
}

/** @param options.models more models; `up` is the provider, `own` the same as a faithful server of Responses */
export async function startResponses(
  options: {
    readonly clock?: Clock;
    readonly dataDir?: string;
    readonly config?: Readonly<Record<string, unknown>>;
    readonly models?: readonly object[];
  } = {},
): Promise<ResponsesScene> {
  const upstream = await startUpstream();
  const { clock, dataDir, config = {}, models = [] } = options;
  const faithful = {
    base_url: `${upstream.origin}/v1`,
    faithful: true,
    reasoning_format: 'openai-responses-v1',
  };
  const endpoints: Readonly<Record<Way, object>> = {
    relay: { provider: 'own', protocol: 'openai-responses', reasoning: 'none' },
    responses: { provider: 'up', protocol: 'openai-responses', reasoning: 'effort' },
    chat: { provider: 'up', protocol: 'openai-chat' },
    messages: { provider: 'up', protocol: 'anthropic-messages', reasoning: 'budget' },
  };
  const gateway = await startGateway(
    {
      keys: [
        { name: 'test', key: TEST_KEY },
        { name: 'other', key: OTHER_KEY },
      ],
      ...config,
      routing: { retries: 0, breaker: { failures: 1000 }, ...(config['routing'] as object | undefined) },
      providers: {
        up: providerAt(upstream.origin),
        own: { api_key: UPSTREAM_KEY, protocols: { 'openai-responses': faithful } },
      },
      models: [
        ...WAYS.flatMap((way) => [
          modelAt(`to/${way}`, endpoints[way], 8000),
          modelAt(`small/${way}`, { ...endpoints[way], context_length: SMALL_CONTEXT }, 100),
          {
            id: `two/${way}`,
            endpoints: [
              { model: 'first', ...endpoints[way] },
              { model: 'second', ...endpoints[SECOND[way]], quirks: { prefill: 'plain' } },
            ],
          },
        ]),
        ...models,
      ],
    },
    { ...(clock ? { clock } : {}), ...(dataDir === undefined ? {} : { dataDir }) },
  );
  return {
    gateway,
    upstream,
    async [Symbol.asyncDispose]() {
      await gateway.close();
      await upstream.stop();
    },
  };
}

/** One thing that a model says. Thoughts carry what only their family can read; chat has no such thing. */
export type Said =
  | { readonly text: string }
  | { readonly call: string; readonly id: string; readonly args: object }
  | { readonly thought: string; readonly sealed: string };

/** An answer of the upstream, in the mode that the request asked for. @param cut it reached its limit */
export function says(way: Way, said: readonly Said[], cut = false): Answer {
  return (exchange) => {
    const stream = at(exchange.request.json, 'stream') === true;
    const answer = ANSWERS[way === 'relay' ? 'responses' : way](said, cut);
    (stream ? sse(answer.stream) : whole(answer.body))(exchange);
  };
}

interface BothModes {
  readonly body: object;
  readonly stream: string;
}

const ANSWERS: Readonly<Record<Exclude<Way, 'relay'>, (said: readonly Said[], cut: boolean) => BothModes>> = {
  responses(said, cut) {
    const output = said.map(responsesItem);
    const reason = cut ? 'max_output_tokens' : null;
    return { body: responsesBody(output, reason), stream: responsesStream(output, reason) };
  },
  messages(said, cut) {
    const blocks = said.map(messagesBlock);
    const called = blocks.some((block) => block['type'] === 'tool_use');
    const reason = cut ? 'max_tokens' : called ? 'tool_use' : 'end_turn';
    return { body: messagesBody(blocks, reason), stream: messagesStream(blocks, reason) };
  },
  chat(said, cut) {
    const calls = said.flatMap((each) =>
      'call' in each
        ? [
            {
              id: each.id,
              type: 'function',
              function: { name: each.call, arguments: JSON.stringify(each.args) },
            },
          ]
        : [],
    );
    const text = said.map((each) => ('text' in each ? each.text : '')).join('');
    const thought = said.map((each) => ('thought' in each ? each.thought : '')).join('');
    const message = {
      ...(thought === '' ? {} : { reasoning_content: thought }),
      content: text === '' ? null : text,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    };
    const finish = cut ? 'length' : calls.length > 0 ? 'tool_calls' : 'stop';
    const deltas = { ...message, tool_calls: calls.map((call, index) => ({ index, ...call })) };
    const [ending = ''] = CHAT_ENDING.split('\n\n');
    return {
      body: chatBody(message, finish),
      stream:
        CHAT_OPENING +
        chatChunk(calls.length > 0 ? deltas : message) +
        chatChunk({}, finish) +
        CHAT_ENDING.slice(ending.length + 2),
    };
  },
};

let made = 0;

function responsesItem(said: Said): Readonly<Record<string, unknown>> {
  const number = ++made;
  if ('text' in said)
    return {
      id: `msg_up${number}`,
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: said.text, annotations: [], logprobs: [] }],
    };
  if ('call' in said)
    return {
      id: `fc_up${number}`,
      type: 'function_call',
      status: 'completed',
      call_id: said.id,
      name: said.call,
      arguments: JSON.stringify(said.args),
    };
  return {
    id: `rs_up${number}`,
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: said.thought }],
    encrypted_content: said.sealed,
  };
}

function messagesBlock(said: Said): Readonly<Record<string, unknown>> {
  if ('text' in said) return { type: 'text', text: said.text };
  if ('call' in said) return { type: 'tool_use', id: said.id, name: said.call, input: said.args };
  return { type: 'thinking', thinking: said.thought, signature: said.sealed };
}

/** Parts of the model's request, one line for each, in order; thoughts with their seal. */
export function reported(request: Arrived | undefined): string[] {
  const { json } = request ?? {};
  const lines = [at(json, 'instructions'), at(json, 'system')].flatMap((text) =>
    text === undefined || text === null ? [] : [`system: ${textOf(text)}`],
  );
  for (const item of list(json, 'input')) lines.push(...responsesLines(item));
  for (const message of list(json, 'messages')) lines.push(...messageLines(message));
  return lines;
}

function responsesLines(item: Json): string[] {
  switch (at(item, 'type')) {
    case 'function_call':
      return [`call ${at(item, 'name')} ${at(item, 'arguments')} ${at(item, 'call_id')}`];
    case 'function_call_output':
      return [`result ${at(item, 'call_id')}: ${textOf(at(item, 'output'))}`];
    case 'reasoning':
      return [`thought ${textOf(at(item, 'summary'))} ${at(item, 'encrypted_content')}`];
    case 'message':
    case undefined:
      return [`${roleOf(item)}: ${textOf(at(item, 'content'))}`];
    default:
      return [JSON.stringify(item)];
  }
}

function messageLines(message: Json): string[] {
  const role = roleOf(message);
  const content = at(message, 'content') ?? null;
  if (role === 'tool') return [`result ${at(message, 'tool_call_id')}: ${textOf(content)}`];
  const calls = list(message, 'tool_calls').map((call) => {
    const custom = at(call, 'custom');
    const name = at(call, 'function', 'name') ?? at(custom, 'name');
    const args = at(call, 'function', 'arguments') ?? JSON.stringify({ input: at(custom, 'input') });
    return `call ${name} ${args} ${at(call, 'id')}`;
  });
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  const texts = blocks.map((block) => {
    switch (at(block, 'type')) {
      case 'tool_use':
        return `call ${at(block, 'name')} ${JSON.stringify(at(block, 'input'))} ${at(block, 'id')}`;
      case 'tool_result':
        return `result ${at(block, 'tool_use_id')}: ${textOf(at(block, 'content'))}`;
      case 'thinking':
        return `thought ${at(block, 'thinking')} ${at(block, 'signature')}`;
      case 'text':
        return `${role}: ${at(block, 'text')}`;
      default:
        return JSON.stringify(block);
    }
  });
  return [...texts, ...calls];
}

function roleOf(message: Json): string {
  const role = String(at(message, 'role'));
  return role === 'developer' ? 'system' : role;
}

function textOf(content: Json | undefined): string {
  if (typeof content === 'string') return content;
  return list(content)
    .map((part) => at(part, 'text') ?? JSON.stringify(part))
    .join('');
}

/** An answer as the client has it. */
export interface Answered {
  readonly status: number;
  /** The response, at the end of its stream where it was streamed; or the error. */
  readonly body: Json;
  readonly id: string;
  readonly frames: readonly Frame[];
  readonly report: string;
  readonly lane: string | null;
}

/**
 * Asks. Throws when what comes back is no legal answer, or no legal stream of one.
 * @param way the model is `to/<way>` unless the body says another
 */
export async function ask(
  { gateway }: Pick<ResponsesScene, 'gateway'>,
  way: Way,
  body: object,
  stream: boolean,
  headers: Record<string, string> = {},
): Promise<Answered> {
  const response = await gateway.post('/responses', { model: `to/${way}`, stream, ...body }, headers);
  return answered(response);
}

/** Reads an answer to its end. Throws when it is not legal. */
export async function answered(response: Response): Promise<Answered> {
  const text = await response.text();
  const { status } = response;
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  const frames = isStream ? framesOf(text) : [];
  const last = isStream
    ? at(JSON.parse(frames.at(-1)?.data ?? '{}'), 'response')
    : (JSON.parse(text) as Json);
  const body = last ?? null;
  const problems = isStream ? checkResponseStream(frames) : status === 200 ? checkResponse(body) : [];
  if (problems.length > 0) throw new Error(`${problems.join('\n')}\n${text}`);
  return {
    status,
    body,
    id: String(at(body, 'id')),
    frames,
    report: response.headers.get('x-dragoman-report') ?? '',
    lane: response.headers.get('x-dragoman-lane'),
  };
}

/** Items of an answer, one line for each. */
export function saidIn({ body }: Answered): string[] {
  return list(body, 'output').map((item) => {
    switch (at(item, 'type')) {
      case 'message':
        return textOf(at(item, 'content'));
      case 'function_call':
        return `${at(item, 'name')} ${at(item, 'arguments')}`;
      default:
        return String(at(item, 'type'));
    }
  });
}

/** How the upstream says things that go wrong, on a way. */
export function wordsOf(way: Way): Dialect {
  return dialect(PROTOCOL[way], 'up');
}

const PROTOCOL = {
  relay: 'openai-responses',
  responses: 'openai-responses',
  chat: 'openai-chat',
  messages: 'anthropic-messages',
} as const;

/** A function that models call here. */
export const WEATHER = {
  type: 'function',
  name: 'get_weather',
  parameters: CITY,
};

/** The result of a call as an input item. */
export function result(callId: string, output: string): object {
  return { type: 'function_call_output', call_id: callId, output };
}
