// Paths and bodies of requests in each protocol, as clients send them.

export interface Message {
  readonly role: string;
  readonly content: string;
}

/** One step of an agent: text and tool call of the model, and the result. */
export interface ToolTurn {
  /** Text before the call; '' if there is none. */
  readonly text: string;
  readonly id: string;
  readonly name: string;
  readonly input: object;
  readonly result: string;
}

/** An agent's request in the middle of its work. */
export interface AgentWork {
  readonly system: string;
  readonly task: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  readonly turns: readonly ToolTurn[];
}

/** Requests of one protocol. */
export interface Api {
  /** @param model id including the provider */
  readonly path: (model: string, stream: boolean) => string;
  /** Body of a request. The first message is the system message. */
  readonly body: (model: string, stream: boolean, messages: readonly Message[]) => object;
  /** Body of an agent's request with tools. */
  readonly agent: (model: string, stream: boolean, work: AgentWork) => object;
  /** True if the last events of a stream repeat its text. */
  readonly repeatsText: boolean;
}

const LIMIT = 500;
const TEMPERATURE = 0.7;
/** Included because most applications send the id of their user. */
const USER = 'user-1234';

export const CHAT: Api = {
  path: () => '/v1/chat/completions',
  body: (model, stream, messages) => ({
    model,
    temperature: TEMPERATURE,
    ...(stream ? { stream } : {}),
    messages,
    // The older name, which most applications still use. A gateway that prefers the newer one has to rewrite it.
    max_tokens: LIMIT,
    user: USER,
  }),
  agent: (model, stream, { system, task, tools, turns }) => ({
    ...CHAT.body(model, stream, [{ role: 'system', content: system }]),
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: task },
      ...turns.flatMap(({ text, id, name, input, result }) => [
        {
          role: 'assistant',
          content: text === '' ? null : text,
          tool_calls: [{ id, type: 'function', function: { name, arguments: JSON.stringify(input) } }],
        },
        { role: 'tool', tool_call_id: id, content: result },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({
      type: 'function',
      function: { name, description, parameters: schema },
    })),
  }),
  repeatsText: false,
};

function responsesApi(store: boolean): Api {
  return {
    path: () => '/v1/responses',
    body: (model, stream, messages) => ({
      model,
      temperature: TEMPERATURE,
      ...(stream ? { stream } : {}),
      input: messages,
      max_output_tokens: LIMIT,
      user: USER,
      store,
    }),
    agent: (model, stream, { system, task, tools, turns }) => ({
      ...responsesApi(store).body(model, stream, []),
      instructions: system,
      input: [
        { role: 'user', content: task },
        ...turns.flatMap(({ text, id, name, input, result }) => [
          ...(text === '' ? [] : [{ role: 'assistant', content: text }]),
          { type: 'function_call', call_id: id, name, arguments: JSON.stringify(input) },
          { type: 'function_call_output', call_id: id, output: result },
        ]),
      ],
      tools: tools.map(({ name, description, schema }) => ({
        type: 'function',
        name,
        description,
        parameters: schema,
      })),
    }),
    repeatsText: true,
  };
}

export const RESPONSES = responsesApi(false);
/** Responses that the gateway stores. */
export const STORED_RESPONSES = responsesApi(true);

export const MESSAGES: Api = {
  path: () => '/v1/messages',
  body: (model, stream, [system, ...messages]) => ({
    model,
    temperature: TEMPERATURE,
    ...(stream ? { stream } : {}),
    system: system?.content ?? '',
    messages,
    max_tokens: LIMIT,
    metadata: { user_id: USER },
  }),
  agent: (model, stream, { system, task, tools, turns }) => ({
    ...MESSAGES.body(model, stream, [{ role: 'system', content: system }]),
    messages: [
      { role: 'user', content: task },
      ...turns.flatMap(({ text, id, name, input, result }) => [
        {
          role: 'assistant',
          content: [...(text === '' ? [] : [{ type: 'text', text }]), { type: 'tool_use', id, name, input }],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: result }] },
      ]),
    ],
    tools: tools.map(({ name, description, schema }) => ({ name, description, input_schema: schema })),
  }),
  repeatsText: false,
};

export const GEMINI: Api = {
  path: (model, stream) =>
    `/v1beta/models/${model}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  body: (_model, _stream, [system, ...messages]) => ({
    systemInstruction: { parts: [{ text: system?.content ?? '' }] },
    contents: messages.map(({ role, content }) => ({
      role: role === 'assistant' ? 'model' : 'user',
      parts: [{ text: content }],
    })),
    generationConfig: { temperature: TEMPERATURE, maxOutputTokens: LIMIT },
  }),
  agent: (model, stream, { system, task, tools, turns }) => ({
    ...GEMINI.body(model, stream, [{ role: 'system', content: system }]),
    contents: [
      { role: 'user', parts: [{ text: task }] },
      ...turns.flatMap(({ text, name, input, result }) => [
        {
          role: 'model',
          parts: [...(text === '' ? [] : [{ text }]), { functionCall: { name, args: input } }],
        },
        { role: 'user', parts: [{ functionResponse: { name, response: { output: result } } }] },
      ]),
    ],
    tools: [
      {
        functionDeclarations: tools.map(({ name, description, schema }) => ({
          name,
          description,
          parametersJsonSchema: schema,
        })),
      },
    ],
  }),
  repeatsText: false,
};
