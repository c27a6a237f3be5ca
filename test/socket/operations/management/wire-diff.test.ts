// Differences between client and upstream in the same request, for each pair of protocols: matched by meaning, with what was
// lost and why.
import { afterAll, describe, expect, test } from 'bun:test';
import { startEveryUpstream } from '../../../support/upstreams/every-upstream.ts';
import { ADMIN_KEY } from '../../../support/management/scene.ts';
import {
  CLIENTS,
  MODELS,
  PAIRS,
  PLACES,
  QUESTION,
  SCHEMA,
  type Places,
} from '../../../support/management/wire-pairs.ts';

interface Place {
  readonly path: string | null;
  readonly value: unknown;
}
interface Row {
  readonly what: string;
  readonly state: string;
  readonly client: Place | null;
  readonly upstream: Place | null;
  readonly report: readonly { readonly action: string; readonly reason: string }[];
}
interface Side {
  readonly rows: readonly Row[];
  readonly by_value: boolean;
}
interface Diff {
  readonly upstream_protocol: string;
  readonly lane: string;
  readonly request: Side;
  readonly answer: Side;
}

const gateway = await startEveryUpstream({
  server: { admin_key: ADMIN_KEY },
  logging: { level: 'silent', content: 'all' },
});
afterAll(() => gateway.close());

async function diffOf(path: string, body: object): Promise<Diff> {
  const response = await fetch(gateway.origin + path, {
    method: 'POST',
    headers: { 'x-api-key': gateway.key, 'anthropic-version': '2023-06-01' },
    body: JSON.stringify(body),
  });
  await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  const answer = await fetch(`${gateway.origin}/v1/management/generations/${id}/diff`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Diff;
}

function row({ rows }: Side, isIt: (row: Row) => boolean): Row {
  const found = rows.find(isIt);
  if (!found) throw new Error(`no such row among:\n${JSON.stringify(rows, null, 1)}`);
  return found;
}

const atClient = (path: string) => (each: Row) => each.client?.path === path;

describe.each(PAIRS)('$client in front of $upstream', ({ client, upstream }) => {
  const one = PLACES[client] as Places;
  const other = PLACES[upstream] as Places;

  test('equal members are in one row', async () => {
    const [path, body] = CLIENTS[client]?.ask(MODELS[upstream] ?? '') ?? ['', {}];
    const { request, answer, upstream_protocol: protocol } = await diffOf(path, body);
    expect(protocol).toBe(upstream as never);
    const question = row(request, atClient(one.question));
    expect(question).toMatchObject({
      state: 'same',
      client: { value: QUESTION },
      upstream: { value: QUESTION },
    });
    const schema = row(request, atClient(one.schema));
    expect(schema).toMatchObject({ state: 'same', upstream: { path: other.schema, value: SCHEMA } });
    if (upstream !== 'bedrock-converse')
      expect(row(request, atClient(one.limit))).toMatchObject({
        state: 'same',
        upstream: { path: other.limit, value: 500 },
      });
    expect(request.by_value).toBe(upstream === 'bedrock-converse');
    const text = row(answer, ({ what }) => what === 'assistant · text');
    expect(text.state).toBe('same');
    // Before the text there may be thoughts.
    expect([text.client, text.upstream].map((place) => place?.path?.replaceAll(/\d+/g, ''))).toEqual([
      one.answer,
      other.answer,
    ]);
    expect(row(answer, ({ what }) => what === 'finish reason').state).toBe('same');
  });
});

test('dropped, approximated and gateway members are marked with the reason', async () => {
  const { request } = await diffOf('/v1/chat/completions', {
    model: 'sim/messages',
    max_tokens: 500,
    seed: 7,
    provider: { order: ['sim'] },
    a_member_of_my_own: true,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(row(request, atClient('seed'))).toMatchObject({
    state: 'dropped',
    upstream: null,
    report: [{ action: 'dropped' }],
  });
  expect(row(request, atClient('max_tokens'))).toMatchObject({
    state: 'same',
    report: [{ action: 'approximated' }],
  });
  expect(row(request, atClient('provider.order'))).toMatchObject({ state: 'gateway', upstream: null });
  expect(row(request, atClient('a_member_of_my_own'))).toMatchObject({ state: 'dropped', report: [{}] });
});

test('a setting is at its member, with the name in the protocol', async () => {
  const { request } = await diffOf('/v1/chat/completions', {
    model: MODELS['openai-chat'],
    stream: true,
    messages: [{ role: 'user', content: 'Hi' }],
  });
  expect(row(request, atClient('stream'))).toMatchObject({ what: 'stream', state: 'same' });
  // The client asked for no usage, and the gateway did.
  expect(
    request.rows.filter(({ what, state }) => state === 'added' && what.startsWith('stream')),
  ).toMatchObject([
    { what: 'stream_options.include_usage', upstream: { path: 'stream_options.include_usage', value: true } },
  ]);
});

test('an effort is shown next to its budget, and a streamed response is assembled', async () => {
  const { request, answer } = await diffOf('/v1/chat/completions', {
    model: 'sim/claude',
    stream: true,
    max_completion_tokens: 4_000,
    reasoning_effort: 'high',
    messages: [{ role: 'user', content: 'What is 6 x 7?' }],
  });
  expect(row(request, atClient('reasoning_effort'))).toMatchObject({
    state: 'changed',
    upstream: { path: expect.stringMatching(/^thinking/) },
  });
  expect(row(answer, ({ what }) => what === 'assistant · text')).toMatchObject({
    state: 'same',
    client: { path: null },
    upstream: { path: null },
  });
});

test('calls and their results are matched across the names of protocols', async () => {
  const { request } = await diffOf('/v1/chat/completions', {
    model: 'sim/gemini',
    messages: [
      { role: 'user', content: 'Weather?' },
      {
        role: 'assistant',
        tool_calls: [
          {
            id: 'call_1',
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city": "Paris"}' },
          },
        ],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ],
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: SCHEMA } }],
  });
  expect(row(request, atClient('messages[1].tool_calls[0].function.arguments'))).toMatchObject({
    state: 'same',
    upstream: { path: expect.stringMatching(/functionCall\.args$/), value: { city: 'Paris' } },
  });
  expect(row(request, atClient('messages[2].content'))).toMatchObject({
    state: 'same',
    upstream: { path: expect.stringMatching(/functionResponse\.response/) },
  });
});

test('without stored payloads there is no difference to show', async () => {
  const response = await fetch(`${gateway.origin}/v1/management/generations/${'0'.repeat(32)}/diff`, {
    headers: { authorization: `Bearer ${ADMIN_KEY}` },
  });
  expect(response.status).toBe(404);
});
