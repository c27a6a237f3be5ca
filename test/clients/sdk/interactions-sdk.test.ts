// Google's official SDK, unmodified, in front of an upstream that keeps interactions: what it makes, reads again, deletes
// and stops, and what of it reaches Google.
import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import { GoogleGenAI } from '@google/genai';
import { startGateway } from '../../support/harness.ts';
import {
  answer,
  asFrames,
  type Event,
  EVENTS,
  INTERACTION,
  MODEL,
  STREAM,
  stream,
} from '../../support/upstreams/interactions.ts';
import { startUpstream } from '../../support/upstreams/scripted-upstream.ts';

/** Counts in the records of either. */
const COUNTED = {
  api: 'interactions',
  protocol: 'gemini-interactions',
  lane: 'relay',
  model: MODEL,
  finish_reason: 'stop',
  native_finish_reason: 'completed',
  native_tokens: {
    prompt_tokens: 7,
    completion_tokens: 5,
    completion_tokens_details: { reasoning_tokens: 2 },
  },
  // 0.50 and 3 USD for a million tokens.
  cost: { usd: 0.0000185 },
  attempts: [{ provider: 'google', outcome: 'completed', upstream_id: 'v1_upstream' }],
};
const OWN_ID = /^[0-9a-f]{32}$/;

const upstream = await startUpstream();
const gateway = await startGateway({
  keys: [
    { name: 'test', key: 'sk-test' },
    { name: 'other', key: 'sk-other' },
  ],
  providers: { google: { api_key: 'sk-google', base_url: `${upstream.origin}/v1beta` } },
  routing: { retries: 0 },
});
const ai = clientWith(gateway.key);
afterAll(async () => {
  await gateway.close();
  await upstream.stop();
});
beforeEach(() => upstream.script());

function clientWith(apiKey: string): GoogleGenAI {
  const httpOptions = { baseUrl: gateway.origin, retryOptions: { attempts: 1 } };
  return new GoogleGenAI({ apiKey, httpOptions });
}

/** The events as clients see them. */
function named(events: readonly Event[], id: string): Event[] {
  return events.map(({ interaction, ...event }) => ({
    ...event,
    ...(interaction !== undefined && { interaction: { ...(interaction as object), id, model: MODEL } }),
    ...('interaction_id' in event && { interaction_id: id }),
  }));
}

async function eventsOf(source: AsyncIterable<unknown>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of source) events.push(event as Event);
  return events;
}

async function recordOf(id: string): Promise<Event> {
  const found = await gateway.get(`/generation?id=${id}`);
  expect(found.status).toBe(200);
  return (await found.json()) as Event;
}

describe('creating an interaction', () => {
  test("a whole answer passes under the gateway's names, and is counted", async () => {
    upstream.script(answer(INTERACTION));
    const made = await ai.interactions.create({
      model: MODEL,
      input: 'Hello',
      system_instruction: 'Be brief.',
      generation_config: { thinking_level: 'low' },
    });
    expect(upstream.requests).toMatchObject([
      {
        method: 'POST',
        path: '/v1beta/interactions',
        headers: { 'x-goog-api-key': 'sk-google' },
        json: {
          model: 'gemini-3-flash-preview',
          input: 'Hello',
          system_instruction: 'Be brief.',
          generation_config: { thinking_level: 'low' },
        },
      },
    ]);
    expect(made.output_text).toBe('Grüße');
    expect(made.steps).toEqual(INTERACTION.steps as never);
    expect(made.id).toMatch(OWN_ID);
    expect(made.model).toBe(MODEL);
    expect(await recordOf(made.id)).toMatchObject(COUNTED);
  });

  test('a stream passes, event by event', async () => {
    upstream.script(stream(STREAM));
    const events = await eventsOf(
      await ai.interactions.create({ model: MODEL, input: 'Hello', stream: true }),
    );
    expect(events.map(({ event_type }) => event_type)).toEqual(EVENTS.map(({ event_type }) => event_type));
    const { id } = (events[0]?.['interaction'] ?? {}) as { id: string };
    expect(id).toMatch(OWN_ID);
    expect(events).toEqual(named(EVENTS, id));
    expect(await recordOf(id)).toMatchObject(COUNTED);
  });
});

/** Makes one at the upstream. @returns the gateway's id of it */
async function made(id = 'v1_upstream'): Promise<string> {
  upstream.script(answer({ ...INTERACTION, id }));
  const interaction = await ai.interactions.create({ model: MODEL, input: 'Hello' });
  upstream.script();
  return interaction.id;
}

