// Parses a stored payload of any protocol into a conversation. Joins the events of streams. Parts that cannot be
// parsed are left out or named, never guessed.

export type Part =
  | { readonly type: 'text' | 'thinking'; readonly text: string }
  | { readonly type: 'call'; readonly name: string; readonly args: string }
  | { readonly type: 'result'; readonly name: string; readonly text: string }
  | { readonly type: 'picture'; readonly url: string }
  | { readonly type: 'other'; readonly what: string };

export interface PayloadMessage {
  readonly role: string;
  readonly parts: readonly Part[];
}

type Json = Readonly<Record<string, unknown>>;

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function written(value: unknown): string {
  return typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value);
}

/** Content: a string, or a list of parts. */
function partsOf(content: unknown): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  return list(content).flatMap(partOf);
}

/** Parses a part of any protocol, by its members. */
function partOf(part: Json): readonly Part[] {
  const type = text(part['type']);
  const said = part['text'] ?? part['refusal'];
  if (part['thought'] === true || type === 'thinking' || type === 'reasoning') {
    const thoughts = [
      part['thinking'],
      part['text'],
      ...list(part['summary']).map((each) => each['text']),
    ].map(text);
    const joined = thoughts.filter((each) => each !== '').join('\n');
    return joined === ''
      ? [{ type: 'other', what: 'reasoning that only the provider can read' }]
      : [{ type: 'thinking', text: joined }];
  }
  if (typeof said === 'string') return said === '' ? [] : [{ type: 'text', text: said }];
  if (type === 'tool_use' || type === 'server_tool_use')
    return [{ type: 'call', name: text(part['name']), args: written(part['input']) }];
  if (type.endsWith('tool_result'))
    return [{ type: 'result', name: text(part['tool_use_id']), text: textOf(partsOf(part['content'])) }];
  const call = object(part['functionCall']);
  if (call['name'] !== undefined)
    return [{ type: 'call', name: text(call['name']), args: written(call['args']) }];
  const answer = object(part['functionResponse']);
  if (answer['name'] !== undefined)
    return [{ type: 'result', name: text(answer['name']), text: written(answer['response']) }];
  const picture = pictureIn(part);
  return [picture ?? { type: 'other', what: type || Object.keys(part).join(', ') }];
}

function pictureIn(part: Json): Part | null {
  const source = object(part['source'] ?? part['inlineData'] ?? part['inline_data']);
  const media = text(source['media_type'] ?? source['mimeType'] ?? source['mime_type']);
  if (media.startsWith('image/') && typeof source['data'] === 'string')
    return { type: 'picture', url: `data:${media};base64,${source['data']}` };
  const address = part['image_url'];
  const url = text(object(address)['url'] ?? address);
  // Remote images are not loaded.
  if (url.startsWith('data:image/')) return { type: 'picture', url };
  return url === '' ? null : { type: 'other', what: `picture at ${url}` };
}

function textOf(parts: readonly Part[]): string {
  return parts.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
}

/** A message (Chat Completions, Messages), an item (Responses) or a content (Gemini). */
function entryOf(entry: Json): readonly PayloadMessage[] {
  const type = text(entry['type']);
  if (type.endsWith('_call') && entry['name'] !== undefined)
    return [
      {
        role: 'assistant',
        parts: [
          { type: 'call', name: text(entry['name']), args: written(entry['arguments'] ?? entry['input']) },
        ],
      },
    ];
  if (type.endsWith('_call_output'))
    return [
      {
        role: 'tool',
        parts: [{ type: 'result', name: text(entry['call_id']), text: written(entry['output']) }],
      },
    ];
  if (type === 'reasoning') return [{ role: 'assistant', parts: partOf(entry) }];
  const role = text(entry['role']) || 'assistant';
  const thoughts = text(entry['reasoning_content']) || text(entry['reasoning']);
  const parts: Part[] = [
    ...(thoughts === '' ? [] : [{ type: 'thinking' as const, text: thoughts }]),
    ...(role === 'tool'
      ? [
          {
            type: 'result' as const,
            name: text(entry['name']) || text(entry['tool_call_id']),
            text: textOf(partsOf(entry['content'])),
          },
        ]
      : partsOf(entry['content'] ?? entry['parts'])),
    ...list(entry['tool_calls']).map((call): Part => ({
      type: 'call',
      name: text(object(call['function'])['name']),
      args: written(object(call['function'])['arguments']),
    })),
  ];
  return parts.length === 0 ? [] : [{ role: role === 'model' ? 'assistant' : role, parts }];
}

function parsed(body: string): Json | null {
  try {
    return object(JSON.parse(body));
  } catch {
    return null;
  }
}

