// The same questions in the words of every client protocol, and answers as facts that can be compared across protocols:
// text, thoughts, calls, why it ended, tokens. Knows no server.
import { at, list, type Json } from '../upstreams/json-path.ts';

export const CLIENT_PROTOCOLS = ['openai-chat', 'openai-responses', 'anthropic-messages', 'gemini'] as const;
export type ClientProtocol = (typeof CLIENT_PROTOCOLS)[number];

/** One question. Answers are greedy, so that each server gives one answer to it. */
export interface Question {
  readonly title: string;
  readonly user: string;
  readonly system?: string;
  readonly limit: number;
  readonly stop?: string;
  /** False: the model is told not to think. */
  readonly thinks?: boolean;
  /** A call of the tool and its result stand before the answer. */
  readonly hasCalled?: boolean;
  /** Absent: no tools. */
  readonly tool?: 'offered' | 'demanded';
  readonly schema?: boolean;
}

/** Content of an answer, whatever its protocol. */
export interface Facts {
  readonly text: string;
  readonly thoughts: string;
  readonly calls: readonly { readonly name: string; readonly arguments: Json }[];
  readonly ended: 'stop' | 'length' | 'calls' | 'other';
  readonly input: number;
  readonly output: number;
}

export interface Dialect {
  /** Below the origin. */
  readonly path: (model: string, stream: boolean) => string;
  readonly ask: (model: string, question: Question, stream: boolean) => Record<string, unknown>;
  readonly read: (body: unknown) => Facts;
  /** The body of a whole answer that says what a stream said. */
  readonly gather: (events: readonly Json[]) => unknown;
}

const TOOL = {
  name: 'look',
  description: 'Looks.',
  schema: {
    type: 'object',
    properties: { far: { type: 'boolean' } },
    required: ['far'],
    additionalProperties: false,
  },
};
const CALL = { id: 'call_1', input: { far: true }, result: 'a river' };
/** The schema of answers. */
const FORMAT = {
  type: 'object',
  properties: { yes: { type: 'boolean' }, mood: { type: 'string', enum: ['calm', 'wild'] } },
  required: ['yes', 'mood'],
  additionalProperties: false,
};

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
const parsed = (value: Json | undefined): Json => {
  try {
    return JSON.parse(text(value)) as Json;
  } catch {
    return value ?? null;
  }
};
const endOf = (word: Json | undefined, words: Readonly<Record<string, Facts['ended']>>): Facts['ended'] =>
  words[text(word)] ?? 'other';

const chat: Dialect = {
  path: () => '/v1/chat/completions',
  ask: (model, { user, system, limit, stop, thinks, tool, schema, hasCalled }, stream) => ({
    model,
    stream,
    ...(stream && { stream_options: { include_usage: true } }),
    temperature: 0,
    max_tokens: limit,
    ...(stop !== undefined && { stop: [stop] }),
    ...(thinks === false && { reasoning_effort: 'none' }),
    messages: [
      ...(system === undefined ? [] : [{ role: 'system', content: system }]),
      { role: 'user', content: user },
      ...(hasCalled
        ? [
            {
              role: 'assistant',
              content: null,
              tool_calls: [
                {
                  id: CALL.id,
                  type: 'function',
                  function: { name: TOOL.name, arguments: JSON.stringify(CALL.input) },
                },
              ],
            },
            { role: 'tool', tool_call_id: CALL.id, content: CALL.result },
          ]
        : []),
    ],
    ...(tool && {
      tools: [
        {
          type: 'function',
          function: { name: TOOL.name, description: TOOL.description, parameters: TOOL.schema },
        },
      ],
      tool_choice: tool === 'demanded' ? 'required' : 'auto',
    }),
    ...(schema && {
      response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: FORMAT } },
    }),
  }),
  read: (body) => ({
    text: text(at(body, 'choices', 0, 'message', 'content')),
    thoughts:
      text(at(body, 'choices', 0, 'message', 'reasoning')) ||
      text(at(body, 'choices', 0, 'message', 'reasoning_content')),
    calls: list(body, 'choices', 0, 'message', 'tool_calls').map((call) => ({
      name: text(at(call, 'function', 'name')),
      arguments: parsed(at(call, 'function', 'arguments')),
    })),
    ended: endOf(at(body, 'choices', 0, 'finish_reason'), {
      stop: 'stop',
      length: 'length',
      tool_calls: 'calls',
    }),
    input: number(at(body, 'usage', 'prompt_tokens')),
    output: number(at(body, 'usage', 'completion_tokens')),
  }),
  gather(events) {
    const deltas = events.map((event) => at(event, 'choices', 0, 'delta'));
    const join = (...path: readonly (string | number)[]): string =>
      deltas.map((delta) => text(at(delta, ...path))).join('');
    const calls = deltas.flatMap((delta) => list(delta, 'tool_calls'));
    const places = [...new Set(calls.map((call) => number(at(call, 'index'))))];
    return {
      choices: [
        {
          finish_reason:
            events.map((event) => at(event, 'choices', 0, 'finish_reason')).find((word) => word) ?? null,
          message: {
            content: join('content'),
            reasoning: join('reasoning') || join('reasoning_content'),
            tool_calls: places.map((place) => {
              const own = calls.filter((call) => number(at(call, 'index')) === place);
              const all = (name: string): string =>
                own.map((call) => text(at(call, 'function', name))).join('');
              return { function: { name: all('name'), arguments: all('arguments') } };
            }),
          },
        },
      ],
      usage: events.map((event) => at(event, 'usage')).findLast((usage) => usage),
    };
  },
};

