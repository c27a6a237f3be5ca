// Batches whose input file cannot be read any more. One whose record is gone ends at once, and one whose bytes are away is
// waited for until the batch's time is over. What its lines have got so far is delivered.
import { afterEach, describe, expect, test } from 'bun:test';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { TEST_KEY } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { eventuallyFound } from '../../support/program.ts';
import { startStateful, type StatefulGateway } from '../../support/storage/state-seed.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).toReversed()) await one.close();
});

const DAY_MS = 86_400_000;
const MESSAGES = [{ role: 'user', content: 'Hello' }];

/** State of a batch, in the same words for all protocols. */
interface Outcome {
  readonly isOver: boolean;
  readonly status: unknown;
  /** Lines with an answer, and without one. */
  readonly counts: readonly [succeeded: unknown, failed: unknown];
  /** Why it waits, where the protocol says it. */
  readonly waiting: unknown;
}

interface Client {
  /** Begins a batch of three lines. @returns its path */
  begin(scene: Scene): Promise<string>;
  readonly decode: (batch: Shown) => Outcome;
  /** Checks what the batch and its results say of the lost file. */
  readonly check: (scene: Scene, batch: Shown, cause: string) => Promise<void>;
  readonly failed: string;
}

// oxlint-disable-next-line typescript/no-explicit-any
type Shown = any;

const openai: Client = {
  async begin({ stateful, ask }) {
    const url = '/v1/chat/completions';
    const line = (id: number): string =>
      JSON.stringify({
        custom_id: `id-${id}`,
        method: 'POST',
        url,
        body: { model: 'up/m', messages: MESSAGES },
      });
    const text = [1, 2, 3].map(line).join('\n');
    const file = await stateful.client.files.create({ file: new File([text], 'in.jsonl'), purpose: 'batch' });
    const made = { input_file_id: file.id, endpoint: url, completion_window: '24h' };
    return `/v1/batches/${(await ask('POST', '/v1/batches', made)).id}`;
  },
  decode: ({ status, request_counts: { completed, failed }, waiting }) => ({
    isOver: ['completed', 'failed', 'expired', 'cancelled'].includes(status),
    status,
    counts: [completed, failed],
    waiting: waiting?.reason,
  }),
  async check({ lines }, batch, cause) {
    expect(batch.errors.data).toEqual([
      {
        code: 'input_file_lost',
        message: expect.stringContaining(cause),
        param: 'input_file_id',
        line: null,
      },
    ]);
    expect(batch).toMatchObject({
      error_file_id: null,
      request_counts: { total: 3 },
      usage: { total_tokens: 2 },
    });
    expect(await lines(`/v1/files/${batch.output_file_id}/content`)).toMatchObject([
      { custom_id: 'id-1', response: { status_code: 200 } },
    ]);
  },
  failed: 'failed',
};

const anthropic: Client = {
  async begin({ ask }) {
    const params = { model: 'up/m', max_tokens: 1, messages: MESSAGES };
    const requests = [1, 2, 3].map((id) => ({ custom_id: `id-${id}`, params }));
    return `/v1/messages/batches/${(await ask('POST', '/v1/messages/batches', { requests })).id}`;
  },
  decode: ({ processing_status: status, request_counts: { succeeded, errored } }) => ({
    isOver: status === 'ended',
    status,
    counts: [succeeded, errored],
    waiting: undefined,
  }),
  async check({ lines }, { results_url: results }, cause) {
    const error = { error: { message: expect.stringContaining(cause) } };
    expect(await lines(results)).toMatchObject([
      { custom_id: 'id-1', result: { type: 'succeeded', message: { role: 'assistant' } } },
      { custom_id: null, line: 2, result: { type: 'errored', error } },
      { custom_id: null, line: 3, result: { type: 'errored', error } },
    ]);
  },
  failed: 'ended',
};

const gemini: Client = {
  async begin({ ask }) {
    const request = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }] };
    const requests = [1, 2, 3].map((id) => ({ request, metadata: { id } }));
    const batch = { inputConfig: { requests: { requests } } };
    return `/v1beta/${(await ask('POST', '/v1beta/models/up%2Fm:batchGenerateContent', { batch })).name}`;
  },
  decode: ({ done, metadata: { state, batchStats, waiting } }) => ({
    isOver: done === true,
    status: state,
    counts: [Number(batchStats.successfulRequestCount), Number(batchStats.failedRequestCount)],
    waiting: waiting?.reason,
  }),
  async check(_, { error, metadata }, cause) {
    expect(error.message).toContain(cause);
    const message = expect.stringContaining(cause);
    expect(metadata.output.inlinedResponses.inlinedResponses).toMatchObject([
      { metadata: { id: 1 }, response: { candidates: [{}] } },
      { metadata: { line: 2 }, error: { message } },
      { metadata: { line: 3 }, error: { message } },
    ]);
  },
  failed: 'BATCH_STATE_FAILED',
};

interface Scene {
  readonly stateful: StatefulGateway;
  readonly clock: ManualClock;
  ask(method: string, path: string, body?: object): Promise<Shown>;
  lines(path: string): Promise<Shown[]>;
  /** The upstream has room for all lines, not just the first. */
  hasRoom: boolean;
}

