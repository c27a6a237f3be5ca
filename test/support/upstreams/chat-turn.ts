// One turn of a conversation as a client without any SDK makes it, and the ways in which clients keep or lose the
// reasoning of a turn before they send it back.
import type { TestGateway } from '../harness.ts';
import { frames } from './gateway-with-upstreams.ts';
import { at, list, type Json } from './json-path.ts';
import { CITY } from '../city-schema.ts';

export interface Message {
  readonly role: 'assistant';
  readonly content: string | null;
  readonly reasoning?: string;
  readonly reasoning_content?: string;
  readonly reasoning_details?: readonly Json[];
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly type: 'function';
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** Fates of the reasoning between two turns. */
export const KEEPINGS = ['as received', 'merged', 'lost', 'plain text only'] as const;
export type Keeping = (typeof KEEPINGS)[number];

/** The message as such a client would send it back. */
export function kept(message: Message, keeping: Keeping): object {
  const { reasoning, reasoning_content, reasoning_details, ...rest } = message;
  switch (keeping) {
    case 'as received':
      return message;
    case 'merged':
      return { ...rest, reasoning, reasoning_details: merged(reasoning_details ?? []) };
    case 'lost':
      return rest;
    case 'plain text only':
      return { ...rest, ...(reasoning_content === undefined ? {} : { reasoning_content }) };
  }
}

/** Fragments of one item put together, as careful clients do. */
function merged(details: readonly Json[]): Json[] {
  const groups = new Map<string, Record<string, Json>>();
  for (const detail of details) {
    const fragment = detail as Readonly<Record<string, Json>>;
    const key = `${String(fragment['index'])} ${String(fragment['type'])}`;
    const group = groups.get(key) ?? {};
    for (const [name, value] of Object.entries(fragment)) {
      const before = group[name];
      const grows = name === 'text' || name === 'summary' || name === 'data';
      group[name] = grows && typeof before === 'string' ? before + String(value) : value;
    }
    groups.set(key, group);
  }
  return [...groups.values()];
}

/**
 * Asks and reads the answer, streamed or not. Throws when the gateway refuses.
 * @returns the assistant's message as the client puts it together; streamed details stay in their fragments
 */
export async function takeTurn(
  gateway: TestGateway,
  body: object,
  stream: boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ message: Message; finish: string; response: Response }> {
  const response = await gateway.post('/chat/completions', { ...body, stream }, headers);
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${response.status} ${text}`);
  if (!stream) {
    const answer: unknown = JSON.parse(text);
    const message = at(answer, 'choices', 0, 'message') as unknown as Message;
    return { message, finish: String(at(answer, 'choices', 0, 'finish_reason')), response };
  }
  const all = frames(text);
  if (all.at(-1) !== '[DONE]') throw new Error(`the stream did not end: ${text}`);
  const failed = all.find((frame) => at(frame, 'error') !== undefined);
  if (failed) throw new Error(JSON.stringify(failed));
  return { ...assemble(all), response };
}

function assemble(all: readonly Json[]): { message: Message; finish: string } {
  const joined = { content: '', reasoning: '', reasoning_content: '' };
  const details: Json[] = [];
  const calls: { id: string; type: 'function'; function: { name: string; arguments: string } }[] = [];
  let finish = '';
  for (const frame of all) {
    const delta = at(frame, 'choices', 0, 'delta');
    for (const name of ['content', 'reasoning', 'reasoning_content'] as const)
      joined[name] += String(at(delta, name) ?? '');
    details.push(...list(delta, 'reasoning_details'));
    for (const piece of list(delta, 'tool_calls')) {
      const index = Number(at(piece, 'index'));
      const call = (calls[index] ??= {
        id: String(at(piece, 'id')),
        type: 'function',
        function: { name: String(at(piece, 'function', 'name')), arguments: '' },
      });
      call.function.arguments += String(at(piece, 'function', 'arguments') ?? '');
    }
    const reason = at(frame, 'choices', 0, 'finish_reason');
    if (typeof reason === 'string') finish = reason;
  }
  const message: Message = {
    role: 'assistant',
    content: joined.content === '' ? null : joined.content,
    ...(joined.reasoning === '' ? {} : { reasoning: joined.reasoning }),
    ...(joined.reasoning_content === '' ? {} : { reasoning_content: joined.reasoning_content }),
    ...(details.length > 0 ? { reasoning_details: details } : {}),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
  return { message, finish };
}

/** A result for every call of a message. */
export function resultsFor(message: Message): object[] {
  return (message.tool_calls ?? []).map((call) => ({
    role: 'tool',
    tool_call_id: call.id,
    content: `result of ${call.function.name}`,
  }));
}

/** Tools that scripted and simulated models call. */
export const TOOLS = ['get_weather', 'get_time'].map((name) => ({
  type: 'function',
  function: {
    name,
    parameters: CITY,
  },
}));
