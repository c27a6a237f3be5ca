// Chat Completions as its clients and its servers write it, reasoning in `reasoning_details`. Knows no gateway.
import { chatBody, chatChunk, frame } from '../../support/upstreams/answers.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import {
  COUNTS,
  eventsOf,
  halves,
  Notes,
  noteSampling,
  noteSearching,
  noteToken,
  noteTool,
  toolText,
  type Answer,
  type Call,
  type Choice,
  type Face,
  type Finish,
  type Turn,
} from './exchange.ts';
import { CITY } from '../../support/city-schema.ts';

const FORMAT = 'anthropic-claude-v1';
const WORDS: Readonly<Record<Finish, string>> = {
  stop: 'stop',
  length: 'length',
  calls: 'tool_calls',
  filter: 'content_filter',
  refusal: 'stop',
  sequence: 'stop',
  pause: 'stop',
};
const FINISHES: Readonly<Record<string, Finish>> = {
  stop: 'stop',
  length: 'length',
  tool_calls: 'calls',
  content_filter: 'filter',
};

const callOf = ({ id, name, args }: Call): object => ({
  id,
  type: 'function',
  function: { name, arguments: JSON.stringify(args) },
});

function entries(turn: Turn): readonly (object | Json)[] {
  if ('own' in turn) return turn.own;
  if ('results' in turn) {
    const results = turn.results.map(({ id, text }) => ({ role: 'tool', tool_call_id: id, content: text }));
    return turn.beside === undefined ? results : [...results, { role: 'user', content: turn.beside }];
  }
  if ('instruct' in turn) return [{ role: 'developer', content: turn.instruct }];
  if ('assistant' in turn) {
    const calls = turn.calls?.map(callOf);
    return [{ role: 'assistant', content: turn.assistant || null, ...(calls ? { tool_calls: calls } : {}) }];
  }
  const content: object[] = [{ type: 'text', text: turn.user }];
  if (turn.image !== undefined)
    content.push({ type: 'image_url', image_url: { url: `data:image/png;base64,${turn.image}` } });
  if (turn.pdf !== undefined)
    content.push({
      type: 'file',
      file: { filename: turn.pdfName, file_data: `data:application/pdf;base64,${turn.pdf}` },
    });
  if (turn.audio !== undefined)
    content.push({ type: 'input_audio', input_audio: { data: turn.audio, format: 'wav' } });
  if (turn.imageUrl !== undefined) content.push({ type: 'image_url', image_url: { url: turn.imageUrl } });
  if (turn.pdfUrl !== undefined) content.push({ type: 'file', file: { file_data: turn.pdfUrl } });
  return [{ role: 'user', content }];
}
/** A breakpoint as servers in front of Anthropic's models take it, on parts and on tools. */
const CACHE = { cache_control: { type: 'ephemeral' } } as const;
/** The last part of a content with a breakpoint after it. */
function cachedContent(content: Json | undefined): object[] {
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : list(content);
  return parts.map((part, index) => ({ ...(part as object), ...(index === parts.length - 1 ? CACHE : {}) }));
}
/** Breakpoints after the instructions and after the first turn. */
function withBreakpoints(messages: readonly (object | Json)[]): readonly (object | Json)[] {
  return messages
    .slice(0, 2)
    .map((message) => ({ ...(message as object), content: cachedContent(at(message, 'content')) }))
    .concat(messages.slice(2) as { content: object[] }[]);
}

const textOf = (content: unknown): string =>
  typeof content === 'string'
    ? content
    : Array.isArray(content)
      ? content.map((part) => at(part, 'text') ?? at(part, 'refusal') ?? '').join('')
      : '';

const noteCached = (notes: Notes, node: Json, place: string): void =>
  notes.note('cached to', at(node, 'cache_control') && place);

