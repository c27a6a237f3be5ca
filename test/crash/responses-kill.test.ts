// The promise about stored responses at the public seam: the real process is killed without warning while it answers.
// After a restart every response that a client had fully received is there, whole, and none that is half.
import { expect, test } from 'bun:test';
import { framesOf } from '../support/recordings/loose.ts';
import { at, list, type Json } from '../support/upstreams/json-path.ts';
import { headers, killProgram, killScene } from './kill-scene.ts';

const { serve } = killScene();
/** Clients that ask at once. */
const CLIENTS = 12;

async function post(origin: string, path: string, body: object): Promise<Response> {
  return fetch(`${origin}/v1${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function get(origin: string, path: string): Promise<{ status: number; json: Json }> {
  const response = await fetch(`${origin}/v1${path}`, { headers });
  return { status: response.status, json: (await response.json()) as Json };
}

function textOf(response: unknown): string {
  return list(response, 'output')
    .flatMap((item) => list(item, 'content'))
    .map((part) => at(part, 'text') ?? '')
    .join('');
}

/** An answer as its client knows it: its id as soon as that was sent, its response once it was complete. */
interface Known {
  id: string | null;
  response: Json | null;
}

/** Asks, and reads as far as the process lets it. */
async function receive(origin: string, body: object & { readonly stream: boolean }): Promise<Known> {
  const known: Known = { id: null, response: null };
  try {
    const answer = await post(origin, '/responses', body);
    if (answer.status !== 200 || !answer.body) return known;
    let text = '';
    const decoder = new TextDecoder();
    for await (const piece of answer.body) {
      text += decoder.decode(piece as Uint8Array, { stream: true });
      known.id ??= /"id":"(resp_\w+)"/.exec(text)?.[1] ?? null;
    }
    if (!body.stream) known.response = JSON.parse(text) as Json;
    const last = framesOf(text).at(-1);
    if (last?.event === 'response.completed') known.response = at(JSON.parse(last.data), 'response') ?? null;
  } catch {
    // The process died under it.
  }
  return known;
}

test.skipIf(process.platform !== 'linux')(
  'SIGKILL loses no received response, and leaves no partial one',
  async () => {
    const known: Known[] = [];
    /** By conversation: the numbers of the turns whose answers were received. */
    const conversations = new Map<string, number[]>();
    const variants = ['sim/chat', 'sim/responses', 'sim/messages'].flatMap((model) =>
      [true, false].map((stream) => ({ model, stream })),
    );
    for (const enough of [1, 20, 60]) {
      const gateway = await serve();
      // Every other client speaks in a conversation of its own. All are made before anybody asks, and so before the process dies.
      const made = await Promise.all(
        Array.from({ length: CLIENTS }, async (_, client) =>
          client % 2 === 0
            ? String(at(await (await post(gateway.origin, '/conversations', {})).json(), 'id'))
            : null,
        ),
      );
      let count = 0;
      let dead = false;
      await Promise.all(
        made.map(async (conversation, client) => {
          const turns: number[] = [];
          if (conversation) conversations.set(conversation, turns);
          for (let turn = client; !dead; turn++) {
            const { model = '', stream = false } = variants[turn % variants.length] ?? {};
            const body = { model, stream, input: `count to 30, turn ${turn}`, reasoning: { effort: 'low' } };
            const one = await receive(gateway.origin, { ...body, ...(conversation ? { conversation } : {}) });
            known.push(one);
            if (!one.response) continue;
            turns.push(turn);
            count++;
            // Not awaited: the other clients go on asking while the process dies.
            if (count === enough) void killProgram(gateway).then(() => (dead = true));
          }
        }),
      );
      expect(count).toBeGreaterThanOrEqual(enough);
    }

    const gateway = await serve();
    const received = known.filter(({ response }) => response !== null);
    expect(received.length).toBeGreaterThanOrEqual(81);
    for (const { id, response } of received) {
      const found = await get(gateway.origin, `/responses/${id}`);
      expect({ id, ...found }).toEqual({ id, status: 200, json: response });
    }
    const cut = known.filter(({ id, response }) => id !== null && response === null);
    for (const { id } of cut) {
      const { status, json } = await get(gateway.origin, `/responses/${id}`);
      if (status === 404) continue;
      // It was complete, and only its last byte did not arrive.
      expect([status, at(json, 'status')]).toEqual([200, 'completed']);
      expect(textOf(json)).toContain('30');
    }
    for (const [conversation, turns] of conversations) {
      const { json } = await get(gateway.origin, `/conversations/${conversation}/items?order=asc&limit=100`);
      const messages = list(json, 'data').filter((item) => at(item, 'type') === 'message');
      const asked = messages.filter((item) => at(item, 'role') === 'user');
      // Whole turns: each question has its answer behind it.
      messages.forEach((item, place) =>
        expect(at(item, 'role')).toBe(place % 2 === 0 ? 'user' : 'assistant'),
      );
      expect(messages.length % 2).toBe(0);
      const numbers = asked.map((item) =>
        Number(/turn (\d+)/.exec(String(at(item, 'content', 0, 'text')))?.[1]),
      );
      expect(numbers.slice(0, turns.length)).toEqual(turns.slice(0, 50));
      expect(numbers.length - turns.length).toBeLessThanOrEqual(1);
    }
    const last = received.at(-1)?.id;
    const next = await post(gateway.origin, '/responses', {
      model: 'sim/messages',
      input: 'What is 6 x 7?',
      previous_response_id: last,
    });
    expect(textOf(await next.json())).toContain('42');
    expect((await gateway.stop()).code).toBe(0);
  },
);
