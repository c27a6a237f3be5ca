// OpenAI's Responses: made, compacted, counted, and what is kept of them.
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { anyObject, bodyAt, deleted, eventStream, openaiList, page } from '../shapes.ts';

const tag = 'Responses';
const model = z.string().min(1);
const response = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.number(),
  status: z.string(),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
});
const example = { model: 'sim/responses', input: 'What is 6 x 7?' };
const params = { id: { description: 'The id of the response.' } };
const include = z.string().optional().describe('`include[]`: further members of the items.');

export const RESPONSES_OPERATIONS: readonly Operation[] = [
  {
    id: 'createResponse',
    method: 'post',
    path: '/v1/responses',
    tag,
    summary: 'Lets a model go on from an input, a response or a conversation.',
    audience: 'models',
    body: { schema: bodyAt('/responses', { model }), example },
    answers: { 200: { 'application/json': response, 'text/event-stream': eventStream } },
    links: {
      retrieveResponse: { id: '$response.body#/id' },
      listInputItems: { id: '$response.body#/id' },
      deleteResponse: { id: '$response.body#/id' },
    },
    // A base that ends in the name, which people forget to cut off.
    alsoAt: ['/v1/responses/responses'],
  },
  {
    id: 'openResponsesSocket',
    method: 'get',
    path: '/v1/responses',
    tag,
    summary: 'Opens a WebSocket on which each message is a request for a response.',
    audience: 'models',
    answers: { 101: null },
    refusals: [404],
  },
  {
    id: 'compactResponse',
    method: 'post',
    path: '/v1/responses/compact',
    tag,
    summary: 'Puts a summary in the place of a long conversation.',
    audience: 'models',
    body: { schema: bodyAt('/responses', { model }), example },
    answers: { 200: z.looseObject({ id: z.string(), output: z.array(anyObject) }) },
  },
  {
    id: 'countResponseTokens',
    method: 'post',
    path: '/v1/responses/input_tokens',
    tag,
    summary: 'Counts the tokens of a request without sending it to a model that answers.',
    audience: 'models',
    body: { schema: bodyAt('/responses', { model }), example },
    answers: { 200: z.looseObject({ object: z.string(), input_tokens: z.int() }) },
  },
  {
    id: 'retrieveResponse',
    method: 'get',
    path: '/v1/responses/{id}',
    tag,
    summary: 'A response that was kept, as it was or as its events.',
    audience: 'models',
    params,
    query: z.object({
      stream: z.enum(['true', 'false']).optional(),
      starting_after: z.coerce.number().int().min(0).optional(),
      'include[]': include,
    }),
    answers: { 200: { 'application/json': response, 'text/event-stream': eventStream } },
    refusals: [404],
  },
  {
    id: 'deleteResponse',
    method: 'delete',
    path: '/v1/responses/{id}',
    tag,
    summary: 'Deletes a response.',
    audience: 'models',
    params,
    answers: { 200: deleted },
    refusals: [404],
  },
  {
    id: 'listInputItems',
    method: 'get',
    path: '/v1/responses/{id}/input_items',
    tag,
    summary: 'Everything that led to a response.',
    audience: 'models',
    params,
    query: z.object({ ...page, 'include[]': include }),
    answers: { 200: openaiList(anyObject) },
    refusals: [404],
  },
  {
    id: 'cancelResponse',
    method: 'post',
    path: '/v1/responses/{id}/cancel',
    tag,
    summary: 'Refused: no response runs in the background in this version.',
    audience: 'models',
    params,
    answers: {},
    refusals: [404],
  },
];