/** Parses a client's request. @param body of the request @returns null if it is not JSON */
export function readQuestion(body: string): readonly PayloadMessage[] | null {
  const json = parsed(body);
  if (!json) return null;
  const system =
    json['system'] ??
    json['instructions'] ??
    object(json['systemInstruction'] ?? json['system_instruction'])['parts'];
  const input = json['messages'] ?? json['contents'] ?? json['input'] ?? json['prompt'];
  return [
    ...(system === undefined || system === null ? [] : [{ role: 'system', parts: partsOf(system) }]),
    ...(typeof input === 'string' ? [{ role: 'user', parts: partsOf(input) }] : list(input).flatMap(entryOf)),
  ];
}

/** Parses a response, from a JSON body or from the events of a stream. */
export function readAnswer(body: string): readonly PayloadMessage[] {
  const json = /^\s*\{/.test(body) ? parsed(body) : null;
  if (json) return answerIn(json);
  const events = body.split(/\r?\n/).flatMap((line) => {
    const event = line.startsWith('data:') ? parsed(line.slice(5)) : null;
    return event ? [event] : [];
  });
  const whole = events.findLast(
    ({ type }) => type === 'response.completed' || type === 'response.incomplete',
  );
  if (whole) return answerIn(object(whole['response']));
  const parts = joined(events.flatMap(piecesOf));
  return parts.length === 0 ? [] : [{ role: 'assistant', parts }];
}

function answerIn(json: Json): readonly PayloadMessage[] {
  if (Array.isArray(json['choices']))
    return list(json['choices']).flatMap((choice) => entryOf(object(choice['message'])));
  if (Array.isArray(json['candidates']))
    return list(json['candidates']).flatMap((candidate) => entryOf(object(candidate['content'])));
  if (Array.isArray(json['output'])) return list(json['output']).flatMap(entryOf);
  return Array.isArray(json['content']) ? entryOf(json) : [];
}

interface Piece {
  /** Key shared by all pieces of one part. */
  readonly key: string;
  readonly part: Part;
}

/** Parts that a stream event adds to. */
function piecesOf(event: Json): readonly Piece[] {
  const type = text(event['type']);
  if (Array.isArray(event['choices']))
    return list(event['choices']).flatMap((choice) => {
      const delta = object(choice['delta']);
      const thoughts = text(delta['reasoning_content']) || text(delta['reasoning']);
      return [
        ...(thoughts === ''
          ? []
          : [{ key: 'thinking', part: { type: 'thinking' as const, text: thoughts } }]),
        ...(text(delta['content']) === ''
          ? []
          : [{ key: 'text', part: { type: 'text' as const, text: text(delta['content']) } }]),
        ...list(delta['tool_calls']).map((call) => {
          const { name, arguments: args } = object(call['function']);
          return {
            key: `call ${String(call['index'])}`,
            part: { type: 'call' as const, name: text(name), args: text(args) },
          };
        }),
      ];
    });
  if (Array.isArray(event['candidates']))
    return list(event['candidates']).flatMap((candidate) =>
      list(object(candidate['content'])['parts'])
        .flatMap(partOf)
        .map((part, at) => ({ key: part.type === 'call' ? `call ${at} ${part.args}` : part.type, part })),
    );
  if (type === 'content_block_start') {
    const name = text(object(event['content_block'])['name']);
    return name === ''
      ? []
      : [{ key: `block ${String(event['index'])}`, part: { type: 'call', name, args: '' } }];
  }
  const delta = object(event['delta']);
  if (type === 'content_block_delta') {
    const key = `block ${String(event['index'])}`;
    if (delta['partial_json'] !== undefined)
      return [{ key, part: { type: 'call', name: '', args: text(delta['partial_json']) } }];
    if (delta['thinking'] !== undefined)
      return [{ key, part: { type: 'thinking', text: text(delta['thinking']) } }];
    return delta['text'] === undefined ? [] : [{ key, part: { type: 'text', text: text(delta['text']) } }];
  }
  const key = String(event['output_index']);
  if (type === 'response.output_text.delta')
    return [{ key, part: { type: 'text', text: text(event['delta']) } }];
  if (/^response\.reasoning.*\.delta$/.test(type))
    return [{ key, part: { type: 'thinking', text: text(event['delta']) } }];
  if (type === 'response.function_call_arguments.delta')
    return [{ key, part: { type: 'call', name: '', args: text(event['delta']) } }];
  const item = object(event['item']);
  if (type === 'response.output_item.added' && item['name'] !== undefined)
    return [{ key, part: { type: 'call', name: text(item['name']), args: '' } }];
  return [];
}

function joined(pieces: readonly Piece[]): readonly Part[] {
  const found = new Map<string, Part>();
  for (const { key, part } of pieces) found.set(key, together(found.get(key), part));
  return [...found.values()];
}

function together(before: Part | undefined, part: Part): Part {
  if (before?.type === 'call' && part.type === 'call')
    return { type: 'call', name: before.name + part.name, args: before.args + part.args };
  if ((before?.type === 'text' || before?.type === 'thinking') && before.type === part.type)
    return { type: part.type, text: before.text + part.text };
  return part;
}
