// Interactions that go on at Google after their request has ended: who is asked about them, what they cost in the end, and
// readers that are slower than Google.
import { afterAll, beforeEach, expect, test } from 'bun:test';
import { startGateway } from '../../support/harness.ts';
import {
  answer,
  asFrames,
  type Event,
  EVENTS,
  INTERACTION,
  stream,
} from '../../support/upstreams/interactions.ts';
import { type ScriptedUpstream, startUpstream } from '../../support/upstreams/scripted-upstream.ts';
import { eventually } from '../../support/program.ts';

const MODEL = 'both/flash';
const PRICE = { input: 1, output: 2 };
const USAGE = { total_input_tokens: 1000, total_output_tokens: 500, total_tokens: 1500 };
const PENDING = { id: 'v1_later', model: 'm', status: 'in_progress' };
const DONE = { ...INTERACTION, id: 'v1_later', usage: USAGE };

const [first, second] = await Promise.all([startUpstream(), startUpstream()]);
const provider = ({ origin }: ScriptedUpstream, key: string): object => ({
  api_key: key,
  protocols: { 'gemini-interactions': { base_url: `${origin}/v1beta`, faithful: true } },
});
const endpoint = (name: string): object => ({ provider: name, model: 'm', price: PRICE });
const gateway = await startGateway({
  providers: { first: provider(first, 'sk-first'), second: provider(second, 'sk-second') },
  models: [{ id: MODEL, endpoints: [endpoint('first'), endpoint('second')] }],
  routing: { retries: 0 },
});
afterAll(async () => {
  await gateway.close();
  await Promise.all([first.stop(), second.stop()]);
});
beforeEach(() => {
  first.script();
  second.script();
});

