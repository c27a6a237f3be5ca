// Routes about requests: the record of one, and how one would be routed.
import { generationOf } from '../../base/runtime/ids.ts';
import { z } from 'zod';
import { generationView } from '../../accounts/ledger/index.ts';
import { notFound } from '../../canonical/index.ts';
import { findTask, withDeferredUsage } from '../../engine/index.ts';
import { anyObject, mainProtocol, type ServerCodec } from '../../protocols/index.ts';
import { explainedProtocol } from '../client-protocol.ts';
import { errorResponse } from '../reply.ts';
import { clientRoute, type ClientRoute } from './client-route.ts';

export const RECORD: ClientRoute = clientRoute({
  id: 'getGeneration',
  method: 'get',
  path: '/generation',
  tag: 'Generations',
  summary: 'Returns the record of a request: tokens, cost, attempts.',
  query: z.object({
    id: z.string('must be the id of a generation').describe('The id of a response of any protocol.'),
    try: z.coerce
      .number()
      .int()
      .min(1)
      .optional()
      .describe('Number of the try, for a background response that was retried. Absent: the latest.'),
  }),
  answer: z.looseObject({
    id: z.string(),
    try: z.int().optional(),
    tries: z.int().optional(),
    model: z.string().nullable(),
    status: z.int(),
    attempts: z.array(anyObject),
  }),
  refusals: [404],
  async run({ deps: { background, ledger }, projectId, query }) {
    const id = generationOf(query.id);
    const record = await background.record(projectId, id, query.try);
    if (!record) throw notFound('Generation', query.id, 'id');
    const { generation, attempts } = await withDeferredUsage(record.found, projectId, ledger);
    const { tries } = record;
    if (!tries) return Response.json(generationView(generation, attempts));
    // Tries of one answer are not replays of each other.
    const view = generationView({ ...generation, id, replayOf: null }, attempts);
    return Response.json({ ...view, record_id: generation.id, try: tries.number, tries: tries.of });
  },
});

/** Errors are those that the request would get. */
export const EXPLANATION: ClientRoute = clientRoute({
  id: 'explainRoute',
  method: 'post',
  path: '/route/explain',
  tag: 'Routing',
  summary: 'Explains how a request would be routed, without sending it.',
  query: z.object({
    protocol: z.string().optional().describe('Protocol of the request. Absent: detected from the body.'),
    model: z.string().optional().describe('Model of the request, for protocols whose body does not name it.'),
  }),
  body: z.looseObject({}).describe('The body of the request.'),
  bodyExample: { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] },
  answer: anyObject,
  refusals: [404],
  run({ deps, principal, query, sent: json, sentBytes: bodyChars, request, requestId }) {
    const header = (name: string): string | null => request.headers.get(name);
    let server: ServerCodec | undefined;
    try {
      // Other tasks than text are not protocols, and their bodies look like requests of one.
      const task = findTask(query.protocol);
      const protocol = task?.facts ? mainProtocol : explainedProtocol(query.protocol ?? null, json, header);
      ({ server } = protocol);
      // Gemini's bodies do not contain the model.
      const route = { model: query.model };
      return deps.gateway.explain({ protocol, route, principal, json, bodyChars, header }, task);
    } catch (error) {
      return errorResponse(deps, error, requestId, server);
    }
  },
});