/** @param hasBegun true: there are turns before it */
function noteMessage(notes: Notes, message: Json, hasBegun: boolean): void {
  const role = at(message, 'role');
  const content = at(message, 'content');
  if (role === 'system' || role === 'developer') {
    for (const part of list(content)) noteCached(notes, part, 'instructions');
    if (hasBegun) return notes.note('instruction', textOf(content));
    if (typeof content === 'string') notes.system(content);
    for (const part of list(content)) notes.system(textOf([part]));
    return;
  }
  if (role === 'tool') return notes.result(at(message, 'tool_call_id'), textOf(content), false);
  if (role === 'assistant') {
    for (const detail of list(message, 'reasoning_details'))
      notes.note('state', at(detail, 'signature') ?? at(detail, 'data'));
    notes.note('assistant', textOf(content));
    for (const call of list(message, 'tool_calls'))
      notes.call(at(call, 'id'), at(call, 'function', 'name'), at(call, 'function', 'arguments'));
    return;
  }
  if (typeof content === 'string') return notes.note('user', content);
  for (const part of list(content)) {
    notes.note('user', at(part, 'text'));
    notes.media('image', at(part, 'image_url', 'url'));
    notes.media('pdf', at(part, 'file', 'file_data'));
    notes.note('pdf name', at(part, 'file', 'filename'));
    notes.note(
      'audio',
      at(part, 'input_audio', 'format') === 'wav' ? at(part, 'input_audio', 'data') : undefined,
    );
    noteCached(notes, part, 'user');
  }
}

function messageOf(answer: Answer): Readonly<Record<string, unknown>> {
  const { text, refusal, calls, cited, thoughts } = answer;
  const details = thoughts?.map(({ text: thought, state }, index) =>
    thought === ''
      ? { type: 'reasoning.encrypted', data: state, format: FORMAT, index }
      : { type: 'reasoning.text', text: thought, signature: state, format: FORMAT, index },
  );
  const reasoning = thoughts?.map((thought) => thought.text).join('');
  const citation = cited && {
    type: 'url_citation',
    url_citation: {
      start_index: (text ?? '').length - cited.words.length,
      end_index: (text ?? '').length,
      url: cited.url,
      title: cited.title,
    },
  };
  return {
    content: text ?? null,
    ...(refusal === undefined ? {} : { refusal }),
    ...(details ? { reasoning_details: details } : {}),
    ...(reasoning ? { reasoning } : {}),
    ...(calls ? { tool_calls: calls.map(callOf) } : {}),
    ...(citation ? { annotations: [citation] } : {}),
  };
}

const usageOf = (answer: Answer): object => {
  const { input, cached, written, output, reasoning } = { ...COUNTS, ...answer.usage };
  return {
    prompt_tokens: input,
    completion_tokens: output,
    total_tokens: input + output,
    prompt_tokens_details: { cached_tokens: cached, cache_write_tokens: written },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
};
const logprobsOf = ({ tokens }: Answer): object | null =>
  tokens
    ? {
        content: tokens.map((token) => ({
          token: token.token,
          logprob: token.logprob,
          bytes: [...Buffer.from(token.token)],
          top_logprobs: token.top.map((other) => ({ ...other, bytes: [...Buffer.from(other.token)] })),
        })),
        refusal: null,
      }
    : null;

function choiceOf(choice: Choice | undefined): unknown {
  if (typeof choice !== 'object') return choice;
  const named = (name: string): object => ({ type: 'function', function: { name } });
  if ('name' in choice) return named(choice.name);
  return { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: choice.allowed.map(named) } };
}

