// Rules that a Messages client may rely on in a stream and in a whole answer, checked event by event. Puts the message together
// as the official SDK does. Knows the documented shapes only, nothing of the gateway.

type Loose = Readonly<Record<string, unknown>>;

export interface ReadMessage {
  /** Empty when the stream began with an error. */
  readonly message: Loose;
  readonly content: readonly Loose[];
  readonly stopReason: string | null;
  readonly usage: Loose;
  readonly error: { readonly type: string; readonly message: string } | null;
  readonly pings: number;
}

interface OpenBlock {
  readonly block: Record<string, unknown>;
  json: string;
  signed: boolean;
}

const STOP_REASONS = new Set([
  'end_turn',
  'max_tokens',
  'stop_sequence',
  'tool_use',
  'pause_turn',
  'refusal',
  'model_context_window_exceeded',
]);
/** The deltas that a block of each type takes; server tools take input as calls do. */
const DELTAS: Readonly<Record<string, readonly string[]>> = {
  text: ['text_delta', 'citations_delta'],
  thinking: ['thinking_delta', 'signature_delta'],
  tool_use: ['input_json_delta'],
};
const DOCUMENTED: ReadonlySet<string> = new Set(Object.values(DELTAS).flat());
const COUNTS = ['input_tokens', 'output_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'];

/**
 * Reads a whole stream.
 * @param strictJson false: arguments may be no JSON, where the model wrote none
 * @throws when it breaks a rule, or ends with neither `message_stop` nor an error
 */
export function readMessagesStream(text: string, strictJson = true): ReadMessage {
  claim(text.endsWith('\n\n'), 'the last frame is complete', text);
  let message: Record<string, unknown> | undefined;
  let open: OpenBlock | undefined;
  let over = false;
  let error: ReadMessage['error'] = null;
  let pings = 0;
  let delta: Loose | undefined;
  const content: Record<string, unknown>[] = [];
  for (const frame of text.split('\n\n')) {
    if (frame === '' || frame.startsWith(':')) continue;
    const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(frame) ?? [];
    claim(
      name !== undefined && data !== undefined && !data.includes('\n'),
      'an event and one data line',
      frame,
    );
    const event = JSON.parse(data ?? '') as Loose;
    claim(event['type'] === name, 'the event is named after its type', frame);
    claim(!over, 'nothing follows the end', frame);
    if (name === 'error') {
      error = readErrorBody(event);
      over = true;
      continue;
    }
    if (name === 'message_start') {
      claim(message === undefined, 'one message_start', frame);
      message = { ...objectAt(event['message'], frame) };
      checkEnvelope(message, frame);
      claim(Array.isArray(message['content']) && message['content'].length === 0, 'no content yet', frame);
      claim(message['stop_reason'] === null, 'no stop reason yet', frame);
      checkUsage(message['usage'], frame);
      continue;
    }
    claim(message !== undefined, 'message_start comes first', frame);
    switch (name) {
      case 'ping':
        pings++;
        break;
      case 'content_block_start':
        claim(open === undefined && delta === undefined, 'one block at a time', frame);
        claim(event['index'] === content.length, 'indices are dense from 0', frame);
        open = { block: { ...objectAt(event['content_block'], frame) }, json: '', signed: false };
        checkFreshBlock(open.block, frame);
        break;
      case 'content_block_delta':
        claim(open !== undefined && event['index'] === content.length, 'a delta of the open block', frame);
        if (open) takeDelta(open, objectAt(event['delta'], frame), frame);
        break;
      case 'content_block_stop':
        claim(open !== undefined && event['index'] === content.length, 'the end of the open block', frame);
        if (open) content.push(finishBlock(open, strictJson, frame));
        open = undefined;
        break;
      case 'message_delta':
        claim(open === undefined && delta === undefined, 'one message_delta, after the blocks', frame);
        delta = objectAt(event['delta'], frame);
        checkUsage(event['usage'], frame);
        message = { ...message, ...delta, usage: mergeUsage(message ?? {}, event['usage']) };
        break;
      case 'message_stop':
        claim(delta !== undefined, 'message_delta comes before message_stop', frame);
        over = true;
        break;
      default:
        // Events that nobody knows pass as they came.
        claim(message !== undefined, 'message_start comes first', frame);
    }
  }
  claim(over, 'the stream has an end', text.slice(-500));
  if (error) return { message: {}, content, stopReason: null, usage: {}, error, pings };
  return { ...readMessage({ ...message, content }), pings };
}

/** Reads a whole answer. @throws when it breaks a rule */
export function readMessage(message: Loose): ReadMessage {
  const text = JSON.stringify(message);
  checkEnvelope(message, text);
  const content = message['content'] as Loose[];
  claim(Array.isArray(content), 'content is a list', text);
  const reason = message['stop_reason'];
  claim(typeof reason === 'string' && STOP_REASONS.has(reason), 'stop_reason is a documented one', text);
  claim(
    (reason === 'stop_sequence') === (typeof message['stop_sequence'] === 'string'),
    'stop_sequence',
    text,
  );
  for (const block of content) checkBlock(block, text);
  const calls = content.filter((block) => block['type'] === 'tool_use').length;
  claim(reason !== 'tool_use' || calls > 0, 'tool_use needs a call', text);
  claim(reason !== 'end_turn' || calls === 0, 'a call never ends as end_turn', text);
  const ids = content.filter((block) => block['type'] === 'tool_use').map((block) => block['id']);
  claim(new Set(ids).size === ids.length, 'ids of calls are unique', text);
  checkUsage(message['usage'], text);
  const usage = message['usage'] as Loose;
  return { message, content, stopReason: reason as string, usage, error: null, pings: 0 };
}

