// Ends in the middle of background answers and batches: of their key, their budget, and the room
// of their project. A full disk is in `test/crash/`.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import OpenAI, { toFile } from 'openai';
import type { Batch } from 'openai/resources/batches';
import { TEST_KEY } from '../../support/harness.ts';
import { eventually } from '../../support/program.ts';
import { startStateful, type StatefulGateway } from '../../support/storage/state-seed.ts';

const ADMIN = 'sk-test-admin-0123456789';
const PATIENCE_MS = 60_000;
setDefaultTimeout(2 * PATIENCE_MS);

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

interface Scene extends StatefulGateway {
  /** Requests that the upstream got. */
  readonly asked: () => number;
  /** Lets the upstream answer what it holds back. */
  readonly release: () => void;
  /** A key of its own project, as the management API made it. */
  readonly made: { readonly id: string; readonly client: OpenAI };
}

/** A gateway in front of an upstream that answers at once `first` times, and then when it is told to. */
async function start(first: number, config: object = {}, pieces = 1): Promise<Scene> {
  let asked = 0;
  let release: () => void = () => {};
  let released = new Promise<void>((resolve) => (release = resolve));
  const server = Bun.serve({
    port: 0,
    async fetch(request) {
      asked += 1;
      const mine = released;
      const { stream = false } = (await request.json()) as { stream?: boolean };
      const usage = { prompt_tokens: 1_000_000, completion_tokens: pieces, total_tokens: 1_000_000 + pieces };
      const isHeld = asked > first;
      if (!stream) {
        if (isHeld) await mine;
        const choices = [
          { index: 0, message: { role: 'assistant', content: 'made' }, finish_reason: 'stop' },
        ];
        return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
      }
      const chunk = (delta: object, finish: string | null, more: object = {}) => {
        const choices = [{ index: 0, delta, finish_reason: finish }];
        const object = 'chat.completion.chunk';
        return `data: ${JSON.stringify({ id: 'c', object, created: 1, model: 'm', choices, ...more })}\n\n`;
      };
      const body = new ReadableStream<string>({
        async start(controller) {
          controller.enqueue(chunk({ content: 'made' }, null));
          if (isHeld) await mine;
          for (let piece = 1; piece < pieces; piece += 1)
            controller.enqueue(chunk({ content: ' word'.repeat(100) }, null));
          // More is on its way.
          if (pieces > 1) await released;
          controller.enqueue(`${chunk({}, 'stop', { usage })}data: [DONE]\n\n`);
          controller.close();
        },
      });
      return new Response(body as unknown as BodyInit, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  open.push({ close: () => server.stop(true) });
  const stateful = await startStateful({
    keys: [
      { name: 'test', key: TEST_KEY },
      { name: 'admin', key: ADMIN, roles: ['admin'] },
    ],
    providers: { up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${server.port}/v1` } } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price: { input: 1, output: 1000 } }] }],
    batches: { max_delay_ms: 0, concurrent: 1 },
    ...config,
  });
  open.push(stateful, { close: () => release() });
  const key = (await manage(stateful, 'POST', '/keys', { name: 'made' })) as { id: string; key: string };
  return {
    ...stateful,
    asked: () => asked,
    release() {
      release();
      released = new Promise((resolve) => (release = resolve));
    },
    made: {
      id: key.id,
      client: new OpenAI({ apiKey: key.key, baseURL: stateful.gateway.baseURL, maxRetries: 0 }),
    },
  };
}

async function manage(
  { gateway }: StatefulGateway,
  method: string,
  path: string,
  body?: object,
): Promise<object> {
  const answer = await fetch(`${gateway.baseURL}/management${path}`, {
    method,
    headers: { authorization: `Bearer ${ADMIN}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  expect(answer.status).toBeLessThan(300);
  return answer.status === 204 ? {} : ((await answer.json()) as object);
}

async function queue(client: OpenAI): Promise<string> {
  return (await client.responses.create({ model: 'up/m', input: 'Hello', background: true })).id;
}

const jobOf = async ({ storage }: Scene, id: string) => storage.jobs.get(id);

async function waits(scene: Scene, id: string, reason: string): Promise<void> {
  let last: unknown;
  await eventually(
    `it waits: ${reason}`,
    async () => {
      last = (await jobOf(scene, id))?.waits?.reason;
      return String(last).includes(reason);
    },
    PATIENCE_MS,
  ).catch((error: unknown) => {
    throw new Error(`${String(error)}, but: ${String(last)}`);
  });
}

async function completes({ storage }: Scene, id: string): Promise<void> {
  await eventually('it ends', async () => (await storage.jobs.get(id))?.endedAt !== null, PATIENCE_MS);
}

describe('an answer in the background', () => {
  test('that runs continues when its key is revoked, and one that is queued fails', async () => {
    const scene = await start(0, { jobs: { concurrent: 1 } });
    const running = await queue(scene.made.client);
    const queued = await queue(scene.made.client);
    await eventually('it runs', () => scene.asked() === 1, PATIENCE_MS);
    await manage(scene, 'DELETE', `/keys/${scene.made.id}`);
    scene.release();
    await completes(scene, running);
    await completes(scene, queued);
    expect(await jobOf(scene, running)).toMatchObject({ state: 'completed' });
    const refused = await jobOf(scene, queued);
    expect(refused).toMatchObject({ state: 'failed' });
    expect(refused?.error?.message).toContain('revoked');
    expect(scene.asked()).toBe(1);
  });

  test('waits if the budget is spent before it begins, and fails if that happens while it runs', async () => {
    const budget = {
      keys: [
        { name: 'test', key: TEST_KEY, budgets: [{ usd: 1, per: 'day' }] },
        { name: 'admin', key: ADMIN, roles: ['admin'] },
      ],
    };
    const scene = await start(0, budget, 40);
    const cut = await queue(scene.client);
    await eventually('it runs', () => scene.asked() === 1, PATIENCE_MS);
    scene.release();
    await completes(scene, cut);
    expect(await scene.client.responses.retrieve(cut)).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('$1.00') },
    });
    const waiting = await queue(scene.client);
    await waits(scene, waiting, '$1.00 per day');
    expect(await scene.client.responses.retrieve(waiting)).toMatchObject({ status: 'queued' });
    expect(scene.asked()).toBe(1);
  });

  test('that exceeds the storage quota of its project waits, and is not generated again', async () => {
    const scene = await start(0, { state: { max_mb_per_key: 0.5 } });
    const file = await scene.client.files.create({
      file: await toFile(Buffer.alloc(500_000), 'a.txt'),
      purpose: 'user_data',
    });
    const id = await queue(scene.client);
    await eventually('it runs', () => scene.asked() === 1, PATIENCE_MS);
    await scene.client.files.create({
      file: await toFile(Buffer.alloc(23_000), 'b.txt'),
      purpose: 'user_data',
    });
    scene.release();
    await waits(scene, id, 'storage quota');
    expect(await scene.client.responses.retrieve(id)).toMatchObject({ status: 'queued' });
    await scene.client.files.delete(file.id);
    await completes(scene, id);
    expect((await scene.client.responses.retrieve(id)).output_text).toBe('made');
    expect(scene.asked()).toBe(1);
    const { json } = await scene.call('GET', `/generation?id=${id}`);
    expect(json).toMatchObject({ outcome: 'ok' });
  });
});

describe('a batch', () => {
  async function batchOf(client: OpenAI): Promise<string> {
    const lines = ['a', 'b', 'c', 'd'].map((id) => {
      const body = { model: 'up/m', max_tokens: 1, messages: [{ role: 'user', content: id }] };
      return JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });
    });
    const input = await client.files.create({
      file: await toFile(Buffer.from(lines.join('\n')), 'in.jsonl'),
      purpose: 'batch',
    });
    const asked = {
      input_file_id: input.id,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    } as const;
    return (await client.batches.create(asked)).id;
  }

  async function until(client: OpenAI, id: string, is: (batch: Batch) => boolean): Promise<Batch> {
    let last: Batch | undefined;
    await eventually(
      'it comes to that',
      async () => is((last = await client.batches.retrieve(id))),
      PATIENCE_MS,
    ).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last)}`);
    });
    return last as Batch;
  }

  test('whose key is revoked ends: running lines complete, and the others fail with the reason', async () => {
    const scene = await start(2);
    const id = await batchOf(scene.made.client);
    await eventually('its third line runs', () => scene.asked() === 3, PATIENCE_MS);
    await manage(scene, 'DELETE', `/keys/${scene.made.id}`);
    scene.release();
    await completes(scene, id);
    const batch = await scene.storage.batches.get(id);
    expect(batch).toMatchObject({ outcome: 'completed', counts: { succeeded: 3, failed: 1 } });
    expect(scene.asked()).toBe(3);
  });

  test('whose results exceed the storage quota reports it, and ends when storage is free', async () => {
    const scene = await start(2, { state: { max_mb_per_key: 0.5 } });
    const file = await scene.client.files.create({
      file: await toFile(Buffer.alloc(500_000), 'a.txt'),
      purpose: 'user_data',
    });
    const id = await batchOf(scene.client);
    await eventually('its third line runs', () => scene.asked() === 3, PATIENCE_MS);
    await scene.client.files.create({
      file: await toFile(Buffer.alloc(23_000), 'b.txt'),
      purpose: 'user_data',
    });
    scene.release();
    await eventually('its fourth line runs', () => scene.asked() === 4, PATIENCE_MS);
    scene.release();
    const waiting = await until(scene.client, id, (found) => 'waiting' in found);
    expect(waiting).toMatchObject({
      status: 'finalizing',
      request_counts: { completed: 4 },
      waiting: { reason: expect.stringContaining('storage quota') },
    });
    await scene.client.files.delete(file.id);
    const batch = await until(scene.client, id, ({ status }) => status === 'completed');
    const output = await (await scene.client.files.content(batch.output_file_id ?? '')).text();
    expect(output.trim().split('\n')).toHaveLength(4);
    expect(scene.asked()).toBe(4);
  });
});
