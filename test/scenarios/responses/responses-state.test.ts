// State of a response, and how the next turn goes on from it: over every way to an upstream, streamed and not.
import { afterAll, describe, expect, test } from 'bun:test';
import { ManualClock } from '../../support/manual-clock.ts';
import { messagesBody, whole } from '../../support/upstreams/answers.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import {
  OTHER_KEY_HEADERS,
  ask,
  result,
  saidIn,
  says,
  startResponses,
  reported,
  WAYS,
  WAYS_AND_MODES,
  WEATHER,
  type Way,
} from '../../support/responses-scene.ts';

const scene = await startResponses();
afterAll(() => scene[Symbol.asyncDispose]());

describe.each(WAYS_AND_MODES)('over %s, streamed: %p', (way, stream) => {
  test('a response is stored as it was sent, only for its key', async () => {
    scene.upstream.script(says(way, [{ text: 'Hello.' }]));
    const sent = await ask(scene, way, { input: 'Hi' }, stream);
    expect(saidIn(sent)).toEqual(['Hello.']);
    expect(sent.lane).toBe(way === 'relay' ? 'relay' : 'translate');
    expect(at(sent.body, 'store')).toBe(true);
    const found = await scene.gateway.get(`/responses/${sent.id}`);
    expect(await found.json()).toEqual(sent.body);
    const items = await (await scene.gateway.get(`/responses/${sent.id}/input_items`)).json();
    expect(at(items, 'data', 0, 'content', 0, 'text')).toBe('Hi');
    const url = `${scene.gateway.baseURL}/responses/${sent.id}`;
    expect((await fetch(url, { headers: OTHER_KEY_HEADERS })).status).toBe(404);
  });

  test('nothing is stored without store', async () => {
    scene.upstream.script(says(way, [{ text: 'Hello.' }]));
    const sent = await ask(scene, way, { input: 'Hi', store: false }, stream);
    expect(at(sent.body, 'store')).toBe(false);
    expect((await scene.gateway.get(`/responses/${sent.id}`)).status).toBe(404);
    const itemId = at(sent.body, 'output', 0, 'id');
    scene.upstream.script(says(way, [{ text: 'Never asked.' }]));
    const next = await ask(scene, way, { input: 'On', previous_response_id: sent.id }, stream);
    expect([next.status, at(next.body, 'error', 'code')]).toEqual([400, 'previous_response_not_found']);
    const reference = await ask(scene, way, { input: [{ type: 'item_reference', id: itemId }] }, stream);
    expect(reference.status).toBe(404);
    expect(scene.upstream.requests).toHaveLength(0);
  });

  test('a failed answer is not kept', async () => {
    scene.upstream.script(whole({ error: { message: 'down' } }, 500), says(way, [{ text: 'Never.' }]));
    const failed = await ask(scene, way, { input: 'Hi' }, stream);
    expect(failed.status).toBe(way === 'relay' ? 500 : 502);
    const id = `resp_${String(failed.id)}`;
    expect((await scene.gateway.get(`/responses/${id}`)).status).toBe(404);
  });
});

describe.each([false, true])('three turns of a chain, streamed: %p', (stream) => {
  // Every turn at another provider: the way of the first is that of none of the others.
  test.each(WAYS)('continue at other providers when begun over %s', async (first) => {
    const [one, two, three] = [0, 1, 2].map(
      (step) => WAYS[(WAYS.indexOf(first) + step) % WAYS.length] ?? first,
    ) as [Way, Way, Way];
    const common = { tools: [WEATHER] };
    scene.upstream.script(
      says(one, [{ text: 'Let me look.' }, { call: 'get_weather', id: 'call_r', args: { city: 'Rome' } }]),
      says(two, [{ text: 'Sunny.' }]),
      says(three, [{ text: 'You asked for Rome.' }]),
    );
    const asked = { ...common, input: 'Weather in Rome?', instructions: 'Speak French.' };
    const turn1 = await ask(scene, one, asked, stream);
    expect(saidIn(turn1)).toEqual(['Let me look.', 'get_weather {"city":"Rome"}']);
    const callId = String(at(turn1.body, 'output', 1, 'call_id'));
    const turn2 = await ask(
      scene,
      two,
      {
        ...common,
        input: [result(callId, 'sunny')],
        instructions: 'Speak Dutch.',
        previous_response_id: turn1.id,
      },
      stream,
    );
    const told2 = [
      'user: Weather in Rome?',
      'assistant: Let me look.',
      `call get_weather {"city":"Rome"} ${callId}`,
      `result ${callId}: sunny`,
    ];
    expect(reported(scene.upstream.requests[1])).toEqual(['system: Speak Dutch.', ...told2]);
    expect(at(turn2.body, 'previous_response_id')).toBe(turn1.id);
    const turn3 = await ask(scene, three, { input: 'Which city?', previous_response_id: turn2.id }, stream);
    expect(reported(scene.upstream.requests[2])).toEqual([
      ...told2,
      'assistant: Sunny.',
      'user: Which city?',
    ]);
    expect(saidIn(turn3)).toEqual(['You asked for Rome.']);
    const items = await (await scene.gateway.get(`/responses/${turn3.id}/input_items?order=asc`)).json();
    expect(list(items, 'data').map((item) => at(item, 'type'))).toEqual([
      'message',
      'message',
      'function_call',
      'function_call_output',
      'message',
      'message',
    ]);
  });
});

