// Google's Files API through the official SDK, and by raw requests for what no SDK sends: wrong places and lengths, two ends,
// uploads that nobody ends, too many bytes, another tenant.
import { type ApiError, createPartFromUri, FileState, GoogleGenAI } from '@google/genai';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TEST_KEY } from '../../support/harness.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';
import { OTHER_KEY, startStateful, type StatefulGateway } from '../../support/storage/state-seed.ts';
import { eventually, eventuallyFound } from '../../support/program.ts';

/** Bytes of which pieces are a multiple. */
const UNIT = 262_144;
const MB = 1_048_576;
const HOUR = 3_600_000;
/** The key, which an upload does not need. */
const OWN = { 'x-goog-api-key': TEST_KEY };

function clientOf({ gateway }: StatefulGateway, apiKey: string): GoogleGenAI {
  const httpOptions = { baseUrl: gateway.origin, retryOptions: { attempts: 1 } };
  return new GoogleGenAI({ apiKey, httpOptions });
}

/** Every file below the folder of blobs. */
function onDisk({ gateway }: StatefulGateway): readonly string[] {
  const folder = join(gateway.dataDir, 'files');
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

interface Answered {
  readonly status: number;
  readonly headers: Headers;
  readonly json: Record<string, unknown>;
}

async function answered(response: Response): Promise<Answered> {
  const { status, headers } = response;
  return { status, headers, json: (await response.json()) as Record<string, unknown> };
}

function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

const stateOf = ({ status, headers }: Answered) => [status, headers.get('x-goog-upload-status')];

describe('files of Google', () => {
  let stateful: StatefulGateway;
  let ai: GoogleGenAI;
  let stranger: GoogleGenAI;
  let folder: string;
  beforeAll(async () => {
    stateful = await startStateful({ files: { max_mb: 20 }, batches: { max_delay_ms: 0, max_mb: 30 } });
    ai = clientOf(stateful, TEST_KEY);
    stranger = clientOf(stateful, OTHER_KEY);
    folder = mkdtempSync(join(tmpdir(), 'dragoman-gemini-files-'));
  });
  afterAll(async () => {
    rmSync(folder, { recursive: true });
    await stateful.close();
  });

  /** Begins an upload as `curl` would. @returns the answer, and a way to go on without a key */
  async function begin(size: number | null, headers: Record<string, string> = {}, body: object = {}) {
    const started = await answered(
      await fetch(`${stateful.gateway.origin}/upload/v1beta/files`, {
        method: 'POST',
        headers: {
          'x-goog-api-key': TEST_KEY,
          'content-type': 'application/json',
          'x-goog-upload-protocol': 'resumable',
          'x-goog-upload-command': 'start',
          ...(size !== null && { 'x-goog-upload-header-content-length': String(size) }),
          ...headers,
        },
        body: JSON.stringify(body),
      }),
    );
    const url = started.headers.get('x-goog-upload-url') ?? '';
    const send = async (
      command: string,
      offset?: number | string,
      bytes: Uint8Array = new Uint8Array(0),
      more: Record<string, string> = {},
    ): Promise<Answered> =>
      answered(
        await fetch(url, {
          method: 'POST',
          headers: {
            'x-goog-upload-command': command,
            ...(offset !== undefined && { 'x-goog-upload-offset': String(offset) }),
            ...more,
          },
          body: bytes as BodyInit,
        }),
      );
    return { ...started, url, send };
  }

  const bytesOf = (size: number, value = 97): Buffer<ArrayBuffer> => Buffer.alloc(size, value);

  test('are uploaded, found, listed, named in a request and deleted with the official SDK', async () => {
    const before = Date.now();
    const made = await ai.files.upload({
      file: new Blob(['The meeting is on Tuesday.']),
      config: { mimeType: 'text/csv', displayName: 'Größe 1/2.csv' },
    });
    expect(made.name).toMatch(/^files\/[0-9a-f]{24}$/);
    expect(made).toMatchObject({
      displayName: 'Größe 1/2.csv',
      mimeType: 'text/csv',
      sizeBytes: '26',
      // The hex text in base64, as Google returns it.
      sha256Hash: Buffer.from(sha256Of('The meeting is on Tuesday.')).toString('base64'),
      state: FileState.ACTIVE,
      source: 'UPLOADED',
    });
    expect(made.downloadUri).toBeUndefined();
    expect(made.uri).toBe(`${stateful.gateway.origin}/v1beta/${made.name}`);
    const created = Date.parse(made.createTime ?? '');
    expect(created).toBeGreaterThanOrEqual(before);
    expect(Date.parse(made.expirationTime ?? '') - created).toBe(48 * HOUR);
    const name = made.name ?? '';
    expect(await ai.files.get({ name })).toMatchObject({ ...made });
    for (const uri of [made.uri ?? '', name]) {
      const answer = await ai.models.generateContent({
        model: 'sim/echo',
        contents: [createPartFromUri(uri, 'text/csv'), 'When is the meeting?'],
      });
      expect(answer.text).toBeString();
    }
    await ai.files.delete({ name });
    expect(((await rejection(ai.files.get({ name }))) as ApiError).status).toBe(404);
    expect(onDisk(stateful)).toEqual([]);
  });

  test('are uploaded from a path in pieces of 8 MB, and are whole', async () => {
    const path = join(folder, 'large.bin');
    const bytes = Buffer.concat(Array.from({ length: 18 }, (_, at) => bytesOf(MB, at)));
    writeFileSync(path, bytes);
    const made = await ai.files.upload({ file: path, config: { mimeType: 'application/x-thing' } });
    expect(made).toMatchObject({ displayName: 'large.bin', sizeBytes: String(bytes.length) });
    expect(onDisk(stateful)).toHaveLength(1);
    const downloadPath = join(folder, 'back.bin');
    await ai.files.download({ file: made.name ?? '', downloadPath });
    expect(readFileSync(downloadPath).equals(bytes)).toBe(true);
    await ai.files.delete({ name: made.name ?? '' });
  });

  test('are listed in pages', async () => {
    const names: string[] = [];
    for (const text of ['one', 'two', 'three']) {
      const file = new Blob([text], { type: 'text/plain' });
      names.push((await ai.files.upload({ file })).name ?? '');
    }
    const listed: string[] = [];
    for await (const { name } of await ai.files.list({ config: { pageSize: 2 } })) listed.push(name ?? '');
    expect(listed).toEqual(names.toReversed());
    const ask = (query: string) =>
      fetch(`${stateful.gateway.origin}/v1beta/files?key=${TEST_KEY}&${query}`).then(answered);
    expect((await ask('pageToken=file-x')).status).toBe(400);
    expect((await ask('pageSize=101')).status).toBe(400);
    for (const name of names) await ai.files.delete({ name });
  });

  test('of another key are not found', async () => {
    const made = await ai.files.upload({ file: new Blob(['mine'], { type: 'text/plain' }) });
    const name = made.name ?? '';
    const downloadPath = join(folder, 'stolen');
    for (const attempt of [
      () => stranger.files.get({ name }),
      () => stranger.files.delete({ name }),
      () => stranger.files.download({ file: name, downloadPath }),
      () =>
        stranger.models.generateContent({
          model: 'sim/echo',
          contents: [createPartFromUri(made.uri ?? '', 'text/plain')],
        }),
      () => stranger.batches.create({ model: 'sim/echo', src: name }),
      // The same as of one that nobody has.
      () => stranger.files.get({ name: `files/${'0'.repeat(24)}` }),
    ])
      expect((await rejection(attempt())) as ApiError).toMatchObject({ status: 404 });
    expect((await stranger.files.list()).page).toEqual([]);
    const { send } = await begin(1);
    const foreign = await send('query', undefined, undefined, { 'x-goog-api-key': OTHER_KEY });
    expect(foreign.status).toBe(404);
    expect((await send('query', undefined, undefined, { 'x-goog-api-key': 'wrong' })).status).toBe(401);
    expect(stateOf(await send('cancel'))).toEqual([200, 'cancelled']);
    expect(await ai.files.get({ name })).toMatchObject({ sizeBytes: '4' });
    await ai.files.delete({ name });
  });

  test('hold the lines of a batch, whose results are downloaded', async () => {
    const lines = ['a', 'b'].map((key) => {
      const contents = [{ parts: [{ text: `This is\n${key}.` }] }];
      return JSON.stringify({ key, request: { contents } });
    });
    // Each as a guide of Google's has it: a name that is no media type, a type of its own, and text that says nothing.
    for (const mimeType of ['jsonl', 'application/jsonl', 'text/plain']) {
      const src = await ai.files.upload({ file: new Blob([lines.join('\n')]), config: { mimeType } });
      const made = await ai.batches.create({ model: 'sim/gemini', src: src.name ?? '' });
      const batch = await eventuallyFound(
        'the batch ends',
        () => ai.batches.get({ name: made.name ?? '' }),
        ({ endTime }) => endTime !== undefined,
      );
      expect(batch.state as string).toBe('JOB_STATE_SUCCEEDED');
      const results = await ai.files.get({ name: batch.dest?.fileName ?? '' });
      expect(results.downloadUri).toContain(':download');
      expect(results.source as string).toBe('GENERATED');
      const downloadPath = join(folder, 'out.jsonl');
      await ai.files.download({ file: results, downloadPath });
      const ends = readFileSync(downloadPath, 'utf8').trimEnd().split('\n');
      expect(ends.map((line) => (JSON.parse(line) as { key: string }).key)).toEqual(['a', 'b']);
      await ai.batches.delete({ name: made.name ?? '' });
      await ai.files.delete({ name: src.name ?? '' });
    }
  });

  test('are downloaded as attachments, so that browsers do not run uploaded pages', async () => {
    const page = new Blob(['<script>alert(1)</script>']);
    const { name } = await ai.files.upload({ file: page, config: { mimeType: 'text/html' } });
    const response = await fetch(`${stateful.gateway.origin}/v1beta/${name}:download?key=${TEST_KEY}`);
    expect(response.headers.get('content-disposition')).toStartWith('attachment');
    await ai.files.delete({ name: name ?? '' });
  });

  test.each([
    ['no protocol', { 'x-goog-upload-protocol': '' }, {}, 'x-goog-upload-protocol'],
    ['another protocol', { 'x-goog-upload-protocol': 'multipart' }, {}, 'x-goog-upload-protocol'],
    ['another command', { 'x-goog-upload-command': 'upload' }, {}, 'x-goog-upload-command'],
    ['an invalid length', { 'x-goog-upload-header-content-length': '-1' }, {}, 'content-length'],
    ['no bytes', { 'x-goog-upload-header-content-length': '0' }, {}, 'empty'],
    ['an invalid name', {}, { file: { name: 'files/my_notes' } }, 'file.name'],
    ['a name that is too long', {}, { file: { display_name: 'x'.repeat(513) } }, 'file.displayName'],
    ['an invalid file', {}, { file: 'x' }, 'file'],
  ])('do not begin with %s', async (_, headers, body, word) => {
    const started = await begin(1, headers, body);
    expect(started.status).toBe(400);
    expect(JSON.stringify(started.json)).toContain(word);
    expect(started.headers.get('x-goog-upload-url')).toBeNull();
  });

  test('do not begin without a key, and an unknown upload cannot be continued', async () => {
    const post = (path: string, headers: Record<string, string> = {}) =>
      fetch(stateful.gateway.origin + path, {
        method: 'POST',
        headers: { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start', ...headers },
      }).then(answered);
    expect((await post('/upload/v1beta/files')).status).toBe(401);
    for (const id of ['x', 'f'.repeat(48), '%00']) {
      const path = `/upload/v1beta/files/${id}`;
      // A secret that is wrong.
      expect(await post(path)).toMatchObject({ status: 401, json: { error: { status: 'UNAUTHENTICATED' } } });
      expect(await post(path, { 'x-goog-api-key': TEST_KEY })).toMatchObject({
        status: 404,
        json: { error: { status: 'NOT_FOUND' } },
      });
    }
  });

  test('that announce too many bytes are refused before their bytes, others at the limit', async () => {
    const said = await begin(20 * MB + 1);
    expect(said).toMatchObject({ status: 413 });
    expect(JSON.stringify(said.json)).toContain('files.max_mb');
    expect(
      (await begin(30 * MB + 1, { 'x-goog-upload-header-content-type': 'application/jsonl' })).status,
    ).toBe(413);
    const { send } = await begin(null);
    expect(stateOf(await send('upload', 0, bytesOf(12 * MB)))).toEqual([200, 'active']);
    const over = await send('upload, finalize', 12 * MB, bytesOf(8 * MB + 1));
    expect(stateOf(over)).toEqual([413, 'final']);
    // It has ended, and left nothing.
    expect((await send('query')).status).toBe(401);
    expect((await send('query', undefined, undefined, OWN)).status).toBe(404);
    expect(onDisk(stateful)).toEqual([]);
  });

  test('go on after pieces that do not fit, and end once', async () => {
    const size = UNIT + 5;
    const { send, headers } = await begin(size, { 'x-goog-upload-file-name': 'pieces.txt' });
    expect(headers.get('x-goog-upload-chunk-granularity')).toBe(String(UNIT));
    const wrong: readonly [command: string, offset: number | string | undefined, bytes: Buffer][] = [
      ['upload', 1, bytesOf(UNIT)],
      ['upload', -1, bytesOf(UNIT)],
      ['upload', '1e3', bytesOf(UNIT)],
      ['upload', undefined, bytesOf(UNIT)],
      ['upload', 0, bytesOf(UNIT - 1)],
      ['upload', 0, bytesOf(2 * UNIT)],
      ['upload, finalize', 0, bytesOf(size + 1)],
      ['upload, finalize', 0, bytesOf(size - 1)],
      ['finalize', undefined, bytesOf(0)],
      ['start', 0, bytesOf(1)],
      ['', 0, bytesOf(1)],
    ];
    for (const [command, offset, bytes] of wrong)
      expect([command, offset, ...stateOf(await send(command, offset, bytes))]).toEqual([
        command,
        offset,
        400,
        'active',
      ]);
    expect((await send('query')).headers.get('x-goog-upload-size-received')).toBe('0');
    expect(onDisk(stateful)).toEqual([]);
    const first = await send('upload', 0, bytesOf(UNIT));
    expect(first.headers.get('x-goog-upload-size-received')).toBe(String(UNIT));
    expect(stateOf(await send('upload', UNIT, bytesOf(0)))).toEqual([200, 'active']);
    expect(stateOf(await send('upload', 0, bytesOf(UNIT)))).toEqual([400, 'active']);
    const both = await Promise.all([
      send('upload, finalize', UNIT, bytesOf(5, 98)),
      send('upload, finalize', UNIT, bytesOf(5, 99)),
    ]);
    const [good, bad] = both.toSorted((a, b) => a.status - b.status);
    expect(stateOf(good as Answered)).toEqual([200, 'final']);
    // It came at the same time, or after the end.
    expect([200, 409]).toContain(bad?.status ?? 0);
    const made = (good as Answered).json['file'] as { name: string };
    const { name } = made;
    // A client whose answer was lost asks again.
    for (const command of ['finalize', 'upload, finalize', 'query', 'cancel']) {
      const again = await send(command, UNIT, command.startsWith('upload') ? bytesOf(5) : undefined);
      expect([...stateOf(again), again.json['file']]).toEqual([200, 'final', made]);
    }
    expect(await ai.files.get({ name })).toMatchObject({
      displayName: 'pieces.txt',
      sizeBytes: String(size),
      mimeType: 'text/plain',
    });
    expect(onDisk(stateful)).toHaveLength(1);
    await ai.files.delete({ name });
    expect((await send('finalize', undefined, undefined, OWN)).status).toBe(404);
    expect(onDisk(stateful)).toEqual([]);
  });

  test('have the name that their client gives them, once in a project', async () => {
    const upload = (client: GoogleGenAI, name: string) =>
      client.files.upload({ file: new Blob(['Hello.']), config: { name, mimeType: 'text/plain' } });
    const made = await upload(ai, 'my-notes-1');
    expect(made.name).toBe('files/my-notes-1');
    expect(await ai.files.get({ name: 'files/my-notes-1' })).toEqual(made);
    const answer = await ai.models.generateContent({
      model: 'sim/echo',
      contents: [createPartFromUri(made.uri ?? '', 'text/plain'), 'What does it say?'],
    });
    expect(answer.text).toBeString();
    expect(await rejection(upload(ai, 'files/my-notes-1'))).toMatchObject({ status: 409 });
    expect((await upload(stranger, 'my-notes-1')).name).toBe('files/my-notes-1');
    for (const name of ['-notes', 'Notes', 'a'.repeat(41), 'a_b', '0'.repeat(24)])
      expect([name, ((await rejection(upload(ai, name))) as ApiError).status]).toEqual([name, 400]);
    const [first, second] = [
      await begin(6, {}, { file: { name: 'files/two' } }),
      await begin(6, {}, { file: { name: 'files/two' } }),
    ];
    expect(stateOf(await first.send('upload, finalize', 0, bytesOf(6)))).toEqual([200, 'final']);
    expect((await second.send('upload, finalize', 0, bytesOf(6))).status).toBe(409);
    for (const client of [ai, stranger]) await client.files.delete({ name: 'files/my-notes-1' });
    await ai.files.delete({ name: 'files/two' });
    expect(((await rejection(ai.files.get({ name: 'files/my-notes-1' }))) as ApiError).status).toBe(404);
    expect(onDisk(stateful)).toEqual([]);
  });

  test('continue after a broken connection', async () => {
    const { url, send } = await begin(UNIT + 1);
    const { pathname, hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: x\r\nx-goog-upload-command: upload\r\nx-goog-upload-offset: 0\r\ncontent-length: ${UNIT}\r\n\r\n${'x'.repeat(1000)}`,
    );
    const until = (count: number): Promise<void> =>
      eventually(`${count} files on the disk`, () => onDisk(stateful).length === count);
    await until(1);
    socket.destroy();
    await until(0);
    expect((await send('query')).headers.get('x-goog-upload-size-received')).toBe('0');
    await send('upload', 0, bytesOf(UNIT));
    const { json } = await send('upload, finalize', UNIT, bytesOf(1));
    await ai.files.delete({ name: (json['file'] as { name: string }).name });
  });

  test('count for their project while they arrive: an upload over the quota ends', async () => {
    await using small = await startStateful({ state: { max_mb_per_key: 1 } });
    const there = clientOf(small, TEST_KEY);
    const made = await there.files.upload({ file: new Blob([bytesOf(600_000)], { type: 'text/plain' }) });
    const refused = there.files.upload({ file: new Blob([bytesOf(600_000)], { type: 'text/plain' }) });
    const error = (await rejection(refused)) as ApiError;
    expect(error.message).toContain('storage quota');
    expect(onDisk(small)).toHaveLength(1);
    await there.files.delete({ name: made.name ?? '' });
    // The ended upload, which names the file, counts for a day.
    expect(await small.storage.stateUsage.bytes(small.projectId)).toBeLessThan(500);
  });
});

test('unfinished uploads are deleted after a day with their bytes, and files after two', async () => {
  const clock = new ManualClock(Date.now());
  await using stateful = await startStateful({}, clock);
  const ai = clientOf(stateful, TEST_KEY);
  const kept = await ai.files.upload({ file: new Blob(['x'], { type: 'text/plain' }) });
  const start = await fetch(`${stateful.gateway.origin}/upload/v1beta/files?key=${TEST_KEY}`, {
    method: 'POST',
    headers: { 'x-goog-upload-protocol': 'resumable', 'x-goog-upload-command': 'start' },
  });
  const url = start.headers.get('x-goog-upload-url') ?? '';
  const post = (command: string, body = new Uint8Array(0)) =>
    fetch(url, {
      method: 'POST',
      headers: { 'x-goog-upload-command': command, 'x-goog-upload-offset': '0' },
      body,
    }).then(({ status }) => status);
  expect(await post('upload', new Uint8Array(UNIT))).toBe(200);
  expect(onDisk(stateful)).toHaveLength(2);
  const until = async (count: number): Promise<void> => {
    for (let turn = 0; turn < 10_000 && onDisk(stateful).length > count; turn += 1)
      await new Promise(setImmediate);
    expect(onDisk(stateful)).toHaveLength(count);
  };
  clock.advance(24 * HOUR - 1);
  expect(await post('query')).toBe(200);
  clock.advance(1);
  expect(await post('query')).toBe(401);
  clock.advance(600_000);
  await until(1);
  expect(await ai.files.get({ name: kept.name ?? '' })).toMatchObject({ sizeBytes: '1' });
  clock.advance(24 * HOUR);
  expect(((await rejection(ai.files.get({ name: kept.name ?? '' }))) as ApiError).status).toBe(404);
  await until(0);
  expect(await stateful.storage.stateUsage.bytes(stateful.projectId)).toBe(0);
});