const responses: Dialect = {
  path: () => '/v1/responses',
  ask: (model, { user, system, limit, thinks, tool, schema, hasCalled }, stream) => ({
    model,
    stream,
    store: false,
    temperature: 0,
    max_output_tokens: limit,
    ...(system !== undefined && { instructions: system }),
    ...(thinks === false && { reasoning: { effort: 'none' } }),
    input: [
      { role: 'user', content: user },
      ...(hasCalled
        ? [
            {
              type: 'function_call',
              call_id: CALL.id,
              name: TOOL.name,
              arguments: JSON.stringify(CALL.input),
            },
            { type: 'function_call_output', call_id: CALL.id, output: CALL.result },
          ]
        : []),
    ],
    ...(tool && {
      tools: [
        {
          type: 'function',
          name: TOOL.name,
          description: TOOL.description,
          parameters: TOOL.schema,
          strict: false,
        },
      ],
      tool_choice: tool === 'demanded' ? 'required' : 'auto',
    }),
    ...(schema && { text: { format: { type: 'json_schema', name: 'answer', schema: FORMAT } } }),
  }),
  read(body) {
    const output = list(body, 'output');
    const ofType = (type: string): readonly Json[] => output.filter((item) => at(item, 'type') === type);
    const calls = ofType('function_call').map((item) => ({
      name: text(at(item, 'name')),
      arguments: parsed(at(item, 'arguments')),
    }));
    const words = (item: Json): string =>
      list(item, 'content')
        .map((part) => text(at(part, 'text')))
        .join('');
    return {
      text: ofType('message').map(words).join(''),
      thoughts: ofType('reasoning')
        .map(
          (item) =>
            words(item) ||
            list(item, 'summary')
              .map((part) => text(at(part, 'text')))
              .join(''),
        )
        .join(''),
      calls,
      ended:
        at(body, 'status') === 'completed'
          ? calls.length > 0
            ? 'calls'
            : 'stop'
          : endOf(at(body, 'incomplete_details', 'reason'), { max_output_tokens: 'length' }),
      input: number(at(body, 'usage', 'input_tokens')),
      output: number(at(body, 'usage', 'output_tokens')),
    };
  },
  gather: (events) =>
    events
      .filter((event) => /^response\.(completed|incomplete|failed)$/.test(text(at(event, 'type'))))
      .map((event) => at(event, 'response'))
      .at(-1),
};

const messages: Dialect = {
  path: () => '/v1/messages',
  ask: (model, { user, system, limit, stop, thinks, tool, schema, hasCalled }, stream) => ({
    model,
    stream,
    temperature: 0,
    max_tokens: limit,
    ...(stop !== undefined && { stop_sequences: [stop] }),
    ...(system !== undefined && { system }),
    ...(thinks === false && { thinking: { type: 'disabled' } }),
    messages: [
      { role: 'user', content: user },
      ...(hasCalled
        ? [
            {
              role: 'assistant',
              content: [{ type: 'tool_use', id: CALL.id, name: TOOL.name, input: CALL.input }],
            },
            {
              role: 'user',
              content: [{ type: 'tool_result', tool_use_id: CALL.id, content: CALL.result }],
            },
          ]
        : []),
    ],
    ...(tool && {
      tools: [{ name: TOOL.name, description: TOOL.description, input_schema: TOOL.schema }],
      tool_choice: { type: tool === 'demanded' ? 'any' : 'auto' },
    }),
    ...(schema && { output_config: { format: { type: 'json_schema', schema: FORMAT } } }),
  }),
  read(body) {
    const blocks = list(body, 'content');
    const all = (type: string, member: string): string =>
      blocks
        .filter((block) => at(block, 'type') === type)
        .map((block) => text(at(block, member)))
        .join('');
    return {
      text: all('text', 'text'),
      thoughts: all('thinking', 'thinking'),
      calls: blocks
        .filter((block) => at(block, 'type') === 'tool_use')
        .map((block) => ({ name: text(at(block, 'name')), arguments: at(block, 'input') ?? null })),
      ended: endOf(at(body, 'stop_reason'), {
        end_turn: 'stop',
        stop_sequence: 'stop',
        max_tokens: 'length',
        tool_use: 'calls',
      }),
      input: number(at(body, 'usage', 'input_tokens')) + number(at(body, 'usage', 'cache_read_input_tokens')),
      output: number(at(body, 'usage', 'output_tokens')),
    };
  },
  gather(events) {
    const ofType = (type: string): readonly Json[] => events.filter((event) => at(event, 'type') === type);
    const usage = ['message_start', 'message_delta'].flatMap((type) =>
      ofType(type).map((event) => at(event, 'usage') ?? at(event, 'message', 'usage') ?? {}),
    );
    return {
      content: ofType('content_block_start').map((start) => {
        const own = ofType('content_block_delta').filter(
          (event) => at(event, 'index') === at(start, 'index'),
        );
        const all = (member: string): string => own.map((event) => text(at(event, 'delta', member))).join('');
        return {
          ...(at(start, 'content_block') as object),
          text: all('text'),
          thinking: all('thinking'),
          ...(at(start, 'content_block', 'type') === 'tool_use' && { input: parsed(all('partial_json')) }),
        };
      }),
      stop_reason: ofType('message_delta')
        .map((event) => at(event, 'delta', 'stop_reason'))
        .at(-1),
      usage: Object.assign({}, ...(usage as object[])) as unknown,
    };
  },
};

