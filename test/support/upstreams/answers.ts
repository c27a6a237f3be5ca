// Answers for a scripted upstream: whole bodies, event streams and faults, with the bodies of the three protocols
// in the shapes that recorded traffic shows. Knows nothing of the gateway.
import type { Answer, Exchange } from './scripted-upstream.ts';

type Headers = Readonly<Record<string, string>>;

/** A whole answer; anything but a string is sent as JSON. */
export function whole(body: unknown, status = 200, headers: Headers = {}): Answer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return (exchange) => {
    exchange.head(status, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
      ...headers,
    });
    exchange.raw(text);
  };
}

/** An event stream that ends properly; each element is one HTTP chunk. */
export function stream(pieces: string | readonly (string | Uint8Array)[], headers: Headers = {}): Answer {
  return (exchange) => {
    exchange.openStream(headers);
    for (const piece of typeof pieces === 'string' ? [pieces] : pieces) exchange.chunk(piece);
    exchange.endStream();
  };
}

/** An event stream that goes on as the test wants, after this beginning. */
export function opened(beginning = ''): Answer {
  return (exchange) => {
    exchange.openStream();
    exchange.chunk(beginning);
  };
}

/** An event stream that is cut after this much. */
export function cutAfter(beginning: string): Answer {
  return (exchange) => {
    exchange.openStream();
    exchange.chunk(beginning);
    // The bytes must be on their way before the connection breaks.
    setImmediate(() => exchange.cut());
  };
}

/** A whole answer of which half arrives. */
export function cutHalfway(body: unknown): Answer {
  const text = JSON.stringify(body);
  return (exchange) => {
    exchange.head(200, {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(text)),
    });
    exchange.raw(text.slice(0, text.length / 2));
    setImmediate(() => exchange.cut());
  };
}

/** Breaks the connection without an answer. */
export const noAnswer: Answer = (exchange: Exchange) => exchange.cut();
/** Takes the request and says nothing. */
export const silence: Answer = () => {};

/** An error in OpenAI's shape. */
export function chatError(status: number, headers: Headers = {}, code: string | null = null): Answer {
  return whole(
    { error: { message: `scripted ${status}`, type: 'scripted', param: null, code } },
    status,
    headers,
  );
}

const CHAT = { id: 'chatcmpl-up', created: 1_700_000_000, model: 'm', system_fingerprint: null };
const CHAT_USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 };

/** A `chat.completion` with this message. */
export function chatBody(message: object | string, finish = 'stop'): object {
  const own = typeof message === 'string' ? { content: message } : message;
  return {
    ...CHAT,
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', refusal: null, content: null, ...own },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    usage: CHAT_USAGE,
  };
}

/** One `chat.completion.chunk` as a frame. */
export function chatChunk(delta: object, finish: string | null = null): string {
  return frame({
    ...CHAT,
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  });
}

/** The first chunk of a chat stream: no content yet. */
export const CHAT_OPENING = chatChunk({ role: 'assistant', content: '' });
/** The end of a chat stream. */
export const CHAT_ENDING =
  chatChunk({}, 'stop') +
  frame({ ...CHAT, object: 'chat.completion.chunk', choices: [], usage: CHAT_USAGE }) +
  'data: [DONE]\n\n';

/** A whole chat stream that says these pieces. */
export function chatStream(...pieces: readonly string[]): string {
  return CHAT_OPENING + pieces.map((content) => chatChunk({ content })).join('') + CHAT_ENDING;
}

