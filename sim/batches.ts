// Batch APIs of OpenAI and Anthropic: files of requests that are answered after a while, in part where a batch is cancelled or a model
// never answers. Knows no model: each line is a request to the simulated service itself.
import {
  asArray,
  asObject,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../src/base/json/index.ts';
import type { DurationMs, UnixMs } from '../src/base/units.ts';

export interface SimBatchesOptions {
  readonly now: () => UnixMs;
  /** How long a batch takes. */
  readonly batchMs: DurationMs;
  /** Resolves when others have had their turn. */
  readonly pause: () => Promise<void>;
  /** Answers one request. */
  readonly run: (path: string, body: JsonValue) => Promise<Response>;
  /** True: a request to the model is never answered, so that it expires. */
  readonly isSilent: (body: JsonObject) => boolean;
}

interface Line {
  readonly id: string;
  readonly path: string;
  readonly body: JsonObject;
}

type End =
  | { readonly status: number; readonly requestId: string; readonly body: JsonValue }
  | 'expired'
  | 'cancelled';

interface SimBatch {
  readonly id: string;
  readonly createdAt: UnixMs;
  readonly lines: readonly Line[];
  /** Members of its request that are repeated. */
  readonly repeated: JsonObject;
  /** Why it failed as a whole; null: it did not. */
  readonly problem: string | null;
  cancelledAt: UnixMs | null;
  /** Its lines are being answered. */
  isEnding: boolean;
  endedAt: UnixMs | null;
  /** Ends of its lines, once it has ended. */
  ends: readonly End[] | null;
}

const OPENAI = '/openai/v1';
const ANTHROPIC = '/anthropic/v1/messages/batches';
const PAGE = 20;
/** Lines that are answered in one turn. */
const SLICE = 20;

export class SimBatches {
  readonly #options: SimBatchesOptions;
  readonly #batches = { openai: new Map<string, SimBatch>(), anthropic: new Map<string, SimBatch>() };
  readonly #files = new Map<string, string>();
  #made = 0;

  constructor(options: SimBatchesOptions) {
    this.#options = options;
  }

  /** Null: the path is none of its own. */
  async fetch(request: Request): Promise<Response | null> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname.startsWith(ANTHROPIC))
      return this.#anthropic(request, pathname.slice(ANTHROPIC.length), searchParams);
    if (!pathname.startsWith(OPENAI)) return null;
    return this.#openai(request, pathname.slice(OPENAI.length), searchParams);
  }

  async #openai(request: Request, path: string, query: URLSearchParams): Promise<Response | null> {
    const [, collection, id, verb] = path.split('/');
    const isPost = request.method === 'POST';
    if (collection === 'files') {
      if (isPost && id === undefined) return this.#upload(request);
      const text = id === undefined || verb !== 'content' ? undefined : this.#files.get(id);
      return text === undefined ? openaiError(404, `No such File object: ${id}`) : new Response(text);
    }
    if (collection !== 'batches') return null;
    const all = this.#batches.openai;
    if (id === undefined) {
      if (isPost) return this.#createOpenai(asObject(parseJson(await request.text())));
      return Response.json(await this.#listed(all, query.get('after'), (batch) => this.#shownOpenai(batch)));
    }
    const batch = all.get(id);
    if (!batch) return openaiError(404, `No batch found with id '${id}'.`);
    if (isPost && verb === 'cancel') this.#cancel(batch);
    await this.#advance(batch);
    return Response.json(this.#shownOpenai(batch));
  }

  async #upload(request: Request): Promise<Response> {
    const form = await request.formData();
    const file = form.get('file');
    if (form.get('purpose') !== 'batch' || file === null || typeof file === 'string')
      return openaiError(400, 'A file with the purpose batch is wanted.');
    const id = `file-sim${(this.#made += 1)}`;
    const text = await file.text();
    this.#files.set(id, text);
    return Response.json({ id, object: 'file', bytes: text.length, filename: file.name, purpose: 'batch' });
  }

  #createOpenai(body: JsonObject): Response {
    const { input_file_id: input, endpoint, completion_window: window, metadata = null } = body;
    const text = this.#files.get(String(input));
    if (text === undefined) return openaiError(400, `Invalid input_file_id: ${String(input)}`);
    if (window !== '24h') return openaiError(400, "Invalid value: completion_window must be '24h'.");
    const lines: Line[] = [];
    const problem = readLines(text, String(endpoint), lines);
    const repeated = {
      input_file_id: String(input),
      endpoint: String(endpoint),
      completion_window: '24h',
      metadata,
    };
    const batch = this.#add('openai', 'batch_sim', lines, repeated, problem);
    return Response.json(this.#shownOpenai(batch));
  }

  #shownOpenai(batch: SimBatch): JsonObject {
    const { id, lines, repeated, problem, ends, createdAt, endedAt, cancelledAt } = batch;
    const output: string[] = [];
    const errors: string[] = [];
    for (const [index, end] of (ends ?? []).entries()) {
      const custom_id = lines[index]?.id ?? '';
      const head = { id: `batch_req_${id}_${index}`, custom_id };
      if (typeof end === 'string') {
        const error = { code: `batch_${end}`, message: `This request was ${end}.` };
        errors.push(JSON.stringify({ ...head, response: null, error }));
        continue;
      }
      const { status, requestId, body } = end;
      const response = { status_code: status, request_id: requestId, body };
      (status < 400 ? output : errors).push(JSON.stringify({ ...head, response, error: null }));
    }
    const isPartial = ends?.some((end) => end === 'expired') === true;
    const hasEnded = ends !== null;
    const ended = cancelledAt !== null ? 'cancelled' : isPartial ? 'expired' : 'completed';
    const running = cancelledAt !== null ? 'cancelling' : 'in_progress';
    return {
      id,
      object: 'batch',
      ...repeated,
      status: problem !== null ? 'failed' : hasEnded ? ended : running,
      errors:
        problem === null
          ? null
          : { object: 'list', data: [{ code: 'invalid', message: problem, line: null }] },
      output_file_id: output.length > 0 ? this.#results(`${id}-output`, output) : null,
      error_file_id: errors.length > 0 ? this.#results(`${id}-errors`, errors) : null,
      created_at: seconds(createdAt),
      completed_at: endedAt === null ? null : seconds(endedAt),
      request_counts: { total: lines.length, completed: output.length, failed: errors.length },
    };
  }

  #results(name: string, lines: readonly string[]): string {
    const id = `file-${name}`;
    if (!this.#files.has(id)) this.#files.set(id, `${lines.join('\n')}\n`);
    return id;
  }

  async #anthropic(request: Request, path: string, query: URLSearchParams): Promise<Response> {
    const [, id, verb] = path.split('/');
    const all = this.#batches.anthropic;
    const isPost = request.method === 'POST';
    if (request.headers.get('anthropic-version') === null)
      return anthropicError(400, 'anthropic-version: header is required');
    if (id === undefined) {
      if (isPost) return this.#createAnthropic(asObject(parseJson(await request.text())));
      return Response.json(await this.#listed(all, query.get('after_id'), shownAnthropic));
    }
    const batch = all.get(id);
    if (!batch) return anthropicError(404, `No batch found with id ${id}`);
    if (isPost && verb === 'cancel') this.#cancel(batch);
    await this.#advance(batch);
    if (verb !== 'results') return Response.json(shownAnthropic(batch));
    if (!batch.ends) return anthropicError(404, 'The batch has no results yet.');
    const results = batch.ends.map((end, index) =>
      JSON.stringify({ custom_id: batch.lines[index]?.id ?? '', result: anthropicResult(end) }),
    );
    // Results come in any order.
    return new Response(`${results.toReversed().join('\n')}\n`);
  }

  #createAnthropic(body: JsonObject): Response {
    const lines: Line[] = [];
    for (const request of asArray(body['requests'])) {
      const { custom_id: id, params } = asObject(request);
      if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(id) || !isJsonObject(params))
        return anthropicError(400, 'requests: custom_id and params are wanted');
      if (params['stream'] === true) return anthropicError(400, 'requests: streaming is not supported');
      lines.push({ id, path: '/anthropic/v1/messages', body: params });
    }
    if (lines.length === 0) return anthropicError(400, 'requests: must not be empty');
    if (new Set(lines.map(({ id }) => id)).size < lines.length)
      return anthropicError(400, 'requests: custom_id must be unique');
    return Response.json(shownAnthropic(this.#add('anthropic', 'msgbatch_sim', lines, {}, null)));
  }

  #add(
    whose: 'openai' | 'anthropic',
    prefix: string,
    lines: readonly Line[],
    repeated: JsonObject,
    problem: string | null,
  ): SimBatch {
    const id = `${prefix}${(this.#made += 1)}`;
    const createdAt = this.#options.now();
    const batch: SimBatch = {
      id,
      createdAt,
      lines,
      repeated,
      problem,
      cancelledAt: null,
      isEnding: false,
      endedAt: null,
      ends: null,
    };
    this.#batches[whose].set(id, batch);
    return batch;
  }

  async #listed(
    all: ReadonlyMap<string, SimBatch>,
    after: string | null,
    shown: (batch: SimBatch) => JsonObject,
  ): Promise<JsonObject> {
    const newest = [...all.values()].toReversed();
    for (const batch of newest) await this.#advance(batch);
    const from = after === null ? 0 : newest.findIndex(({ id }) => id === after) + 1;
    const page = newest.slice(from, from + PAGE);
    return { object: 'list', data: page.map(shown), has_more: newest.length > from + PAGE };
  }

  #cancel(batch: SimBatch): void {
    if (batch.ends === null && !batch.isEnding) batch.cancelledAt ??= this.#options.now();
  }

  /** Ends a batch whose time has come. Where it was cancelled, as much as its time allowed is done. */
  async #advance(batch: SimBatch): Promise<void> {
    const { now, batchMs, pause } = this.#options;
    const { lines, createdAt, cancelledAt } = batch;
    const ranMs = (cancelledAt ?? now()) - createdAt;
    if (batch.ends !== null || batch.problem !== null || (cancelledAt === null && ranMs < batchMs)) return;
    const done = cancelledAt === null ? lines.length : Math.floor((lines.length * ranMs) / batchMs);
    if (batch.isEnding) return;
    batch.isEnding = true;
    const ends: End[] = [];
    for (const [index, line] of lines.entries()) {
      // Others are to be answered meanwhile.
      if (index % SLICE === SLICE - 1) await pause();
      ends.push(await this.#end(line, index < done));
    }
    batch.endedAt = now();
    batch.ends = ends;
  }

  async #end({ path, body }: Line, isDone: boolean): Promise<End> {
    if (!isDone) return 'cancelled';
    if (this.#options.isSilent(body)) return 'expired';
    const response = await this.#options.run(path, body);
    const requestId = response.headers.get('x-request-id') ?? response.headers.get('request-id') ?? '';
    return { status: response.status, requestId, body: (await response.json()) as JsonValue };
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** @returns why the file is refused; null where it is not */
function readLines(text: string, endpoint: string, lines: Line[]): string | null {
  const ids = new Set<string>();
  const models = new Set<unknown>();
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    let value: JsonObject;
    try {
      value = asObject(parseJson(line));
    } catch {
      return `Line ${index + 1} is not valid JSON.`;
    }
    const { custom_id: id, method, url, body } = value;
    if (typeof id !== 'string' || ids.has(id)) return `Line ${index + 1}: custom_id must be unique.`;
    if (method !== 'POST' || url !== endpoint) return `Line ${index + 1}: url must be ${endpoint}.`;
    if (!isJsonObject(body) || body['stream'] === true) return `Line ${index + 1}: body cannot be run.`;
    ids.add(id);
    models.add(body['model']);
    lines.push({ id, path: `/openai${url}`, body });
  }
  if (lines.length === 0) return 'The file is empty.';
  return models.size > 1 ? 'All lines must ask the same model.' : null;
}

