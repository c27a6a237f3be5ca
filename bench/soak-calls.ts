// Calls of the soak test: all pairs of protocols, streamed or not, with tools, state, searches, faults, clients that
// disconnect, and invalid requests. Each call reads its response to the end, or disconnects on purpose, and throws if
// the response is not as expected.
import { type Api, CHAT, GEMINI, type Message, MESSAGES, RESPONSES, STORED_RESPONSES } from './apis.ts';

/** Sends a request to the gateway. @param status expected status of the response; null: any */
export type Ask = (path: string, request: AskOptions) => Promise<Response>;

export interface AskOptions {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly body?: object | string;
  readonly key?: string;
  readonly signal?: AbortSignal;
  readonly status: number | null;
}

export interface Caller {
  readonly ask: Ask;
  /** A random integer from 0 to `end`, exclusive. */
  readonly below: (end: number) => number;
}

interface Call {
  readonly name: string;
  /** Relative frequency. */
  readonly weight: number;
  readonly run: (caller: Caller) => Promise<void>;
}

/** Providers by protocol. All are the simulator, in a process of its own. */
export const SIMULATED = {
  'far-chat': ['openai-chat', '/openai/v1'],
  'far-responses': ['openai-responses', '/openai/v1'],
  'far-messages': ['anthropic-messages', '/anthropic'],
  'far-gemini': ['gemini', '/google/v1beta'],
} as const;

const CLIENTS: readonly Api[] = [CHAT, RESPONSES, MESSAGES, GEMINI];
const PROVIDERS = Object.keys(SIMULATED);
/** Models with a fault each. The gateway responds with an error or a partial answer. */
const FAULTS = (
  'error-400 error-401 error-429 error-500 error-529 quota-429 context-overflow content-filter-mid length cut-after-0 ' +
  'cut-after-10 error-in-stream-early error-in-stream no-done malformed-event unknown-event empty-200 html-200 flaky-3'
).split(' ');
const QUESTION: readonly Message[] = [
  { role: 'system', content: 'You answer in one paragraph.' },
  { role: 'user', content: 'What is 6 x 7, and how far is the moon?' },
];
const LONG: readonly Message[] = [
  { role: 'system', content: '' },
  { role: 'user', content: 'write 500 words' },
];
const FUNCTION = {
  name: 'get_weather',
  description: 'The weather of a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
};

/** All calls. */
export const CALLS: readonly Call[] = [
  { name: 'whole', weight: 30, run: (caller) => usual(caller, 'chat', false, QUESTION) },
  { name: 'streamed', weight: 20, run: (caller) => usual(caller, 'chat', true, QUESTION) },
  { name: 'paced stream', weight: 5, run: (caller) => usual(caller, 'paced-2', true, QUESTION) },
  {
    name: 'usual request',
    weight: 40,
    async run({ ask, below }) {
      const provider = below(2) === 0 ? 'relay' : 'translate';
      await read(
        ask(CHAT.path('', false), { body: CHAT.body(`${provider}/whole`, false, QUESTION), status: 200 }),
      );
    },
  },
  {
    name: '100 kB',
    weight: 3,
    async run({ ask, below }) {
      const messages = [...QUESTION, { role: 'user', content: 'The caravan left at dawn. '.repeat(4_000) }];
      const provider = below(2) === 0 ? 'relay' : 'translate';
      await read(
        ask(CHAT.path('', false), { body: CHAT.body(`${provider}/whole`, false, messages), status: 200 }),
      );
    },
  },
  { name: 'fault', weight: 12, run: fault },
  { name: 'client leaves a stream', weight: 8, run: (caller) => leave(caller, 'paced-5', LONG, 40) },
  {
    name: 'client leaves a silent one',
    weight: 3,
    run: (caller) => leave(caller, 'stall-after-20', LONG, 150),
  },
  {
    name: 'client leaves before headers',
    weight: 2,
    run: (caller) => leave(caller, 'stall-headers', LONG, 100),
  },
  { name: 'tools', weight: 8, run: callTool },
  { name: 'stored responses', weight: 6, run: continueResponses },
  { name: 'conversation', weight: 3, run: converse },
  { name: 'web search', weight: 3, run: search },
  {
    name: 'embedding',
    weight: 4,
    async run({ ask }) {
      const body = { model: 'far-chat/embed', input: ['a river', 'a bridge over it'] };
      await read(ask('/v1/embeddings', { body, status: 200 }));
    },
  },
  { name: 'wrong request', weight: 6, run: wrong },
  {
    name: 'list',
    weight: 2,
    run: async ({ ask }) => read(ask('/v1/models', { method: 'GET', status: 200 })),
  },
];

