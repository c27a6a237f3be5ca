// Turns of a conversation: what was said before stands before them, what they say is appended whole or not at all, and
// no two of them run at once.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyIndex } from '../../../src/accounts/auth/index.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/storage.ts';
import { TEST_KEY } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { cutAfter, opened, silence, whole } from '../../support/upstreams/answers.ts';
import { StreamReading } from '../../support/upstreams/gateway-with-upstreams.ts';
import { at, list } from '../../support/upstreams/json-path.ts';
import type { Answer } from '../../support/upstreams/scripted-upstream.ts';
import {
  OTHER_KEY_HEADERS,
  ask,
  answered,
  result,
  saidIn,
  says,
  startResponses,
  reported,
  WAYS,
  WAYS_AND_MODES,
  WEATHER,
  wordsOf,
  type Way,
} from '../../support/responses-scene.ts';

const scene = await startResponses();
afterAll(() => scene[Symbol.asyncDispose]());

async function newConversation({ gateway } = scene): Promise<string> {
  const made = await gateway.post('/conversations', { items: [{ role: 'developer', content: 'Be brief.' }] });
  return ((await made.json()) as { id: string }).id;
}

/** Items of a conversation, a line for each. */
async function held(id: string, { gateway } = scene): Promise<string[]> {
  const page = await gateway.get(`/conversations/${id}/items?order=asc&limit=100`);
  return list(await page.json(), 'data').map((item) => {
    const text = at(item, 'content', 0, 'text') ?? at(item, 'arguments') ?? at(item, 'output');
    return `${at(item, 'role') ?? at(item, 'type')}: ${text}`;
  });
}

/** A stream of a way that has begun: its client sees content. */
function begun(way: Way): string {
  const words = wordsOf(way);
  return words.opening + words.piece('Half an');
}

