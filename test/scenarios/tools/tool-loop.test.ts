// Several turns of a model as one answer: tools of the client among those of the gateway, forced and forbidden calls,
// limits over all turns, and whatever may go wrong between them.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { ArmedClock } from '../../support/upstreams/armed-clock.ts';
import { attemptsOf, recordOf, StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list, type Json } from '../../support/upstreams/json-path.ts';
import { NO_ANSWER, SIMULATED_BOTH, serverAt, startToolScene } from '../../support/upstreams/tool-scene.ts';
import {
  answered,
  ask,
  result,
  says,
  reported,
  WEATHER,
  wordsOf,
  type Answered,
  type Way,
} from '../../support/responses-scene.ts';
import { eventually } from '../../support/program.ts';

const formless = {
  provider: 'up',
  model: 'm',
  protocol: 'openai-chat',
  quirks: { structured_output: 'none' },
};
const scene = await startToolScene({ models: [{ id: 'formless', endpoints: [formless] }] });
beforeEach(() => scene.web.clear());
afterAll(() => scene[Symbol.asyncDispose]());

const SEARCH = { type: 'web_search' };
const CALL = 'call web_search {"query": "longest river"}';
const search = (id: string, query = 'q') => ({ call: 'web_search', id, args: { query } });

function typesOf(answer: Answered): string[] {
  return list(answer.body, 'output')
    .map((item) => String(at(item, 'type')))
    .filter((type) => type !== 'reasoning');
}

function asResponse({ id }: Answered): Response {
  return new Response('', { headers: { 'x-request-id': id.replace(/^resp_/, '') } });
}

const WAYS = ['chat', 'responses', 'messages'] as const satisfies readonly Way[];
const WAYS_AND_MODES = WAYS.flatMap((way) => [false, true].map((stream) => [way, stream] as const));

describe.each(SIMULATED_BOTH)('%s, streamed: %p', (model, stream) => {
  test('hosted calls run, control returns for a client call, and the search is remembered', async () => {
    const tools = [SEARCH, WEATHER];
    const input = `Both.\n${CALL}\ncall get_weather {"city": "Oulu"}`;
    const first = await ask(scene, 'chat', { model, tools, input }, stream);
    expect(typesOf(first)).toEqual(['web_search_call', 'function_call']);
    expect(at(first.body, 'status')).toBe('completed');
    const call = list(first.body, 'output').at(-1);
    expect(call).toMatchObject({ name: 'get_weather', arguments: '{"city":"Oulu"}' } as object);
    const again = [result(String(at(call, 'call_id')), 'fog')];
    const body = { model, tools, input: again, previous_response_id: first.id };
    const second = await ask(scene, 'chat', body, stream);
    expect(typesOf(second)).toEqual(['message']);
    expect(JSON.stringify(second.body)).toContain('fog');
    expect(scene.web.searches).toHaveLength(1);
  });

  test('a search of an earlier response is not repeated, and a new one runs', async () => {
    const first = await ask(scene, 'chat', { model, tools: [SEARCH], input: CALL }, stream);
    const next = { model, tools: [SEARCH], input: `More.\n${CALL}`, previous_response_id: first.id };
    const second = await ask(scene, 'chat', next, stream);
    expect(typesOf(second)).toEqual(['web_search_call', 'message']);
    expect(scene.web.searches).toHaveLength(2);
  });
});

