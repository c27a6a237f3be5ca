// Anthropic Messages as its clients and its servers write it. Knows no gateway.
import { frame, messagesBody } from '../upstreams/answers.ts';
import { at, list, type Json } from '../upstreams/json-path.ts';
import {
  COUNTS,
  eventsOf,
  halves,
  Notes,
  noteTool,
  TOOL_SCHEMA,
  toolText,
  type Answer,
  type Call,
  type Face,
  type Finish,
  type Turn,
} from './exchange.ts';

const WORDS: Readonly<Record<Finish, string>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  calls: 'tool_use',
  filter: 'refusal',
  refusal: 'refusal',
  sequence: 'stop_sequence',
};
const FINISHES: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'calls',
  refusal: 'refusal',
  stop_sequence: 'sequence',
};
type Block = Readonly<Record<string, unknown>>;

const callOf = ({ id, name, args }: Call): Block => ({ type: 'tool_use', id, name, input: args });
const media = (type: string, media_type: string, data: string): Block => ({
  type,
  source: { type: 'base64', media_type, data },
});

function message(turn: Turn): object | Json {
  if ('own' in turn) return turn.own[0] ?? null;
  if ('results' in turn)
    return {
      role: 'user',
      content: turn.results.map(({ id, text, image, failed }) => ({
        type: 'tool_result',
        tool_use_id: id,
        content: image === undefined ? text : [{ type: 'text', text }, media('image', 'image/png', image)],
        ...(failed ? { is_error: true } : {}),
      })),
    };
  if ('assistant' in turn) {
    const text = turn.assistant ? [{ type: 'text', text: turn.assistant }] : [];
    return { role: 'assistant', content: [...text, ...(turn.calls ?? []).map(callOf)] };
  }
  const content: object[] = [{ type: 'text', text: turn.user }];
  if (turn.image !== undefined) content.push(media('image', 'image/png', turn.image));
  if (turn.pdf !== undefined)
    content.push({ ...media('document', 'application/pdf', turn.pdf), title: turn.pdfName });
  return { role: 'user', content };
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((block) => at(block, 'text') ?? '')
        .join('');

function noteBlock(notes: Notes, role: string, block: Json): void {
  switch (String(at(block, 'type'))) {
    case 'text':
      return notes.note(role, at(block, 'text'));
    case 'image':
      return notes.note('image', at(block, 'source', 'data'));
    case 'document':
      notes.note('pdf', at(block, 'source', 'data'));
      return notes.note('pdf name', at(block, 'title'));
    case 'thinking':
      return notes.note('state', at(block, 'signature'));
    case 'redacted_thinking':
      return notes.note('state', at(block, 'data'));
    case 'tool_use':
      return notes.call(at(block, 'id'), at(block, 'name'), at(block, 'input'));
    case 'tool_result':
      notes.result(at(block, 'tool_use_id'), textOf(at(block, 'content')), at(block, 'is_error') === true);
      for (const inner of list(block, 'content'))
        if (at(inner, 'type') === 'image') notes.note('image in result', at(inner, 'source', 'data'));
      return;
  }
}

function contentOf({ thoughts = [], text, calls = [], cited }: Answer): Block[] {
  const before = cited ? (text ?? '').slice(0, -cited.words.length) : text;
  const citation = cited && {
    type: 'web_search_result_location',
    url: cited.url,
    title: cited.title,
    cited_text: cited.words,
    encrypted_index: 'aW5kZXg=',
  };
  return [
    ...thoughts.map(({ text: thinking, state }) =>
      thinking === ''
        ? { type: 'redacted_thinking', data: state }
        : { type: 'thinking', thinking, signature: state },
    ),
    ...(before ? [{ type: 'text', text: before }] : []),
    ...(cited ? [{ type: 'text', text: cited.words, citations: [citation] }] : []),
    ...calls.map(callOf),
  ];
}

function bodyOf(answer: Answer): Block {
  const { input, cached, written, output, reasoning } = { ...COUNTS, ...answer.usage };
  return {
    ...messagesBody(contentOf(answer), WORDS[answer.finish]),
    stop_sequence: answer.stoppedBy ?? null,
    ...(answer.refusal === undefined
      ? {}
      : { stop_details: { type: 'refusal', category: null, explanation: answer.refusal } }),
    usage: {
      input_tokens: input - cached - written,
      cache_read_input_tokens: cached,
      cache_creation_input_tokens: written,
      output_tokens: output,
      ...(reasoning > 0 ? { output_tokens_details: { thinking_tokens: reasoning } } : {}),
    },
  };
}

/** A block as it begins, and what follows. */
function unfold(block: Block): { readonly opening: Block; readonly deltas: readonly object[] } {
  switch (block['type']) {
    case 'text':
      return {
        opening: { type: 'text', text: '', ...('citations' in block ? { citations: [] } : {}) },
        deltas: [
          ...list(block, 'citations').map((citation) => ({ type: 'citations_delta', citation })),
          ...halves(String(block['text'])).map((text) => ({ type: 'text_delta', text })),
        ],
      };
    case 'thinking':
      return {
        opening: { type: 'thinking', thinking: '', signature: '' },
        deltas: [
          { type: 'thinking_delta', thinking: block['thinking'] },
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
    default:
      return { opening: block, deltas: [] };
  }
}

export const messagesFace: Face = {
  ask: ({ system, turns, tools, strictTools, mustCall, schema, stop, limit, reasoning }, model, stream) => ({
    model,
    stream,
    max_tokens: limit ?? 4000,
    system: system?.map((text) => ({ type: 'text', text })),
    messages: turns.map(message),
    tools: tools?.map((name) => ({
      name,
      description: toolText(name),
      input_schema: TOOL_SCHEMA,
      strict: strictTools,
    })),
    tool_choice: mustCall && { type: 'any' },
    output_config: schema && { format: { type: 'json_schema', schema } },
    stop_sequences: stop && [stop],
    thinking: reasoning ? { type: 'enabled', budget_tokens: 2000 } : { type: 'disabled' },
  }),
  understood(body) {
    const notes = new Notes();
    const system = at(body, 'system');
    if (system !== undefined)
      notes.system(
        typeof system === 'string'
          ? system
          : list(system)
              .map((block) => at(block, 'text'))
              .join(' '),
      );
    for (const entry of list(body, 'messages')) {
      const content = at(entry, 'content');
      const role = String(at(entry, 'role'));
      if (typeof content === 'string') notes.note(role, content);
      else for (const block of list(content)) noteBlock(notes, role, block);
    }
    for (const tool of list(body, 'tools'))
      noteTool(
        notes,
        at(tool, 'name'),
        at(tool, 'description'),
        at(tool, 'input_schema'),
        at(tool, 'strict'),
      );
    notes.note('must call', at(body, 'tool_choice', 'type') === 'any' || undefined);
    const schema = at(body, 'output_config', 'format', 'schema');
    notes.note('schema', schema);
    notes.note('schema enforced', schema === undefined ? undefined : true);
    notes.note('stop', list(body, 'stop_sequences').join());
    notes.note('limit', at(body, 'max_tokens'));
    const thinking = at(body, 'thinking', 'type');
    notes.note('reasoning', (thinking !== undefined && thinking !== 'disabled') || undefined);
    return notes.done();
  },
  whole: bodyOf,
  stream(answer) {
    const body = bodyOf(answer);
    const usage = { ...(body['usage'] as object), output_tokens: 1 };
    const start = {
      ...body,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      stop_details: null,
      usage,
    };
    let out = frame({ type: 'message_start', message: start });
    contentOf(answer).forEach((block, index) => {
      const { opening, deltas } = unfold(block);
      out += frame({ type: 'content_block_start', index, content_block: opening });
      for (const delta of deltas) out += frame({ type: 'content_block_delta', index, delta });
      out += frame({ type: 'content_block_stop', index });
    });
    const { stop_reason, stop_sequence, stop_details } = body;
    const delta = { stop_reason, stop_sequence, stop_details };
    const end = { type: 'message_delta', delta, usage: body['usage'] };
    return out + frame(end) + frame({ type: 'message_stop' });
  },
  gather(text) {
    const events = eventsOf(text);
    if (at(events.at(-1), 'type') !== 'message_stop') throw new Error(`no complete stream: ${text}`);
    const content: Record<string, Json>[] = [];
    const message: Record<string, Json> = {};
    let usage: object = {};
    for (const event of events) {
      Object.assign(
        message,
        at(event, 'message'),
        at(event, 'type') === 'message_delta' ? at(event, 'delta') : {},
      );
      usage = {
        ...usage,
        ...(at(event, 'message', 'usage') as object | undefined),
        ...(at(event, 'usage') as object | undefined),
      };
      const index = Number(at(event, 'index'));
      if (at(event, 'type') === 'content_block_start')
        content[index] = { ...(at(event, 'content_block') as Record<string, Json>) };
      const block = content[index];
      const delta = at(event, 'delta');
      if (at(event, 'type') !== 'content_block_delta' || block === undefined) continue;
      for (const name of ['text', 'thinking', 'signature'])
        if (at(delta, name) !== undefined) block[name] = String(block[name] ?? '') + String(at(delta, name));
      if (at(delta, 'partial_json') !== undefined)
        block['json'] = String(block['json'] ?? '') + String(at(delta, 'partial_json'));
      if (at(delta, 'citation') !== undefined)
        block['citations'] = [...list(block, 'citations'), at(delta, 'citation') ?? null];
    }
    const blocks = content.map(({ json, ...block }) =>
      block['type'] === 'tool_use' ? { ...block, input: JSON.parse(String(json ?? '{}')) as Json } : block,
    );
    return { ...message, content: blocks, usage: usage as Json };
  },
  heard(body) {
    const notes = new Notes();
    const citations: string[] = [];
    const explanation = at(body, 'stop_details', 'explanation');
    for (const block of list(body, 'content')) {
      notes.note('thought', at(block, 'thinking'));
      // The words of a refusal stand in both places, for clients that read only one.
      if (at(block, 'text') !== explanation) notes.note('text', at(block, 'text'));
      if (at(block, 'type') === 'tool_use')
        notes.call(at(block, 'id'), at(block, 'name'), at(block, 'input'));
      for (const cited of list(block, 'citations'))
        citations.push(`${at(cited, 'cited_text')} (${at(cited, 'title')}, ${at(cited, 'url')})`);
    }
    for (const cited of citations) notes.note('cites', cited);
    notes.note('refusal', explanation);
    notes.note('finish', FINISHES[String(at(body, 'stop_reason'))]);
    notes.note('stopped by', at(body, 'stop_sequence'));
    const usage = at(body, 'usage');
    const [plain, cached, written] = [
      'input_tokens',
      'cache_read_input_tokens',
      'cache_creation_input_tokens',
    ].map((name) => Number(at(usage, name) ?? 0));
    notes.usage({
      input: (plain ?? 0) + (cached ?? 0) + (written ?? 0),
      cached,
      written,
      output: at(usage, 'output_tokens'),
      reasoning: at(usage, 'output_tokens_details', 'thinking_tokens'),
    });
    return notes.done();
  },
  giveBack(body, forgets) {
    const isKept = (block: Json): boolean => !forgets || !String(at(block, 'type')).endsWith('thinking');
    return [{ role: 'assistant', content: list(body, 'content').filter(isKept) }];
  },
};