describe.each(WAYS_AND_MODES)('over %s, streamed: %p', (way, stream) => {
  test('earlier items come first, and the turn is appended', async () => {
    const id = await newConversation();
    scene.upstream.script(
      says(way, [{ text: 'Looking.' }, { call: 'get_weather', id: 'call_c', args: { city: 'Rome' } }]),
      says(way, [{ text: 'Sunny.' }]),
    );
    const common = { conversation: id, tools: [WEATHER] };
    const first = await ask(scene, way, { ...common, input: 'Rome?', instructions: 'In French.' }, stream);
    expect(at(first.body, 'conversation')).toEqual({ id });
    const callId = String(at(first.body, 'output', 1, 'call_id'));
    // At once: the place is free when the answer is there.
    const second = await ask(
      scene,
      way,
      { ...common, conversation: { id }, input: [result(callId, 'sunny')] },
      stream,
    );
    expect(saidIn(second)).toEqual(['Sunny.']);
    const [one, two] = scene.upstream.requests.map(reported);
    // Some take all that the system says as one text.
    expect(one?.join('\n\n').replaceAll('system: ', '')).toBe('In French.\n\nBe brief.\n\nuser: Rome?');
    expect(two).toEqual([
      'system: Be brief.',
      'user: Rome?',
      'assistant: Looking.',
      `call get_weather {"city":"Rome"} ${callId}`,
      `result ${callId}: sunny`,
    ]);
    expect(await held(id)).toEqual([
      'developer: Be brief.',
      'user: Rome?',
      'assistant: Looking.',
      'function_call: {"city":"Rome"}',
      'function_call_output: sunny',
      'assistant: Sunny.',
    ]);
  });

  test('an incomplete turn is appended too, and one that is not stored as a response', async () => {
    const id = await newConversation();
    scene.upstream.script(says(way, [{ text: 'Once upon' }], true), says(way, [{ text: 'a time.' }]));
    const cut = await ask(scene, way, { conversation: id, input: 'A story.' }, stream);
    expect(at(cut.body, 'status')).toBe('incomplete');
    const rest = await ask(scene, way, { conversation: id, input: 'More.', store: false }, stream);
    expect((await scene.gateway.get(`/responses/${rest.id}`)).status).toBe(404);
    expect(await held(id)).toEqual([
      'developer: Be brief.',
      'user: A story.',
      'assistant: Once upon',
      'user: More.',
      'assistant: a time.',
    ]);
  });

  test('a failed turn leaves nothing, and the place is free', async () => {
    const id = await newConversation();
    const failures: Answer[] = [
      whole({ error: { message: 'down' } }, 500),
      wordsOf(way).overflow,
      ...(stream ? [cutAfter(begun(way))] : []),
    ];
    for (const failure of failures) {
      scene.upstream.script(failure);
      const failed = await ask(scene, way, { conversation: id, input: 'Lost.' }, stream);
      expect(failed.status !== 200 || at(failed.body, 'status') === 'failed').toBe(true);
      expect(await held(id)).toEqual(['developer: Be brief.']);
    }
    scene.upstream.script(says(way, [{ text: 'Here.' }]));
    expect((await ask(scene, way, { conversation: id, input: 'Again.' }, stream)).status).toBe(200);
    expect(await held(id)).toEqual(['developer: Be brief.', 'user: Again.', 'assistant: Here.']);
  });

  test('one of two concurrent turns is refused, and items are not interleaved', async () => {
    const id = await newConversation();
    let finish = (): void => {};
    scene.upstream.script(
      (exchange) => (finish = () => says(way, [{ text: 'First.' }])(exchange)),
      says(way, [{ text: 'Second.' }]),
    );
    const first = ask(scene, way, { conversation: id, input: 'One' }, stream);
    await scene.upstream.arrived(1);
    const refused = await ask(scene, way, { conversation: id, input: 'Two' }, stream);
    expect([refused.status, at(refused.body, 'error', 'code')]).toEqual([400, 'conversation_locked']);
    expect(scene.upstream.requests).toHaveLength(1);
    finish();
    expect((await first).status).toBe(200);
    expect((await ask(scene, way, { conversation: id, input: 'Two' }, stream)).status).toBe(200);
    expect(reported(scene.upstream.requests[1]).slice(1)).toEqual([
      'user: One',
      'assistant: First.',
      'user: Two',
    ]);
    expect(await held(id)).toHaveLength(5);
  });

  test('a client that leaves frees the place', async () => {
    const id = await newConversation();
    scene.upstream.script(stream ? opened(begun(way)) : silence, says(way, [{ text: 'Here.' }]));
    const leaving = new AbortController();
    const asked = fetch(`${scene.gateway.baseURL}/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: `to/${way}`, conversation: id, input: 'Bye', stream }),
      signal: leaving.signal,
    });
    const exchange = await scene.upstream.arrived(1);
    if (stream) await new StreamReading(await asked).until('Half an');
    leaving.abort();
    await asked.catch(() => {});
    await exchange.closed;
    let next = await ask(scene, way, { conversation: id, input: 'Back' }, stream);
    // The upstream hears of it first; what follows in the gateway takes a moment.
    while (next.status === 400) next = await ask(scene, way, { conversation: id, input: 'Back' }, stream);
    expect(next.status).toBe(200);
    expect(await held(id)).toEqual(['developer: Be brief.', 'user: Back', 'assistant: Here.']);
  });
});

test('many turns at once: as many succeed as are appended, each whole', async () => {
  const id = await newConversation();
  scene.upstream.always(says('chat', [{ text: 'Yes.' }]));
  const turns = await Promise.all(
    Array.from({ length: 24 }, (_, turn) =>
      ask(scene, 'chat', { conversation: id, input: `Turn ${turn}` }, turn % 2 === 0),
    ),
  );
  const counts = (status: number): number => turns.filter((turn) => turn.status === status).length;
  expect(counts(200)).toBeGreaterThan(0);
  expect(counts(200) + counts(400)).toBe(24);
  const [first, ...items] = await held(id);
  expect(first).toBe('developer: Be brief.');
  expect(items).toHaveLength(2 * counts(200));
  items.forEach((item, at) => expect(item).toMatch(at % 2 === 0 ? /^user: Turn/ : /^assistant: Yes/));
});

test('consecutive turns without a pause are never refused', async () => {
  const id = await newConversation();
  scene.upstream.always(says('chat', [{ text: 'Yes.' }]));
  for (let turn = 0; turn < 40; turn++)
    expect((await ask(scene, 'chat', { conversation: id, input: 'On' }, turn % 2 === 0)).status).toBe(200);
  expect(await held(id)).toHaveLength(81);
});

test('a turn that is refused at admission or by the plan unlocks the conversation', async () => {
  const id = await newConversation();
  const refusedFor = async (body: object): Promise<unknown[]> => {
    const refused = await scene.gateway.post('/responses', {
      model: 'chat/model',
      conversation: id,
      ...body,
    });
    return [refused.status, at((await refused.json()) as object, 'error', 'param')];
  };
  expect(await refusedFor({ input: [{ type: 'item_reference', id: 'msg_nobody' }] })).toEqual([
    404,
    'input[0].id',
  ]);
  expect(await refusedFor({ input: 'Hi', model: 'nobody/model' })).toEqual([404, 'model']);
  scene.upstream.script(says('chat', [{ text: 'Here.' }]));
  expect((await ask(scene, 'chat', { conversation: id, input: 'Now' }, false)).status).toBe(200);
  expect(await held(id)).toEqual(['developer: Be brief.', 'user: Now', 'assistant: Here.']);
});

test('a conversation that is unknown, deleted, or another key’s is a 404', async () => {
  const id = await newConversation();
  scene.upstream.script(says('chat', [{ text: 'Never.' }]));
  const statusOf = async (conversation: string, headers = {}): Promise<unknown[]> => {
    const answer = await ask(scene, 'chat', { conversation, input: 'Hi' }, false, headers);
    return [answer.status, at(answer.body, 'error', 'param')];
  };
  expect(await statusOf('conv_nobody')).toEqual([404, 'conversation']);
  expect(await statusOf(id, OTHER_KEY_HEADERS)).toEqual([404, 'conversation']);
  await fetch(`${scene.gateway.baseURL}/conversations/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  expect(await statusOf(id)).toEqual([404, 'conversation']);
  expect(scene.upstream.requests).toHaveLength(0);
});

test('a conversation that is deleted during a turn does not affect the response', async () => {
  const id = await newConversation();
  let finish = (): void => {};
  scene.upstream.script((exchange) => (finish = () => says('chat', [{ text: 'Late.' }])(exchange)));
  const turn = ask(scene, 'chat', { conversation: id, input: 'Hi' }, false);
  await scene.upstream.arrived(1);
  await fetch(`${scene.gateway.baseURL}/conversations/${id}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  finish();
  const answer = await turn;
  expect(saidIn(answer)).toEqual(['Late.']);
  expect((await scene.gateway.get(`/conversations/${id}/items`)).status).toBe(404);
  expect((await scene.gateway.get(`/responses/${answer.id}`)).status).toBe(200);
});

test('a conversation passes from provider to provider', async () => {
  const id = await newConversation();
  scene.upstream.script(...WAYS.map((way) => says(way, [{ text: `I am ${way}.` }])));
  for (const way of WAYS) await ask(scene, way, { conversation: id, input: `To ${way}` }, true);
  expect(reported(scene.upstream.requests.at(-1))).toEqual([
    'system: Be brief.',
    ...WAYS.slice(0, -1).flatMap((way) => [`user: To ${way}`, `assistant: I am ${way}.`]),
    'user: To messages',
  ]);
});

test('a process that died leaves the place when its time has run out', async () => {
  const clock = new ManualClock();
  const dataDir = mkdtempSync(join(tmpdir(), 'dragoman-lease-'));
  await using own = await startResponses({ clock, dataDir });
  const id = await newConversation(own);
  // A turn of another process that cannot end it any more.
  const storage = await openSqliteStorage({ path: join(dataDir, 'dragoman.db') });
  const keys = new KeyIndex({
    storage,
    pepper: await storage.secret('pepper'),
    configured: { keys: [{ name: 'test', key: TEST_KEY }] },
  });
  await keys.refresh();
  const { projectId } = keys.authenticate(TEST_KEY, clock.now());
  expect(await storage.conversations.beginTurn(projectId, id, 'dead', clock.now(), 600_000)).toBe(true);
  await storage.close();
  own.upstream.script(says('chat', [{ text: 'Alive.' }]));
  const body = { model: 'to/chat', conversation: id, input: 'Anyone?' };
  expect((await own.gateway.post('/responses', body)).status).toBe(400);
  clock.advance(600_001);
  const answer = await answered(await own.gateway.post('/responses', body));
  expect(saidIn(answer)).toEqual(['Alive.']);
});