describe.each(WAYS_AND_MODES)('over %s, streamed: %p', (way, stream) => {
  const go = (body: object): Promise<Answered> =>
    ask(scene, way, { input: 'Go', tools: [SEARCH], ...body }, stream);

  test('with a call of the client and a hosted one, the hosted call runs, and the model reads both results in the next request', async () => {
    scene.upstream.script(
      says(way, [
        { text: 'Looking.' },
        search('call_a'),
        { call: 'get_weather', id: 'call_b', args: { city: 'Oulu' } },
      ]),
      says(way, [{ text: 'Done.' }]),
    );
    const tools = [SEARCH, WEATHER];
    const first = await go({ tools });
    expect(typesOf(first).toSorted()).toEqual(['function_call', 'message', 'web_search_call']);
    expect(list(first.body, 'output').find((item) => at(item, 'type') === 'web_search_call')).toMatchObject({
      status: 'completed',
    } as object);
    expect(scene.upstream.requests).toHaveLength(1);
    await go({ tools, input: [result('call_b', 'fog')], previous_response_id: first.id });
    const lines = reported(scene.upstream.requests[1]);
    expect(lines.filter((line) => line.startsWith('call '))).toHaveLength(2);
    expect(lines.find((line) => line.startsWith('result call_b'))).toContain('fog');
    expect(lines.join('\n')).toContain('The Ounas is 299 km long.');
    expect(scene.web.searches).toHaveLength(1);
  });

  test('a client that sends the items back itself gets the same', async () => {
    scene.upstream.script(
      says(way, [search('call_a'), { call: 'get_weather', id: 'call_b', args: { city: 'Oulu' } }]),
      says(way, [{ text: 'Done.' }]),
    );
    const tools = [SEARCH, WEATHER];
    const first = await go({ tools, store: false, include: ['web_search_call.results'] });
    const output = list(first.body, 'output');
    await go({
      tools,
      store: false,
      input: [{ role: 'user', content: 'Go' }, ...output, result('call_b', 'fog')],
    });
    const lines = reported(scene.upstream.requests[1]);
    expect(lines.join('\n')).toContain('The Ounas is 299 km long.');
    expect(lines.filter((line) => line.startsWith('result '))).toHaveLength(2);
  });

  test('several searches in one turn run together and keep their order', async () => {
    scene.upstream.script(
      says(way, [search('call_a', 'one'), search('call_b', 'two')]),
      says(way, [{ text: 'Done.' }]),
    );
    const answer = await go({});
    const queries = list(answer.body, 'output').map((item) => at(item, 'action', 'query') ?? null);
    expect(queries.slice(0, 2)).toEqual(['one', 'two']);
    const lines = reported(scene.upstream.requests[1]);
    expect(
      lines.map((line) => line.split(' ').slice(0, 2).join(' ')).filter((line) => line.startsWith('result')),
    ).toEqual(['result call_a:', 'result call_b:']);
  });

  test('a forced search is forced in the first turn alone', async () => {
    scene.upstream.script(says(way, [search('call_a')]), says(way, [{ text: 'Done.' }]));
    const answer = await go({ tool_choice: { type: 'web_search' } });
    const [first, second] = scene.upstream.requests;
    expect(JSON.stringify(at(first?.json, 'tool_choice'))).toContain('web_search');
    expect(JSON.stringify(at(second?.json, 'tool_choice') ?? 'auto')).not.toContain('web_search');
    expect(at(answer.body, 'tool_choice')).toEqual({ type: 'web_search' });
  });

  test('the model is limited to one call at a time', async () => {
    scene.upstream.script(says(way, [search('call_a')]), says(way, [{ text: 'Done.' }]));
    await go({ parallel_tool_calls: false });
    for (const { text } of scene.upstream.requests)
      expect(text).toMatch(/"parallel_tool_calls":false|"disable_parallel_tool_use":true/);
  });

  test('the output limit holds for all turns together', async () => {
    scene.upstream.script(says(way, [search('call_a')]), says(way, [{ text: 'Done.' }]));
    await go({ max_output_tokens: 500 });
    const limitOf = (json: unknown): number =>
      Number(at(json, 'max_completion_tokens') ?? at(json, 'max_tokens') ?? at(json, 'max_output_tokens'));
    const [first, second] = scene.upstream.requests.map(({ json }) => limitOf(json));
    expect(first).toBe(500);
    expect(second).toBeLessThan(500);
    expect(second).toBeGreaterThan(0);
  });

  test('a call in the middle of which the limit was reached is not run', async () => {
    scene.upstream.script(says(way, [search('call_a')], true));
    const answer = await go({});
    expect([at(answer.body, 'status'), at(answer.body, 'incomplete_details', 'reason')]).toEqual([
      'incomplete',
      'max_output_tokens',
    ]);
    expect(scene.web.searches).toHaveLength(0);
    expect(list(answer.body, 'output').map((item) => at(item, 'status'))).toEqual(['failed']);
  });

  test('the model gets an error for arguments that are no JSON', async () => {
    scene.upstream.script(
      says(way, [{ call: 'web_search', id: 'call_a', args: {} }]),
      says(way, [{ text: 'Done.' }]),
    );
    const answer = await go({});
    expect(at(answer.body, 'output', 0, 'status')).toBe('failed');
    expect(reported(scene.upstream.requests[1]).join('\n')).toContain('must have a query');
  });

  test('a second turn that fails before its content goes to another endpoint', async () => {
    scene.upstream.script(
      says(way, [search('call_a')]),
      wordsOf(way).error(500),
      says(way === 'chat' ? 'messages' : way === 'responses' ? 'chat' : 'chat', [{ text: 'Saved.' }]),
    );
    const answer = await go({ model: `two/${way}` });
    expect(at(answer.body, 'status')).toBe('completed');
    expect(typesOf(answer)).toEqual(['web_search_call', 'message']);
    const record = await recordOf(scene.gateway, asResponse(answer));
    expect(attemptsOf(record)).toEqual(['up completed', 'up failed', 'up completed']);
    expect(at(record, 'requestRetryTimes')).toBe(1);
    expect(reported(scene.upstream.requests[2]).join('\n')).toContain('The Ounas is 299 km long.');
    expect(scene.web.searches).toHaveLength(1);
  });

  test('a second turn that no endpoint can serve fails, and reports the completed calls', async () => {
    scene.upstream.script(says(way, [search('call_a')]), wordsOf(way).error(500));
    const answer = await go({});
    expect(answer.status).toBe(200);
    expect(at(answer.body, 'status')).toBe('failed');
    expect(at(answer.body, 'error', 'code')).toBeString();
    expect(list(answer.body, 'output').map((item) => at(item, 'type') ?? null)).toEqual(['web_search_call']);
    const record = await recordOf(scene.gateway, asResponse(answer));
    expect(attemptsOf(record)).toEqual(['up completed', 'up failed']);
    expect(at(record, 'nativeTokens', 'tool_calls')).toEqual({ web_search: 1 });
  });
});