const gemini: Dialect = {
  path: (model, stream) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  ask: (_, { user, system, limit, stop, thinks, tool, schema, hasCalled }) => ({
    ...(system !== undefined && { systemInstruction: { parts: [{ text: system }] } }),
    contents: [
      { role: 'user', parts: [{ text: user }] },
      ...(hasCalled
        ? [
            { role: 'model', parts: [{ functionCall: { id: CALL.id, name: TOOL.name, args: CALL.input } }] },
            {
              role: 'user',
              parts: [
                { functionResponse: { id: CALL.id, name: TOOL.name, response: { output: CALL.result } } },
              ],
            },
          ]
        : []),
    ],
    generationConfig: {
      temperature: 0,
      maxOutputTokens: limit,
      ...(stop !== undefined && { stopSequences: [stop] }),
      thinkingConfig: { includeThoughts: true, ...(thinks === false && { thinkingBudget: 0 }) },
      ...(schema && { responseMimeType: 'application/json', responseJsonSchema: FORMAT }),
    },
    ...(tool && {
      tools: [
        {
          functionDeclarations: [
            { name: TOOL.name, description: TOOL.description, parametersJsonSchema: TOOL.schema },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: tool === 'demanded' ? 'ANY' : 'AUTO' } },
    }),
  }),
  read(body) {
    const parts = list(body, 'candidates', 0, 'content', 'parts');
    const words = (thought: boolean): string =>
      parts
        .filter((part) => (at(part, 'thought') === true) === thought)
        .map((part) => text(at(part, 'text')))
        .join('');
    const calls = parts
      .filter((part) => at(part, 'functionCall') !== undefined)
      .map((part) => ({
        name: text(at(part, 'functionCall', 'name')),
        arguments: at(part, 'functionCall', 'args') ?? null,
      }));
    const usage = at(body, 'usageMetadata');
    const ended = endOf(at(body, 'candidates', 0, 'finishReason'), { STOP: 'stop', MAX_TOKENS: 'length' });
    return {
      text: words(false),
      thoughts: words(true),
      calls,
      ended: ended === 'stop' && calls.length > 0 ? 'calls' : ended,
      input: number(at(usage, 'promptTokenCount')),
      output: number(at(usage, 'candidatesTokenCount')) + number(at(usage, 'thoughtsTokenCount')),
    };
  },
  gather: (events) => ({
    candidates: [
      {
        content: { parts: events.flatMap((event) => list(event, 'candidates', 0, 'content', 'parts')) },
        finishReason: events
          .map((event) => at(event, 'candidates', 0, 'finishReason'))
          .findLast((word) => word),
      },
    ],
    usageMetadata: events.map((event) => at(event, 'usageMetadata')).findLast((usage) => usage),
  }),
};

export const DIALECTS: Readonly<Record<ClientProtocol, Dialect>> = {
  'openai-chat': chat,
  'openai-responses': responses,
  'anthropic-messages': messages,
  gemini,
};

/** Asks and reads, whole or streamed. @param extra members that this server wants in addition */
export async function asked(
  origin: string,
  protocol: ClientProtocol,
  question: Question,
  { model, stream = false, extra = {} }: { model: string; stream?: boolean; extra?: object },
): Promise<{ readonly facts: Facts; readonly body: unknown; readonly report: string | null }> {
  const dialect = DIALECTS[protocol];
  const response = await fetch(origin + dialect.path(model, stream), {
    method: 'POST',
    headers: { authorization: 'Bearer sk-test', 'content-type': 'application/json' },
    body: JSON.stringify({ ...dialect.ask(model, question, stream), ...extra }),
  });
  const said = await response.text();
  if (!response.ok) throw new Error(`${response.status}: ${said}`);
  const body: unknown = stream ? dialect.gather(eventsOf(said)) : JSON.parse(said);
  return { facts: dialect.read(body), body, report: response.headers.get('x-dragoman-report') };
}

function eventsOf(said: string): readonly Json[] {
  return said
    .split(/\r?\n\r?\n/)
    .map((block) =>
      block
        .split(/\r?\n/)
        .filter((line) => line.startsWith('data:'))
        .map((line) => line.slice(5).trim())
        .join('\n'),
    )
    .filter((data) => data !== '' && data !== '[DONE]')
    .map((data) => JSON.parse(data) as Json);
}
