// Responses as its clients and its servers write it. Knows no gateway.
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  eventsOf,
  Notes,
  noteSampling,
  noteSearch,
  noteSearching,
  noteToken,
  noteTool,
  toolText,
  type Choice,
  type Face,
  type Question,
  type Turn,
} from './exchange.ts';
import { bodyOf, streamOf } from './responses-answer.ts';
import { CITY } from '../../support/city-schema.ts';

function entries(turn: Turn): readonly (object | Json)[] {
  if ('own' in turn) return turn.own;
  if ('instruct' in turn) return [{ type: 'message', role: 'developer', content: turn.instruct }];
  if ('results' in turn) {
    const results = turn.results.map(({ id, text, image }) => ({
      type: 'function_call_output',
      call_id: id,
      output:
        image === undefined
          ? text
          : [
              { type: 'input_text', text },
              { type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${image}` },
            ],
    }));
    const beside = { type: 'message', role: 'user', content: turn.beside };
    return turn.beside === undefined ? results : [...results, beside];
  }
  if ('assistant' in turn) {
    const text = turn.assistant
      ? [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: turn.assistant }] }]
      : [];
    const calls = (turn.calls ?? []).map(({ id, name, args }) => ({
      type: 'function_call',
      call_id: id,
      name,
      arguments: JSON.stringify(args),
    }));
    return [...text, ...calls];
  }
  const content: object[] = [{ type: 'input_text', text: turn.user }];
  if (turn.image !== undefined)
    content.push({ type: 'input_image', detail: 'auto', image_url: `data:image/png;base64,${turn.image}` });
  if (turn.pdf !== undefined)
    content.push({
      type: 'input_file',
      filename: turn.pdfName,
      file_data: `data:application/pdf;base64,${turn.pdf}`,
    });
  if (turn.imageUrl !== undefined)
    content.push({ type: 'input_image', detail: 'auto', image_url: turn.imageUrl });
  if (turn.pdfUrl !== undefined) content.push({ type: 'input_file', file_url: turn.pdfUrl });
  return [{ type: 'message', role: 'user', content }];
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => at(part, 'text') ?? at(part, 'refusal') ?? '')
        .join('');

/** @param hasBegun true: there are turns before it */
function noteItem(notes: Notes, item: Json, hasBegun: boolean): void {
  switch (String(at(item, 'type') ?? 'message')) {
    case 'reasoning':
      return notes.note('state', at(item, 'encrypted_content'));
    case 'function_call':
      return notes.call(at(item, 'call_id'), at(item, 'name'), at(item, 'arguments'));
    case 'function_call_output':
      notes.result(at(item, 'call_id'), textOf(at(item, 'output')), false);
      for (const part of list(item, 'output')) notes.media('image in result', at(part, 'image_url'));
      return;
  }
  const role = at(item, 'role');
  const content = at(item, 'content');
  if (role === 'system' || role === 'developer') {
    if (hasBegun) return notes.note('instruction', textOf(content));
    if (typeof content === 'string') notes.system(content);
    for (const part of list(content)) {
      notes.system(textOf([part]));
      noteCached(notes, part, 'instructions');
    }
    return;
  }
  if (role === 'assistant') return notes.note('assistant', textOf(content));
  if (typeof content === 'string') return notes.note('user', content);
  for (const part of list(content)) {
    notes.note('user', at(part, 'text'));
    notes.media('image', at(part, 'image_url'));
    notes.media('pdf', at(part, 'file_data') ?? at(part, 'file_url'));
    notes.note('pdf name', at(part, 'filename'));
    noteCached(notes, part, 'user');
  }
}

const identity = <T>(value: T): T => value;
/** Breakpoints after the instructions and after the first turn. */
const withBreakpoints = (items: readonly (object | Json)[]): (object | Json)[] =>
  items.map((item, index) => {
    const content = at(item, 'content');
    const parts = typeof content === 'string' ? [{ type: 'input_text', text: content }] : list(content);
    const last = { ...(parts.at(-1) as object), prompt_cache_breakpoint: { mode: 'explicit' } };
    return index > 1 ? item : { ...(item as object), content: [...parts.slice(0, -1), last] };
  });
const noteCached = (notes: Notes, part: Json, place: string): void =>
  notes.note('cached to', at(part, 'prompt_cache_breakpoint', 'mode') === 'explicit' ? place : undefined);

const searchOf = ({ city, domain }: NonNullable<Question['search']>): object => ({
  type: 'web_search',
  user_location: city && { type: 'approximate', city },
  filters: domain && { allowed_domains: [domain] },
});

function choiceOf(choice: Choice | undefined): unknown {
  if (typeof choice !== 'object') return choice;
  const named = (name: string): object => ({ type: 'function', name });
  if ('name' in choice) return named(choice.name);
  return { type: 'allowed_tools', mode: 'required', tools: choice.allowed.map(named) };
}

export const responsesFace: Face = {
  ask: (
    { system = [], turns, tools, strictTools, schema, limit, logprobs, reasoning, ...wishes },
    model,
    stream,
  ) => ({
    model,
    stream,
    store: false,
    instructions: wishes.cached ? undefined : system[0],
    input: (wishes.cached ? withBreakpoints : identity)([
      ...system
        .slice(wishes.cached ? 0 : 1)
        .map((content) => ({ type: 'message', role: 'developer', content })),
      ...turns.flatMap(entries),
    ]),
    tools: [
      ...(tools ?? []).map((name) => ({
        type: 'function',
        name,
        description: toolText(name),
        parameters: CITY,
        strict: strictTools === true,
      })),
      ...(wishes.search ? [searchOf(wishes.search)] : []),
    ],
    tool_choice: choiceOf(wishes.choice),
    parallel_tool_calls: wishes.oneCall && false,
    safety_identifier: wishes.user,
    temperature: wishes.sampling?.temperature,
    top_p: wishes.sampling?.topP,
    text: {
      verbosity: wishes.verbosity,
      format: schema && { type: 'json_schema', name: 'answer', schema, strict: true },
    },
    max_output_tokens: limit,
    ...(logprobs === undefined ? {} : { top_logprobs: logprobs }),
    include: [
      'reasoning.encrypted_content',
      ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
      ...(wishes.search ? ['web_search_call.action.sources'] : []),
    ],
    reasoning: reasoning ? { effort: 'high', summary: 'auto' } : { effort: 'none' },
  }),
  understood(body) {
    const notes = new Notes();
    const instructions = at(body, 'instructions');
    if (typeof instructions === 'string') notes.system(instructions);
    let hasBegun = false;
    for (const item of list(body, 'input')) {
      noteItem(notes, item, hasBegun);
      hasBegun ||= !['system', 'developer'].includes(String(at(item, 'role')));
    }
    for (const tool of list(body, 'tools'))
      if (at(tool, 'type') === 'web_search')
        noteSearching(notes, {
          city: at(tool, 'user_location', 'city'),
          domain: at(tool, 'filters', 'allowed_domains', 0),
        });
      else
        noteTool(
          notes,
          at(tool, 'name'),
          at(tool, 'description'),
          at(tool, 'parameters'),
          at(tool, 'strict'),
        );
    const choice = at(body, 'tool_choice');
    const name = at(choice, 'name');
    const allowed = list(choice, 'tools').map((tool) => at(tool, 'name'));
    notes.choice(name === undefined ? (allowed.length > 0 ? { allowed } : choice) : { name });
    notes.note('verbosity', at(body, 'text', 'verbosity'));
    notes.note('id of the user', at(body, 'safety_identifier'));
    notes.note('one call', at(body, 'parallel_tool_calls') === false || undefined);
    noteSampling(notes, {
      temperature: at(body, 'temperature'),
      topP: at(body, 'top_p'),
      topK: at(body, 'top_k'),
      seed: at(body, 'seed'),
    });
    notes.note('schema', at(body, 'text', 'format', 'schema'));
    notes.note('schema enforced', at(body, 'text', 'format', 'strict'));
    notes.note('limit', at(body, 'max_output_tokens'));
    notes.note('logprobs', at(body, 'top_logprobs'));
    const effort = at(body, 'reasoning', 'effort');
    notes.note('reasoning', (effort !== undefined && effort !== 'none') || undefined);
    return notes.done();
  },
  whole: bodyOf,
  stream: streamOf,
  gather(text) {
    const events = eventsOf(text);
    const response = at(events.at(-1), 'response');
    const said = events
      .filter((event) => at(event, 'type') === 'response.output_text.delta')
      .map((event) => at(event, 'delta'))
      .join('');
    const kept = list(response, 'output')
      .flatMap((item) => list(item, 'content'))
      .map((part) => at(part, 'text') ?? '')
      .join('');
    if (response === undefined || response === null || !kept.includes(said))
      throw new Error(`no complete stream: ${text}`);
    return response;
  },
  received(body) {
    const notes = new Notes();
    const citations: string[] = [];
    const tokens: Json[] = [];
    let finish = 'stop';
    for (const item of list(body, 'output')) {
      if (at(item, 'type') === 'web_search_call')
        noteSearch(
          notes,
          at(item, 'action', 'query'),
          list(item, 'action', 'sources').map((page) => at(page, 'url')),
        );
      for (const part of [
        ...list(item, 'summary'),
        ...(at(item, 'type') === 'reasoning' ? list(item, 'content') : []),
      ])
        notes.note('thought', at(part, 'text'));
      if (at(item, 'type') === 'function_call') {
        notes.call(at(item, 'call_id'), at(item, 'name'), at(item, 'arguments'));
        finish = 'calls';
      }
      if (at(item, 'type') !== 'message') continue;
      for (const part of list(item, 'content')) {
        const text = String(at(part, 'text') ?? '');
        notes.note('text', text);
        notes.note('refusal', at(part, 'refusal'));
        if (at(part, 'type') === 'refusal') finish = 'refusal';
        for (const cited of list(part, 'annotations')) {
          const words = text.slice(Number(at(cited, 'start_index')), Number(at(cited, 'end_index')));
          citations.push(`${words} (${at(cited, 'title')}, ${at(cited, 'url')})`);
        }
        tokens.push(...list(part, 'logprobs'));
      }
    }
    for (const cited of citations) notes.note('cites', cited);
    const reason = at(body, 'incomplete_details', 'reason');
    notes.note(
      'finish',
      reason === 'max_output_tokens' ? 'length' : reason === 'content_filter' ? 'filter' : finish,
    );
    for (const token of tokens) noteToken(notes, token, list(token, 'top_logprobs'));
    const usage = at(body, 'usage');
    notes.usage({
      input: at(usage, 'input_tokens'),
      cached: at(usage, 'input_tokens_details', 'cached_tokens'),
      written: at(usage, 'input_tokens_details', 'cache_write_tokens'),
      output: at(usage, 'output_tokens'),
      reasoning: at(usage, 'output_tokens_details', 'reasoning_tokens'),
    });
    return notes.done();
  },
  callIds: (body) =>
    list(body, 'output').flatMap((item) =>
      at(item, 'type') === 'function_call' ? [String(at(item, 'call_id'))] : [],
    ),
  giveBack: (body, forgets) =>
    list(body, 'output').filter((item) => !forgets || at(item, 'type') !== 'reasoning'),
};
