// Jobs of every kind, as clients ask for them while processes die: what was accepted, and whether its answer is what it should be.
import type { Chance } from '../../support/simulated-world.ts';
import { at, type Json } from '../../support/upstreams/json-path.ts';
import { answerTo } from './upstream.ts';

export const KEY = 'sk-test';
/** Lines of a batch. */
const LINES = 8;
/** How long a client waits for a process that is being started again, in milliseconds. */
const AGAIN_MS = 100;
const PATIENCE_MS = 30_000;

/** A job that clients ask for. */
export interface Wanted {
  readonly kind: Kind;
  /** Question that nobody else asks. */
  readonly question: string;
  /** Model that nobody else asks, so that its bills and its records can be compared. */
  readonly model: string;
}

/** A job that was accepted. */
export interface Accepted extends Wanted {
  readonly id: string;
  /** Events that its client has read, of a streamed one. */
  readonly read?: Promise<string>;
}

export type Kind = 'response' | 'streamed' | 'chat' | 'messages' | 'gemini' | 'batch' | 'message batch';
export const KINDS: readonly Kind[] = [
  'response',
  'streamed',
  'response',
  'chat',
  'streamed',
  'messages',
  'response',
  'gemini',
  'batch',
  'message batch',
];

type Origin = () => string;

export async function call(origin: string, path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json', ...init.headers };
  return fetch(`${origin}${path}`, {
    ...init,
    headers,
    signal: init.signal ?? AbortSignal.timeout(PATIENCE_MS),
  });
}

