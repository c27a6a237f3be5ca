// What a client of each protocol sends: the path and the body that asks a model to go on with a conversation. Knows
// nothing of targets or of what is measured.

export interface Message {
  readonly role: string;
  readonly content: string;
}

/** How a client asks. */
export interface Api {
  /** @param model with its provider */
  readonly path: (model: string, stream: boolean) => string;
  /** The body of a request. The first message is the system's. */
  readonly body: (model: string, stream: boolean, messages: readonly Message[]) => object;
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
  repeatsText: false,
};