/** Selects a call at random by weight. */
export function pickCall(caller: Caller): Call {
  const all = CALLS.reduce((sum, { weight }) => sum + weight, 0);
  let left = caller.below(all);
  const found = CALLS.find(({ weight }) => (left -= weight) < 0);
  if (!found) throw new Error('the sum of the weights is wrong');
  return found;
}

async function usual(
  caller: Caller,
  name: string,
  stream: boolean,
  messages: readonly Message[],
): Promise<void> {
  const { path, body } = anyPair(caller, name, stream, messages);
  await read(caller.ask(path, { body, status: 200 }));
}

async function fault(caller: Caller): Promise<void> {
  const { path, body } = anyPair(caller, one(caller, FAULTS), caller.below(2) === 0, QUESTION);
  // A broken answer may be incomplete.
  await read(caller.ask(path, { body, status: null })).catch(() => undefined);
}

async function leave(
  caller: Caller,
  name: string,
  messages: readonly Message[],
  afterMs: number,
): Promise<void> {
  const { path, body } = anyPair(caller, name, true, messages);
  const signal = AbortSignal.timeout(afterMs);
  await read(caller.ask(path, { body, signal, status: null })).catch(() => undefined);
}

async function callTool({ ask, below }: Caller): Promise<void> {
  const model = `${PROVIDERS[below(PROVIDERS.length)]}/chat`;
  const first = { role: 'user', content: 'What is the weather in Paris?' };
  const tools = [{ type: 'function', function: FUNCTION }];
  const path = CHAT.path(model, false);
  const answer = await ask(path, { body: { model, messages: [first], tools }, status: 200 });
  const { choices } = (await answer.json()) as { choices: { message: { tool_calls: { id: string }[] } }[] };
  const message = choices[0]?.message;
  const results =
    message?.tool_calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Rain.' })) ?? [];
  const body = { model, messages: [first, message, ...results], tools, stream: true };
  await read(ask(path, { body, status: 200 }));
}

async function continueResponses({ ask, below }: Caller): Promise<void> {
  const model = `${PROVIDERS[below(PROVIDERS.length)]}/chat`;
  const path = STORED_RESPONSES.path(model, false);
  const ids: string[] = [];
  for (let turn = 0; turn < 3; turn += 1) {
    const body = {
      ...STORED_RESPONSES.body(model, false, QUESTION),
      previous_response_id: ids.at(-1) ?? null,
    };
    const answer = await ask(path, { body, status: 200 });
    ids.push(((await answer.json()) as { id: string }).id);
  }
  for (const id of ids) {
    await read(ask(`${path}/${id}`, { method: 'GET', status: 200 }));
    await read(ask(`${path}/${id}`, { method: 'DELETE', status: 200 }));
  }
}

async function converse({ ask, below }: Caller): Promise<void> {
  const model = `${PROVIDERS[below(PROVIDERS.length)]}/chat`;
  const made = await ask('/v1/conversations', { body: {}, status: 200 });
  const { id } = (await made.json()) as { id: string };
  for (const stream of [false, true]) {
    const body = { ...STORED_RESPONSES.body(model, stream, QUESTION), conversation: id };
    await read(ask(STORED_RESPONSES.path(model, stream), { body, status: 200 }));
  }
  await read(ask(`/v1/conversations/${id}`, { method: 'DELETE', status: 200 }));
}

async function search({ ask, below }: Caller): Promise<void> {
  const model = `${below(2) === 0 ? 'far-chat' : 'far-messages'}/chat`;
  const body = {
    ...RESPONSES.body(model, below(2) === 0, [{ role: 'user', content: 'Use web_search for "rivers".' }]),
    tools: [{ type: 'web_search' }],
  };
  await read(ask(RESPONSES.path(model, false), { body, status: 200 }));
}

async function wrong({ ask, below }: Caller): Promise<void> {
  const path = CHAT.path('', false);
  const body = CHAT.body('relay/whole', false, QUESTION);
  const requests: readonly AskOptions[] = [
    { body: '{"model":', status: 400 },
    { body, key: 'sk-nobody', status: 401 },
    { body: { ...body, model: 'nobody/nothing' }, status: 404 },
    { body: { ...body, temperature: 'warm' }, status: 400 },
  ];
  const request = requests[below(requests.length)];
  if (request) await read(ask(path, request));
}

function anyPair(
  caller: Caller,
  name: string,
  stream: boolean,
  messages: readonly Message[],
): { path: string; body: object } {
  const api = one(caller, CLIENTS);
  const model = `${one(caller, PROVIDERS)}/${name}`;
  return { path: api.path(model, stream), body: api.body(model, stream, messages) };
}

function one<T>({ below }: Caller, list: readonly T[]): T {
  const found = list[below(list.length)];
  if (found === undefined) throw new Error('an empty list');
  return found;
}

async function read(response: Promise<Response>): Promise<void> {
  const { body } = await response;
  for await (const _ of body ?? []);
}
