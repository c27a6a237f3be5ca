// Anthropic Messages as its clients and its servers write it. Knows no gateway.
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  eventsOf,
  Notes,
  noteSampling,
  untitled,
  noteSearch,
  noteSearching,
  noteTool,
  toolText,
  type Face,
  type Finish,
  type Question,
  type Turn,
} from './exchange.ts';
import { bodyOf, callOf, streamOf, type Block } from './messages-answer.ts';
import { CITY } from '../../support/city-schema.ts';

const FINISHES: Readonly<Record<string, Finish>> = {
  end_turn: 'stop',
  max_tokens: 'length',
  tool_use: 'calls',
  refusal: 'refusal',
  stop_sequence: 'sequence',
  pause_turn: 'pause',
};

const media = (type: string, media_type: string, data: string): Block => ({
  type,
  source: { type: 'base64', media_type, data },
});

function message(turn: Turn): object | Json {
  if ('own' in turn) return turn.own[0] ?? null;
  if ('instruct' in turn) return { role: 'system', content: turn.instruct };
  if ('results' in turn) {
    const results = turn.results.map(({ id, text, image, failed }) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: image === undefined ? text : [{ type: 'text', text }, media('image', 'image/png', image)],
      ...(failed ? { is_error: true } : {}),
    }));
    const beside = turn.beside === undefined ? [] : [{ type: 'text', text: turn.beside }];
    return { role: 'user', content: [...results, ...beside] };
  }
  if ('assistant' in turn) {
    const text = turn.assistant ? [{ type: 'text', text: turn.assistant }] : [];
    return { role: 'assistant', content: [...text, ...(turn.calls ?? []).map(callOf)] };
  }
  const content: object[] = [{ type: 'text', text: turn.user }];
  if (turn.image !== undefined) content.push(media('image', 'image/png', turn.image));
  if (turn.pdf !== undefined)
    content.push({ ...media('document', 'application/pdf', turn.pdf), title: turn.pdfName });
  if (turn.imageUrl !== undefined)
    content.push({ type: 'image', source: { type: 'url', url: turn.imageUrl } });
  if (turn.pdfUrl !== undefined)
    content.push({ type: 'document', source: { type: 'url', url: turn.pdfUrl } });
  return { role: 'user', content };
}

const CACHE = { cache_control: { type: 'ephemeral' } } as const;
/** The last of these blocks with a breakpoint after it. */
const cached = (blocks: readonly (object | Json)[]): object[] =>
  blocks.map((block, index) => ({ ...(block as object), ...(index === blocks.length - 1 ? CACHE : {}) }));
const noteCached = (notes: Notes, node: Json, place: string): void =>
  notes.note('cached to', at(node, 'cache_control') && place);

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((block) => at(block, 'text') ?? '')
        .join('');

