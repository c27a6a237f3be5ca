// Answers in the background on two replicas with one PostgreSQL database: one is killed while it makes them, and the other takes them
// over. Every answer is made, and the ledger has every request that the upstream got, once, and none that it did not get.
import { afterAll, describe, expect, test } from 'bun:test';
import {
  eventually,
  freshFolder,
  NO_OVERLOAD,
  type Program,
  runtimePid,
  startProgram,
} from '../../support/program.ts';
import { freshPostgres, POSTGRES_PROGRAMS } from '../../support/servers/postgres.ts';
import { at, type Json, list } from '../../support/upstreams/json-path.ts';

const KEY = 'sk-test-admin-0123456789';
const ANSWERS = 12;
const ANSWER_MS = 4_000;
/** Time in which a lease ends and its job is run again, in milliseconds. */
const TAKEN_OVER_MS = 90_000;
/** Time in which a replica that was started again reads its marks, in milliseconds. */
const DECIDED_MS = 60_000;
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

const base = `http://127.0.0.1:${upstream.port}/v1`;
/** Upstream that accepts connections and never ends their TLS handshake, so that no request is sent to it. */
let connected = 0;
const silent = Bun.listen({
  hostname: '127.0.0.1',
  port: 0,
  socket: { open: () => void (connected += 1), data: () => {} },
});

afterAll(async () => {
  await Promise.all(started.map((program) => kill(program)));
  await upstream.stop(true);
  silent.stop(true);
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

/** @param held base URL of the upstream of the model `held/m` */
async function serve(name: string, database: string, held = base): Promise<Program> {
  const endpoint = { model: 'm', price: { input: 1, output: 4 } };
  const config = {
    server: NO_OVERLOAD,
    keys: [{ name: 'test', key: KEY, roles: ['models', 'admin'] }],
    secret: 'ab'.repeat(32),
    database_url: database,
    providers: {
      up: { api_key: 'sk-test', protocols: { 'openai-chat': base } },
      held: { api_key: 'sk-test', protocols: { 'openai-chat': held } },
    },
    models: ['up', 'held'].map((provider) => ({
      id: `${provider}/m`,
      endpoints: [{ provider, ...endpoint }],
    })),
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

/** Requests to a model's upstream that are in the ledger. */
async function recorded({ origin }: Program, model: string): Promise<number> {
  const records = list(await ask(origin, '/management/generations?limit=100'), 'data');
  const ofModel = records.filter((record) => at(record, 'requested_model') === model);
  return ofModel.reduce<number>((sum, record) => sum + Number(at(record, 'attempts')), 0);
}

async function allMade({ origin }: Program, ids: readonly string[]): Promise<void> {
  await eventually(
    'all are made',
    async () => {
      const all = await Promise.all(ids.map((id) => ask(origin, `/responses/${id}`)));
      return all.every((answer) => at(answer, 'status') === 'completed');
    },
    TAKEN_OVER_MS,
  );
}

async function begin({ origin }: Program, model: string, input: string): Promise<string> {
  return String(at(await ask(origin, '/responses', { model, input, background: true }), 'id'));
}

describe.skipIf(POSTGRES_PROGRAMS === null || process.platform !== 'linux')('two replicas', () => {
  test('a replica that is killed leaves its answers to the other, and the ledger has every request once', async () => {
    asked = 0;
    const database = await freshPostgres();
    const [one, two] = [await serve('one', database), await serve('two', database)];
    const ids: string[] = [];
    for (let n = 0; n < ANSWERS; n += 1) ids.push(await begin(n % 2 ? one : two, 'up/m', `Answer ${n}`));
    await eventually('all are being made', () => asked === ANSWERS);
    await kill(one);
    await allMade(two, ids);
    for (const id of ids)
      expect(at(await ask(two.origin, `/responses/${id}`), 'output', 0, 'content', 0, 'text')).toBe(
        'one two',
      );
    expect(asked).toBeGreaterThan(ANSWERS);
    // The killed replica's data directory tells which of its requests were sent.
    await serve('one', database);
    const isThere = async (): Promise<boolean> => (await recorded(two, 'up/m')) >= asked;
    await eventually('every request is in the ledger', isThere, DECIDED_MS);
    expect(await recorded(two, 'up/m')).toBe(asked);
    await Promise.all(started.map(kill));
  }, 180_000);

  test('a request that the killed replica noted and did not send is not charged', async () => {
    asked = 0;
    const database = await freshPostgres();
    const one = await serve('three', database, `https://127.0.0.1:${silent.port}/v1`);
    const unsent = await begin(one, 'held/m', 'Not sent');
    const sent = await begin(one, 'up/m', 'Sent');
    await eventually('one waits for its connection, one for its answer', () => connected > 0 && asked > 0);
    await kill(one);
    const two = await serve('four', database);
    await allMade(two, [unsent, sent]);
    expect(asked).toBe(3);
    await serve('three', database);
    const isThere = async (): Promise<boolean> => (await recorded(two, 'up/m')) === 2;
    await eventually('both tries of the other are in the ledger', isThere, DECIDED_MS);
    expect(await recorded(two, 'held/m')).toBe(1);
  }, 180_000);
});
