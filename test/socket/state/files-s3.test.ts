// Uploads in a bucket: what lies there, what comes back, what is left when a file goes, and what a client is told when the
// bucket fails. Against a server in memory that checks signatures, and against moto where Python has it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { spawn } from 'node:child_process';
import { readdirSync, existsSync, mkdtempSync, rmSync, statSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile, type APIError } from 'openai';
import { openBucket } from '../../../src/base/runtime/s3.ts';
import { BlobFolder } from '../../../src/storage/blobs/blob-folder.ts';
import { S3Blobs } from '../../../src/storage/blobs/s3-blobs.ts';
import { startGateway, TEST_KEY, type TestGateway } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';
import { startS3, type S3Server } from '../../support/upstreams/s3-server.ts';

const DAY = 86_400_000;

function configFor(endpoint: string, secret: string): Record<string, unknown> {
  return {
    files: {
      max_mb: 50,
      store: {
        type: 's3',
        endpoint,
        bucket: 'box',
        region: 'eu-test-1',
        access_key_id: 'id-test',
        secret_access_key: secret,
        prefix: 'gateway one/',
      },
    },
  };
}

function clientOf(gateway: TestGateway): OpenAI {
  return new OpenAI({ apiKey: TEST_KEY, baseURL: gateway.baseURL, maxRetries: 0 });
}

async function upload(client: OpenAI, bytes: Buffer, name = 'notes.txt'): Promise<string> {
  return (await client.files.create({ file: await toFile(bytes, name), purpose: 'user_data' })).id;
}

/** Names of the files below a folder of the data directory. */
function filesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    statSync(join(folder, name)).isFile(),
  );
}

describe('a bucket', () => {
  let s3: S3Server;
  let gateway: TestGateway;
  let client: OpenAI;
  const clock = new ManualClock(Date.now());

  beforeAll(async () => {
    s3 = startS3();
    gateway = await startGateway(configFor(s3.origin, s3.secret), { clock });
    client = clientOf(gateway);
  });
  afterAll(async () => {
    await gateway.close();
    await s3[Symbol.asyncDispose]();
  });

  test('stores an upload completely, and the data directory contains nothing of it', async () => {
    const id = await upload(client, Buffer.from('some words'));
    expect([...s3.objects]).toEqual([[`gateway one/${id}`, Buffer.from('some words')]]);
    expect(filesIn(join(gateway.dataDir, 'files'))).toEqual([]);
    expect(filesIn(join(gateway.dataDir, 'files-to-send'))).toEqual([]);
    expect(await (await client.files.content(id)).text()).toBe('some words');
    const answer = await client.chat.completions.create({
      model: 'sim/chat',
      messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
    });
    expect(answer.choices.length).toBe(1);
    expect((await client.files.delete(id)).deleted).toBe(true);
    expect(s3.objects.size).toBe(0);
    expect((await rejection(client.files.content(id))) as APIError).toMatchObject({ status: 404 });
  });

  test('receives a large file in parts, so that it is never whole in memory', async () => {
    const bytes = Buffer.alloc(13_000_001, 'abcdefg');
    const id = await upload(client, bytes);
    expect(s3.objects.get(`gateway one/${id}`)?.equals(bytes)).toBe(true);
    expect(s3.largest).toBeLessThan(6_000_000);
    const back = Buffer.from(await (await client.files.content(id)).arrayBuffer());
    expect(back.equals(bytes)).toBe(true);
    await client.files.delete(id);
  });

  test('loses a file that expired', async () => {
    const file = await client.files.create({
      file: await toFile(Buffer.from('x'), 'x.txt'),
      purpose: 'user_data',
      expires_after: { anchor: 'created_at', seconds: 3600 },
    });
    clock.advance(3_700_000);
    expect((await rejection(client.files.retrieve(file.id))) as APIError).toMatchObject({ status: 404 });
    for (let round = 0; round < 500 && s3.objects.size > 0; round++) {
      clock.advance(1);
      await fetch(`${gateway.origin}/healthz`);
    }
    expect(s3.objects.size).toBe(0);
  });

  test('that refuses an upload is a 502 with its error code, and no file is listed', async () => {
    s3.failing = 'AccessDenied';
    const error = (await rejection(upload(client, Buffer.from('x')))) as APIError;
    expect(error).toMatchObject({ status: 502, code: 'file_store_unavailable' });
    expect(error.message).toContain('AccessDenied');
    expect(error.message).not.toContain(s3.secret);
    s3.failing = null;
    expect((await client.files.list()).data).toEqual([]);
  });

  test('that refuses a download is a 502, and a lost object is a 404', async () => {
    const id = await upload(client, Buffer.from('x'));
    s3.failing = 'AccessDenied';
    expect((await rejection(client.files.content(id))) as APIError).toMatchObject({
      status: 502,
      code: 'file_store_unavailable',
    });
    // The row of the file is here.
    expect((await client.files.retrieve(id)).bytes).toBe(1);
    s3.failing = null;
    s3.objects.clear();
    expect((await rejection(client.files.content(id))) as APIError).toMatchObject({ status: 404 });
    await client.files.delete(id);
  });

  test('with a wrong secret is reported as such', async () => {
    await using stranger = await startGateway(configFor(s3.origin, 'sk-wrong-test'));
    const error = (await rejection(upload(clientOf(stranger), Buffer.from('x')))) as APIError;
    expect(error.message).toContain('SignatureDoesNotMatch');
    expect(stranger.logLines.join('\n')).not.toContain('sk-wrong-test');
  });

  test('that does not exist is reported as such', async () => {
    await using stranger = await startGateway(configFor('http://127.0.0.1:9', 'sk-test'));
    const error = (await rejection(upload(clientOf(stranger), Buffer.from('x')))) as APIError;
    expect(error).toMatchObject({ status: 502, code: 'file_store_unavailable' });
  });
});

