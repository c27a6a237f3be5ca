// Google's batch API: all requests in one body, and results in the long-running operation. An expired batch has no
// results.
import {
  asArray,
  asObject,
  asString,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '../../src/base/json/index.ts';
import { googleStatus } from '../failures.ts';
import { BatchStore, type End, type Line, type SimBatch, type SimBatchesOptions } from './batch-store.ts';

const CREATES = /^\/google\/v1beta\/models\/(?<model>[^:]+):batchGenerateContent$/;
const BATCHES = /^\/google\/v1beta\/batches(?:\/(?<id>[^/:]+)(?<verb>:cancel)?)?$/;
/** Maximum size of a request (guide "Batch API": 20 MB). */
const MOST_BYTES = 20_000_000;
const TYPE = 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch';

export class GoogleBatches {
  readonly #store: BatchStore;

  constructor(options: SimBatchesOptions) {
    this.#store = new BatchStore(options, 'sim');
  }

  /** @returns null if the path belongs to another API */
  async fetch(request: Request, path: string, query: URLSearchParams): Promise<Response | null> {
    const isPost = request.method === 'POST';
    const model = CREATES.exec(path)?.groups?.['model'];
    if (model !== undefined) return isPost ? this.#create(model, await request.text()) : null;
    const found = BATCHES.exec(path)?.groups;
    if (!found) return null;
    const { id, verb } = found;
    if (id === undefined) {
      const { batches, hasMore } = await this.#store.page(query.get('pageToken'));
      const last = batches.at(-1)?.id;
      return Response.json({ operations: batches.map(shown), ...(hasMore && { nextPageToken: last }) });
    }
    const batch = await (isPost && verb ? this.#store.cancel(id) : this.#store.find(id));
    if (!batch) return refused(404, `Requested entity was not found: batches/${id}`);
    return Response.json(isPost ? {} : only(shown(batch), query.get('fields')));
  }

  #create(model: string, text: string): Response {
    if (text.length > MOST_BYTES) return refused(400, 'Request payload size exceeds the limit: 20 MB.');
    const { displayName, inputConfig } = asObject(asObject(parseJson(text))['batch']);
    if (typeof displayName !== 'string' || displayName === '')
      return refused(400, 'batch.display_name is required.');
    const lines: Line[] = [];
    for (const each of asArray(asObject(asObject(inputConfig)['requests'])['requests'])) {
      const { request, metadata } = asObject(each);
      if (!isJsonObject(request)) return refused(400, 'A request is required.');
      const path = `/google/v1beta/models/${model}:generateContent`;
      const id = asString(asObject(metadata)['key']) ?? '';
      lines.push({ id, path, model: decodeURIComponent(model), body: request });
    }
    if (lines.length === 0) return refused(400, 'batch.input_config.requests is required.');
    return Response.json(shown(this.#store.add(lines, { displayName, model: `models/${model}` }, null)));
  }
}

/** An operation. Its results appear twice, in `metadata` and in `response`, as in Google's API. */
function shown({ id, lines, repeated, ends, createdAt, endedAt, cancelledAt }: SimBatch): JsonObject {
  const name = `batches/${id}`;
  const hasExpired = ends?.includes('expired') === true;
  const results = hasExpired ? [] : lines.flatMap((line, index) => resultOf(line, ends?.[index]));
  const failed = results.filter((result) => 'error' in result).length;
  const state = hasExpired
    ? 'EXPIRED'
    : ends === null
      ? 'RUNNING'
      : cancelledAt === null
        ? 'SUCCEEDED'
        : 'CANCELLED';
  const output = { inlinedResponses: { inlinedResponses: results } };
  const metadata = {
    '@type': TYPE,
    name,
    ...repeated,
    state: `BATCH_STATE_${state}`,
    createTime: new Date(createdAt).toISOString(),
    batchStats: {
      requestCount: `${lines.length}`,
      successfulRequestCount: `${results.length - failed}`,
      failedRequestCount: `${failed}`,
    },
    ...(endedAt !== null && { endTime: new Date(endedAt).toISOString() }),
    ...(results.length > 0 && { output }),
  };
  if (endedAt === null) return { name, metadata };
  if (state === 'SUCCEEDED') return { name, metadata, done: true, response: output };
  const error = { code: hasExpired ? 4 : 1, message: `The batch was ${state.toLowerCase()}.` };
  return { name, metadata, done: true, error };
}

/** Numbers of `google.rpc.Code`, by HTTP status. */
const CODES: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 503: 14, 504: 4 };

/** No result for lines that were cancelled or have expired. */
function resultOf({ id }: Line, end: End | undefined): JsonObject[] {
  if (end === undefined || typeof end === 'string') return [];
  const { status, body } = end;
  const metadata = { key: id };
  if (status < 400) return [{ metadata, response: body }];
  const message: JsonValue = asObject(asObject(body)['error'])['message'] ?? '';
  return [{ metadata, error: { code: CODES[status] ?? 13, message } }];
}

/** Members selected by the `fields` parameter. */
function only(operation: JsonObject, fields: string | null): JsonObject {
  const names = fields?.split(',');
  if (!names) return operation;
  return Object.fromEntries(Object.entries(operation).filter(([name]) => names.includes(name)));
}

function refused(code: number, message: string): Response {
  return Response.json({ error: { code, message, status: googleStatus(code) } }, { status: code });
}
