// OpenAI's batch API: files of requests, and files of results.
import { asObject, asString, isJsonObject, type JsonObject, parseJson } from '../../src/base/json/index.ts';
import { BatchStore, type Line, type SimBatch, type SimBatchesOptions } from './batch-store.ts';

export class OpenaiBatches {
  readonly #store: BatchStore;
  readonly #files = new Map<string, string>();
  #made = 0;

  constructor(options: SimBatchesOptions) {
    this.#store = new BatchStore(options, 'batch_sim');
  }

  /** @returns null if the path belongs to another API */
  async fetch(request: Request, path: string, query: URLSearchParams): Promise<Response | null> {
    const [, collection, id, verb] = path.split('/');
    const isPost = request.method === 'POST';
    if (collection === 'files') {
      if (isPost && id === undefined) return this.#upload(request);
      const text = id === undefined || verb !== 'content' ? undefined : this.#files.get(id);
      return text === undefined ? refused(404, `No such File object: ${id}`) : new Response(text);
    }
    if (collection !== 'batches') return null;
    if (id === undefined) {
      if (isPost) return this.#create(asObject(parseJson(await request.text())));
      const { batches, hasMore } = await this.#store.page(query.get('after'));
      return Response.json({
        object: 'list',
        data: batches.map((batch) => this.#shown(batch)),
        has_more: hasMore,
      });
    }
    const batch = await (isPost && verb === 'cancel' ? this.#store.cancel(id) : this.#store.find(id));
    return batch ? Response.json(this.#shown(batch)) : refused(404, `No batch found with id '${id}'.`);
  }

  async #upload(request: Request): Promise<Response> {
    const form = await request.formData();
    const file = form.get('file');
    if (form.get('purpose') !== 'batch' || file === null || typeof file === 'string')
      return refused(400, "The file must have the purpose 'batch'.");
    const id = `file-sim${(this.#made += 1)}`;
    const text = await file.text();
    this.#files.set(id, text);
    return Response.json({ id, object: 'file', bytes: text.length, filename: file.name, purpose: 'batch' });
  }

  #create(body: JsonObject): Response {
    const { input_file_id: input, endpoint, completion_window: window, metadata = null } = body;
    const text = this.#files.get(String(input));
    if (text === undefined) return refused(400, `Invalid input_file_id: ${String(input)}`);
    if (window !== '24h') return refused(400, "Invalid value: completion_window must be '24h'.");
    const lines: Line[] = [];
    const problem = readLines(text, String(endpoint), lines);
    const repeated = {
      input_file_id: String(input),
      endpoint: String(endpoint),
      completion_window: '24h',
      metadata,
    };
    const batch = this.#store.add(lines, repeated, problem);
    return Response.json(this.#shown(batch));
  }

  #shown(batch: SimBatch): JsonObject {
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
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000);
}

/** Parses the lines of an input file. @returns why the file is rejected; null if it is valid */
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
    if (!isJsonObject(body) || body['stream'] === true)
      return `Line ${index + 1}: body must be a valid request.`;
    ids.add(id);
    models.add(body['model']);
    lines.push({ id, path: `/openai${url}`, model: asString(body['model']) ?? '', body });
  }
  if (lines.length === 0) return 'The file is empty.';
  return models.size > 1 ? 'All lines must use the same model.' : null;
}

function refused(status: number, message: string): Response {
  const error = { message, type: 'invalid_request_error', param: null, code: null };
  return Response.json({ error }, { status });
}