async function startScene(): Promise<Scene> {
  let asked = 0;
  const upstream = Bun.serve({
    port: 0,
    fetch() {
      asked += 1;
      if (asked > 1 && !scene.hasRoom)
        return new Response('{}', { status: 429, headers: { 'retry-after': '60' } });
      const message = { role: 'assistant', content: 'Hi' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      return Response.json({ id: 'c', object: 'chat.completion', created: 1, model: 'm', choices, usage });
    },
  });
  open.push({ close: () => upstream.stop(true) });
  const clock = new ManualClock(Date.now());
  const url = `http://127.0.0.1:${upstream.port}/v1`;
  const config = {
    providers: { up: { api_key: 'x', protocols: { 'openai-chat': url } } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm' }] }],
    batches: { max_delay_ms: 0, concurrent: 1 },
    routing: { retries: 0 },
  };
  const stateful = await startStateful(config, clock);
  open.push(stateful);
  const fetched = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(new URL(path, stateful.gateway.origin), {
      method,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
  const scene: Scene = {
    stateful,
    clock,
    hasRoom: false,
    ask: async (method, path, body) => (await fetched(method, path, body)).json(),
    async lines(path) {
      const text = await (await fetched('GET', path)).text();
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Shown);
    },
  };
  return scene;
}

/** A batch whose first line has its answer, and whose others wait for their upstream. */
async function startBatch(client: Client) {
  const scene = await startScene();
  const { ask, clock, stateful } = scene;
  const path = await client.begin(scene);
  const id = path.slice(path.lastIndexOf('/') + 1);
  const until = async (what: string, is: (batch: Outcome) => boolean, stepMs = 1_000): Promise<Shown> =>
    eventuallyFound(
      what,
      async () => {
        clock.advance(stepMs);
        return ask('GET', path);
      },
      (shown) => is(client.decode(shown)),
    );
  const stored = () => stateful.storage.batches.get(id);
  await eventuallyFound(
    'it waits',
    async () => {
      clock.advance(100);
      return stored();
    },
    (batch) => batch?.counts.succeeded === 1 && batch.waits !== null,
  );
  const { inputFile = '' } = (await stored()) ?? {};
  return { scene, until, stored, inputFile };
}

describe.each([
  ['OpenAI', openai],
  ['Anthropic', anthropic],
  ['Gemini', gemini],
] as const)('a batch of the API of %s', (_, client) => {
  const { decode, check, failed } = client;

  test('whose input file is gone fails at once, and delivers its finished results', async () => {
    const { scene, until } = await startBatch(client);
    const { files } = scene.stateful.storage;
    // Its record is lost with a restored backup.
    while ((await files.takeExpired(Number.MAX_SAFE_INTEGER)).length > 0);
    scene.hasRoom = true;
    const before = scene.clock.now();
    const batch = await until('it ends', ({ isOver }) => isOver);
    expect(scene.clock.now() - before).toBeLessThan(DAY_MS);
    expect(decode(batch)).toMatchObject({ status: failed, counts: [1, 2] });
    await check(scene, batch, 'was deleted');
  });

  test('whose input file cannot be read waits until its deadline, and then delivers its finished results', async () => {
    const { scene, until, stored, inputFile } = await startBatch(client);
    const { dataDir } = scene.stateful.gateway;
    const place = join(dataDir, 'files', inputFile.slice(-2), inputFile);
    renameSync(place, `${place}-away`);
    scene.hasRoom = true;
    const isRefused = (reason = ''): boolean => reason.includes('cannot be read');
    await eventuallyFound(
      'it says why it waits',
      async () => {
        scene.clock.advance(1_000);
        return stored();
      },
      (batch) => isRefused(batch?.waits?.reason),
    );
    const { deadlineAt = 0 } = (await stored()) ?? {};
    scene.clock.advance(deadlineAt - scene.clock.wall() - 120_000);
    expect((await stored())?.outcome).toBeNull();
    const batch = await until('it ends', ({ isOver }) => isOver, 10_000);
    expect(scene.clock.wall()).toBeGreaterThanOrEqual(deadlineAt);
    expect(decode(batch)).toMatchObject({ status: failed, counts: [1, 2] });
    await check(scene, batch, 'cannot be read');
  });
});

test('a batch continues when its input file is back', async () => {
  const { scene, until, stored, inputFile } = await startBatch(openai);
  const { dataDir } = scene.stateful.gateway;
  const place = join(dataDir, 'files', inputFile.slice(-2), inputFile);
  renameSync(place, `${place}-away`);
  scene.hasRoom = true;
  await until('it waits for the file', ({ waiting }) => String(waiting).includes('cannot be read'));
  renameSync(`${place}-away`, place);
  const batch = await until('it ends', ({ isOver }) => isOver);
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 3, completed: 3, failed: 0 } });
  expect((await stored())?.problems).toBeNull();
  const lines = await scene.lines(`/v1/files/${batch.output_file_id}/content`);
  expect(lines.map(({ custom_id: id }: Shown) => id)).toEqual(['id-1', 'id-2', 'id-3']);
});

test('a batch that is cancelled after its input file was lost is cancelled', async () => {
  const { scene, until, stored } = await startBatch(openai);
  const { files, batches } = scene.stateful.storage;
  while ((await files.takeExpired(Number.MAX_SAFE_INTEGER)).length > 0);
  const { id = '', projectId = '' } = (await stored()) ?? {};
  await batches.cancel(projectId, id);
  const batch = await until('it ends', ({ isOver }) => isOver);
  expect(openai.decode(batch)).toMatchObject({ status: 'cancelled', counts: [1, 2] });
});
