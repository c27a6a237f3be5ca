// Answers with tools of the gateway in every way in which answers are delivered: held back, completed by another endpoint,
// asked twice at once, over a WebSocket, in a conversation, repeated under an idempotency key.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { SocketClient } from '../../support/socket-client.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import { serverAt, startToolScene } from '../../support/upstreams/tool-scene.ts';
import {
  OTHER_KEY_HEADERS,
  ask,
  SECOND,
  says,
  reported,
  wordsOf,
  type Answered,
} from '../../support/responses-scene.ts';

const scene = await startToolScene();
beforeEach(() => scene.web.clear());
afterAll(() => scene[Symbol.asyncDispose]());

const SEARCH = { type: 'web_search' };
const CALL = 'call web_search {"query": "longest river"}';
const SUM = 'call sums__add {"a": 1, "b": 2}';

const typesOf = ({ body }: Pick<Answered, 'body'>): string[] =>
  list(body, 'output').map((item) => String(at(item, 'type')));
const asking = (): object => serverAt(scene.mcp.url, { require_approval: 'always' });
const allow = (id: unknown): object => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve: true,
});

describe.each([false, true])('streamed: %p', (stream) => {
  test.each([{ stream_safety: 'buffer' }, { stream_safety: 'continue' }, { hedge: true }])(
    'an answer with %j is the same',
    async (provider) => {
      const body = { model: 'sim/chat', input: CALL, tools: [SEARCH], provider };
      const answer = await ask(scene, 'chat', body, stream);
      expect(typesOf(answer)).toEqual(['web_search_call', 'message']);
      expect(list(answer.body, 'output', 1, 'content', 0, 'annotations')).toHaveLength(3);
      expect(scene.web.searches).toHaveLength(1);
    },
  );

  test('a conversation keeps the question, its answer and the call', async () => {
    const conversation = String(at(await (await scene.gateway.post('/conversations', {})).json(), 'id'));
    const body = { model: 'sim/chat', conversation, tools: [asking()] };
    const first = await ask(scene, 'chat', { ...body, input: SUM }, stream);
    const id = at(list(first.body, 'output').at(-1), 'id');
    const second = await ask(scene, 'chat', { ...body, input: [allow(id)] }, stream);
    expect(typesOf(second)).toEqual(['mcp_call', 'message']);
    const items = await scene.gateway.get(`/conversations/${conversation}/items?order=asc`);
    expect(list(await items.json(), 'data').map((item) => at(item, 'type') ?? null)).toEqual([
      'message',
      'mcp_list_tools',
      'mcp_approval_request',
      'mcp_approval_response',
      'mcp_call',
      'message',
    ]);
    // An answer that was given already makes no second call.
    const calls = scene.mcp.calls.length;
    await ask(scene, 'chat', { ...body, input: [allow(id), { role: 'user', content: 'Thanks' }] }, stream);
    expect(scene.mcp.calls).toHaveLength(calls);
  });

  test('another key cannot allow the call', async () => {
    const calls = scene.mcp.calls.length;
    const body = { model: 'sim/chat', tools: [asking()] };
    const first = await ask(scene, 'chat', { ...body, input: SUM }, stream);
    const input = [allow(at(list(first.body, 'output').at(-1), 'id'))];
    const next = { ...body, input, previous_response_id: first.id };
    expect((await ask(scene, 'chat', next, stream, OTHER_KEY_HEADERS)).status).toBe(400);
    expect((await ask(scene, 'chat', { ...body, input }, stream, OTHER_KEY_HEADERS)).status).toBe(400);
    expect(scene.mcp.calls).toHaveLength(calls);
  });

  test('a repetition under the same idempotency key searches and pays nothing again', async () => {
    const body = { model: 'sim/chat', input: CALL, tools: [SEARCH] };
    const key = { 'idempotency-key': `tools-${stream}` };
    const first = await ask(scene, 'chat', body, stream, key);
    const second = await ask(scene, 'chat', body, stream, key);
    expect(second.body).toEqual(first.body);
    expect(scene.web.searches).toHaveLength(1);
  });
});

test.each(['chat', 'responses', 'messages'] as const)(
  'a response over %s that is interrupted after its search is completed by another endpoint, citations included',
  async (way) => {
    scene.upstream.script(
      says(way, [{ call: 'web_search', id: 'call_a', args: { query: 'q' } }]),
      (exchange) => {
        exchange.openStream();
        exchange.chunk(wordsOf(way).opening + wordsOf(way).piece('Half of '));
        setImmediate(() => exchange.cut());
      },
      says(SECOND[way], [{ text: 'the answer[1].' }]),
    );
    const body = {
      model: `two/${way}`,
      input: 'Go',
      tools: [SEARCH],
      provider: { stream_safety: 'continue' },
    };
    const answer = await ask(scene, way, body, true);
    const part = at(answer.body, 'output', 1, 'content', 0);
    expect(at(part, 'text')).toBe('Half of the answer[1].');
    expect([at(part, 'annotations', 0, 'start_index'), at(part, 'annotations', 0, 'end_index')]).toEqual([
      18, 21,
    ]);
    expect(reported(scene.upstream.requests[2]).join('\n')).toContain('The Ounas is 299 km long.');
  },
);

test('an approval works over a WebSocket without stored state', async () => {
  await using socket = await SocketClient.open(scene.gateway.origin);
  const body = { model: 'sim/chat', store: false, tools: [asking()] };
  const first = await socket.turn({ ...body, input: SUM });
  const response = at(first.at(-1), 'response') ?? null;
  expect(typesOf({ body: response })).toEqual(['mcp_list_tools', 'mcp_approval_request']);
  const input = [allow(at(response, 'output', 1, 'id'))];
  const next = { ...body, input, previous_response_id: at(response, 'id') };
  const second = await socket.turn(next);
  expect(typesOf({ body: at(second.at(-1), 'response') ?? null })).toEqual(['mcp_call', 'message']);
});

test('tools are listed once for many calls in one answer', async () => {
  const before = scene.mcp.requests.length;
  const input =
    'call sums__add {"a": 1, "b": 2}\ncall sums__echo {"text": "a"}\ncall sums__add {"a": 3, "b": 4}';
  const body = { model: 'sim/messages', input, tools: [serverAt(scene.mcp.url)] };
  expect(typesOf(await ask(scene, 'chat', body, true)).filter((type) => type === 'mcp_call')).toHaveLength(3);
  const posts = scene.mcp.requests.slice(before).filter(({ method }) => method === 'POST');
  // initialize, initialized, one list, three calls.
  expect(posts).toHaveLength(6);
  await scene.mcp.ended();
});
