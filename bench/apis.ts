// Requests of each protocol's clients: the path and the body that asks a model to go on with a conversation. Knows nothing of
// targets or of what is measured.

export interface Message {
  readonly role: string;
  readonly content: string;
}

/** One step of an agent: what the model said and called, and what came back. */
export interface ToolTurn {
  /** '' where it called without a word. */
  readonly text: string;
  readonly id: string;
  readonly name: string;
  readonly input: object;
  readonly result: string;
}

/** A request of an agent in the middle of its work. */
export interface AgentWork {
  readonly system: string;
  readonly task: string;
  readonly tools: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  readonly turns: readonly ToolTurn[];
}

/** How a client asks. */
export interface Api {
  /** @param model with its provider */
  readonly path: (model: string, stream: boolean) => string;
  /** The body of a request. The first message is the system's. */
  readonly body: (model: string, stream: boolean, messages: readonly Message[]) => object;
  /** The same of an agent with tools. */
  readonly agent: (model: string, stream: boolean, work: AgentWork) => object;
  /** True where the last events of a stream say its text once more. */
  readonly repeatsText: boolean;
}

const LIMIT = 500;
const TEMPERATURE = 0.7;
/** Most applications say which of their users asks. */
const USER = 'user-1234';

export const CHAT: Api = {
  path: () => '/v1/chat/completions',
  body: (model, stream, messages) => ({
    model,
    temperature: TEMPERATURE,
    ...(stream ? { stream } : {}),
    messages,
    // The older name, which most applications still write: a gateway that knows better edits it.
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
/** The gateway keeps the answers. */
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
