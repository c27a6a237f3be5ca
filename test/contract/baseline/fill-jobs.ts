// Leaves behind what a process writes that is killed in the middle: jobs of every state, a batch, a receiver of webhooks,
// files with names of their own, and an unfinished upload.
import OpenAI, { toFile } from 'openai';
import type { Batch } from 'openai/resources/batches';
import { PIECE_UNIT } from '../../../src/engine/state/files.ts';
import { eventually, type Program } from '../../support/program.ts';
import { answerOf, type Ask, sendsWords } from './asks.ts';
import type { Filled } from './fill.ts';

type Running = Pick<Program, 'origin'>;

async function start({ origin }: Running, { key }: Filled, model: string): Promise<string> {
  const body = { model, input: 'Count to 20.', background: true };
  const { answer } = await answerOf(origin, { key, path: '/v1/responses', body });
  return String((answer as { readonly id?: unknown }).id);
}

async function reaches({ origin }: Running, id: string, state: string, attempt = 1): Promise<void> {
  await eventually(`try ${attempt} of the job is ${state}`, async () => {
    const { answer } = await answerOf(origin, { path: `/v1/management/jobs/${id}` });
    const job = answer as { readonly state?: unknown; readonly attempt?: unknown };
    return job.state === state && job.attempt === attempt;
  });
}

/** Starts a job that has called its upstream when the process is killed. @returns its id */
export async function fillDeath(program: Running, filled: Filled): Promise<string> {
  const id = await start(program, filled, 'sim/stall');
  await reaches(program, id, 'running');
  await sendsWords(program.origin, filled.key, id);
  return id;
}

/**
 * Leaves jobs of every state, a batch, a receiver of webhooks, a named file, and an unfinished upload.
 * @param died job of a killed process, which this one runs again
 */
export async function fillJobs(program: Running, filled: Filled, died: string): Promise<readonly Ask[]> {
  const { origin } = program;
  const { key } = filled;
  const receiver = await answerOf(origin, {
    path: '/v1/management/webhooks',
    body: { url: 'https://127.0.0.1:9/dragoman', project: 'search', events: ['response.completed'] },
  });
  const webhook = String((receiver.answer as { readonly id?: unknown }).id);
  const completed = await start(program, filled, 'sim/chat');
  const failed = await start(program, filled, 'sim/error-400');
  const cancelled = await start(program, filled, 'sim/stall');
  await reaches(program, completed, 'completed');
  await reaches(program, failed, 'failed');
  await reaches(program, cancelled, 'running');
  await answerOf(origin, { key, path: `/v1/responses/${cancelled}/cancel`, body: {} });
  const openai = new OpenAI({ apiKey: key, baseURL: `${origin}/v1` });
  const batch = await endedBatch(openai);
  await eventually('a message is in the log of the receiver', async () => {
    const { answer } = await answerOf(origin, { path: `/v1/management/webhooks/${webhook}/deliveries` });
    return (answer as { readonly data: readonly unknown[] }).data.length > 0;
  });
  const uploads = await googleUploads(origin, key);
  await reaches(program, died, 'running', 2);
  await sendsWords(origin, key, died);
  return [
    ...[completed, failed, cancelled].map((id) => ({ key, path: `/v1/responses/${id}`, status: 200 })),
    { key, path: `/v1/responses/${completed}?stream=true`, status: 200 },
    { key, path: `/v1/batches/${batch.id}`, status: 200, answer: { status: 'completed' } },
    { key, path: `/v1/files/${batch.output_file_id}/content`, status: 200 },
    { path: '/v1/management/webhooks', status: 200, answer: { data: [{ id: webhook }] } },
    { path: `/v1/management/webhooks/${webhook}/deliveries`, status: 200 },
    // The program that reads it makes a third try.
    { path: `/v1/management/jobs/${died}`, status: 200, answer: { state: 'running', attempt: 3 } },
    ...uploads,
  ];
}

/** Uploads a named file, and the first piece of another. @returns requests for the file, and those that end both uploads */
async function googleUploads(origin: string, key: string): Promise<readonly Ask[]> {
  const end = 'end';
  const size = JSON.stringify(end).length;
  const notes = await begunUpload(origin, key, 'notes', size);
  const pieces = await begunUpload(origin, key, 'pieces', PIECE_UNIT + size);
  await pieces.send('x'.repeat(PIECE_UNIT), {
    'x-goog-upload-command': 'upload',
    'x-goog-upload-offset': '0',
  });
  const ends = [notes.end(end, 0), pieces.end(end, PIECE_UNIT)];
  const ended = await notes.send(JSON.stringify(end), notes.end(end, 0).headers);
  // Its address is that of the process.
  const {
    file: { uri: _uri, ...file },
  } = (await ended.json()) as { readonly file: Record<string, unknown> };
  if (typeof file['sha256Hash'] !== 'string')
    throw new Error(`a file without a hash: ${JSON.stringify(file)}`);
  return [{ key, path: '/v1beta/files/notes', status: 200, answer: file }, ...ends];
}

interface BegunUpload {
  send(bytes: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  /** The request that sends the last piece. Repeated, it has the same answer. */
  end(piece: unknown, offset: number): Ask;
}

/** Begins a resumable upload of Google's. */
async function begunUpload(origin: string, key: string, name: string, size: number): Promise<BegunUpload> {
  const post = async (url: string, headers: object, body: string): Promise<Response> => {
    const sent = await fetch(url, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, ...headers },
      body,
    });
    if (!sent.ok) throw new Error(`${url}: ${await sent.text()}`);
    return sent;
  };
  const begun = await post(
    `${origin}/upload/v1beta/files`,
    {
      'content-type': 'application/json',
      'x-goog-upload-protocol': 'resumable',
      'x-goog-upload-command': 'start',
      'x-goog-upload-header-content-length': String(size),
      'x-goog-upload-header-content-type': 'text/plain',
    },
    JSON.stringify({ file: { name: `files/${name}`, displayName: `${name}.txt` } }),
  );
  const url = begun.headers.get('x-goog-upload-url') ?? '';
  return {
    send: (bytes, headers = {}) => post(url, headers, bytes),
    end: (piece, offset) => ({
      key,
      path: new URL(url).pathname,
      headers: {
        'content-type': 'text/plain',
        'x-goog-upload-command': 'upload, finalize',
        'x-goog-upload-offset': String(offset),
      },
      body: piece,
      status: 200,
      answer: {
        file: {
          name: `files/${name}`,
          sizeBytes: String(size),
          mimeType: 'text/plain',
          state: 'ACTIVE',
        },
      },
    }),
  };
}

/** Runs a batch of two lines, of which one is refused. */
async function endedBatch(openai: OpenAI): Promise<Batch> {
  const lines = ['acme/small', 'acme/refused'].map((model, index) =>
    JSON.stringify({
      custom_id: `line-${index}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content: 'Hello' }] },
    }),
  );
  const file = await openai.files.create({
    file: await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl'),
    purpose: 'batch',
  });
  const asked = {
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  } as const;
  let batch = await openai.batches.create(asked);
  await eventually('the batch has ended', async () => {
    batch = await openai.batches.retrieve(batch.id);
    return batch.status === 'completed';
  });
  return batch;
}
