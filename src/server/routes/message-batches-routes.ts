// Anthropic's Message Batches over HTTP: create from requests in the body, get, list, cancel, delete, and results.
import { z } from 'zod';
import { GatewayError, invalidMember, TEXTS } from '../../canonical/index.ts';
import type { ServedProtocol } from '../../protocols/index.ts';
import { encodePage, pageShape, pageSize } from '../list-page.ts';
import { keepRequests } from './batch-body.ts';
import { clientRoute, type ClientRoute } from './client-route.ts';
import { batchesShown, ownerOf } from './shown-batch.ts';

/** Deadline and page size of the vendor's own batches. */
const WINDOW_MS = 86_400_000;
const MOST_LISTED = 1_000;

const batch = z.looseObject({
  id: z.string(),
  type: z.literal('message_batch'),
  processing_status: z.enum(['in_progress', 'canceling', 'ended']),
  results_url: z.string().nullable(),
});
const ofOne = { tag: 'Batches', params: { id: { description: 'The id of the batch.' } } } as const;
const id = '$response.body#/id';

/** The protocol whose batches these are. */
export const messages: ServedProtocol = ownerOf('/messages');
const NAME = messages.name;
const { findBatch, listed, shown } = batchesShown(NAME);

export const MESSAGE_BATCH_ROUTES: readonly ClientRoute[] = [
  clientRoute({
    ...ofOne,
    id: 'createMessageBatch',
    method: 'post',
    path: '/messages/batches',
    summary: 'Creates a batch of Messages requests.',
    bodyMedia: 'application/json',
    body: z.object({
      requests: z.array(z.object({ custom_id: z.string(), params: z.looseObject({}) })),
    }),
    bodyExample: {
      requests: [
        {
          custom_id: 'first',
          params: { model: 'sim/messages', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] },
        },
      ],
    },
    answer: batch,
    links: { retrieveMessageBatch: { id }, cancelMessageBatch: { id } },
    async run(call) {
      const { deps, principal, request } = call;
      const { input, requests } = await keepRequests(
        call,
        { path: ['requests'] },
        messages.server.batches?.requiredIds,
      );
      if (!input) throw invalidMember('requests', 'is required, and must be an array');
      const headers = request.headers.entries();
      const facts = { requests };
      return shown(
        await deps.batches.submit({ principal, protocol: NAME, input, facts, windowMs: WINDOW_MS, headers }),
      );
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'listMessageBatches',
    method: 'get',
    path: '/messages/batches',
    summary: 'Lists the batches of the project, newest first.',
    query: z.object({
      limit: pageSize(MOST_LISTED),
      after_id: z.string().optional().describe('Id of a batch; returns the page after it.'),
      before_id: z.string().optional().describe('Id of a batch; returns the page before it.'),
    }),
    answer: pageShape(batch),
    async run(call) {
      const { limit, after_id: after, before_id: before } = call.query;
      const { data, hasMore } = await listed(call, {
        limit,
        after,
        before,
        param: before === undefined ? 'after_id' : 'before_id',
      });
      return Response.json(encodePage(data, hasMore));
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'retrieveMessageBatch',
    method: 'get',
    path: '/messages/batches/{id}',
    summary: 'Returns the status of a batch.',
    answer: batch,
    refusals: [404],
    run: async (call) => shown(await findBatch(call)),
  }),
  clientRoute({
    ...ofOne,
    id: 'cancelMessageBatch',
    method: 'post',
    path: '/messages/batches/{id}/cancel',
    summary: TEXTS.endsBatch,
    answer: batch,
    refusals: [404],
    async run(call) {
      const found = await findBatch(call);
      return shown((await call.deps.batches.cancel(call.projectId, found.id)) ?? found);
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'deleteMessageBatch',
    method: 'delete',
    path: '/messages/batches/{id}',
    summary: TEXTS.forgetsBatch,
    answer: z.object({ id: z.string(), type: z.literal('message_batch_deleted') }),
    refusals: [404],
    async run(call) {
      const found = await findBatch(call);
      await call.deps.batches.delete(call.projectId, found, false);
      return { id: found.id, type: 'message_batch_deleted' as const };
    },
  }),
  clientRoute({
    ...ofOne,
    id: 'resultsOfMessageBatch',
    method: 'get',
    path: '/messages/batches/{id}/results',
    summary: 'Returns the results of a batch that has ended, one per line.',
    media: 'application/x-jsonl',
    answer: z.string(),
    refusals: [404],
    async run(call) {
      const { deps, projectId } = call;
      const { id: batchId, outputFile } = await findBatch(call);
      const file = outputFile === null ? null : await deps.files.find(projectId, outputFile);
      const content = file && (await deps.files.stream(file));
      if (content) return new Response(content, { headers: { 'content-type': 'application/x-jsonl' } });
      throw new GatewayError(
        'not_found',
        `The batch '${batchId}' has no results: it has not ended, or its results are no longer stored.`,
      );
    },
  }),
];
