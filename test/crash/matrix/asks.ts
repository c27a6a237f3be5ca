// How a client of each protocol asks, and how it knows that an answer is whole: by the protocol's own end, never by the end
// of the connection. Knows nothing of what goes wrong.

export type ProtocolName = 'chat' | 'responses' | 'messages' | 'gemini';

export interface Question {
  readonly model: string;
  readonly text: string;
  readonly isStreamed: boolean;
  /** More of the body. */
  readonly more?: object;
}

export interface Ask {
  readonly path: string;
  readonly body: object;
}

interface Protocol {
  ask(question: Question): Ask;
  /** True for the data of an event that ends a stream well. */
  ends(data: string): boolean;
}

const MOST_TOKENS = 20;

export const PROTOCOLS: Readonly<Record<ProtocolName, Protocol>> = {
  chat: {
    ask: ({ model, text, isStreamed, more }) => ({
      path: '/v1/chat/completions',
      body: {
        model,
        max_tokens: MOST_TOKENS,
        messages: [{ role: 'user', content: text }],
        ...(isStreamed ? { stream: true } : {}),
        ...more,
      },
    }),
    ends: (data) => data === '[DONE]',
  },
  responses: {
    ask: ({ model, text, isStreamed, more }) => ({
      path: '/v1/responses',
      body: {
        model,
        max_output_tokens: MOST_TOKENS,
        input: text,
        ...(isStreamed ? { stream: true } : {}),
        ...more,
      },
    }),
    ends: (data) => data.includes('"type":"response.completed"'),
  },
  messages: {
    ask: ({ model, text, isStreamed, more }) => ({
      path: '/v1/messages',
      body: {
        model,
        max_tokens: MOST_TOKENS,
        messages: [{ role: 'user', content: text }],
        ...(isStreamed ? { stream: true } : {}),
        ...more,
      },
    }),
    ends: (data) => data.startsWith('{"type":"message_stop"'),
  },
  gemini: {
    ask: ({ model, text, isStreamed, more }) => ({
      path: `/v1beta/models/${model}:${isStreamed ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
      body: {
        contents: [{ role: 'user', parts: [{ text }] }],
        generationConfig: { maxOutputTokens: MOST_TOKENS },
        ...more,
      },
    }),
    ends: (data) => data.includes('"finishReason":"STOP"'),
  },
};

/** Outcome of a request, as its client knows it. */
export type Received =
  /** All of it arrived. */
  | { readonly kind: 'answered'; readonly id: string; readonly number: number; readonly text: string }
  /** A limit or a budget said no before it began, or in the middle of it. */
  | { readonly kind: 'refused' }
  /** An error, or a connection that broke: the client knows that it has no answer. */
  | { readonly kind: 'told'; readonly status: number; readonly why: string }
  /** Neither an answer nor an error: it ended as if all were well, or never. */
  | { readonly kind: 'untold'; readonly why: string };

/** Time within which an answer must end, in milliseconds. */
export const PATIENCE_MS = 20_000;
const NUMBER = /#(\d+)\. /;

/** Asks, and listens until the end. */
export async function receive(
  origin: string,
  key: string,
  protocol: ProtocolName,
  question: Question,
  headers: Readonly<Record<string, string>> = {},
): Promise<Received> {
  const { path, body } = PROTOCOLS[protocol].ask(question);
  let status = 0;
  try {
    const response = await fetch(origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    status = response.status;
    const text = await response.text();
    if (status === 402 || status === 429) return { kind: 'refused' };
    if (status !== 200) return { kind: 'told', status, why: text.slice(0, 300) };
    return judged(protocol, question.isStreamed, response.headers.get('x-request-id') ?? '', text);
  } catch (error) {
    const why = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
    if (error instanceof Error && error.name === 'TimeoutError')
      return { kind: 'untold', why: `nothing in ${PATIENCE_MS} ms` };
    return { kind: 'told', status, why };
  }
}

function judged(protocol: ProtocolName, isStreamed: boolean, id: string, text: string): Received {
  const number = Number(NUMBER.exec(text)?.[1]);
  if (isStreamed) {
    const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, found = '']) => found);
    if (data.some((each) => PROTOCOLS[protocol].ends(each)) && number > 0)
      return { kind: 'answered', id, number, text };
    if (/budget_exceeded|billing_error|RESOURCE_EXHAUSTED|rate_limit/.test(text)) return { kind: 'refused' };
    if (/"error":\{|"type":"error"|response\.failed|response\.incomplete/.test(text))
      return { kind: 'told', status: 200, why: text.slice(-300) };
    return { kind: 'untold', why: `the stream ended without its end: ${text.slice(-200)}` };
  }
  if (number > 0) return { kind: 'answered', id, number, text };
  return { kind: 'untold', why: `no answer in ${text.slice(0, 200)}` };
}
