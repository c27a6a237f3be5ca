// The simulated service on a socket of its own, and what its tests need to read raw streams. Knows only the
// provider's public entry.
import { createSim } from '../../sim/index.ts';

export const CHAT = '/openai/v1/chat/completions';
export const RESPONSES = '/openai/v1/responses';
export const MESSAGES = '/anthropic/v1/messages';
/** Model and method follow. */
export const GEMINI = '/google/v1beta/models';
/** Path of each protocol. */
export const paths = [CHAT, RESPONSES, MESSAGES, GEMINI] as const;
export type Path = (typeof paths)[number];

export const HEADERS = { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' };

export function user(content: string): { role: 'user'; content: string } {
  return { role: 'user', content };
}

/** Schema of a tool's arguments. */
export const parameters = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer', minimum: 1 },
    unit: { enum: ['celsius', 'fahrenheit'] },
  },
  required: ['city', 'days', 'unit'],
  additionalProperties: false,
};
/** Schema of an answer. */
export const person = {
  type: 'object',
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
  required: ['name', 'age'],
  additionalProperties: false,
};

/** The same plain question in each protocol. */
export const QUESTION: Readonly<Record<Path, object>> = {
  [CHAT]: { messages: [user('Tell me a story.')] },
  [RESPONSES]: { input: 'Tell me a story.' },
  [MESSAGES]: { max_tokens: 4000, messages: [user('Tell me a story.')] },
  [GEMINI]: { contents: [{ role: 'user', parts: [{ text: 'Tell me a story.' }] }] },
};

/** Address and body of a request: Gemini says model and form in the address. */
export function addressed(
  path: Path,
  model: string,
  stream: boolean,
  body: object = QUESTION[path],
): { readonly path: string; readonly body: object } {
  if (path !== GEMINI) return { path, body: { ...body, model, stream } };
  const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
  return { path: `${GEMINI}/${model}:${method}`, body };
}

export interface SimServer {
  readonly origin: string;
  /** Posts JSON. */
  post(path: string, body: unknown, signal?: AbortSignal): Promise<Response>;
  /** Asks the plain question. */
  ask(path: Path, model: string, stream: boolean): Promise<Response>;
  stop(): Promise<void>;
}

/** Serves a fresh simulated service on a free loopback port. */
export function serveSim(): SimServer {
  const sim = createSim();
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => sim.fetch(request) });
  const origin = `http://127.0.0.1:${server.port}`;
  const post: SimServer['post'] = (path, body, signal) =>
    fetch(origin + path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: HEADERS,
      ...(signal ? { signal } : {}),
    });
  return {
    origin,
    post,
    ask(path, model, stream) {
      const asked = addressed(path, model, stream);
      return post(asked.path, asked.body);
    },
    stop: () => server.stop(true),
  };
}

interface SseEvent {
  event: string;
  data: string;
}
/** The events of a body. Only line feeds separate lines: JSON may hold any other separator as it is. */
export function events(text: string): SseEvent[] {
  return text
    .split('\n\n')
    .filter((block) => block !== '')
    .map((block) => {
      const lines = block.split('\n');
      const value = (name: string): string =>
        lines.find((line) => line.startsWith(name))?.slice(name.length) ?? '';
      return { event: value('event: '), data: value('data: ') };
    });
}
/** Reads as far as the body goes. */
export async function drain(response: Response): Promise<{ text: string; broken: boolean }> {
  const decoder = new TextDecoder();
  let text = '';
  try {
    for await (const chunk of response.body ?? [])
      text += decoder.decode(chunk as Uint8Array, { stream: true });
    return { text, broken: false };
  } catch {
    return { text, broken: true };
  }
}
/** The visible text of a stream of any protocol. */
export function streamedText(text: string): string {
  let out = '';
  for (const { data } of events(text)) {
    if (data === '[DONE]' || !data.endsWith('}')) continue;
    const frame = JSON.parse(data) as {
      type?: string;
      delta?: unknown;
      choices?: { delta?: { content?: string | null } }[];
      candidates?: { content: { parts: { text?: string; thought?: boolean }[] } }[];
    };
    if (frame.type === 'response.output_text.delta') out += String(frame.delta);
    else if (frame.type === 'content_block_delta') out += (frame.delta as { text?: string }).text ?? '';
    else if (frame.candidates)
      for (const part of frame.candidates[0]?.content.parts ?? [])
        out += part.thought === true ? '' : (part.text ?? '');
    else out += frame.choices?.[0]?.delta?.content ?? '';
  }
  return out;
}
