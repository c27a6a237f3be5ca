// Shapes that a Chat Completions client may rely on, checked member by member: whole answers, streams and
// errors. Each check throws with the offending text. Knows the documented shapes only, nothing of the gateway.

export interface ChatError {
  readonly message: string;
  readonly type: string;
  readonly param: string | null;
  readonly code: string | null;
}

export interface ChatStream {
  readonly chunks: readonly Loose[];
  readonly error: ChatError | null;
  readonly done: boolean;
  /** All `delta.content` in order. */
  readonly text: string;
}

type Loose = Readonly<Record<string, unknown>>;

const FINISH_REASONS = new Set(['stop', 'length', 'content_filter', 'tool_calls', 'function_call']);
const ERROR_MEMBERS = 'code,message,param,type';

/** The error of a body. */
export function readError(text: string): ChatError {
  const body = parse(text);
  const error = objectAt(body['error'], text);
  claim(Object.keys(body).join() === 'error', 'an error body has one member', text);
  claim(
    Object.keys(error).toSorted().join() === ERROR_MEMBERS,
    `an error has the members ${ERROR_MEMBERS}`,
    text,
  );
  const { message, type, param, code } = error;
  claim(typeof message === 'string' && message !== '', 'error.message is a text', text);
  claim(typeof type === 'string' && type !== '', 'error.type is a text', text);
  claim(param === null || (typeof param === 'string' && param !== ''), 'error.param is a path or null', text);
  claim(code === null || typeof code === 'string', 'error.code is a text or null', text);
  return { message, type, param, code } as ChatError;
}

/** A whole answer. */
export function readCompletion(text: string): Loose {
  const body = parse(text);
  checkEnvelope(body, 'chat.completion', text);
  const choice = onlyChoice(body, text);
  claim(
    FINISH_REASONS.has(String(choice['finish_reason'])),
    'finish_reason is one of the documented ones',
    text,
  );
  const message = objectAt(choice['message'], text);
  claim(message['role'] === 'assistant', 'the role is assistant', text);
  claim(isTextOrNull(message['content']), 'content is a text or null', text);
  claim(isTextOrNull(message['refusal']), 'refusal is a text or null', text);
  for (const [index, raw] of listAt(message['tool_calls'], text).entries()) {
    const call = objectAt(raw, text);
    claim(typeof call['id'] === 'string' && call['id'] !== '', `call ${index} has an id`, text);
    checkCallBody(call, String(call['type']), text);
  }
  checkUsage(body['usage'], text);
  return body;
}

/**
 * A whole stream: chunks with one id, then either `[DONE]` or one error, never both.
 * @throws also when the stream ends with neither
 */
export function readChatStream(text: string): ChatStream {
  const chunks: Loose[] = [];
  let error: ChatError | null = null;
  let done = false;
  let content = '';
  let finished = false;
  for (const frame of text.split('\n\n')) {
    if (frame === '' || frame.startsWith(':')) continue;
    claim(frame.startsWith('data: ') && !frame.includes('\n'), 'a frame is one data line', frame);
    const data = frame.slice('data: '.length);
    claim(!done && error === null, 'nothing follows the end', text);
    if (data === '[DONE]') {
      done = true;
      continue;
    }
    const chunk = parse(data);
    if ('error' in chunk) {
      error = readError(data);
      continue;
    }
    checkEnvelope(chunk, 'chat.completion.chunk', data);
    claim(chunk['id'] === (chunks[0] ?? chunk)['id'], 'the id stays the same', text);
    chunks.push(chunk);
    if (Array.isArray(chunk['choices']) && chunk['choices'].length === 0) {
      checkUsage(chunk['usage'], data);
      continue;
    }
    const choice = onlyChoice(chunk, data);
    const delta = objectAt(choice['delta'], data);
    claim(delta['content'] === undefined || isTextOrNull(delta['content']), 'content is a text', data);
    if (typeof delta['content'] === 'string') content += delta['content'];
    for (const call of listAt(delta['tool_calls'], data)) {
      claim(Number.isInteger(objectAt(call, data)['index']), 'a call fragment has an index', data);
    }
    claim(!finished, 'nothing follows the finish reason', text);
    const reason = choice['finish_reason'];
    claim(reason === null || FINISH_REASONS.has(String(reason)), 'finish_reason is documented', data);
    finished = reason !== null;
  }
  claim(done || error !== null, 'the stream ends with [DONE] or an error', text);
  claim(!done || finished, '[DONE] follows a finish reason', text);
  return { chunks, error, done, text: content };
}

function checkEnvelope(body: Loose, object: string, text: string): void {
  claim(body['object'] === object, `object is ${object}`, text);
  claim(typeof body['id'] === 'string' && body['id'] !== '', 'id is a text', text);
  claim(typeof body['model'] === 'string' && body['model'] !== '', 'model is a text', text);
  claim(Number.isInteger(body['created']), 'created is a whole number', text);
}

function checkCallBody(call: Loose, type: string, text: string): void {
  claim(type === 'function' || type === 'custom', 'a call is of a known type', text);
  const body = objectAt(call[type], text);
  claim(typeof body['name'] === 'string', 'a call has a name', text);
  claim(typeof body[type === 'custom' ? 'input' : 'arguments'] === 'string', 'a call has arguments', text);
}

function checkUsage(value: unknown, text: string): void {
  const usage = objectAt(value, text);
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = usage;
  claim(isCount(prompt) && isCount(completion) && total === prompt + completion, 'usage adds up', text);
}

function onlyChoice(body: Loose, text: string): Loose {
  const choices = listAt(body['choices'], text);
  claim(choices.length === 1, 'there is one choice', text);
  const choice = objectAt(choices[0], text);
  claim(choice['index'] === 0, 'its index is 0', text);
  return choice;
}

function parse(text: string): Loose {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    claim(false, 'this is JSON', text);
  }
  return objectAt(value, text);
}

function objectAt(value: unknown, text: string): Loose {
  claim(typeof value === 'object' && value !== null && !Array.isArray(value), 'this holds an object', text);
  return value as Loose;
}

function listAt(value: unknown, text: string): readonly unknown[] {
  if (value === undefined) return [];
  claim(Array.isArray(value), 'this is a list', text);
  return value as readonly unknown[];
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string';
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function claim(holds: boolean, what: string, text: string): asserts holds {
  if (!holds) throw new Error(`not so: ${what}: ${text.slice(0, 2000)}`);
}