export const chatFace: Face = {
  ask: (
    { system = [], turns, tools, strictTools, schema, stop, limit, logprobs, reasoning, ...wishes },
    model,
    stream,
  ) => ({
    model,
    stream,
    ...(stream ? { stream_options: { include_usage: true } } : {}),
    messages: (wishes.cached ? withBreakpoints : (messages: readonly (object | Json)[]) => messages)([
      ...system.map((content, index) => ({ role: index === 0 ? 'system' : 'developer', content })),
      ...turns.flatMap(entries),
    ]),
    tools: tools?.map((name, index) => ({
      type: 'function',
      function: { name, description: toolText(name), parameters: CITY, strict: strictTools },
      ...(wishes.cached && index === tools.length - 1 ? CACHE : {}),
    })),
    tool_choice: choiceOf(wishes.choice),
    verbosity: wishes.verbosity,
    parallel_tool_calls: wishes.oneCall && false,
    web_search_options: wishes.search && {
      user_location: wishes.search.city && { type: 'approximate', approximate: { city: wishes.search.city } },
    },
    temperature: wishes.sampling?.temperature,
    top_p: wishes.sampling?.topP,
    seed: wishes.sampling?.seed,
    frequency_penalty: wishes.sampling?.frequencyPenalty,
    presence_penalty: wishes.sampling?.presencePenalty,
    response_format: schema && {
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: true },
    },
    stop: stop && [stop],
    max_completion_tokens: limit,
    ...(logprobs === undefined ? {} : { logprobs: true, top_logprobs: logprobs }),
    reasoning: { enabled: reasoning === true },
  }),
  understood(body) {
    const notes = new Notes();
    let hasBegun = false;
    for (const message of list(body, 'messages')) {
      noteMessage(notes, message, hasBegun);
      hasBegun ||= !['system', 'developer'].includes(String(at(message, 'role')));
    }
    for (const tool of list(body, 'tools')) {
      noteCached(notes, tool, 'tools');
      noteTool(
        notes,
        at(tool, 'function', 'name'),
        at(tool, 'function', 'description'),
        at(tool, 'function', 'parameters'),
        at(tool, 'function', 'strict'),
      );
    }
    const choice = at(body, 'tool_choice');
    const allowed = list(choice, 'allowed_tools', 'tools').map((tool) => at(tool, 'function', 'name'));
    notes.choice(allowed.length > 0 ? { allowed } : (at(choice, 'function') ?? choice));
    notes.note('verbosity', at(body, 'verbosity'));
    notes.note('one call', at(body, 'parallel_tool_calls') === false || undefined);
    notes.note('id of the user', at(body, 'safety_identifier'));
    const search = at(body, 'web_search_options');
    if (search) noteSearching(notes, { city: at(search, 'user_location', 'approximate', 'city') });
    noteSampling(notes, {
      temperature: at(body, 'temperature'),
      topP: at(body, 'top_p'),
      topK: at(body, 'top_k'),
      seed: at(body, 'seed'),
      frequencyPenalty: at(body, 'frequency_penalty'),
      presencePenalty: at(body, 'presence_penalty'),
    });
    notes.note('schema', at(body, 'response_format', 'json_schema', 'schema'));
    notes.note('schema enforced', at(body, 'response_format', 'json_schema', 'strict'));
    notes.note('stop', list(body, 'stop').join());
    notes.note('limit', at(body, 'max_completion_tokens') ?? at(body, 'max_tokens'));
    notes.note('logprobs', at(body, 'top_logprobs'));
    const effort = at(body, 'reasoning_effort');
    notes.note('reasoning', (effort !== undefined && effort !== 'none') || undefined);
    return notes.done();
  },
  whole(answer) {
    const body = chatBody(messageOf(answer), WORDS[answer.finish]) as { readonly choices: readonly object[] };
    return {
      ...body,
      choices: [{ ...body.choices[0], logprobs: logprobsOf(answer) }],
      usage: usageOf(answer),
    };
  },
  stream(answer) {
    const { content, tool_calls, reasoning, reasoning_details, ...rest } = messageOf(answer);
    const chunk = (delta: object): string => chatChunk(delta);
    let out = chunk({ role: 'assistant', content: '' });
    if (reasoning_details) out += chunk({ reasoning, reasoning_details });
    for (const piece of halves(String(content ?? ''))) out += chunk({ content: piece });
    if (Object.keys(rest).length > 0) out += chunk(rest);
    for (const [index, call] of ((tool_calls as object[] | undefined) ?? []).entries())
      out += chunk({ tool_calls: [{ index, ...call }] });
    const logprobs = logprobsOf(answer);
    if (logprobs) {
      // The probabilities come with their tokens.
      out = chunk({ role: 'assistant', content: '' });
      for (const [index, token] of (answer.tokens ?? []).entries())
        out += chunk({ content: token.token }).replace(
          '"logprobs":null',
          `"logprobs":${JSON.stringify({ content: [list(logprobs, 'content')[index]], refusal: null })}`,
        );
    }
    const end = JSON.parse(chatChunk({}).slice('data:'.length)) as object;
    return `${out}${chatChunk({}, WORDS[answer.finish])}${frame({ ...end, choices: [], usage: usageOf(answer) })}data: [DONE]\n\n`;
  },
  gather(text) {
    if (!text.trimEnd().endsWith('data: [DONE]')) throw new Error(`no complete stream: ${text}`);
    const message: Record<string, Json> = {};
    const lists: Record<string, Json[]> = { reasoning_details: [], annotations: [] };
    const calls: { id: Json; function: { name: Json; arguments: string } }[] = [];
    const content: Json[] = [];
    let finish: Json = null;
    let usage: Json = null;
    for (const chunk of eventsOf(text)) {
      const delta = at(chunk, 'choices', 0, 'delta');
      for (const name of ['content', 'refusal', 'reasoning'])
        message[name] = String(message[name] ?? '') + String(at(delta, name) ?? '');
      for (const name in lists) lists[name]?.push(...list(delta, name));
      for (const piece of list(delta, 'tool_calls')) {
        const call = (calls[Number(at(piece, 'index'))] ??= {
          id: at(piece, 'id') ?? null,
          function: { name: at(piece, 'function', 'name') ?? null, arguments: '' },
        });
        call.function.arguments += String(at(piece, 'function', 'arguments') ?? '');
      }
      content.push(...list(chunk, 'choices', 0, 'logprobs', 'content'));
      finish = at(chunk, 'choices', 0, 'finish_reason') ?? finish;
      usage = at(chunk, 'usage') ?? usage;
    }
    const tool_calls = calls.map((call) => ({ type: 'function', ...call }));
    const whole = {
      role: 'assistant',
      ...message,
      ...lists,
      ...(tool_calls.length > 0 ? { tool_calls } : {}),
    };
    return { choices: [{ message: whole, finish_reason: finish, logprobs: { content } }], usage } as Json;
  },
  received(body) {
    const notes = new Notes();
    const choice = at(body, 'choices', 0);
    const message = at(choice, 'message');
    const text = textOf(at(message, 'content'));
    notes.note('thought', at(message, 'reasoning'));
    notes.note('text', text);
    notes.note('refusal', at(message, 'refusal'));
    for (const call of list(message, 'tool_calls'))
      notes.call(at(call, 'id'), at(call, 'function', 'name'), at(call, 'function', 'arguments'));
    for (const annotation of list(message, 'annotations')) {
      const cited = at(annotation, 'url_citation');
      const words = text.slice(Number(at(cited, 'start_index')), Number(at(cited, 'end_index')));
      notes.note('cites', `${words} (${at(cited, 'title')}, ${at(cited, 'url')})`);
    }
    const finish = FINISHES[String(at(choice, 'finish_reason'))];
    notes.note('finish', at(message, 'refusal') ? 'refusal' : finish);
    for (const token of list(choice, 'logprobs', 'content'))
      noteToken(notes, token, list(token, 'top_logprobs'));
    const usage = at(body, 'usage');
    notes.usage({
      input: at(usage, 'prompt_tokens'),
      cached: at(usage, 'prompt_tokens_details', 'cached_tokens'),
      written: at(usage, 'prompt_tokens_details', 'cache_write_tokens'),
      output: at(usage, 'completion_tokens'),
      reasoning: at(usage, 'completion_tokens_details', 'reasoning_tokens'),
    });
    return notes.done();
  },
  callIds: (body) => list(body, 'choices', 0, 'message', 'tool_calls').map((call) => String(at(call, 'id'))),
  giveBack(body, forgets) {
    const message = at(body, 'choices', 0, 'message') as { readonly [name: string]: Json };
    const { reasoning: _text, reasoning_details: _details, ...rest } = message;
    return [forgets ? rest : message];
  },
};
