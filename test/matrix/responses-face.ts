// Responses as its clients and its servers write it. Knows no gateway.
import { frame, responsesBody } from '../upstreams/answers.ts';
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
  type Face,
  type Turn,
} from './exchange.ts';

function entries(turn: Turn): readonly (object | Json)[] {
  if ('own' in turn) return turn.own;
  if ('results' in turn)
    return turn.results.map(({ id, text, image }) => ({
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
  return [{ type: 'message', role: 'user', content }];
}

const base64 = (url: unknown): string => String(url).replace(/^data:[^,]*,/, '');
const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : list(content)
        .map((part) => at(part, 'text') ?? at(part, 'refusal') ?? '')
        .join('');

function noteItem(notes: Notes, item: Json): void {
  switch (String(at(item, 'type') ?? 'message')) {
    case 'reasoning':
      return notes.note('state', at(item, 'encrypted_content'));
    case 'function_call':
      return notes.call(at(item, 'call_id'), at(item, 'name'), at(item, 'arguments'));
    case 'function_call_output':
      notes.result(at(item, 'call_id'), textOf(at(item, 'output')), false);
      for (const part of list(item, 'output'))
        if (at(part, 'image_url')) notes.note('image in result', base64(at(part, 'image_url')));
      return;
  }
  const role = at(item, 'role');
  const content = at(item, 'content');
  if (role === 'system' || role === 'developer') {
    if (typeof content === 'string') notes.system(content);
    for (const part of list(content)) notes.system(textOf([part]));
    return;
  }
  if (role === 'assistant') return notes.note('assistant', textOf(content));
  if (typeof content === 'string') return notes.note('user', content);
  for (const part of list(content)) {
    notes.note('user', at(part, 'text'));
    if (at(part, 'image_url')) notes.note('image', base64(at(part, 'image_url')));
    if (at(part, 'file_data')) {
      notes.note('pdf', base64(at(part, 'file_data')));
      notes.note('pdf name', at(part, 'filename'));
    }
  }
}

function outputOf(answer: Answer): readonly Readonly<Record<string, unknown>>[] {
  const { thoughts = [], text, refusal, calls = [], cited, tokens, finish } = answer;
  const status = finish === 'length' || finish === 'filter' ? 'incomplete' : 'completed';
  const annotations = cited
    ? [
        {
          type: 'url_citation',
          start_index: (text ?? '').length - cited.words.length,
          end_index: (text ?? '').length,
          url: cited.url,
          title: cited.title,
        },
      ]
    : [];
  const logprobs = (tokens ?? []).map((token) => ({
    ...token,
    bytes: [...Buffer.from(token.token)],
    top_logprobs: [],
  }));
  const part =
    refusal === undefined
      ? { type: 'output_text', text, annotations, logprobs }
      : { type: 'refusal', refusal };
  const hasMessage = text !== undefined || refusal !== undefined;
  return [
    ...thoughts.map(({ text: thought, state }, index) => ({
      type: 'reasoning',
      id: `rs_${index}`,
      summary: thought === '' ? [] : [{ type: 'summary_text', text: thought }],
      encrypted_content: state,
    })),
    ...(hasMessage ? [{ type: 'message', id: 'msg_1', role: 'assistant', status, content: [part] }] : []),
    ...calls.map(({ id, name, args }) => ({
      type: 'function_call',
      id: `fc_${id}`,
      call_id: id,
      name,
      arguments: JSON.stringify(args),
      status: 'completed',
    })),
  ];
}

function bodyOf(answer: Answer): object {
  const { input, cached, output, reasoning } = { ...COUNTS, ...answer.usage };
  const reasons = { length: 'max_output_tokens', filter: 'content_filter' } as const;
  const cutBy = answer.finish in reasons ? reasons[answer.finish as keyof typeof reasons] : null;
  return {
    ...responsesBody(outputOf(answer), cutBy),
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
  };
}

/** The events of one item between its two ends. */
function itemEvents(item: Readonly<Record<string, unknown>>, output_index: number): object[] {
  const place = { item_id: item['id'], output_index };
  if (item['type'] === 'function_call') {
    const type = 'response.function_call_arguments';
    const text = String(item['arguments']);
    return [
      ...halves(text).map((delta) => ({ type: `${type}.delta`, ...place, delta })),
      { type: `${type}.done`, ...place, arguments: text },
    ];
  }
  if (item['type'] === 'reasoning') {
    const words = { ...place, summary_index: 0 };
    return list(item, 'summary').flatMap((part) => [
      { type: 'response.reasoning_summary_part.added', ...words, part: { type: 'summary_text', text: '' } },
      { type: 'response.reasoning_summary_text.delta', ...words, delta: at(part, 'text') },
      { type: 'response.reasoning_summary_text.done', ...words, text: at(part, 'text') },
      { type: 'response.reasoning_summary_part.done', ...words, part },
    ]);
  }
  const part = at(item, 'content', 0);
  const words = { ...place, content_index: 0 };
  const isText = at(part, 'type') === 'output_text';
  const type = isText ? 'response.output_text' : 'response.refusal';
  const text = String(at(part, isText ? 'text' : 'refusal'));
  const tokens = list(part, 'logprobs');
  const deltas =
    tokens.length > 0
      ? tokens.map((token) => ({ delta: at(token, 'token'), logprobs: [token] }))
      : halves(text).map((delta) => ({ delta, ...(isText ? { logprobs: [] } : {}) }));
  const empty = isText
    ? { type: 'output_text', text: '', annotations: [], logprobs: [] }
    : { type: 'refusal', refusal: '' };
  return [
    { type: 'response.content_part.added', ...words, part: empty },
    ...deltas.map((delta) => ({ type: `${type}.delta`, ...words, ...delta })),
    ...list(part, 'annotations').map((annotation, annotation_index) => ({
      type: 'response.output_text.annotation.added',
      ...words,
      annotation_index,
      annotation,
    })),
    { type: `${type}.done`, ...words, ...(isText ? { text, logprobs: tokens } : { refusal: text }) },
    { type: 'response.content_part.done', ...words, part },
  ];
}

const EMPTY = { summary: [], content: [], arguments: '', status: 'in_progress' } as const;
const emptied = (item: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      name in EMPTY ? EMPTY[name as keyof typeof EMPTY] : value,
    ]),
  );

export const responsesFace: Face = {
  ask: (
    { system = [], turns, tools, strictTools, mustCall, schema, limit, logprobs, reasoning },
    model,
    stream,
  ) => ({
    model,
    stream,
    store: false,
    instructions: system[0],
    input: [
      ...system.slice(1).map((content) => ({ type: 'message', role: 'developer', content })),
      ...turns.flatMap(entries),
    ],
    tools: tools?.map((name) => ({
      type: 'function',
      name,
      description: toolText(name),
      parameters: TOOL_SCHEMA,
      strict: strictTools === true,
    })),
    tool_choice: mustCall && 'required',
    text: schema && { format: { type: 'json_schema', name: 'answer', schema, strict: true } },
    max_output_tokens: limit,
    ...(logprobs === undefined ? {} : { top_logprobs: logprobs }),
    include: [
      'reasoning.encrypted_content',
      ...(logprobs === undefined ? [] : ['message.output_text.logprobs']),
    ],
    reasoning: reasoning ? { effort: 'high', summary: 'auto' } : { effort: 'none' },
  }),
  understood(body) {
    const notes = new Notes();
    const instructions = at(body, 'instructions');
    if (typeof instructions === 'string') notes.system(instructions);
    for (const item of list(body, 'input')) noteItem(notes, item);
    for (const tool of list(body, 'tools'))
      noteTool(notes, at(tool, 'name'), at(tool, 'description'), at(tool, 'parameters'), at(tool, 'strict'));
    notes.note('must call', at(body, 'tool_choice') === 'required' || undefined);
    notes.note('schema', at(body, 'text', 'format', 'schema'));
    notes.note('schema enforced', at(body, 'text', 'format', 'strict'));
    notes.note('limit', at(body, 'max_output_tokens'));
    notes.note('logprobs', at(body, 'top_logprobs'));
    const effort = at(body, 'reasoning', 'effort');
    notes.note('reasoning', (effort !== undefined && effort !== 'none') || undefined);
    return notes.done();
  },
  whole: bodyOf,
  stream(answer) {
    const response = bodyOf(answer);
    const begun = { ...response, status: 'in_progress', incomplete_details: null, output: [], usage: null };
    const events: object[] = [
      { type: 'response.created', response: begun },
      { type: 'response.in_progress', response: begun },
    ];
    outputOf(answer).forEach((item, output_index) => {
      events.push(
        { type: 'response.output_item.added', output_index, item: emptied(item) },
        ...itemEvents(item, output_index),
        { type: 'response.output_item.done', output_index, item },
      );
    });
    events.push({ type: `response.${String(at(response, 'status'))}`, response });
    return events.map((event, sequence_number) => frame({ ...event, sequence_number })).join('');
  },
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
  heard(body) {
    const notes = new Notes();
    const citations: string[] = [];
    const tokens: Json[] = [];
    let finish = 'stop';
    for (const item of list(body, 'output')) {
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
    for (const token of tokens) notes.note('token', `${at(token, 'token')} ${at(token, 'logprob')}`);
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
  giveBack: (body, forgets) =>
    list(body, 'output').filter((item) => !forgets || at(item, 'type') !== 'reasoning'),
};
