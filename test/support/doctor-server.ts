// A Chat Completions server with a model that does as it is told, for the doctor to examine: everything works unless a
// test takes something away. Knows the wire format, and no question of the doctor's beyond what any user could ask.
import { chatBody, chatChunk, CHAT_ENDING, CHAT_OPENING, stream, whole } from './upstreams/answers.ts';
import type { Answer, Arrived } from './upstreams/scripted-upstream.ts';

/** A body as it arrived. */
export interface ChatRequest {
  readonly [member: string]: unknown;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

export interface Server {
  /** Why a request is refused with 400; undefined: it is not. */
  readonly refuse?: (body: ChatRequest) => string | undefined;
  /** The request as the model sees it: less what is accepted and never reaches it. */
  readonly blind?: (body: ChatRequest) => ChatRequest;
  /** The last word on an answer. */
  readonly answer?: (body: ChatRequest) => Answer | undefined;
  /** Replies to GET of the list of models; default: one model, `m`. */
  readonly list?: Answer;
  /** Which members make it think; default: none does. */
  readonly thinks?: (body: ChatRequest) => boolean;
  /** True: streams end with token counts although nobody asked. */
  readonly alwaysCounts?: boolean;
  readonly finish?: (finish: string) => string | null;
}

/** Answers like this server. */
export function doctorServer(server: Server = {}): Answer {
  return (exchange) => {
    const { method, path } = exchange.request;
    if (method === 'GET' && path === '/v1/models')
      return (server.list ?? whole({ object: 'list', data: [{ id: 'm', object: 'model' }] }))(exchange);
    if (path !== '/v1/chat/completions') return whole({ detail: 'Not Found' }, 404)(exchange);
    const body = exchange.request.json as ChatRequest;
    const refused = server.refuse?.(body);
    if (refused !== undefined)
      return whole(
        { error: { message: refused, type: 'invalid_request_error', param: null, code: null } },
        400,
      )(exchange);
    const own = server.answer?.(body);
    if (own) return own(exchange);
    reply(server.blind?.(body) ?? body, body, server)(exchange);
  };
}

/** The bodies that were posted for answers. */
export function chats(requests: readonly Arrived[]): readonly ChatRequest[] {
  return requests
    .filter(({ path }) => path.endsWith('/chat/completions'))
    .map(({ json }) => json as ChatRequest);
}

function reply(seen: ChatRequest, body: ChatRequest, server: Server): Answer {
  const thinking = server.thinks?.(seen) === true ? { reasoning_content: 'Let me see.' } : {};
  const calls = callsFor(seen);
  const limit = (seen['max_completion_tokens'] ?? seen['max_tokens']) as number | undefined;
  const { text, finish } = cut(textFor(seen), seen['stop'] as string[] | undefined, limit);
  const ended = (word: string): string => server.finish?.(word) ?? word;
  if (body['stream'] === true) return stream(streamed(text, seen, server));
  if (calls.length > 0)
    return whole(chatBody({ content: null, tool_calls: calls, ...thinking }, ended('tool_calls')));
  return whole(chatBody({ content: text, ...thinking }, ended(finish)));
}

function streamed(text: string, seen: ChatRequest, { alwaysCounts = false }: Server): string {
  const options = seen['stream_options'] as { include_usage?: boolean } | undefined;
  const hasCounts = alwaysCounts || options?.include_usage === true;
  const end = hasCounts ? CHAT_ENDING : `${chatChunk({}, 'stop')}data: [DONE]\n\n`;
  return CHAT_OPENING + chatChunk({ content: text }) + end;
}

interface Tool {
  readonly function: {
    readonly name: string;
    readonly strict?: boolean;
    readonly parameters: { readonly properties: Readonly<Record<string, { readonly enum?: string[] }>> };
  };
}

function callsFor(body: ChatRequest): object[] {
  const tools = (body['tools'] ?? []) as Tool[];
  const choice = body['tool_choice'] as string | { readonly function: { readonly name: string } } | undefined;
  const wanted = typeof choice === 'object' ? choice.function.name : undefined;
  const text = lastText(body);
  const isForced = wanted !== undefined || choice === 'required';
  if (!isForced && body.messages.at(-1)?.role === 'tool') return [];
  const tool = tools.find(
    ({ function: { name } }) => (wanted ?? name) === name && (isForced || text.includes(name)),
  );
  if (!tool) return [];
  const [argument = '', { enum: options } = {}] =
    Object.entries(tool.function.parameters.properties)[0] ?? [];
  const value = tool.function.strict === true ? options?.[0] : 'blue';
  const count = text.includes('in parallel') && body['parallel_tool_calls'] !== false ? 2 : 1;
  return Array.from({ length: count }, (_, at) => ({
    id: `call_${at}`,
    type: 'function',
    function: { name: tool.function.name, arguments: JSON.stringify({ [argument]: value }) },
  }));
}

function textFor(body: ChatRequest): string {
  const format = body['response_format'] as
    | { type: string; json_schema?: { schema: { properties: Record<string, { enum?: string[] }> } } }
    | undefined;
  if (format?.type === 'json_object') return '{"colour":"blue"}';
  if (format?.type === 'json_schema')
    return JSON.stringify(
      Object.fromEntries(
        Object.entries(format.json_schema?.schema.properties ?? {}).map(([name, one]) => [
          name,
          one.enum?.[0] ?? 1,
        ]),
      ),
    );
  const order = body.messages.find(({ role }) => role === 'system' || role === 'developer');
  if (typeof order?.content === 'string' && order.content.includes('MARIGOLD')) return 'MARIGOLD';
  if (JSON.stringify(body.messages).includes('image_url')) return 'Red.';
  if (body.messages.at(-1)?.role === 'assistant') return ' 5, 6, 7, 8, 9';
  const limit = Number(/count to (\d+)/.exec(lastText(body))?.[1]);
  return limit > 0 ? Array.from({ length: limit }, (_, at) => at + 1).join(', ') : 'Hello.';
}

function lastText({ messages }: ChatRequest): string {
  const last = messages.findLast(({ role }) => role === 'user')?.content;
  return typeof last === 'string' ? last : JSON.stringify(last);
}

function cut(
  text: string,
  stop: string[] | undefined,
  limit: number | undefined,
): { text: string; finish: string } {
  const at = stop ? text.indexOf(stop[0] ?? '') : -1;
  if (at >= 0) return { text: text.slice(0, at), finish: 'stop' };
  return limit !== undefined && text.length > limit * 4
    ? { text: text.slice(0, limit * 4), finish: 'length' }
    : { text, finish: 'stop' };
}