function shownAnthropic({ id, createdAt, endedAt, cancelledAt, ends, lines }: SimBatch): JsonObject {
  const count = (test: (end: End) => boolean): number => ends?.filter(test).length ?? 0;
  return {
    id,
    type: 'message_batch',
    processing_status: endedAt !== null ? 'ended' : cancelledAt !== null ? 'canceling' : 'in_progress',
    request_counts: {
      processing: ends === null ? lines.length : 0,
      succeeded: count((end) => typeof end === 'object' && end.status < 400),
      errored: count((end) => typeof end === 'object' && end.status >= 400),
      canceled: count((end) => end === 'cancelled'),
      expired: count((end) => end === 'expired'),
    },
    created_at: new Date(createdAt).toISOString(),
    ended_at: endedAt === null ? null : new Date(endedAt).toISOString(),
    results_url: endedAt === null ? null : `${ANTHROPIC}/${id}/results`,
  };
}

function anthropicResult(end: End): JsonObject {
  if (end === 'expired') return { type: 'expired' };
  if (end === 'cancelled') return { type: 'canceled' };
  return end.status < 400 ? { type: 'succeeded', message: end.body } : { type: 'errored', error: end.body };
}

function openaiError(status: number, message: string): Response {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  return Response.json({ error }, { status });
}

function anthropicError(status: number, message: string): Response {
  const type = status === 404 ? 'not_found_error' : 'invalid_request_error';
  return Response.json({ type: 'error', error: { type, message } }, { status });
}