describe('an interaction that exists', () => {
  test('is read again, with its input', async () => {
    const id = await made();
    upstream.script(answer(INTERACTION));
    const found = await ai.interactions.get(id, { include_input: true });
    expect(found).toMatchObject({ id, model: MODEL, status: 'completed', output_text: 'Grüße' });
    expect(upstream.requests).toMatchObject([
      {
        method: 'GET',
        path: '/v1beta/interactions/v1_upstream?include_input=true&stream=false',
        headers: { 'x-goog-api-key': 'sk-google' },
        text: '',
      },
    ]);
  });

  test('is read on as a stream from one of its events', async () => {
    const id = await made();
    upstream.script(stream(`${asFrames(EVENTS.slice(-3))}event: done\ndata: [DONE]\n\n`, 1));
    const events = await eventsOf(await ai.interactions.get(id, { stream: true, last_event_id: 'e6' }));
    expect(upstream.requests[0]?.path).toBe('/v1beta/interactions/v1_upstream?last_event_id=e6&stream=true');
    expect(events).toEqual(named(EVENTS.slice(-3), id));
  });

  test('is deleted, or stays if Google refuses', async () => {
    const id = await made();
    upstream.script(answer({}));
    await ai.interactions.delete(id);
    expect(upstream.requests).toMatchObject([
      { method: 'DELETE', path: '/v1beta/interactions/v1_upstream', text: '' },
    ]);

    const refusal = {
      error: { code: 501, message: 'Operation is not implemented.', status: 'UNIMPLEMENTED' },
    };
    upstream.script(answer(refusal, 501));
    const refused = await ask(`/v1beta/interactions/${id}`, { method: 'DELETE' });
    expect([refused.status, await refused.json()]).toEqual([501, refusal]);
  });

  test('is stopped', async () => {
    const id = await made();
    upstream.script(answer({ ...INTERACTION, status: 'cancelled', steps: [] }));
    const stopped = await ai.interactions.cancel(id);
    expect([stopped.id, stopped.status]).toEqual([id, 'cancelled']);
    expect(upstream.requests).toMatchObject([
      { method: 'POST', path: '/v1beta/interactions/v1_upstream/cancel', text: '' },
    ]);
  });

  test('is continued at the provider that stores it', async () => {
    const id = await made('v1_first');
    upstream.script(answer({ ...INTERACTION, id: 'v1_second', previous_interaction_id: 'v1_first' }));
    const next = await ai.interactions.create({ model: MODEL, input: 'And?', previous_interaction_id: id });
    expect(upstream.requests[0]?.json).toMatchObject({ input: 'And?', previous_interaction_id: 'v1_first' });
    expect(next.previous_interaction_id).toBe(id);
    const record = await recordOf(next.id);
    expect(record).toMatchObject({ route: { follows: id } });

    upstream.script(answer({ ...INTERACTION, id: 'v1_second', previous_interaction_id: 'v1_first' }));
    const found = await ai.interactions.get(next.id);
    expect([found.id, found.previous_interaction_id]).toEqual([next.id, id]);
  });

  test("is not found by another key, and Google's own ids are never found", async () => {
    const id = await made();
    upstream.always(answer(INTERACTION));
    for (const [key, name] of [
      ['sk-other', id],
      [gateway.key, 'v1_upstream'],
    ] as const) {
      for (const [method, suffix] of [
        ['GET', ''],
        ['DELETE', ''],
        ['POST', '/cancel'],
      ] as const) {
        const answered = await ask(`/v1beta/interactions/${name}${suffix}`, { method }, key);
        expect([method, answered.status]).toEqual([method, 404]);
        expect(await answered.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
      }
      const body = JSON.stringify({ model: MODEL, input: 'And?', previous_interaction_id: name });
      const followed = await ask('/v1beta/interactions', { method: 'POST', body }, key);
      expect(followed.status).toBe(404);
      expect(await followed.text()).toContain('previous_interaction_id');
    }
    expect(upstream.requests).toEqual([]);
  });

  test('is not found through the id of a response of another protocol', async () => {
    upstream.script(
      answer({
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
        responseId: 'r',
      }),
    );
    const { responseId = '' } = await ai.models.generateContent({ model: MODEL, contents: 'Hello' });
    expect((await ask(`/v1beta/interactions/${responseId}`, {})).status).toBe(404);
  });
});

describe('streams', () => {
  test('at every byte are the same', async () => {
    const whole = await streamed(STREAM, Infinity);
    const split = await streamed(STREAM, 1);
    expect(split.replaceAll(idIn(split), 'id')).toBe(whole.replaceAll(idIn(whole), 'id'));
    // Everything but the names is Google's, to the byte.
    expect(whole.replaceAll(idIn(whole), 'v1_upstream').replaceAll(MODEL, 'gemini-3-flash-preview')).toBe(
      STREAM,
    );
  });

  test('that are cut off end with an error', async () => {
    const text = await streamed(asFrames(EVENTS.slice(0, 7)), Infinity);
    expect(text).toEndWith('data: [DONE]\n\n');
    const [error] = framesOf(text).slice(-1);
    expect(error).toMatchObject({ event_type: 'error', error: { code: 'upstream_unavailable' } });
  });

  test("that fail before content get Google's error", async () => {
    const failed = { event_type: 'error', error: { code: 'unavailable', message: 'overloaded' } };
    upstream.script(stream(asFrames([...EVENTS.slice(0, 2), failed])));
    const body = JSON.stringify({ model: MODEL, input: 'Hello', stream: true });
    const answered = await ask('/v1beta/interactions', { method: 'POST', body });
    expect([answered.status, await answered.json()]).toMatchObject([
      503,
      { error: { status: 'UNAVAILABLE' } },
    ]);
  });

  test('stop when the client disconnects', async () => {
    upstream.always((exchange) => {
      exchange.openStream();
      exchange.chunk(asFrames(EVENTS.slice(0, 7)));
    });
    const leaving = new AbortController();
    const body = JSON.stringify({ model: MODEL, input: 'Hello', stream: true });
    const answered = await ask('/v1beta/interactions', { method: 'POST', body, signal: leaving.signal });
    const reader = answered.body?.getReader();
    const { value } = (await reader?.read()) ?? {};
    const id = idIn(new TextDecoder().decode(value));
    leaving.abort();
    await (
      await upstream.arrived(1)
    ).closed;

    // Content that was made until then is still there.
    upstream.always((exchange) => {
      exchange.openStream();
      exchange.chunk(asFrames(EVENTS.slice(0, 1)));
    });
    const again = new AbortController();
    const found = await ask(`/v1beta/interactions/${id}?stream=true`, { signal: again.signal });
    expect(found.status).toBe(200);
    await found.body?.getReader().read();
    again.abort();
    await (
      await upstream.arrived(1)
    ).closed;
  });
});

describe('in the background', () => {
  const PENDING = { id: 'v1_later', agent: 'deep-research', status: 'in_progress', object: 'interaction' };

  test('an agent is called by its name, and its cost is unknown', async () => {
    upstream.script(answer(PENDING));
    const begun = await ai.interactions.create({
      agent: 'google/deep-research',
      input: 'Find out.',
      background: true,
    });
    expect(upstream.requests[0]?.json).toEqual({
      agent: 'deep-research',
      input: 'Find out.',
      background: true,
    });
    expect([begun.agent, begun.status]).toEqual(['google/deep-research', 'in_progress']);
    expect(await recordOf(begun.id)).toMatchObject({ native_tokens: null, cost: null });
  });

  test('a stream has begun as soon as it has an id', async () => {
    upstream.always((exchange) => {
      exchange.openStream();
      exchange.chunk(asFrames([{ event_type: 'interaction.created', interaction: PENDING }]));
    });
    const leaving = new AbortController();
    const body = JSON.stringify({
      agent: 'google/deep-research',
      input: 'Find out.',
      background: true,
      stream: true,
    });
    const answered = await ask('/v1beta/interactions', { method: 'POST', body, signal: leaving.signal });
    const { value } = (await answered.body?.getReader().read()) ?? {};
    expect(idIn(new TextDecoder().decode(value))).toMatch(OWN_ID);
    leaving.abort();
    await (
      await upstream.arrived(1)
    ).closed;
  });
});

describe('requests that the gateway refuses', () => {
  test.each([
    ['a model that is not served so', { model: 'sim/gemini', input: 'Hello' }, 400, 'Interactions API'],
    ['no model', { input: 'Hello' }, 400, 'model'],
    ['a model and an agent', { model: MODEL, agent: 'google/a', input: 'Hello' }, 400, 'agent'],
    [
      'a file of the account',
      {
        model: MODEL,
        input: [{ type: 'image', uri: 'https://generativelanguage.googleapis.com/v1beta/files/f' }],
      },
      404,
      'input[0].uri',
    ],
    [
      'an environment of the account',
      { agent: 'google/a', input: 'Hello', environment: 'env-1' },
      404,
      'environment',
    ],
  ])('%s', async (_, request, status, words) => {
    const answered = await ask('/v1beta/interactions', { method: 'POST', body: JSON.stringify(request) });
    expect(answered.status).toBe(status);
    expect(await answered.text()).toContain(words);
    expect(upstream.requests).toEqual([]);
  });
});

function ask(path: string, init: RequestInit, key = gateway.key): Promise<Response> {
  return fetch(gateway.origin + path, {
    ...init,
    headers: { 'x-goog-api-key': key, 'content-type': 'application/json' },
  });
}

/** The bytes that a client gets of a stream. */
async function streamed(text: string, step: number): Promise<string> {
  upstream.script(stream(text, step));
  const body = JSON.stringify({ model: MODEL, input: 'Hello', stream: true });
  return (await ask('/v1beta/interactions', { method: 'POST', body })).text();
}

function framesOf(text: string): Event[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.includes('data: {'))
    .map((frame) => JSON.parse(frame.slice(frame.indexOf('{'))) as Event);
}

function idIn(text: string): string {
  return /"id":"([0-9a-f]{32})"/.exec(text)?.[1] ?? '';
}
