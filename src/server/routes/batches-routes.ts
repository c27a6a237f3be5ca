// OpenAI's batches over HTTP: create from an uploaded file, get, list, cancel.
import { z } from 'zod';
import { GatewayError, notFound } from '../../canonical/index.ts';
import { lineEndpoints } from '../../engine/index.ts';
import { decodeBatchRequest, listShape, mainProtocol } from '../../protocols/index.ts';
import { encodeList, pageQuery } from '../list-page.ts';
import { clientRoute, type ClientRoute } from './client-route.ts';
import { batchesShown, lineFile } from './shown-batch.ts';

/** The protocol whose batches these are. */
const NAME = mainProtocol.name;
const { findBatch, listed, shown } = batchesShown(NAME);
/** Paths that batch lines may name. */
const ENDPOINTS = lineEndpoints(mainProtocol.server.addresses.errors);

const batch = z.looseObject({
  id: z.string(),
  object: z.literal('batch'),
  endpoint: z.string(),
  status: z.string(),
  input_file_id: z.string(),
  output_file_id: z.string().nullable(),
  error_file_id: z.string().nullable(),
  request_counts: z.object({ total: z.int(), completed: z.int(), failed: z.int() }),
  cost: z.number().optional().describe('Cost so far in USD. Absent: a price is unknown.'),
  waiting: z
    .object({ reason: z.string(), since: z.int() })
    .optional()
    .describe('Why the batch waits, and since when.'),
});
const ofOne = { tag: 'Batches', params: { id: { description: 'The id of the batch.' } } } as const;
const id = '$response.body#/id';

export const BATCH_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'createBatch',
    method: 'post',
    path: '/batches',
    summary: 'Creates a batch from the lines of a file that was uploaded with `purpose: batch`.',
    body: z.looseObject({
      input_file_id: z.string(),
      endpoint: z.enum(ENDPOINTS),
      completion_window: z.string().describe('From `1h` to `7d`.'),
      metadata: z.record(z.string(), z.string()).nullish(),
    }),
    answer: batch,
    refusals: [404],
    links: { retrieveBatch: { id }, cancelBatch: { id } },
    async run(call) {
      const { deps, principal, sent, request } = call;
      const { inputFile, windowMs, facts } = decodeBatchRequest(sent, ENDPOINTS);
      const input = await lineFile(call, inputFile, 'input_file_id');
      const headers = request.headers.entries();
      return shown(await deps.batches.submit({ principal, protocol: NAME, input, facts, windowMs, headers }));
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'listBatches',
    method: 'get',
    path: '/batches',
    summary: 'Lists the batches of the project.',
    query: z.object(pageQuery()),
    answer: listShape(batch),
    async run(call) {
      const { data, hasMore } = await listed(call, call.query);
      return Response.json(encodeList(data, hasMore));
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'retrieveBatch',
    method: 'get',
    path: '/batches/{id}',
    summary: 'Returns the status of a batch.',
    answer: batch,
    refusals: [404],
    run: async (call) => shown(await findBatch(call)),
  }),
  clientRoute({
    ...ofOne,
    id: 'cancelBatch',
    method: 'post',
    path: '/batches/{id}/cancel',
    summary: 'Cancels a batch. Its output file contains the finished lines.',
    answer: batch,
    refusals: [404, 409],
    async run(call) {
      const { id: batchId, status, endedAt } = await findBatch(call);
      if (endedAt !== null)
        throw new GatewayError(
          'conflict',
          `The batch '${batchId}' is ${status}. Only a running batch can be cancelled.`,
        );
      const cancelled = await call.deps.batches.cancel(call.projectId, batchId);
      if (!cancelled) throw notFound('Batch', batchId);
      return shown(cancelled);
    },
  }),
];