async function post(
  origin: string,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<Json> {
  const response = await call(origin, path, { method: 'POST', body: JSON.stringify(body), headers });
  if (response.status >= 300) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as Json;
}

/** Asks for a job. Rejects where nobody says that it was accepted. */
export async function submit(origin: Origin, wanted: Wanted): Promise<Accepted> {
  const { kind, question, model } = wanted;
  const messages = [{ role: 'user', content: question }];
  const prefer = { prefer: 'respond-async' };
  const id = async (made: Promise<Json>): Promise<Accepted> => ({
    ...wanted,
    id: String(at(await made, 'id')),
  });
  const at1 = origin();
  switch (kind) {
    case 'response':
      return id(post(at1, '/v1/responses', { model, input: question, background: true }));
    case 'streamed':
      return submitStreamed(origin, wanted);
    case 'chat':
      return id(post(at1, '/v1/chat/completions', { model, messages }, prefer));
    case 'messages':
      return id(post(at1, '/v1/messages', { model, max_tokens: 100, messages }, prefer));
    case 'gemini': {
      const contents = [{ role: 'user', parts: [{ text: question }] }];
      return id(post(at1, `/v1beta/models/${model}:generateContent`, { contents }, prefer));
    }
    case 'batch': {
      const form = new FormData();
      form.set('purpose', 'batch');
      const lines = lineNumbers().map((line) => ({
        custom_id: `${line}`,
        method: 'POST',
        url: '/v1/chat/completions',
        body: { model, messages: [{ role: 'user', content: `${question} ${line}` }] },
      }));
      form.set('file', new File([lines.map((line) => JSON.stringify(line)).join('\n')], 'in.jsonl'));
      const file = await fetch(`${at1}/v1/files`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEY}` },
        body: form,
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const input = String(at((await file.json()) as Json, 'id'));
      const asked = { input_file_id: input, endpoint: '/v1/chat/completions', completion_window: '24h' };
      return id(post(at1, '/v1/batches', asked));
    }
    case 'message batch': {
      const requests = lineNumbers().map((line) => ({
        custom_id: `${line}`,
        params: {
          model,
          max_tokens: 100,
          messages: [{ role: 'user', content: `${question} ${line}` }],
        },
      }));
      return id(post(at1, '/v1/messages/batches', { requests }));
    }
  }
}

const lineNumbers = (): number[] => Array.from({ length: LINES }, (_, line) => line);

/** A streamed answer, whose client resumes it wherever it can. */
async function submitStreamed(origin: Origin, wanted: Wanted): Promise<Accepted> {
  const { question, model } = wanted;
  const body = JSON.stringify({ model, input: question, background: true, stream: true });
  const response = await call(origin(), '/v1/responses', {
    method: 'POST',
    body,
    signal: AbortSignal.timeout(10 * PATIENCE_MS),
  });
  if (!response.ok || !response.body) throw new Error(`${response.status} ${await response.text()}`);
  const reader = response.body.getReader();
  let had = '';
  let id = '';
  while (id === '') {
    const { value, done } = await reader.read();
    if (done) throw new Error('the stream ended before its first event');
    had += Buffer.from(value).toString();
    id = /"id":"(resp_[^"]+)"/.exec(had)?.[1] ?? '';
  }
  const rest = async (): Promise<string> => {
    try {
      for (let next = await reader.read(); !next.done; next = await reader.read())
        had += Buffer.from(next.value).toString();
    } catch {
      // It is resumed.
    }
    return resumed(origin, id, whole(had));
  };
  return { ...wanted, id, read: rest() };
}

/** Whole frames alone: what was cut in one is asked for again. Comments are left out. */
function whole(text: string): string {
  const frames = text.split(/(?<=\n\n)/).filter((frame) => frame.endsWith('\n\n') && !frame.startsWith(':'));
  return frames.join('');
}

const END = /event: response\.(?:completed|failed|cancelled|incomplete)\n/;

async function resumed(origin: Origin, id: string, before: string): Promise<string> {
  let had = before;
  for (let tries = 0; !END.test(had) && tries < 3_000; tries += 1) {
    const last = [...had.matchAll(/"sequence_number":(\d+)/g)].at(-1)?.[1];
    const after = last === undefined ? '' : `&starting_after=${last}`;
    try {
      const response = await call(origin(), `/v1/responses/${id}?stream=true${after}`, {
        signal: AbortSignal.timeout(10 * PATIENCE_MS),
      });
      // The try that it was of was interrupted: it is read from its start.
      if (response.status === 410) had = '';
      else if (response.ok) had += whole(await response.text());
    } catch {
      // Its process has died.
    }
    if (!END.test(had)) await Bun.sleep(AGAIN_MS);
  }
  return had;
}

/** Error in the answer of a job; null: none. */
export async function wrongWith(
  origin: string,
  { kind, id, question, read }: Accepted,
): Promise<string | null> {
  const wanted = answerTo(question);
  const json = async (path: string): Promise<Json> => (await (await call(origin, path)).json()) as Json;
  const unlike = (what: Json | undefined): string | null =>
    what === wanted ? null : `${kind} ${id}: ${JSON.stringify(what)?.slice(0, 200)}`;
  switch (kind) {
    case 'response':
    case 'streamed': {
      const answer = await json(`/v1/responses/${id}`);
      const text = at(answer, 'output', 0, 'content', 0, 'text');
      if (text !== wanted) return `${kind} ${id}: ${JSON.stringify(answer).slice(0, 300)}`;
      return read === undefined ? null : wrongWithStream(origin, id, await read);
    }
    case 'chat':
      return unlike(at(await json(`/v1/generations/${id}/result`), 'choices', 0, 'message', 'content'));
    case 'messages':
      return unlike(at(await json(`/v1/generations/${id}/result`), 'content', 0, 'text'));
    case 'gemini':
      return unlike(
        at(await json(`/v1/generations/${id}/result`), 'candidates', 0, 'content', 'parts', 0, 'text'),
      );
    case 'batch': {
      const batch = await json(`/v1/batches/${id}`);
      const file = String(at(batch, 'output_file_id'));
      const lines = (await (await call(origin, `/v1/files/${file}/content`)).text()).trim().split('\n');
      return wrongLines(
        lines,
        question,
        ['response', 'body', 'choices', 0, 'message', 'content'],
        JSON.stringify(batch),
      );
    }
    case 'message batch': {
      const text = await (await call(origin, `/v1/messages/batches/${id}/results`)).text();
      return wrongLines(
        text.trim().split('\n'),
        question,
        ['result', 'message', 'content', 0, 'text'],
        text.slice(0, 300),
      );
    }
  }
}

function wrongLines(
  lines: readonly string[],
  question: string,
  path: readonly (string | number)[],
  from: string,
): string | null {
  const found = lines.map((line) => {
    try {
      return JSON.parse(line) as Json;
    } catch {
      return null;
    }
  });
  const isRight = found.every(
    (line, n) => line !== null && at(line, ...path) === answerTo(`${question} ${n}`),
  );
  return isRight && found.length === LINES ? null : `${question}: ${found.length} lines, ${from}`;
}

/** A resumed stream has no gap and no repetition: it is what is read of the whole now, from where its last try began. */
async function wrongWithStream(origin: string, id: string, read: string): Promise<string | null> {
  const now = whole(await (await call(origin, `/v1/responses/${id}?stream=true`)).text());
  if (inTry(now) === inTry(read)) return null;
  const numbers = (text: string): string =>
    [...text.matchAll(/"sequence_number":(\d+)/g)].map(([, n]) => n).join(' ');
  return `stream of ${id}: read ${numbers(read)}; is ${numbers(now)}`;
}

/** The text without the number of its try, which stands before six digits. */
function inTry(text: string): string {
  return text.replaceAll(
    /"sequence_number":(\d+)/g,
    (_, number) => `"sequence_number":${Number(number) % 1_000_000}`,
  );
}

export function nextJob(n: number, chance: Chance): Wanted {
  return { kind: chance.of(KINDS), question: `question ${n}`, model: `up/${modelOf(n)}` };
}

/** Name of the model of the n-th job, as its upstream knows it. */
export function modelOf(n: number): string {
  return `m-${n}`;
}

/** Lines of all batches among jobs. */
export function linesOf(jobs: readonly Wanted[]): number {
  return jobs.filter(({ kind }) => kind === 'batch' || kind === 'message batch').length * LINES;
}