test('a chain branches: two turns go on from one response', async () => {
  scene.upstream.script(
    ...['One.', 'Left.', 'Right.', 'Left again.'].map((text) => says('chat', [{ text }])),
  );
  const root = await ask(scene, 'chat', { input: 'Start' }, false);
  const left = await ask(scene, 'chat', { input: 'L', previous_response_id: root.id }, false);
  await ask(scene, 'chat', { input: 'R', previous_response_id: root.id }, true);
  await ask(scene, 'chat', { input: 'LL', previous_response_id: left.id }, false);
  expect(scene.upstream.requests.slice(1).map(reported)).toEqual([
    ['user: Start', 'assistant: One.', 'user: L'],
    ['user: Start', 'assistant: One.', 'user: R'],
    ['user: Start', 'assistant: One.', 'user: L', 'assistant: Left.', 'user: LL'],
  ]);
});

describe('an id that cannot be continued', () => {
  const refused = async (body: object, headers: Record<string, string> = {}): Promise<readonly unknown[]> => {
    scene.upstream.script(says('chat', [{ text: 'Never.' }]));
    const answer = await ask(scene, 'chat', { input: 'Hi', ...body }, false, headers);
    expect(scene.upstream.requests).toHaveLength(0);
    return [answer.status, at(answer.body, 'error', 'param'), at(answer.body, 'error', 'code')];
  };
  const notFound = [400, 'previous_response_id', 'previous_response_not_found'];
  const kept = async (): Promise<string> => {
    scene.upstream.script(says('chat', [{ text: 'Hello.' }]));
    return (await ask(scene, 'chat', { input: 'Hi' }, false)).id;
  };

  test('is refused if it is unknown, of another key, or deleted', async () => {
    expect(await refused({ previous_response_id: 'resp_nobody' })).toEqual(notFound);
    const id = await kept();
    expect(await refused({ previous_response_id: id }, OTHER_KEY_HEADERS)).toEqual(notFound);
    await fetch(`${scene.gateway.baseURL}/responses/${id}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer sk-test' },
    });
    expect(await refused({ previous_response_id: id })).toEqual(notFound);
  });

  test('is refused if a part of its chain was deleted', async () => {
    const id = await kept();
    scene.upstream.script(says('chat', [{ text: 'Second.' }]));
    const second = await ask(scene, 'chat', { input: 'On', previous_response_id: id }, false);
    await fetch(`${scene.gateway.baseURL}/responses/${id}`, {
      method: 'DELETE',
      headers: { authorization: 'Bearer sk-test' },
    });
    expect(await refused({ previous_response_id: second.id })).toEqual(notFound);
  });

  test('names both a response and a conversation', async () => {
    const [status] = await refused({ previous_response_id: 'resp_a', conversation: 'conv_a' });
    expect(status).toBe(400);
  });

  test('has expired', async () => {
    const clock = new ManualClock();
    await using own = await startResponses({ clock, config: { state: { retention_days: 1 } } });
    own.upstream.script(says('chat', [{ text: 'Hello.' }]), says('chat', [{ text: 'Again.' }]));
    const { id } = await ask(own, 'chat', { input: 'Hi' }, false);
    clock.advance(23 * 3_600_000);
    expect((await ask(own, 'chat', { input: 'On', previous_response_id: id }, false)).status).toBe(200);
    clock.advance(3_600_001);
    expect((await ask(own, 'chat', { input: 'On', previous_response_id: id }, false)).status).toBe(400);
  });
});

describe('item_reference', () => {
  test.each(WAYS)('brings input and output items of a response back, over %s', async (way) => {
    scene.upstream.script(
      says(way, [{ call: 'get_weather', id: 'call_i', args: { city: 'Rome' } }]),
      says('messages', [{ text: 'Sunny.' }]),
    );
    const own = { id: 'msg_ofmine', type: 'message', role: 'user', content: 'Weather in Rome?' };
    const first = await ask(scene, way, { input: [own], tools: [WEATHER] }, true);
    const call = at(first.body, 'output', 0);
    const callId = String(at(call, 'call_id'));
    const input = [
      { type: 'item_reference', id: 'msg_ofmine' },
      { id: at(call, 'id') },
      result(callId, 'sunny'),
    ];
    const second = await ask(scene, 'messages', { input, tools: [WEATHER] }, false);
    expect(second.status).toBe(200);
    expect(reported(scene.upstream.requests[1])).toEqual([
      'user: Weather in Rome?',
      `call get_weather {"city":"Rome"} ${callId}`,
      `result ${callId}: sunny`,
    ]);
    // The second turn is kept by itself.
    const items = await (await scene.gateway.get(`/responses/${second.id}/input_items?order=asc`)).json();
    expect(list(items, 'data').map((item) => at(item, 'type'))).toEqual([
      'message',
      'function_call',
      'function_call_output',
    ]);
    const stranger = await ask(scene, 'chat', { input }, false, OTHER_KEY_HEADERS);
    expect([stranger.status, at(stranger.body, 'error', 'param')]).toEqual([404, 'input[0].id']);
  });

  test('brings an item of a conversation back', async () => {
    const made = await scene.gateway.post('/conversations', {
      items: [{ type: 'message', role: 'user', content: 'Remember the tea.' }],
    });
    const { id } = (await made.json()) as { id: string };
    const items = await (await scene.gateway.get(`/conversations/${id}/items`)).json();
    scene.upstream.script(whole(messagesBody([{ type: 'text', text: 'Tea.' }], 'end_turn')));
    const reference = { type: 'item_reference', id: at(items, 'data', 0, 'id') };
    await ask(scene, 'messages', { input: [reference, { role: 'user', content: 'What?' }] }, false);
    expect(reported(scene.upstream.requests[0])).toEqual(['user: Remember the tea.', 'user: What?']);
  });
});
