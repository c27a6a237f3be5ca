// Reads an event stream of the Responses API as its strictest client would: the order of the events, the numbers and
// ids that tie them together, and the members that the official SDK's types demand. Uses none of the product's code.
import type {
  ResponseOutputItem,
  ResponseOutputMessage,
  ResponseReasoningItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses';
import type { Frame, Loose } from '../recordings/loose.ts';
import { eventProblems, responseProblems } from '../recordings/openai-schema.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Node = { [key: string]: Json };
type EventName = ResponseStreamEvent['type'];

type Kind = 'string' | 'number' | 'boolean' | 'array' | 'object' | 'null';
type Shape = Readonly<Record<string, readonly Kind[]>>;
const S: readonly Kind[] = ['string'];
const N: readonly Kind[] = ['number'];
const A: readonly Kind[] = ['array'];
const O: readonly Kind[] = ['object'];
const inItem = { item_id: S, output_index: N };
const inContent = { ...inItem, content_index: N };
const inSummary = { ...inItem, summary_index: N };

/** Members of every event that the gateway writes; a name that the SDK does not know would not compile. */
const EVENTS: Partial<Record<EventName, Shape>> = {
  'response.created': { response: O },
  'response.in_progress': { response: O },
  'response.completed': { response: O },
  'response.incomplete': { response: O },
  'response.failed': { response: O },
  error: { code: ['string', 'null'], message: S, param: ['string', 'null'] },
  'response.output_item.added': { item: O, output_index: N },
  'response.output_item.done': { item: O, output_index: N },
  'response.content_part.added': { ...inContent, part: O },
  'response.content_part.done': { ...inContent, part: O },
  'response.output_text.delta': { ...inContent, delta: S, logprobs: A },
  'response.output_text.done': { ...inContent, text: S, logprobs: A },
  'response.output_text.annotation.added': { ...inContent, annotation: O, annotation_index: N },
  'response.refusal.delta': { ...inContent, delta: S },
  'response.refusal.done': { ...inContent, refusal: S },
  'response.function_call_arguments.delta': { ...inItem, delta: S },
  'response.function_call_arguments.done': { ...inItem, arguments: S },
  'response.custom_tool_call_input.delta': { ...inItem, delta: S },
  'response.custom_tool_call_input.done': { ...inItem, input: S },
  'response.reasoning_summary_part.added': { ...inSummary, part: O },
  'response.reasoning_summary_part.done': { ...inSummary, part: O },
  'response.reasoning_summary_text.delta': { ...inSummary, delta: S },
  'response.reasoning_summary_text.done': { ...inSummary, text: S },
  'response.reasoning_text.delta': { ...inContent, delta: S },
  'response.reasoning_text.done': { ...inContent, text: S },
};

const RESPONSE: Shape = {
  id: S,
  object: S,
  created_at: N,
  status: S,
  error: ['object', 'null'],
  incomplete_details: ['object', 'null'],
  instructions: ['string', 'array', 'null'],
  metadata: ['object', 'null'],
  model: S,
  output: A,
  parallel_tool_calls: ['boolean'],
  temperature: ['number', 'null'],
  tool_choice: ['string', 'object'],
  tools: A,
  top_p: ['number', 'null'],
};

const ITEMS: Partial<Record<ResponseOutputItem['type'], Shape>> = {
  message: { id: S, content: A, role: S, status: S } satisfies Record<
    Exclude<keyof ResponseOutputMessage, 'type' | 'phase'>,
    readonly Kind[]
  >,
  reasoning: { id: S, summary: A } satisfies Partial<Record<keyof ResponseReasoningItem, readonly Kind[]>>,
  function_call: { id: S, call_id: S, name: S, arguments: S, status: S },
  custom_tool_call: { id: S, call_id: S, name: S, input: S },
  web_search_call: { id: S, status: S },
  compaction: { id: S, encrypted_content: S },
  shell_call: { id: S, call_id: S, action: O, status: S },
  apply_patch_call: { id: S, call_id: S, operation: O, status: S },
  local_shell_call: { id: S, call_id: S, action: O, status: S },
  computer_call: { id: S, call_id: S, status: S, pending_safety_checks: A },
};

const TERMINAL = new Set(['response.completed', 'response.incomplete', 'response.failed']);
const STATUS: Readonly<Record<string, string>> = {
  'response.completed': 'completed',
  'response.incomplete': 'incomplete',
  'response.failed': 'failed',
  'response.created': 'in_progress',
  'response.in_progress': 'in_progress',
};

interface OpenPart {
  text: string;
  final: string | undefined;
  done: boolean;
  annotations: number;
}
interface OpenItem {
  readonly id: string;
  readonly type: string;
  readonly parts: Map<string, OpenPart>;
  written: string;
  done: Node | undefined;
}

/**
 * Checks a stream against the rules of the API: `response.created` and `response.in_progress` first, one terminal event
 * and nothing after it, sequence numbers from 0 without gaps, places dense from 0, each `added` with its `done`, deltas
 * that add up, and a final response that holds the finished items.
 * @returns what a strict client would not accept; empty for a good stream
 */
export function checkResponseStream(frames: readonly Frame[]): string[] {
  const checker = new StreamChecker();
  frames.forEach((frame, position) => checker.take(frame, position === frames.length - 1));
  checker.end();
  return checker.problems;
}

/** Mistakes of a whole response object; empty where there are none. */
export function checkResponse(response: unknown): string[] {
  const node = isNode(response) ? response : {};
  return [...rulesOf(node), ...responseProblems(node as unknown as Loose)];
}

function rulesOf(node: Node): string[] {
  const problems: string[] = [];
  fit('response', node, RESPONSE, problems);
  if (node['object'] !== 'response') problems.push('object is not "response"');
  if (!/^resp_\w+/.test(String(node['id']))) problems.push(`the id ${String(node['id'])}`);
  const items = Array.isArray(node['output']) ? node['output'].filter(isNode) : [];
  for (const item of items) checkItem(item, problems);
  const ids = items.map((item) => item['id']);
  if (new Set(ids).size !== ids.length) problems.push('two items have one id');
  const { usage } = node;
  if (isNode(usage)) {
    fit('usage', usage, USAGE, problems);
    if (usage['total_tokens'] !== Number(usage['input_tokens']) + Number(usage['output_tokens']))
      problems.push('the total is not the sum of input and output');
  }
  return problems;
}

const USAGE: Shape = {
  input_tokens: N,
  input_tokens_details: O,
  output_tokens: N,
  output_tokens_details: O,
  total_tokens: N,
};

class StreamChecker {
  readonly problems: string[] = [];
  readonly #items: OpenItem[] = [];
  #sequence = 0;
  #first = '';
  /** Names of the members that `response.created` repeats. */
  #echoed: readonly string[] | undefined;
  #terminal = '';
  #failed = false;

  take(frame: Frame, isLast: boolean): void {
    const { problems } = this;
    const at = this.#sequence++;
    let json: Json;
    try {
      json = JSON.parse(frame.data) as Json;
    } catch {
      problems.push(`event ${at} is not JSON: ${frame.data.slice(0, 60)}`);
      return;
    }
    if (!isNode(json)) return void problems.push(`event ${at} is no object`);
    const type = String(json['type']);
    if (frame.event !== type) problems.push(`event line ${frame.event}, type ${type}`);
    if (json['sequence_number'] !== at)
      problems.push(`sequence number ${String(json['sequence_number'])} at place ${at}`);
    if (this.#terminal !== '') problems.push(`${type} after ${this.#terminal}`);
    const expected = ['response.created', 'response.in_progress'][at];
    if (expected !== undefined && type !== expected) problems.push(`event ${at} is ${type}`);
    if (expected === undefined && (type === 'response.created' || type === 'response.in_progress'))
      problems.push(`${type} at place ${at}`);
    const shape = EVENTS[type as EventName];
    if (shape) fit(type, json, shape, problems);
    problems.push(...eventProblems(json as unknown as Loose));
    // Events that nobody knows pass as they came.
    if (shape && isNode(json['response'])) this.#response(type, json['response']);
    if (TERMINAL.has(type)) {
      this.#terminal = type;
      if (!isLast) problems.push(`${type} is not the last event`);
    }
    if (type === 'error') this.#failed = true;
    this.#place(type, json);
  }

  end(): void {
    const { problems } = this;
    if (this.#terminal === '') problems.push('no terminal event');
    if (this.#failed && this.#terminal !== 'response.failed')
      problems.push(`an error, but the stream ends with ${this.#terminal}`);
    if (this.#terminal === 'response.failed') return;
    for (const item of this.#items) if (!item.done) problems.push(`${item.id} has no done`);
  }

  #response(type: string, response: Node): void {
    const { problems } = this;
    problems.push(...rulesOf(response));
    const { output, usage: _, status, error, incomplete_details, completed_at, ...echoes } = response;
    // The end may have more: members that only the upstream knows.
    const names = (this.#echoed ??= Object.keys(echoes));
    const facts = JSON.stringify(names.map((name) => (name === 'service_tier' ? null : echoes[name])));
    this.#first ||= facts;
    if (facts !== this.#first) problems.push(`${type} repeats the request differently`);
    if (status !== STATUS[type]) problems.push(`${type} with status ${String(status)}`);
    if ((type === 'response.failed') !== isNode(error ?? null)) problems.push(`${type}: error`);
    if ((type === 'response.incomplete') !== isNode(incomplete_details ?? null))
      problems.push(`${type}: incomplete_details`);
    if (type !== 'response.completed' && typeof completed_at === 'number')
      problems.push(`${type} with completed_at`);
    if (type === 'response.completed' || type === 'response.incomplete') {
      const done = JSON.stringify(this.#items.map((item) => item.done));
      if (JSON.stringify(output) !== done)
        problems.push(`the final output is not the finished items: ${JSON.stringify(output)}, not ${done}`);
      if (!isNode(response['usage'] ?? null)) problems.push('no token counts');
    } else if (type !== 'response.failed' && JSON.stringify(output) !== '[]')
      problems.push(`${type} with output`);
  }

  #place(type: string, json: Node): void {
    const { problems } = this;
    const index = json['output_index'];
    if (typeof index !== 'number') return;
    if (type === 'response.output_item.added') {
      const item = isNode(json['item'] ?? null) ? (json['item'] as Node) : {};
      if (index !== this.#items.length) problems.push(`item ${index} after ${this.#items.length} items`);
      checkItem(item, problems);
      const id = String(item['id']);
      this.#items[index] = { id, type: String(item['type']), parts: new Map(), written: '', done: undefined };
      return;
    }
    const item = this.#items[index];
    if (!item) return void problems.push(`${type} of item ${index}, which was not added`);
    if (item.done) problems.push(`${type} after the end of ${item.id}`);
    if (type === 'response.output_item.done') return this.#itemDone(item, json['item'] as Node);
    // The commands of a shell call name only their place (SDK types `ResponseShellCallCommand…Event`).
    if (type.startsWith('response.shell_call_command.')) return;
    if (json['item_id'] !== item.id)
      problems.push(`${type} for ${String(json['item_id'])} at the place of ${item.id}`);
    if (!EVENTS[type as EventName]) return;
    if (type.endsWith('_arguments.delta') || type.endsWith('_input.delta'))
      item.written += String(json['delta']);
    else if (type.endsWith('_arguments.done') || type.endsWith('_input.done')) {
      const whole = json['arguments'] ?? json['input'];
      if (whole !== item.written) problems.push(`${type}: ${String(whole)}, deltas say ${item.written}`);
    } else this.#inPart(type, json, item);
  }

  #inPart(type: string, json: Node, item: OpenItem): void {
    const { problems } = this;
    const isSummary = json['summary_index'] !== undefined;
    const number = json['summary_index'] ?? json['content_index'];
    if (typeof number !== 'number') return;
    const key = `${isSummary ? 'summary' : 'content'} ${number}`;
    const part = item.parts.get(key);
    if (type.endsWith('_part.added')) {
      if (part) problems.push(`${key} of ${item.id} is added twice`);
      const before = [...item.parts.keys()].filter((other) => other.startsWith(isSummary ? 's' : 'c')).length;
      if (number !== before) problems.push(`${key} of ${item.id} after ${before} parts`);
      item.parts.set(key, { text: '', final: undefined, done: false, annotations: 0 });
      return;
    }
    if (!part) return void problems.push(`${type} of ${key}, which was not added`);
    if (part.done) problems.push(`${type} after the end of ${key}`);
    if (type.endsWith('.delta')) {
      if (part.final !== undefined) problems.push(`a delta after the text of ${key} was done`);
      part.text += String(json['delta']);
    } else if (type.endsWith('annotation.added')) {
      if (json['annotation_index'] !== part.annotations++) problems.push(`annotation index of ${key}`);
    } else if (type.endsWith('_part.done')) {
      part.done = true;
      if (textOf(json['part']) !== part.text) problems.push(`the done part ${key} has another text`);
      if (part.final === undefined) problems.push(`${key} of ${item.id} has no done text`);
    } else if (type.endsWith('.done')) {
      part.final = String(json['text'] ?? json['refusal']);
      if (part.final !== part.text) problems.push(`${type}: ${part.final}, deltas say ${part.text}`);
    }
  }

  #itemDone(open: OpenItem, item: Node): void {
    const { problems } = this;
    checkItem(item, problems);
    open.done = item;
    if (item['id'] !== open.id || item['type'] !== open.type)
      problems.push(`${open.type} ${open.id} ends as ${String(item['type'])} ${String(item['id'])}`);
    // A call that a running program made ends unfinished, and a patch that was cut has no other status.
    const mayGoOn = item['caller'] !== undefined || item['type'] === 'apply_patch_call';
    if (item['status'] === 'in_progress' && !mayGoOn) problems.push(`${open.id} ends in progress`);
    const content = Array.isArray(item['content']) ? item['content'] : [];
    const summary = Array.isArray(item['summary']) ? item['summary'] : [];
    const parts = [
      ...content.map((part, n) => [`content ${n}`, textOf(part)] as const),
      ...summary.map((part, n) => [`summary ${n}`, textOf(part)] as const),
    ];
    if (parts.length !== open.parts.size) problems.push(`${open.id} ends with ${parts.length} parts`);
    for (const [key, text] of parts) {
      const part = open.parts.get(key);
      if (!part?.done) problems.push(`${key} of ${open.id} has no done`);
      if (part && part.text !== text) problems.push(`${key} of ${open.id} ends with another text`);
    }
    const written = item['arguments'] ?? item['input'];
    if (/^(function|custom_tool)_call$/.test(open.type) && written !== open.written)
      problems.push(`${open.id} ends with ${String(written)}, deltas say ${open.written}`);
  }
}

function checkItem(item: Node, problems: string[]): void {
  const type = String(item['type']);
  const shape = ITEMS[type as ResponseOutputItem['type']];
  if (shape) fit(type, item, shape, problems);
  if (typeof item['id'] !== 'string' || item['id'] === '') problems.push(`${type} without an id`);
  for (const part of Array.isArray(item['content']) ? item['content'].filter(isNode) : []) {
    if (part['type'] === 'output_text')
      fit('output_text', part, { text: S, annotations: A, logprobs: A }, problems);
    else if (part['type'] === 'refusal') fit('refusal', part, { refusal: S }, problems);
    else fit(String(part['type']), part, { text: S }, problems);
  }
}

function fit(what: string, node: Node, shape: Shape, problems: string[]): void {
  for (const name in shape) {
    const kind = kindOf(node[name]);
    if (kind === undefined || !shape[name]?.includes(kind))
      problems.push(`${what}.${name} is ${kind ?? 'missing'}`);
  }
}

function kindOf(value: Json | undefined): Kind | undefined {
  if (value === undefined) return undefined;
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value as Kind;
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(part: Json | undefined): string {
  const node = isNode(part) ? part : {};
  return String(node['text'] ?? node['refusal'] ?? '');
}