/** An event of a stream as a frame; its type names the event where it has one. */
export function frame(data: object): string {
  const type = (data as { readonly type?: string }).type;
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`;
}

/** A Messages answer with these content blocks. */
export function messagesBody(content: readonly object[], stopReason: string): object {
  return {
    id: 'msg_up',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: stopReason,
    stop_sequence: null,
    usage: {
      input_tokens: 10,
      output_tokens: 20,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
    },
  };
}

/** The same as a stream: texts, thinking and arguments in several deltas, signatures in one. */
export function messagesStream(
  content: readonly Readonly<Record<string, unknown>>[],
  stopReason: string,
): string {
  const usage = {
    input_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: 1,
  };
  const message = {
    id: 'msg_up',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  };
  let out = frame({ type: 'message_start', message });
  content.forEach((block, index) => {
    const { opening, deltas } = unfold(block);
    out += frame({ type: 'content_block_start', index, content_block: opening });
    for (const delta of deltas) out += frame({ type: 'content_block_delta', index, delta });
    out += frame({ type: 'content_block_stop', index });
  });
  out += frame({
    type: 'message_delta',
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: 20 },
  });
  return out + frame({ type: 'message_stop' });
}

function unfold(block: Readonly<Record<string, unknown>>): { opening: object; deltas: readonly object[] } {
  switch (block['type']) {
    case 'thinking':
      return {
        opening: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          ...halves(block['thinking']).map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature: block['signature'] },
        ],
      };
    case 'tool_use':
      return {
        opening: { ...block, input: {} },
        deltas: halves(JSON.stringify(block['input'])).map((partial_json) => ({
          type: 'input_json_delta',
          partial_json,
        })),
      };
    case 'text':
      return {
        opening: { type: 'text', text: '' },
        deltas: halves(block['text']).map((text) => ({ type: 'text_delta', text })),
      };
    default:
      return { opening: block, deltas: [] };
  }
}

function halves(value: unknown): string[] {
  const text = String(value);
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)].filter((half) => half !== '');
}

/** A Responses answer with these output items; with a reason it is incomplete. */
export function responsesBody(output: readonly object[], cutBy: string | null = null): object {
  return {
    id: 'resp_up',
    object: 'response',
    created_at: 1_700_000_000,
    status: cutBy === null ? 'completed' : 'incomplete',
    completed_at: cutBy === null ? 1_700_000_001 : null,
    background: false,
    error: null,
    frequency_penalty: 0,
    incomplete_details: cutBy === null ? null : { reason: cutBy },
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    model: 'm',
    output,
    parallel_tool_calls: true,
    presence_penalty: 0,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: 'medium', summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: 1,
    text: { format: { type: 'text' }, verbosity: 'medium' },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: 1,
    truncation: 'disabled',
    usage: {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 20,
      output_tokens_details: { reasoning_tokens: 8 },
      total_tokens: 30,
    },
  };
}

/** The same as a stream, in the order of the API. */
export function responsesStream(
  output: readonly Readonly<Record<string, unknown>>[],
  cutBy: string | null = null,
): string {
  const response = responsesBody(output, cutBy);
  const begun = {
    ...response,
    status: 'in_progress',
    completed_at: null,
    incomplete_details: null,
    output: [],
    usage: null,
  };
  const events: object[] = [
    { type: 'response.created', response: begun },
    { type: 'response.in_progress', response: begun },
  ];
  output.forEach((item, output_index) => {
    const place = { item_id: item['id'], output_index };
    events.push({ type: 'response.output_item.added', output_index, item: emptied(item) });
    for (const [name, value] of Object.entries(item)) {
      if (name === 'summary' || (name === 'content' && item['type'] === 'message'))
        events.push(...(value as readonly Part[]).flatMap((part, at) => partEvents(name, place, part, at)));
      if (name !== 'arguments' && name !== 'input') continue;
      const type = `response.${name === 'input' ? 'custom_tool_call_input' : 'function_call_arguments'}`;
      events.push(...halves(value).map((delta) => ({ type: `${type}.delta`, ...place, delta })));
      events.push({ type: `${type}.done`, ...place, [name]: value });
    }
    events.push({ type: 'response.output_item.done', output_index, item });
  });
  events.push({ type: cutBy === null ? 'response.completed' : 'response.incomplete', response });
  return events.map((event, sequence_number) => frame({ ...event, sequence_number })).join('');
}

interface Part {
  readonly type: string;
  readonly text: string;
}

/** An item before anything was said in it. */
function emptied(item: Readonly<Record<string, unknown>>): object {
  const empty: Readonly<Record<string, unknown>> = {
    summary: [],
    content: [],
    encrypted_content: '',
    arguments: '',
    input: '',
    status: 'in_progress',
  };
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, empty[name] ?? value]));
}

function partEvents(member: 'summary' | 'content', item: object, part: Part, at: number): object[] {
  const isSummary = member === 'summary';
  const place = { ...item, ...(isSummary ? { summary_index: at } : { content_index: at, logprobs: [] }) };
  const partType = isSummary ? 'response.reasoning_summary_part' : 'response.content_part';
  const textType = isSummary ? 'response.reasoning_summary_text' : 'response.output_text';
  return [
    { type: `${partType}.added`, ...place, part: { ...part, text: '' } },
    ...halves(part.text).map((delta) => ({ type: `${textType}.delta`, ...place, delta })),
    { type: `${textType}.done`, ...place, text: part.text },
    { type: `${partType}.done`, ...place, part },
  ];
}
