// Routes about requests: the record of one, and how one would be routed.
import { generationOf } from '../../base/runtime/ids.ts';
import { z } from 'zod';
import { generationView } from '../../accounts/ledger/index.ts';
import { GatewayError } from '../../canonical/index.ts';
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
  summary: 'The record of one request of the project: tokens, cost, attempts.',
  query: z.object({
    id: z.string('the id of a generation is required').describe('The id of an answer, of any protocol.'),
    try: z.coerce
      .number()
      .int()
      .min(1)
      .optional()
      .describe('Number of a try, of an answer in the background that was tried again. Absent: the latest.'),
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
    if (!record)
      throw new GatewayError(
        'not_found',
        `There is no generation ${JSON.stringify(query.id.slice(0, 100))} for this API key.`,
        { param: 'id' },
      );
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
  summary: 'How a request would be routed, without sending it.',
  query: z.object({
    protocol: z.string().optional().describe('That of the request, where its body does not tell.'),
    model: z.string().optional().describe('For bodies that do not name one.'),
  }),
  body: z.looseObject({}).describe('A request as its own path takes it.'),
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
