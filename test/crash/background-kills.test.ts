// Answers in the background when the process is killed again and again, at random moments: each is made in the end, and the ledger has
// every request that the upstream got, once; and each end reaches the receiver of webhooks. `DRAGOMAN_KILLS` says how often.
import { afterAll, expect, test } from 'bun:test';
import { eventually, type Program } from '../support/program.ts';
import { randomFrom } from '../support/recordings/damage.ts';
import { at, type Json } from '../support/upstreams/json-path.ts';
import { WEBHOOK_SECRET } from '../support/webhook-receiver.ts';
import { headers, KEY, killProgram, killScene } from './kill-scene.ts';

const KILLS = Number(process.env['DRAGOMAN_KILLS'] ?? 3);
const SEED = Number(process.env['DRAGOMAN_SEED'] ?? 1);
/** Answers that are asked for before each kill. */
const ANSWERS = 12;
const MOST_ATTEMPTS = 10;
const random = randomFrom(SEED);
const scene = killScene();
let asked = 0;
const encoder = new TextEncoder();

function chunk(delta: object, finish: string | null = null): Uint8Array {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const body = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
  return encoder.encode(`data: ${JSON.stringify(body)}\n\n`);
}

const upstream = Bun.serve({
  port: 0,
  fetch() {
    asked += 1;
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(chunk({ role: 'assistant', content: 'one' }));
        await Bun.sleep(100 + random(900));
        try {
          controller.enqueue(chunk({ content: ' two' }));
          controller.enqueue(chunk({}, 'stop'));
          controller.enqueue(encoder.encode('data: [DONE]\n\n'));
          controller.close();
        } catch {
          // The process that asked is dead.
        }
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  },
});

/** Ids of the messages that were received of each answer. */
const announced = new Map<string, Set<string | null>>();
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const event = (await request.json()) as Json;
    await Bun.sleep(random(200));
    const id = String(at(event, 'data', 'id'));
    const messages = announced.get(id) ?? new Set();
    announced.set(id, messages.add(request.headers.get('webhook-id')));
    return new Response(null, { status: 204 });
  },
});

afterAll(() => Promise.all([upstream.stop(true), receiver.stop(true)]));

function serve(): Promise<Program> {
  const protocols = { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` };
  const price = { input: 1, output: 4 };
  const config = {
    keys: [{ name: 'test', key: KEY }],
    providers: { up: { api_key: 'sk-test', protocols } },
    webhooks: [{ url: `http://127.0.0.1:${receiver.port}/`, secret: WEBHOOK_SECRET }],
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price }] }],
  };
  return scene.serve(config);
}

async function get({ origin }: Program, path: string): Promise<Json> {
  return (await (await fetch(`${origin}/v1${path}`, { headers })).json()) as Json;
}

/** Asks for an answer. @returns its id; undefined where the process died before it said so */
async function ask({ origin }: Program): Promise<string | undefined> {
  const body = JSON.stringify({ model: 'up/m', input: 'Hello', background: true });
  try {
    const response = await fetch(`${origin}/v1/responses`, { method: 'POST', headers, body });
    return String(at((await response.json()) as Json, 'id'));
  } catch {
    return undefined;
  }
}

test.skipIf(process.platform !== 'linux')(
  `${KILLS} kills: every response is produced, and the ledger contains each request once`,
  async () => {
    const ids: string[] = [];
    for (let kill = 0; kill < KILLS; kill += 1) {
      const gateway = await serve();
      const made = await Promise.all(Array.from({ length: ANSWERS }, () => ask(gateway)));
      ids.push(...made.filter((id) => id !== undefined));
      await Bun.sleep(random(1500));
      await killProgram(gateway);
    }
    const gateway = await serve();
    await eventually(
      'all are made',
      async () => {
        const all = await Promise.all(ids.map((id) => get(gateway, `/responses/${id}`)));
        return all.every((answer) => at(answer, 'status') === 'completed');
      },
      120_000,
    );
    let recorded = 0;
    for (const id of ids) {
      const answer = await get(gateway, `/responses/${id}`);
      expect(at(answer, 'output', 0, 'content', 0, 'text')).toBe('one two');
      for (let attempt = 1; attempt <= MOST_ATTEMPTS; attempt += 1) {
        if (at(await get(gateway, `/generation?id=${id}&try=${attempt}`), 'try') === attempt) recorded += 1;
      }
    }
    expect({ asked, recorded }).toEqual({ asked, recorded: asked });
    await eventually('every end is announced', () => ids.every((id) => announced.has(id)), 60_000);
    for (const messages of announced.values()) expect(messages.size).toBe(1);
  },
  600_000 + KILLS * 10_000,
);
