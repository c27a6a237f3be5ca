// Anthropic's Message Batches: all requests in one body, and results in any order.
import {
  asArray,
  asObject,
  asString,
  isJsonObject,
  type JsonObject,
  parseJson,
} from '../../src/base/json/index.ts';
import { BatchStore, type End, type Line, type SimBatch, type SimBatchesOptions } from './batch-store.ts';

export const PATH = '/anthropic/v1/messages/batches';

export class AnthropicBatches {
  readonly #store: BatchStore;

  constructor(options: SimBatchesOptions) {
    this.#store = new BatchStore(options, 'msgbatch_sim');
  }

  async fetch(request: Request, path: string, query: URLSearchParams): Promise<Response> {
    const [, id, verb] = path.split('/');
    const isPost = request.method === 'POST';
    if (request.headers.get('anthropic-version') === null)
      return refused(400, 'anthropic-version: header is required');
    if (id === undefined) {
      if (isPost) return this.#create(asObject(parseJson(await request.text())));
      const { batches, hasMore } = await this.#store.page(query.get('after_id'));
      return Response.json({ data: batches.map(shown), has_more: hasMore });
    }
    const batch = await (isPost && verb === 'cancel' ? this.#store.cancel(id) : this.#store.find(id));
    if (!batch) return refused(404, `No batch found with id ${id}`);
    if (verb !== 'results') return Response.json(shown(batch));
    if (!batch.ends) return refused(404, 'The batch has no results yet.');
    const results = batch.ends.map((end, index) =>
      JSON.stringify({ custom_id: batch.lines[index]?.id ?? '', result: resultOf(end) }),
    );
    // Results may come in any order, so they are reversed here.
    return new Response(`${results.toReversed().join('\n')}\n`);
  }

  #create(body: JsonObject): Response {
    const lines: Line[] = [];
    for (const request of asArray(body['requests'])) {
      const { custom_id: id, params } = asObject(request);
      if (typeof id !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(id) || !isJsonObject(params))
        return refused(400, 'requests: custom_id and params are required');
      if (params['stream'] === true) return refused(400, 'requests: streaming is not supported');
      const model = asString(params['model']) ?? '';
      lines.push({ id, path: '/anthropic/v1/messages', model, body: params });
    }
    if (lines.length === 0) return refused(400, 'requests: must not be empty');
    if (new Set(lines.map(({ id }) => id)).size < lines.length)
      return refused(400, 'requests: custom_id must be unique');
    return Response.json(shown(this.#store.add(lines, {}, null)));
  }
}

function shown({ id, createdAt, endedAt, cancelledAt, ends, lines }: SimBatch): JsonObject {
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
    results_url: endedAt === null ? null : `${PATH}/${id}/results`,
  };
}

function resultOf(end: End): JsonObject {
  if (end === 'expired') return { type: 'expired' };
  if (end === 'cancelled') return { type: 'canceled' };
  return end.status < 400 ? { type: 'succeeded', message: end.body } : { type: 'errored', error: end.body };
}

function refused(status: number, message: string): Response {
  const type = status === 404 ? 'not_found_error' : 'invalid_request_error';
  return Response.json({ type: 'error', error: { type, message } }, { status });
}