function noteBlock(notes: Notes, role: string, block: Json): void {
  noteCached(notes, block, role);
  switch (String(at(block, 'type'))) {
    case 'text':
      return notes.note(role, at(block, 'text'));
    case 'image':
      return notes.media('image', at(block, 'source', 'data') ?? at(block, 'source', 'url'));
    case 'document':
      notes.media('pdf', at(block, 'source', 'data') ?? at(block, 'source', 'url'));
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

const marked = (blocks: readonly object[], isCached: true | undefined): readonly object[] =>
  isCached ? cached(blocks) : blocks;

const searchOf = ({ city, domain }: NonNullable<Question['search']>): object => ({
  type: 'web_search_20250305',
  name: 'web_search',
  user_location: city && { type: 'approximate', city },
  allowed_domains: domain && [domain],
});

function choiceOf({ choice, oneCall }: Pick<Question, 'choice' | 'oneCall'>): object | undefined {
  if (choice === undefined && !oneCall) return undefined;
  const named = typeof choice === 'object' && 'name' in choice ? { type: 'tool', ...choice } : undefined;
  const serial = oneCall ? { disable_parallel_tool_use: true } : {};
  return { type: choice === 'required' ? 'any' : (choice ?? 'auto'), ...named, ...serial };
}

function noteChoice(notes: Notes, choice: Json | undefined): void {
  const type = at(choice, 'type');
  const word = type === 'any' ? 'required' : type === 'auto' ? undefined : type;
  notes.note('choice', type === 'tool' ? { name: at(choice, 'name') } : word);
  notes.note('one call', at(choice, 'disable_parallel_tool_use') === true || undefined);
}

export const messagesFace: Face = {
  ask: ({ system, turns, tools, strictTools, schema, stop, limit, reasoning, ...wishes }, model, stream) => ({
    model,
    stream,
    max_tokens: limit ?? 4000,
    system:
      system &&
      marked(
        system.map((text) => ({ type: 'text', text })),
        wishes.cached,
      ),
    messages: turns
      .map(message)
      .map((each, index) =>
        wishes.cached && index === 0 ? { role: 'user', content: cached(list(each, 'content')) } : each,
      ),
    tools: [
      ...marked(
        (tools ?? []).map((name) => ({
          name,
          description: toolText(name),
          input_schema: CITY,
          strict: strictTools,
        })),
        wishes.cached,
      ),
      ...(wishes.search ? [searchOf(wishes.search)] : []),
    ],
    tool_choice: choiceOf(wishes),
    metadata: wishes.user && { user_id: wishes.user },
    temperature: wishes.sampling?.temperature,
    top_p: wishes.sampling?.topP,
    top_k: wishes.sampling?.topK,
    output_config: schema && { format: { type: 'json_schema', schema } },
    stop_sequences: stop && [stop],
    thinking: reasoning ? { type: 'enabled', budget_tokens: 2000 } : { type: 'disabled' },
  }),
  understood(body) {
    const notes = new Notes();
    const system = at(body, 'system');
    for (const block of list(system)) noteCached(notes, block, 'instructions');
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
      const role = String(at(entry, 'role')).replace('system', 'instruction');
      if (typeof content === 'string') notes.note(role, content);
      else for (const block of list(content)) noteBlock(notes, role, block);
    }
    for (const tool of list(body, 'tools')) {
      noteCached(notes, tool, 'tools');
      if (at(tool, 'type') === 'web_search_20250305')
        noteSearching(notes, {
          city: at(tool, 'user_location', 'city'),
          domain: at(tool, 'allowed_domains', 0),
        });
      else
        noteTool(
          notes,
          at(tool, 'name'),
          at(tool, 'description'),
          at(tool, 'input_schema'),
          at(tool, 'strict'),
        );
    }
    noteChoice(notes, at(body, 'tool_choice'));
    notes.note('id of the user', at(body, 'metadata', 'user_id'));
    noteSampling(notes, {
      temperature: at(body, 'temperature'),
      topP: at(body, 'top_p'),
      topK: at(body, 'top_k'),
    });
    const schema = untitled(at(body, 'output_config', 'format', 'schema'));
    notes.note('schema', schema);
    notes.note('schema enforced', schema === undefined ? undefined : true);
    notes.note('stop', list(body, 'stop_sequences').join());
    notes.note('limit', at(body, 'max_tokens'));
    const thinking = at(body, 'thinking', 'type');
    notes.note('reasoning', (thinking !== undefined && thinking !== 'disabled') || undefined);
    return notes.done();
  },
  whole: bodyOf,
  stream: streamOf,
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
      String(block['type']).endsWith('tool_use')
        ? { ...block, input: JSON.parse(String(json ?? '{}')) as Json }
        : block,
    );
    return { ...message, content: blocks, usage: usage as Json };
  },
  received(body) {
    const notes = new Notes();
    const citations: string[] = [];
    const isRefusal = at(body, 'stop_reason') === 'refusal';
    const said = textOf(at(body, 'content'));
    // A model that refuses by itself says so to the reader.
    const refusal = at(body, 'stop_details', 'explanation') ?? (isRefusal ? said : undefined);
    for (const block of list(body, 'content')) {
      notes.note('thought', at(block, 'thinking'));
      // The words of a refusal stand in both places, for clients that read only one.
      if (at(block, 'text') !== refusal) notes.note('text', at(block, 'text'));
      if (at(block, 'type') === 'tool_use')
        notes.call(at(block, 'id'), at(block, 'name'), at(block, 'input'));
      noteSearch(
        notes,
        at(block, 'type') === 'server_tool_use' ? at(block, 'input', 'query') : undefined,
        at(block, 'type') === 'web_search_tool_result'
          ? list(block, 'content').map((page) => at(page, 'url'))
          : [],
      );
      for (const cited of list(block, 'citations'))
        citations.push(`${at(cited, 'cited_text')} (${at(cited, 'title')}, ${at(cited, 'url')})`);
    }
    for (const cited of citations) notes.note('cites', cited);
    notes.note('refusal', refusal);
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
  callIds: (body) =>
    list(body, 'content').flatMap((block) =>
      at(block, 'type') === 'tool_use' ? [String(at(block, 'id'))] : [],
    ),
  giveBack(body, forgets) {
    const isKept = (block: Json): boolean => !forgets || !String(at(block, 'type')).endsWith('thinking');
    return [{ role: 'assistant', content: list(body, 'content').filter(isKept) }];
  },
};