function ask(path: string, body?: object): Promise<Response> {
  return fetch(`${gateway.origin}/v1beta/interactions${path}`, {
    method: body ? 'POST' : 'GET',
    headers: { 'x-goog-api-key': gateway.key, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** Makes one in the background. @returns its id */
async function begun(): Promise<string> {
  first.script(answer(PENDING));
  const answered = await ask('', { model: MODEL, input: 'Find out.', background: true });
  expect(answered.status).toBe(200);
  first.script();
  return ((await answered.json()) as { id: string }).id;
}

async function recordOf(id: string): Promise<Event> {
  return (await (await gateway.get(`/generation?id=${id}`)).json()) as Event;
}

test('the continuation of an interaction is sent only to its provider, and to no fallback', async () => {
  const id = await begun();
  const refused = { error: { code: 503, message: 'overloaded', status: 'UNAVAILABLE' } };
  first.always(answer(refused, 503));
  second.always(answer(INTERACTION));
  const follow = (provider: object): Promise<Response> =>
    ask('', { model: MODEL, input: 'And?', previous_interaction_id: id, provider });
  for (const provider of [{}, { fallback: 'second' }, { only: ['second', 'first'] }, { order: ['second'] }])
    expect([provider, (await follow(provider)).status]).toEqual([provider, 503]);
  expect(first.requests.length).toBe(4);
  const remote = await follow({ only: ['second'] });
  expect(remote.status).toBe(400);
  expect(await remote.text()).toContain('previous_interaction_id');
  expect(first.requests.length).toBe(4);
  expect(second.requests).toEqual([]);
  // A conversation that begins may go anywhere.
  const fresh = await ask('', { model: MODEL, input: 'Hello' });
  expect(fresh.headers.get('x-dragoman-provider')).toBe('second');
});

test('a background interaction is counted once, by the first read after its end', async () => {
  const id = await begun();
  expect(await recordOf(id)).toMatchObject({ native_tokens: null, cost: null });
  first.script(answer(PENDING));
  await ask(`/${id}`);
  expect(await recordOf(id)).toMatchObject({ native_tokens: null, cost: null });
  for (let reading = 0; reading < 2; reading++) {
    first.script(answer(DONE));
    expect(await (await ask(`/${id}`)).json()).toMatchObject({ id, usage: USAGE });
    expect(await recordOf(id)).toMatchObject({
      native_tokens: { prompt_tokens: 1000, completion_tokens: 500 },
      cost: { usd: 0.002 },
    });
  }
});

test('a background interaction is also counted by the last event of its stream, but not if its price is unknown', async () => {
  const id = await begun();
  const completed = { event_type: 'interaction.completed', interaction: { ...DONE, service_tier: 'flex' } };
  first.script(stream(asFrames([...EVENTS.slice(2, 9), completed]), 7));
  expect(await (await ask(`/${id}?stream=true`)).text()).toContain(`"id":"${id}"`);
  const { native_tokens: tokens, cost } = await recordOf(id);
  expect(tokens).toMatchObject({ prompt_tokens: 1000, completion_tokens: 500 });
  expect(cost).toMatchObject({ usd: null });
});

test('a reader that is slower than Google holds Google up', async () => {
  const id = await begun();
  const megabyte = asFrames([
    { event_type: 'step.delta', index: 1, delta: { type: 'text', text: 'x'.repeat(1e6) } },
  ]);
  first.always((exchange) => {
    exchange.openStream();
    for (let count = 0; count < 32; count++) exchange.chunk(megabyte);
    exchange.endStream();
  });
  const answered = await ask(`/${id}?stream=true`);
  const exchange = await first.arrived(1);
  const reader = answered.body?.getReader();
  let size = (await reader?.read())?.value?.length ?? 0;
  expect(exchange.unsentBytes).toBeGreaterThan(8e6);
  for (;;) {
    const { done, value } = (await reader?.read()) ?? { done: true };
    if (done) break;
    size += value?.length ?? 0;
  }
  expect(size).toBe(32 * megabyte.length);
  expect(exchange.unsentBytes).toBe(0);
});

test('a stream that is cut off ends with an error, and an unreachable upstream is an error', async () => {
  const id = await begun();
  first.script((exchange) => {
    exchange.openStream();
    exchange.chunk(asFrames(EVENTS.slice(0, 3)));
    exchange.cut();
  });
  const text = await (await ask(`/${id}?stream=true`)).text();
  expect(text).toContain('"event_type":"error"');
  expect(text).toEndWith('data: [DONE]\n\n');
  first.script((exchange) => exchange.cut());
  const gone = await ask(`/${id}`);
  expect([gone.status, await gone.json()]).toMatchObject([503, { error: { status: 'UNAVAILABLE' } }]);
});

test('memory for a response in transit is counted and released', async () => {
  const id = await begun();
  const text = JSON.stringify({ ...DONE, steps: [{ type: 'model_output', content: 'x'.repeat(4e6) }] });
  first.always((exchange) => {
    exchange.head(200, { 'content-type': 'application/json', 'content-length': `${text.length}` });
    exchange.raw(text.slice(0, 3e6));
  });
  const answering = ask(`/${id}`);
  const exchange = await first.arrived(1);
  await heldBytes((bytes) => bytes > 2.9e6);
  exchange.raw(text.slice(3e6));
  expect((await (await answering).text()).length).toBeGreaterThan(4e6);
  await heldBytes((bytes) => bytes === 0);
});

/** Waits until the gateway says that it holds so much. */
async function heldBytes(isMet: (bytes: number) => boolean): Promise<void> {
  await eventually('it holds so much', async () => {
    const ready = await fetch(`${gateway.origin}/readyz`);
    return isMet(((await ready.json()) as { held_bytes: number }).held_bytes);
  });
}

test.each([
  'gs://bucket/a.png',
  'files/x',
  'x',
  ' https://generativelanguage.googleapis.com/v1beta/files/x',
  'https://generativelanguage.googleapis.com:443/v1beta/files/x',
  '//generativelanguage.googleapis.com/v1beta/files/x',
])('a file of the account is not found by %j, and nothing is sent', async (uri) => {
  const input = [{ role: 'user', content: [{ type: 'image', uri }] }];
  expect((await ask('', { model: MODEL, input })).status).toBe(404);
  expect([...first.requests, ...second.requests]).toEqual([]);
});
