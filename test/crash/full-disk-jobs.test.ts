// Answers in the background and batches when the disk is full in their middle: what upstreams have answered is written when there is room
// again, and nobody is asked twice.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { eventually, freshFolder, type Program, startProgram } from '../support/program.ts';
import { fillDisk, mayMount, smallDisk } from './small-disk.ts';
import { undoAfterEach } from '../support/undo.ts';

const PATIENCE_MS = 60_000;
setDefaultTimeout(3 * PATIENCE_MS);
/** Room for a few answers, each of which is in several files for a while. */
const DISK_MB = 64;
/** More than the log of the database has room for. */
const ANSWER = randomBytes(1_500_000).toString('hex');

const ends = undoAfterEach();

interface Scene {
  readonly program: Program;
  readonly client: OpenAI;
  readonly disk: string;
  readonly asked: () => number;
  readonly release: () => void;
}

/** A gateway on a small disk, in front of an upstream that answers when it is told to. */
async function start(): Promise<Scene> {
  const disk = smallDisk(DISK_MB);
  if (!disk) throw new Error('no disk could be mounted');
  const { folder, remove } = freshFolder();
  let asked = 0;
  let release: () => void = () => {};
  const released = new Promise<void>((resolve) => (release = resolve));
  const upstream = Bun.serve({
    port: 0,
    async fetch(request) {
      asked += 1;
      const { stream = false } = (await request.json()) as { stream?: boolean };
      await released;
      const head = { id: 'c', created: 1, model: 'm' };
      if (!stream) {
        const choices = [
          { index: 0, message: { role: 'assistant', content: ANSWER }, finish_reason: 'stop' },
        ];
        return Response.json({ ...head, object: 'chat.completion', choices });
      }
      const chunk = (delta: object, finish: string | null) => {
        const choices = [{ index: 0, delta, finish_reason: finish }];
        return `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices })}\n\n`;
      };
      const body = `${chunk({ content: ANSWER }, null)}${chunk({}, 'stop')}data: [DONE]\n\n`;
      return new Response(body, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const config = {
    server: { port: 0, overload: { lag_ms: 0 } },
    data_dir: disk.folder,
    keys: [{ name: 'test', key: 'sk-test' }],
    providers: { up: { api_key: 'x', protocols: { 'openai-chat': `http://127.0.0.1:${upstream.port}/v1` } } },
    models: [{ id: 'up/m', endpoints: [{ provider: 'up', model: 'm', price: { input: 1, output: 1 } }] }],
    batches: { max_delay_ms: 0, concurrent: 1 },
  };
  writeFileSync(join(folder, 'dragoman.yaml'), JSON.stringify(config));
  ends.push(remove, disk.remove, () => upstream.stop(true));
  const program = await startProgram(['serve'], { folder });
  ends.push(() => program.stop('SIGKILL'), release);
  const client = new OpenAI({ apiKey: 'sk-test', baseURL: `${program.origin}/v1`, maxRetries: 0 });
  return { program, client, disk: disk.folder, asked: () => asked, release };
}

async function refusesToWrite({ program }: Scene, words: string): Promise<void> {
  await eventually('it finds the disk full', () => program.err().includes(words), PATIENCE_MS).catch(
    (error) => {
      throw new Error(`${String(error)}: ${program.err().slice(-2000)}`);
    },
  );
}

describe.skipIf(!mayMount)('a full disk', () => {
  test('makes a background response wait, which is not generated again', async () => {
    const scene = await start();
    const { client, release } = scene;
    const { id } = await client.responses.create({ model: 'up/m', input: 'Hello', background: true });
    await eventually('it runs', () => scene.asked() === 1, PATIENCE_MS);
    const giveBack = fillDisk(scene.disk);
    release();
    await refusesToWrite(scene, 'the database or the disk failed during a job');
    giveBack();
    let status: string | undefined;
    await eventually(
      'it is there',
      async () => (status = (await client.responses.retrieve(id)).status) === 'completed',
      PATIENCE_MS,
    ).catch((error) => {
      throw new Error(`${String(error)}: ${status} ${scene.program.err().slice(-2000)}`);
    });
    expect((await client.responses.retrieve(id)).output_text).toBe(ANSWER);
    expect(scene.asked()).toBe(1);
  });

  test('makes a batch wait, and its finished lines are not sent again', async () => {
    const scene = await start();
    const { client, release } = scene;
    const lines = ['a', 'b'].map((id) => {
      const body = { model: 'up/m', messages: [{ role: 'user', content: id }] };
      return JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/chat/completions', body });
    });
    const file = await toFile(Buffer.from(lines.join('\n')), 'in.jsonl');
    const { id: input } = await client.files.create({ file, purpose: 'batch' });
    const asked = {
      input_file_id: input,
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
    } as const;
    const { id } = await client.batches.create(asked);
    await eventually('it runs', () => scene.asked() === 1, PATIENCE_MS);
    const giveBack = fillDisk(scene.disk);
    release();
    await refusesToWrite(scene, 'results of a batch could not be written');
    giveBack();
    let last: unknown;
    await eventually(
      'it ends',
      async () => ((last = await client.batches.retrieve(id)) as { status: string }).status === 'completed',
      PATIENCE_MS,
    ).catch((error) => {
      throw new Error(`${String(error)}: ${JSON.stringify(last)} ${scene.program.err().slice(-2000)}`);
    });
    expect(last).toMatchObject({ request_counts: { completed: 2, failed: 0 } });
    expect(scene.asked()).toBe(2);
  });

  test('refuses new work with a reason, and takes it when there is room', async () => {
    const scene = await start();
    const giveBack = fillDisk(scene.disk);
    const ask = () => client.responses.create({ model: 'up/m', input: ANSWER, background: true });
    const { client } = scene;
    const error = (await ask().catch((thrown: unknown) => thrown)) as { status: number; message: string };
    expect({ status: error.status, message: error.message }).toEqual({
      status: 500,
      message: expect.stringContaining('disk'),
    });
    giveBack();
    expect((await ask()).status).toBe('queued');
  });
});
