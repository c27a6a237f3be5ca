// Answers in the background on two replicas with one PostgreSQL database: one is killed while it makes them, and the other takes them
// over. Every answer is made, and the ledger has every request that the upstream got, once.
import { afterAll, describe, expect, test } from 'bun:test';
import { eventually, freshFolder, runtimePid, startProgram, type Program } from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';

const KEY = 'sk-test';
const ANSWERS = 12;
/** Longer than a lease, so that what is taken over is taken over while it would still run. */
const ANSWER_MS = 4_000;
const { folder, remove } = freshFolder();
const started: Program[] = [];
let asked = 0;
const encoder = new TextEncoder();
const chunk = (delta: object, finish: string | null = null): Uint8Array =>
  encoder.encode(
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`,
  );
const upstream = Bun.serve({
  port: 0,
  fetch() {
    asked += 1;
    const body = new ReadableStream<Uint8Array>({
      async start(controller) {
        controller.enqueue(chunk({ role: 'assistant', content: 'one' }));
        await Bun.sleep(ANSWER_MS);
        controller.enqueue(chunk({ content: ' two' }));
        controller.enqueue(chunk({}, 'stop'));
        controller.enqueue(encoder.encode('data: [DONE]\n\n'));
        controller.close();
      },
    });
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  },
});

afterAll(async () => {
  await Promise.all(started.map((program) => kill(program)));
  await upstream.stop(true);
  remove();
});

async function kill(program: Program): Promise<void> {
  try {
    process.kill(runtimePid(program.pid), 'SIGKILL');
  } catch {
    // It is dead already.
  }
  await program.exited;
}

async function serve(name: string, database: string): Promise<Program> {
  const config = {
    keys: [{ name: 'test', key: KEY }],
    secret: 'ab'.repeat(32),
    database_url: database,
    providers: {
      up: { api_key: 'sk-test', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } },
    },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price: { input: 1, output: 4 } }] }],
  };
  await Bun.write(`${folder}/${name}.yaml`, JSON.stringify(config));
  const args = [
    'serve',
    '--port',
    '0',
    '--data-dir',
    `${folder}/${name}`,
    '--config',
    `${folder}/${name}.yaml`,
  ];
  const program = await startProgram(args, { folder });
  started.push(program);
  return program;
}

async function ask(origin: string, path: string, body?: object): Promise<Json> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
  const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  return (await (await fetch(`${origin}/v1${path}`, { headers, ...init })).json()) as Json;
}

describe.skipIf(POSTGRES_PROGRAMS === null || process.platform !== 'linux')('two replicas', () => {
  test('a replica that is killed leaves its answers to the other, and the ledger has every request once', async () => {
    const database = await freshPostgres();
    const [one, two] = [await serve('one', database), await serve('two', database)];
    const ids: string[] = [];
    for (let n = 0; n < ANSWERS; n += 1) {
      const body = { model: 'up/m', input: `Answer ${n}`, background: true };
      ids.push(String(at(await ask(n % 2 ? one.origin : two.origin, '/responses', body), 'id')));
    }
    await eventually('all are being made', () => asked === ANSWERS);
    await kill(one);
    await eventually(
      'all are made',
      async () => {
        const all = await Promise.all(ids.map((id) => ask(two.origin, `/responses/${id}`)));
        return all.every((answer) => at(answer, 'status') === 'completed');
      },
      60_000,
    );
    for (const id of ids)
      expect(at(await ask(two.origin, `/responses/${id}`), 'output', 0, 'content', 0, 'text')).toBe(
        'one two',
      );
    expect(asked).toBeGreaterThan(ANSWERS);
    // The record of each try has an id of its own.
    let recorded = 0;
    for (const id of ids)
      for (let attempt = 1; attempt <= 4; attempt += 1) {
        const found = await ask(two.origin, `/generation?id=${id}&try=${attempt}`);
        if (at(found, 'try') === attempt) recorded += 1;
      }
    expect(recorded).toBe(asked);
  }, 120_000);
});