describe('a client that goes away while a tool runs', () => {
  test.each([false, true])('stops the tool, and the record shows it (streamed: %p)', async (stream) => {
    scene.web.next(NO_ANSWER);
    const leave = new AbortController();
    const body = {
      model: 'sim/chat',
      stream,
      tools: [SEARCH],
      input: CALL,
      metadata: { test: `left ${stream}` },
    };
    const response = fetch(`${scene.gateway.baseURL}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${scene.gateway.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: leave.signal,
    });
    let id = '';
    if (stream) {
      const reading = new StreamReading(await response);
      id = (await response).headers.get('x-request-id') ?? '';
      await reading.until('searching');
      await scene.web.searched(1);
      leave.abort();
    } else {
      await scene.web.searched(1);
      leave.abort();
      await response.catch(() => undefined);
    }
    await scene.web.searches[0]?.gone;
    if (!stream) return;
    await eventually(
      'there is a record',
      async () => (await scene.gateway.get(`/generation?id=${id}`)).status === 200,
    );
    const record = (await (await scene.gateway.get(`/generation?id=${id}`)).json()) as Json;
    expect(at(record, 'cancelled')).toBe(true);
    expect(attemptsOf(record)).toEqual(['sim completed']);
  });
});

describe('the deadline of the request', () => {
  test.each([false, true])('ends a tool that is still running (streamed: %p)', async (stream) => {
    const clock = new ArmedClock();
    const routing = { timeouts: { total_ms: 5000 } };
    await using slow = await startToolScene({ clock, config: { routing } });
    slow.web.next(NO_ANSWER);
    const asked = slow.gateway.post('/responses', {
      model: 'sim/chat',
      stream,
      tools: [SEARCH],
      input: CALL,
    });
    await slow.web.searched(1);
    clock.advance(5001);
    await slow.web.searches[0]?.gone;
    const { status, body } = await answered(await asked);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'failed', error: { message: expect.stringContaining('5000 ms') } });
    expect(at(body, 'output', 0)).toMatchObject({ type: 'web_search_call', status: 'failed' } as object);
    expect(list(body, 'output')).toHaveLength(1);
  });
});

test('a stream that breaks in its second turn ends with a native error after the completed work', async () => {
  for (const way of WAYS) {
    scene.upstream.script(says(way, [search('call_a')]), (exchange) => {
      exchange.openStream();
      exchange.chunk(wordsOf(way).opening + wordsOf(way).piece('Half an ans'));
      setImmediate(() => exchange.cut());
    });
    const answer = await ask(scene, way, { input: 'Go', tools: [SEARCH] }, true);
    expect(at(answer.body, 'status')).toBe('failed');
    expect(typesOf(answer)[0]).toBe('web_search_call');
    expect(JSON.stringify(answer.frames)).toContain('Half an ans');
  }
});

test('tools of a server and a search in one answer', async () => {
  for (const stream of [false, true]) {
    const tools = [SEARCH, serverAt(scene.mcp.url)];
    const input = `${CALL}\ncall sums__add {"a": 2, "b": 3}`;
    const answer = await ask(
      scene,
      'chat',
      { model: 'sim/messages', tools, input, max_tool_calls: 5 },
      stream,
    );
    expect(typesOf(answer)).toEqual(['mcp_list_tools', 'web_search_call', 'mcp_call', 'message']);
    const limited = await ask(
      scene,
      'chat',
      { model: 'sim/messages', tools, input, max_tool_calls: 1 },
      stream,
    );
    expect(typesOf(limited)).toEqual(['mcp_list_tools', 'web_search_call', 'message']);
  }
});

test.each(['sim/chat', 'sim/responses', 'sim/messages', 'sim/deepseek'])(
  'calls of the gateway’s and the client’s tools after one reasoning of %s are both completed',
  async (model) => {
    const tools = [WEATHER, serverAt(scene.mcp.url, { allowed_tools: ['echo'] })];
    const input = 'In parallel: get_weather and sums__echo';
    const first = await ask(scene, 'chat', { model, tools, input }, true);
    expect(typesOf(first).toSorted()).toEqual(['function_call', 'mcp_call', 'mcp_list_tools']);
    const call = list(first.body, 'output').find((item) => at(item, 'type') === 'function_call');
    const answers = [result(String(at(call, 'call_id')), 'fog')];
    const body = { model, tools, input: answers, previous_response_id: first.id };
    const second = await ask(scene, 'chat', body, true);
    expect(at(second.body, 'status')).toBe('completed');
    expect(JSON.stringify(second.body)).toContain('fog');
  },
);

test.each(SIMULATED_BOTH)(
  'over %s, streamed: %p, strict mode accepts results of tools, which are no loss of the request',
  async (model, stream) => {
    const tools = [serverAt(scene.mcp.url), { ...SEARCH, filters: { allowed_domains: ['no domain!'] } }];
    const input = `call sums__fail {}\n${CALL}`;
    const strictly = { 'x-dragoman-strict': 'true' };
    const first = await ask(scene, 'chat', { model, tools, input }, stream, strictly);
    expect([at(first.body, 'status'), first.report]).toEqual(['completed', '']);
    expect(typesOf(first)).toEqual(['mcp_list_tools', 'mcp_call', 'web_search_call', 'message']);
    const next = { model, tools, input: 'Thanks, no tools', previous_response_id: first.id };
    const second = await ask(scene, 'chat', next, stream, strictly);
    expect([second.status, second.report]).toEqual([200, '']);
  },
);

test('the repair of an answer in a required form calls no tools', async () => {
  const schema = {
    type: 'object',
    properties: { km: { type: 'number' } },
    required: ['km'],
    additionalProperties: false,
  };
  const text = { format: { type: 'json_schema', name: 'river', schema } };
  scene.upstream.script(
    says('chat', [search('call_a')]),
    says('chat', [{ text: 'It is long.' }]),
    says('chat', [{ text: '{"km":299}' }]),
  );
  const answer = await ask(scene, 'chat', { model: 'formless', input: 'Go', tools: [SEARCH], text }, false);
  expect(list(answer.body, 'output').map((item) => at(item, 'type') ?? null)).toEqual([
    'web_search_call',
    'message',
  ]);
  expect(at(answer.body, 'output', 1, 'content', 0, 'text')).toBe('{"km":299}');
  const choices = scene.upstream.requests.map(({ json }) => at(json, 'tool_choice') ?? null);
  expect(choices).toEqual([null, null, 'none']);
});
