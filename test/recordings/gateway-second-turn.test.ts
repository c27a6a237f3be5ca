// The second turn of recorded tool calls: whatever signed or encrypted reasoning an upstream gave with its calls
// must come back to it byte for byte and in its place, also when the client lost it or never saw it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { appendCall } from '../support/recordings/append-call.ts';
import { chatMessage } from '../support/recordings/clients.ts';
import { missing, readRecordings } from '../support/recordings/corpus.ts';
import type { Recording } from '../support/recordings/corpus.ts';
import { NO_ANSWER } from '../support/recordings/exceptions.ts';
import { at, list, sortedJson, word } from '../support/recordings/loose.ts';
import type { Loose } from '../support/recordings/loose.ts';
import { RateTable } from '../support/recordings/rate-table.ts';
import { readChat } from '../support/recordings/read-chat.ts';
import { readMessages } from '../support/recordings/read-messages.ts';
import { readResponses } from '../support/recordings/read-responses.ts';
import { ReplayGateway } from '../support/recordings/replay-gateway.ts';
import type { Route } from '../support/recordings/replay-gateway.ts';

const READERS = { chat: readChat, responses: readResponses, messages: readMessages } as const;

if (missing) console.log(`gateway-second-turn: ${missing}`);

/** Treatment of the first turn's reasoning by the client. */
type Client = 'returns it' | 'loses it' | 'excludes it';

describe.skipIf(missing !== undefined)('reasoning of recorded tool calls', () => {
  let recordings: Recording[] = [];
  let gateway: ReplayGateway;

  beforeAll(async () => {
    recordings = readRecordings()
      .filter(({ status, case: name }) => status === 200 && !(name in NO_ANSWER))
      .filter((recording) => recording.api !== 'chat' || routeOf(recording) !== 'chat')
      .map((recording) => (isSignedMessage(recording) ? appendCall(recording) : recording))
      .filter((recording) => {
        const said = READERS[recording.api](recording);
        return said.calls.length > 0 && (said.opaque.length > 0 || said.reasoning !== '');
      });
    gateway = await ReplayGateway.start(recordings);
  });
  afterAll(() => gateway.close());

  test.each<Client>(['returns it', 'loses it', 'excludes it'])(
    'is returned to its upstream when the client %s',
    async (client) => {
      const table = new RateTable(`second turns when the client ${client}`);
      for (const recording of recordings) {
        table.add(
          `${recording.provider} ${recording.api}`,
          recording.case,
          await problem(gateway, recording, client),
        );
      }
      table.print();
      expect(table.total).toBeGreaterThan(25);
      expect(table.failures).toEqual([]);
      expect(gateway.complaints()).toEqual([]);
    },
  );
});

function isSignedMessage(recording: Recording): boolean {
  return recording.api === 'messages' && readMessages(recording).opaque.length > 0;
}

function routeOf({ api, provider }: Recording): Route {
  return api === 'chat' && (provider === 'deepseek' || provider === 'openrouter') ? provider : api;
}

async function problem(
  gateway: ReplayGateway,
  recording: Recording,
  client: Client,
): Promise<string | undefined> {
  const route = routeOf(recording);
  const { calls } = READERS[recording.api](recording);
  const reasoning = {
    ...(recording.api === 'messages' ? { max_tokens: 2048 } : { effort: 'low' }),
    ...(client === 'excludes it' ? { exclude: true } : {}),
  };
  const first = await gateway.ask(route, recording, { calls, members: { reasoning } });
  if (first.status !== 200) return `first turn: ${first.status} ${first.text.slice(0, 300)}`;
  const answer = chatMessage(first);
  const shown = answer['reasoning'] !== undefined || answer['reasoning_details'] !== undefined;
  if (shown === (client === 'excludes it')) return `reasoning is ${shown ? '' : 'not '}shown`;
  // Under other ids the gateway does not know the calls again: what comes back is what the client brings.
  const suffix = client === 'returns it' ? '_renamed' : '';
  const toolCalls = list(answer['tool_calls'] as Loose).map((call) => ({
    ...call,
    id: word(call['id']) + suffix,
  }));
  const { role, content } = answer;
  const kept = { ...(client === 'returns it' ? answer : { role, content }), tool_calls: toolCalls };
  const results = toolCalls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'done' }));
  const messages = [{ role: 'user', content: 'x' }, kept, ...results];
  const second = await gateway.ask(route, recording, { calls, members: { reasoning, messages } });
  if (second.status !== 200) return `second turn: ${second.status} ${second.text.slice(0, 300)}`;
  const want = recordedTurn(recording);
  const got = sentTurn(recording, gateway.sent(recording));
  return JSON.stringify(want) === JSON.stringify(got)
    ? undefined
    : `expected ${shorten(want)}, got ${shorten(got)}`;
}

/** The parts of the recorded turn that must come back, in order. */
function recordedTurn(recording: Recording): string[] {
  const said = READERS[recording.api](recording);
  const calls = said.calls.map((call) => `call ${call.name} ${call.arguments}`);
  // Each recorded turn reasons first: the readers keep the order of both kinds.
  if (recording.provider === 'deepseek' && recording.api === 'chat')
    return [`plain ${said.reasoning}`, ...calls];
  const thinking = recording.api === 'messages' ? [`thinking ${said.reasoning}`] : [];
  return [...said.opaque.map((state) => `opaque ${state}`), ...calls, ...thinking];
}

/** The same parts of the assistant's turn in the body that the upstream got. */
function sentTurn({ api, provider }: Recording, body: Loose): string[] {
  const parts: string[] = [];
  const call = (name: Loose | undefined, text: string): void =>
    void parts.push(`call ${word(name)} ${sortedJson(text)}`);
  if (api === 'responses') {
    for (const item of list(body['input'])) {
      if (word(item['encrypted_content']) !== '') parts.push(`opaque ${word(item['encrypted_content'])}`);
      if (word(item['type']) === 'function_call') call(item['name'], word(item['arguments']));
    }
    return parts;
  }
  const turn = list(body['messages']).find((message) => word(message['role']) === 'assistant');
  const thinking: string[] = [];
  for (const block of list(turn?.['content'])) {
    if (word(block['thinking']) !== '') thinking.push(word(block['thinking']));
    const state = word(block['signature']) || word(block['data']);
    if (state !== '') parts.push(`opaque ${state}`);
    if (word(block['type']) === 'tool_use') call(block['name'], JSON.stringify(block['input']));
  }
  if (api === 'messages') return [...parts, `thinking ${thinking.join('\n\n')}`];
  if (provider === 'deepseek') parts.push(`plain ${word(turn?.['reasoning_content'])}`);
  for (const detail of list(turn?.['reasoning_details'])) {
    const state = word(detail['signature']) + word(detail['data']);
    if (state !== '') parts.push(`opaque ${state}`);
  }
  for (const one of list(turn?.['tool_calls']))
    call(at(one, 'function', 'name'), word(at(one, 'function', 'arguments')));
  return parts;
}

function shorten(parts: readonly string[]): string {
  return JSON.stringify(
    parts.map((part) => (part.length > 70 ? `${part.slice(0, 45)}…${part.slice(-20)}` : part)),
  );
}
