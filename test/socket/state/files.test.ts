// Uploaded files over HTTP: OpenAI's SDK as the client, raw bodies for what no SDK sends, two keys, limits, expiry, and
// what is left on the disk.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { toFile, type APIError, type OpenAI } from 'openai';
import type { JsonObject } from '../../../src/base/json/index.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { rejection } from '../../support/rejection.ts';
import { errorOf, OTHER_KEY, startStateful, type StatefulGateway } from '../../support/storage/state-seed.ts';
import { eventually } from '../../support/program.ts';
import { PNG as ONE_PIXEL } from '../../support/images.ts';

const PNG = Buffer.from(ONE_PIXEL, 'base64');

/** Every file below the folder of blobs. */
function onDisk({ gateway }: Pick<StatefulGateway, 'gateway'>): string[] {
  const folder = join(gateway.dataDir, 'files');
  return existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ name }) => name)
        .toSorted()
    : [];
}

function send(baseURL: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${baseURL}/files`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk-test',
      'content-type': 'multipart/form-data; boundary=B',
      ...headers,
    },
    body,
  });
}

async function refusal(response: Response): Promise<{ status: number; param: unknown; message: string }> {
  const { param, message } = errorOf((await response.json()) as JsonObject);
  return { status: response.status, param, message };
}

describe('files', () => {
  let stateful: StatefulGateway;
  beforeAll(async () => {
    stateful = await startStateful({ files: { max_mb: 1 } });
  });
  afterAll(() => stateful.close());

  const upload = (name: string, bytes: string | Buffer, purpose: 'user_data' | 'vision' = 'user_data') =>
    toFile(Buffer.from(bytes), name).then((file) => stateful.client.files.create({ file, purpose }));

  test('are uploaded, found, read and deleted with the official SDK', async () => {
    const { client } = stateful;
    const before = Math.floor(Date.now() / 1000);
    const made = await upload('größe "1".png', PNG, 'vision');
    expect(made).toEqual({
      id: expect.stringMatching(/^file-[0-9a-f]{24}$/) as unknown as string,
      object: 'file',
      bytes: PNG.length,
      created_at: expect.any(Number) as unknown as number,
      expires_at: expect.any(Number) as unknown as number,
      filename: 'größe "1".png',
      purpose: 'vision',
      status: 'processed',
      status_details: null,
    } as unknown as typeof made);
    expect(made.created_at).toBeGreaterThanOrEqual(before);
    expect((made.expires_at ?? 0) - made.created_at).toBe(30 * 86_400);
    expect(await client.files.retrieve(made.id)).toEqual(made);
    const content = await client.files.content(made.id);
    expect(Buffer.from(await content.arrayBuffer()).equals(PNG)).toBe(true);
    expect(Object.fromEntries(content.headers)).toMatchObject({
      'content-type': 'image/png',
      'content-disposition': "attachment; filename*=UTF-8''gr%C3%B6%C3%9Fe%20%221%22.png",
      'x-content-type-options': 'nosniff',
    });
    expect(onDisk(stateful)).toEqual([made.id]);
    expect(await client.files.delete(made.id)).toEqual({ id: made.id, object: 'file', deleted: true });
    expect(onDisk(stateful)).toEqual([]);
    for (const attempt of [
      client.files.retrieve(made.id),
      client.files.content(made.id),
      client.files.delete(made.id),
    ])
      expect((await rejection(attempt)) as APIError).toMatchObject({ status: 404 });
  });

  test('are listed in pages, by purpose and in both orders', async () => {
    const { client } = stateful;
    const made = [];
    for (let at = 0; at < 5; at++)
      made.push(await upload(`${at}.txt`, `text ${at}`, at % 2 ? 'vision' : 'user_data'));
    const ids = made.map(({ id }) => id);
    const listed = async (query: OpenAI.FileListParams): Promise<string[]> => {
      const found: string[] = [];
      for await (const file of client.files.list(query)) found.push(file.id);
      return found;
    };
    expect(await listed({})).toEqual(ids.toReversed());
    expect(await listed({ order: 'asc', limit: 2 })).toEqual(ids);
    expect(await listed({ purpose: 'vision', order: 'asc', limit: 1 })).toEqual([ids[1] ?? '', ids[3] ?? '']);
    expect(await listed({ purpose: 'batch' })).toEqual([]);
    const page = await client.files.list({ limit: 2, order: 'asc', after: ids[1] ?? '' });
    expect(page).toMatchObject({ has_more: true, data: [made[2], made[3]] });
    const { json } = await stateful.call('GET', '/files?limit=2');
    expect(json).toMatchObject({ object: 'list', first_id: ids[4], last_id: ids[3], has_more: true });
    for (const [query, param] of [
      ['limit=0', 'limit'],
      ['limit=10001', 'limit'],
      ['order=up', 'order'],
      ['after=file_x', 'after'],
    ] as const) {
      const { status, json: refused } = await stateful.call('GET', `/files?${query}`);
      expect([status, errorOf(refused).param]).toEqual([400, param]);
    }
    await Promise.all(ids.map((id) => client.files.delete(id)));
    expect(onDisk(stateful)).toEqual([]);
  });

  test('of another key are not found', async () => {
    const { stranger, client } = stateful;
    const { id } = await upload('secret.txt', 'mine');
    for (const attempt of [
      stranger.files.retrieve(id),
      stranger.files.content(id),
      stranger.files.delete(id),
    ])
      expect((await rejection(attempt)) as APIError).toMatchObject({ status: 404 });
    expect((await stranger.files.list()).data).toEqual([]);
    const { status } = await stateful.call('GET', '/files?after=' + id);
    expect(status).toBe(200);
    const other = await fetch(`${stateful.gateway.baseURL}/files?after=${id}`, {
      headers: { authorization: `Bearer ${OTHER_KEY}` },
    });
    expect(other.status).toBe(400);
    expect(await (await client.files.content(id)).text()).toBe('mine');
    await client.files.delete(id);
    expect((await send(stateful.gateway.baseURL, 'x', { authorization: 'Bearer wrong' })).status).toBe(401);
  });

  test.each([
    ['photo.txt', PNG, 'image/png'],
    ['photo', Buffer.from('/9j/4AAQSkZJRg==', 'base64'), 'image/jpeg'],
    ['sound.webp', Buffer.from('RIFF\0\0\0\0WAVEfmt '), 'audio/wav'],
    ['paper', '%PDF-1.7\n', 'application/pdf'],
    ['fake.png', '<script>alert(1)</script>', 'text/plain'],
    ['page.html', '<p>hello</p>', 'text/html'],
    ['data.json', '{}', 'application/json'],
    ['data.csv', 'a,b', 'text/csv'],
    ['words', 'wörter', 'text/plain'],
    ['long.txt', `${'x'.repeat(4095)}ö`, 'text/plain'],
    ['fake.pdf', Buffer.from([0, 1, 2]), 'application/octet-stream'],
    ['fake.txt', Buffer.from([0xff, 0xfe]), 'application/octet-stream'],
    ['clip.mp4', Buffer.from('\0\0\0\x18ftypmp42'), 'video/mp4'],
    [
      'sheet.xlsx',
      Buffer.from('PK\x03\x04\0'),
      'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
    ],
  ])('have the type that their bytes have: %s', async (name, bytes, type) => {
    const { id } = await upload(name, bytes);
    const content = await stateful.client.files.content(id);
    expect(content.headers.get('content-type')?.split(';')[0]).toBe(type);
    await stateful.client.files.delete(id);
  });

  test('expire at the requested time, and with the retention of the operator', async () => {
    const expiry = async (seconds: number): Promise<number | undefined> => {
      const file = await toFile(Buffer.from('x'), 'x.txt');
      const made = await stateful.client.files.create({
        file,
        purpose: 'user_data',
        expires_after: { anchor: 'created_at', seconds },
      });
      await stateful.client.files.delete(made.id);
      return made.expires_at && made.expires_at - made.created_at;
    };
    expect(await expiry(3600)).toBe(3600);
    expect(await expiry(2_592_000)).toBe(2_592_000);
    for (const seconds of [3599, 2_592_001, 1.5, -1])
      expect((await rejection(expiry(seconds))) as APIError).toMatchObject({
        status: 400,
        param: 'expires_after.seconds',
      });
  });

  test.each([
    ['no file', [['purpose', 'user_data']], 'file'],
    ['no purpose', [['file', 'x']], 'purpose'],
    [
      'an unknown purpose',
      [
        ['file', 'x'],
        ['purpose', 'fine-tune'],
      ],
      'purpose',
    ],
    [
      'two files',
      [
        ['file', 'x'],
        ['file', 'y'],
        ['purpose', 'user_data'],
      ],
      'file',
    ],
    [
      'two purposes',
      [
        ['purpose', 'batch'],
        ['file', 'x'],
        ['purpose', 'user_data'],
      ],
      'purpose',
    ],
    [
      'an empty file',
      [
        ['file', ''],
        ['purpose', 'user_data'],
      ],
      'file',
    ],
    [
      'an unknown anchor',
      [
        ['file', 'x'],
        ['purpose', 'vision'],
        ['expires_after[anchor]', 'now'],
        ['expires_after[seconds]', '3600'],
      ],
      'expires_after.anchor',
    ],
    [
      'no anchor',
      [
        ['file', 'x'],
        ['purpose', 'vision'],
        ['expires_after[seconds]', '3600'],
      ],
      'expires_after.anchor',
    ],
    [
      'no seconds',
      [
        ['file', 'x'],
        ['purpose', 'vision'],
        ['expires_after[anchor]', 'created_at'],
      ],
      'expires_after.seconds',
    ],
    [
      'an absurd field',
      [
        ['file', 'x'],
        ['purpose', 'v'.repeat(100_000)],
      ],
      'purpose',
    ],
  ] as const)('are refused with %s, and leave no data', async (_, fields, param) => {
    const form = new FormData();
    for (const [name, value] of fields)
      form.append(name, name === 'file' ? new File([value], 'a.txt') : value);
    const response = await fetch(`${stateful.gateway.baseURL}/files`, {
      method: 'POST',
      headers: { authorization: 'Bearer sk-test' },
      body: form,
    });
    expect(await refusal(response)).toMatchObject({ status: 400, param });
    expect(onDisk(stateful)).toEqual([]);
  });

  test('are limited in size; the error for a larger one follows the whole body', async () => {
    const most = 1_048_576;
    const { id } = await upload('largest.bin', Buffer.alloc(most, 1));
    expect(onDisk(stateful)).toEqual([id]);
    await stateful.client.files.delete(id);
    for (const size of [most + 1, 20 * most]) {
      const error = (await rejection(upload('too-large.bin', Buffer.alloc(size, 1)))) as APIError;
      expect(error).toMatchObject({ status: 413, param: 'file' });
      expect(error.message).toContain('files.max_mb');
    }
    expect(onDisk(stateful)).toEqual([]);
  });

  const part = (head: string, content: string): string => `--B\r\n${head}\r\n\r\n${content}\r\n`;
  const file = part('Content-Disposition: form-data; name="file"; filename="a.txt"', 'hello');
  const purpose = part('content-disposition:form-data;name=purpose', 'user_data');

  test.each([
    ['fields first', `${purpose}${file}--B--\r\n`],
    ['a preamble and an epilogue', `This is MIME.\r\n${file}${purpose}--B--\r\nand more\r\n--B\r\n`],
    ['white space behind boundaries', `${file}${purpose}--B--`.replaceAll('--B\r\n', '--B \t\r\n')],
    [
      'an unknown field and an empty one',
      `${part('Content-Disposition: form-data; name="x"', '')}${file}${purpose}--B--`,
    ],
    [
      'a part of no bytes at all',
      `--B\r\nContent-Disposition: form-data; name="x"\r\n\r\n${file}${purpose}--B--`,
    ],
  ])('are read from a body with %s, in pieces of any size', async (_, body) => {
    const bytes = Buffer.from(body);
    for (const size of [1, 3, 7, bytes.length]) {
      const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_piece, at) =>
        bytes.subarray(at * size, (at + 1) * size),
      );
      const response = await send(
        stateful.gateway.baseURL,
        new ReadableStream({
          async start(controller) {
            for (const piece of pieces) {
              controller.enqueue(piece);
              await new Promise(setImmediate);
            }
            controller.close();
          },
        }),
      );
      const made = (await response.json()) as JsonObject;
      expect(made).toMatchObject({ bytes: 5, filename: 'a.txt' });
      expect(await (await stateful.client.files.content(String(made['id']))).text()).toBe('hello');
      await stateful.client.files.delete(String(made['id']));
    }
  });

  test.each([
    ['without a form', 'hello', {}],
    ['of another type', '{}', { 'content-type': 'application/json' }],
    ['without a boundary', `${file}--B--`, { 'content-type': 'multipart/form-data' }],
    [
      'with an absurd boundary',
      `${file}--B--`,
      { 'content-type': `multipart/form-data; boundary=${'B'.repeat(71)}` },
    ],
    ['that ends too early', `${purpose}${file}--B`, {}],
    ['that ends in the middle of a file', `${purpose}${file}`.slice(0, -4), {}],
    ['with something behind a boundary', `--Bxx\r\n${file}${purpose}--B--`, {}],
    ['with a part without a name', `${part('Content-Type: text/plain', 'x')}${file}${purpose}--B--`, {}],
    ['with an endless head', `--B\r\n${'X: y\r\n'.repeat(5000)}`, {}],
    ['with a head that is too long', `--B\r\n${'X: y\r\n'.repeat(5000)}${file.slice(5)}${purpose}--B--`, {}],
    [
      'of too many parts',
      `${Array.from({ length: 40 }, (_, at) => part(`Content-Disposition: form-data; name="x${at}"`, 'y')).join('')}${file}${purpose}--B--`,
      {},
    ],
    ['of nothing', '', {}],
  ])('are not read from a body %s', async (_, body, headers) => {
    const { status, message } = await refusal(await send(stateful.gateway.baseURL, body, headers));
    expect(status).toBe(400);
    expect(message).toContain('multipart');
    expect(onDisk(stateful)).toEqual([]);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\\\temp\\\\a.txt', 'a.txt'],
    ['', 'file'],
    ['a\u0001b\u007fc', 'abc'],
    ['x'.repeat(300), 'x'.repeat(255)],
  ])('have plain names: %j', async (given, filename) => {
    const head = `Content-Disposition: form-data; name="file"; filename="${given}"`;
    const response = await send(stateful.gateway.baseURL, `${part(head, 'x')}${purpose}--B--`);
    const made = (await response.json()) as JsonObject;
    expect(made['filename']).toBe(filename);
    await stateful.client.files.delete(String(made['id']));
  });

  test('leave no data if their upload is interrupted', async () => {
    const { hostname, port } = new URL(stateful.gateway.origin);
    const socket = connect(Number(port), hostname);
    const half = `${purpose}${part('Content-Disposition: form-data; name="file"; filename="a"', 'x'.repeat(100_000))}`;
    socket.write(
      `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer sk-test\r\ncontent-type: multipart/form-data; boundary=B\r\ncontent-length: 200000\r\n\r\n${half}`,
    );
    const until = (count: number): Promise<void> =>
      eventually(`${count} files are there`, () => onDisk(stateful).length === count);
    await until(1);
    socket.destroy();
    await until(0);
  });

  test('with ids that contain other paths are not found', async () => {
    for (const id of ['..%2F..%2Fdragoman.db', '%2e%2e', 'file_', 'file-abc', 'x'.repeat(5000)])
      for (const path of [`/files/${id}`, `/files/${id}/content`])
        expect((await stateful.call('GET', path)).status).toBe(404);
  });
});

test('files count against the quota of their key, and are never removed for other data', async () => {
  await using stateful = await startStateful({ state: { max_mb_per_key: 0.1 } });
  const upload = async (size: number) =>
    stateful.client.files.create({
      file: await toFile(Buffer.alloc(size, 1), 'a.bin'),
      purpose: 'user_data',
    });
  const first = await upload(60_000);
  const bytes = await stateful.storage.stateUsage.bytes(stateful.projectId);
  expect(bytes).toBeGreaterThan(60_000);
  const error = (await rejection(upload(60_000))) as APIError;
  expect(error).toMatchObject({ status: 402, code: 'storage_quota' });
  expect(onDisk(stateful)).toEqual([first.id]);
  expect(await stateful.storage.stateUsage.bytes(stateful.projectId)).toBe(bytes);
  await stateful.client.files.delete(first.id);
  expect(await stateful.storage.stateUsage.bytes(stateful.projectId)).toBe(0);
  await stateful.client.files.delete((await upload(60_000)).id);
});

test('expired files are gone at once, and their bytes with the next purge, as are remains of a crash', async () => {
  const clock = new ManualClock(Date.now());
  await using stateful = await startStateful({}, clock);
  const folder = join(stateful.gateway.dataDir, 'files');
  const make = async (expiresAfter?: number) =>
    (
      await stateful.client.files.create({
        file: await toFile(Buffer.from('x'), 'x.txt'),
        purpose: 'user_data',
        ...(expiresAfter === undefined
          ? {}
          : { expires_after: { anchor: 'created_at', seconds: expiresAfter } }),
      })
    ).id;
  const short = await make(3600);
  const long = await make();
  // Leftovers of a process that dies between the bytes and the row, or in the middle of the bytes.
  const orphan = `file_${'0'.repeat(24)}`;
  mkdirSync(join(folder, '00'), { recursive: true });
  writeFileSync(join(folder, '00', orphan), 'x');
  writeFileSync(join(folder, 'drafts', 'half'), 'x');
  writeFileSync(join(folder, 'drafts', 'running'), 'x');
  for (const path of [
    join(folder, '00', orphan),
    join(folder, 'drafts', 'half'),
    join(folder, long.slice(-2), long),
  ])
    utimesSync(path, 1, 1);
  clock.advance(3_600_000 - 1);
  expect((await stateful.call('GET', `/files/${short}`)).status).toBe(200);
  clock.advance(1);
  expect((await stateful.call('GET', `/files/${short}`)).status).toBe(404);
  expect((await stateful.client.files.list()).data.map(({ id }) => id)).toEqual([long]);
  clock.advance(600_000);
  const left = [long, 'running'].toSorted();
  await eventually('the file is deleted', () => onDisk(stateful).length <= left.length);
  expect(onDisk(stateful)).toEqual(left);
  expect(await (await stateful.client.files.content(long)).text()).toBe('x');
});