describe('blobs in a bucket', () => {
  let s3: S3Server;
  let folder = '';
  beforeAll(() => {
    s3 = startS3();
    folder = mkdtempSync(join(tmpdir(), 'dragoman-s3-'));
  });
  afterAll(async () => {
    await s3[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true });
  });

  const blobs = (stepMs = 30_000): S3Blobs =>
    new S3Blobs({
      bucket: openBucket({
        endpoint: s3.origin,
        bucket: 'box',
        region: 'eu-test-1',
        accessKeyId: 'id-test',
        secretAccessKey: s3.secret,
      }),
      prefix: '',
      folder: new BlobFolder(folder),
      sendMs: stepMs,
      stepMs,
    });
  const keep = async (store: S3Blobs, name: string): Promise<void> => {
    const draft = await store.draft();
    await draft.write(Buffer.from('words'));
    await draft.keep(name);
  };
  /** Makes what lies in the folder a day old. */
  const age = (): void => {
    const then = new Date(Date.now() - 2 * DAY);
    for (const name of filesIn(folder)) utimesSync(join(folder, name), then, then);
  };
  const nobody = (): Promise<boolean> => Promise.resolve(false);

  test('that could not be deleted are deleted later', async () => {
    const store = blobs();
    await keep(store, 'file_one');
    s3.failing = 'AccessDenied';
    await store.delete('file_one');
    await store.sweep(Date.now() - DAY, nobody);
    expect(s3.objects.has('file_one')).toBe(true);
    age();
    await store.sweep(Date.now() - DAY, nobody);
    expect(filesIn(folder).length).toBe(1);
    s3.failing = null;
    await store.sweep(Date.now() - DAY, nobody);
    expect(s3.objects.size).toBe(0);
    expect(filesIn(folder)).toEqual([]);
  });

  test('stay if they are in use or belong to another program', async () => {
    const store = blobs();
    s3.objects.set('of-others', Buffer.from('x'));
    await keep(store, 'file_two');
    // As a crash would leave it, right before the end of an upload.
    await (await new BlobFolder(folder).draft()).keep('file_two');
    age();
    await store.sweep(Date.now() - DAY, (name) => Promise.resolve(name === 'file_two'));
    expect([...s3.objects.keys()].sort()).toEqual(['file_two', 'of-others']);
    expect(filesIn(folder)).toEqual([]);
    s3.objects.clear();
  });

  test('are requested with a time limit', async () => {
    s3.failing = 'silence';
    const store = blobs(1);
    for (const work of [store.read('file_x'), store.stream('file_x'), keep(store, 'file_x')])
      expect(await rejection(work)).toMatchObject({
        kind: 'upstream_unavailable',
        message: 'The file store is unavailable: timeout.',
      });
    await store.delete('file_x');
    expect(filesIn(folder).length).toBe(1);
    s3.failing = null;
  });
});

test.each([0, 1])('a store that stops responding after %p pieces is disconnected', async (pieces) => {
  let isLetGo = false;
  const silent = (): never => {
    throw new TypeError('only read from');
  };
  const store = new S3Blobs({
    bucket: {
      put: silent,
      get: silent,
      delete: silent,
      stream: () =>
        new ReadableStream({
          start(controller) {
            for (let piece = 0; piece < pieces; piece++) controller.enqueue(Buffer.from('words'));
          },
          cancel() {
            isLetGo = true;
          },
        }),
    },
    prefix: '',
    folder: new BlobFolder(join(tmpdir(), 'dragoman-unused')),
    stepMs: 1,
  });
  const read = async (): Promise<string> => new Response(await store.stream('file_x')).text();
  await rejection(read());
  expect(isLetGo).toBe(true);
});

const python = process.env['DRAGOMAN_PYTHON'];
const hasMoto =
  python !== undefined && Bun.spawnSync([python, '-c', 'import moto.server'], { stderr: 'ignore' }).success;

test.skipIf(!hasMoto)(
  `a real S3 server${hasMoto ? '' : ' (set DRAGOMAN_PYTHON to an interpreter that can import moto.server)'}`,
  async () => {
    const child = spawn(python ?? '', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', '0'], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    const origin = await new Promise<string>((resolve, reject) => {
      child.once('exit', () => reject(new Error(said)));
      child.stderr.on('data', (text: Buffer) => {
        said += text.toString();
        const [, found] = /Running on (http:\/\/127\.0\.0\.1:\d+)/.exec(said) ?? [];
        if (found) resolve(found);
      });
    });
    try {
      // Moto takes any signature; what it knows is S3.
      expect((await fetch(`${origin}/box`, { method: 'PUT' })).status).toBe(200);
      await using gateway = await startGateway(configFor(origin, 'sk-s3-test'));
      const client = clientOf(gateway);
      for (const bytes of [Buffer.from('some words'), Buffer.alloc(12_000_000, 'abc')]) {
        const id = await upload(client, bytes);
        const back = Buffer.from(await (await client.files.content(id)).arrayBuffer());
        expect(back.equals(bytes)).toBe(true);
        await client.files.delete(id);
        expect((await fetch(`${origin}/box/gateway%20one/${id}`)).status).toBe(404);
      }
    } finally {
      child.kill();
    }
  },
);