/** The error of a body or of an error event. */
export function readErrorBody(body: Loose): { type: string; message: string } {
  const text = JSON.stringify(body);
  claim(body['type'] === 'error', 'type is error', text);
  claim(typeof body['request_id'] === 'string' && body['request_id'] !== '', 'request_id', text);
  const { type, message } = objectAt(body['error'], text);
  claim(typeof type === 'string' && /^[a-z_]+_error$|^request_too_large$/.test(type), 'error.type', text);
  claim(typeof message === 'string' && message !== '', 'error.message', text);
  return { type: String(type), message: String(message) };
}

function takeDelta(open: OpenBlock, delta: Loose, frame: string): void {
  const { block } = open;
  const type = typeof delta['type'] === 'string' ? delta['type'] : '';
  claim(type !== '', 'a delta has a type', frame);
  // An undocumented delta of the upstream passes, and clients ignore it.
  if (!DOCUMENTED.has(type)) return;
  const known = DELTAS[String(block['type'])] ?? ['input_json_delta'];
  claim(known.includes(type), `a ${String(block['type'])} block takes ${known.join(', ')}`, frame);
  switch (type) {
    case 'text_delta':
      claim(typeof delta['text'] === 'string', 'text is a string', frame);
      // Undocumented members pass without the text that was already sent.
      claim(delta['text'] !== '' || Object.keys(delta).length > 2, 'text is not empty', frame);
      block['text'] = String(block['text']) + String(delta['text']);
      return;
    case 'citations_delta':
      block['citations'] = [
        ...((block['citations'] as unknown[] | null | undefined) ?? []),
        delta['citation'],
      ];
      return;
    case 'thinking_delta':
      claim(!open.signed, 'thinking comes before its signature', frame);
      block['thinking'] = String(block['thinking']) + String(delta['thinking']);
      return;
    case 'signature_delta':
      claim(!open.signed, 'one signature', frame);
      open.signed = true;
      block['signature'] = delta['signature'];
      return;
    default:
      open.json += String(delta['partial_json']);
  }
}

function checkFreshBlock(block: Loose, frame: string): void {
  if (block['type'] === 'text') claim(block['text'] === '', 'text begins empty', frame);
  if (block['type'] === 'thinking')
    claim(block['thinking'] === '' && block['signature'] === '', 'thinking begins empty', frame);
  if (block['type'] === 'tool_use')
    claim(JSON.stringify(block['input']) === '{}', 'input begins empty', frame);
}

function finishBlock(open: OpenBlock, strictJson: boolean, frame: string): Record<string, unknown> {
  const { block } = open;
  if (block['type'] === 'thinking') claim(open.signed, 'thinking is signed', frame);
  if (open.json !== '') block['input'] = strictJson ? JSON.parse(open.json) : tolerant(open.json);
  return block;
}

function tolerant(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return { _raw: json };
  }
}

function checkBlock(block: Loose, text: string): void {
  switch (block['type']) {
    case 'text':
      claim(typeof block['text'] === 'string', 'text is a text', text);
      claim(block['citations'] === undefined || Array.isArray(block['citations']), 'citations', text);
      return;
    case 'thinking':
      claim(typeof block['thinking'] === 'string', 'thinking is a text', text);
      claim(typeof block['signature'] === 'string' && block['signature'] !== '', 'a signature', text);
      return;
    case 'redacted_thinking':
      claim(typeof block['data'] === 'string' && block['data'] !== '', 'redacted data', text);
      return;
    case 'tool_use':
      claim(typeof block['id'] === 'string' && block['id'] !== '', 'a call has an id', text);
      claim(typeof block['name'] === 'string' && block['name'] !== '', 'a call has a name', text);
      claim(typeof block['input'] === 'object' && block['input'] !== null, 'input is an object', text);
      return;
    default:
      claim(typeof block['type'] === 'string', 'a block has a type', text);
  }
}

function checkEnvelope(message: Loose, text: string): void {
  claim(typeof message['id'] === 'string' && message['id'] !== '', 'id', text);
  claim(message['type'] === 'message' && message['role'] === 'assistant', 'type and role', text);
  claim(typeof message['model'] === 'string', 'model', text);
}

function checkUsage(value: unknown, text: string): void {
  const usage = objectAt(value, text);
  for (const name of COUNTS)
    claim(Number.isInteger(usage[name]) && Number(usage[name]) >= 0, `usage.${name} is a count`, text);
}

function mergeUsage(message: Loose, newer: unknown): Loose {
  return { ...(message['usage'] as Loose), ...(newer as Loose) };
}

function objectAt(value: unknown, text: string): Loose {
  claim(typeof value === 'object' && value !== null && !Array.isArray(value), 'an object', text);
  return value as Loose;
}

function claim(holds: boolean, rule: string, text: string): void {
  if (!holds) throw new Error(`rule broken: ${rule}\n${text.slice(0, 1500)}`);
}
