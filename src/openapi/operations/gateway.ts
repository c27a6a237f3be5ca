// The gateway itself: its models, records of requests, decisions about routes, and how it is.
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { anyObject, openaiList } from '../shapes.ts';

const model = z.looseObject({ id: z.string(), object: z.literal('model'), owned_by: z.string() });
/** In the words of Anthropic and of Google, for clients that are known by their headers. */
const anthropicModel = z.looseObject({ type: z.literal('model'), id: z.string() });
const googleModel = z.looseObject({ name: z.string() });
const foreignLists = [
  z.looseObject({ data: z.array(anthropicModel) }),
  z.looseObject({ models: z.array(googleModel) }),
];
const generation = z.looseObject({
  id: z.string(),
  model: z.string().nullable(),
  status: z.int(),
  attempts: z.array(anyObject),
});

export const GATEWAY_OPERATIONS: readonly Operation[] = [
  {
    id: 'listModels',
    method: 'get',
    path: '/v1/models',
    tag: 'Models',
    summary: 'The models that the key may use.',
    description: 'Clients of Anthropic and Google, known by their headers, get them in their own shapes.',
    audience: 'models',
    errors: 'any',
    answers: { 200: z.union([openaiList(model), ...foreignLists]) },
  },
  {
    id: 'getModel',
    method: 'get',
    path: '/v1/models/{id}',
    tag: 'Models',
    summary: 'One model, by its id or an alias.',
    audience: 'models',
    params: { id: { description: 'The id of the model.', example: 'sim%2Fchat' } },
    errors: 'any',
    answers: { 200: z.union([model, anthropicModel, googleModel]) },
    refusals: [404],
  },
  {
    id: 'listEmbeddingModels',
    method: 'get',
    path: '/v1/embeddings/models',
    tag: 'Embeddings',
    summary: 'The models that make vectors.',
    audience: 'models',
    answers: { 200: openaiList(model) },
  },
  {
    id: 'getGeneration',
    method: 'get',
    path: '/v1/generation',
    tag: 'Generations',
    summary: 'The record of one request of the project: tokens, cost, attempts.',
    audience: 'models',
    query: z.object({ id: z.string().describe('The id of an answer, of any protocol.') }),
    answers: { 200: generation },
    refusals: [404],
    alsoAt: ['/v1/management/generation', '/api/v1/management/generation'],
  },
  {
    id: 'explainRoute',
    errors: 'any',
    method: 'post',
    path: '/v1/route/explain',
    tag: 'Routing',
    summary: 'How a request would be routed, without sending it.',
    audience: 'models',
    query: z.object({
      protocol: z.string().optional().describe('That of the request, where its body does not tell.'),
      model: z.string().optional().describe('For bodies that do not name one.'),
    }),
    body: {
      schema: z.looseObject({}).describe('A request as its own path takes it.'),
      example: { model: 'sim/chat', messages: [{ role: 'user', content: 'Hello' }] },
    },
    answers: { 200: anyObject },
    refusals: [404],
  },
  {
    id: 'getRoot',
    method: 'get',
    path: '/',
    tag: 'Service',
    summary: 'Tells that a gateway is here.',
    audience: 'everybody',
    answers: { 200: z.looseObject({ name: z.literal('dragoman') }) },
  },
  {
    id: 'getHealth',
    method: 'get',
    path: '/healthz',
    tag: 'Service',
    summary: 'Whether the process lives.',
    audience: 'everybody',
    answers: { 200: z.looseObject({ status: z.literal('ok') }) },
  },
  {
    id: 'getReadiness',
    method: 'get',
    path: '/readyz',
    tag: 'Service',
    summary: 'Whether it takes requests.',
    audience: 'everybody',
    answers: { 200: z.looseObject({ status: z.string() }), 503: z.looseObject({ status: z.string() }) },
  },
  {
    id: 'getMetrics',
    method: 'get',
    path: '/metrics',
    tag: 'Service',
    summary: 'Everything that is counted, for Prometheus.',
    audience: 'admin',
    answers: { 200: { 'text/plain': z.string() } },
  },
  {
    id: 'getDescription',
    method: 'get',
    path: '/openapi.json',
    tag: 'Service',
    summary: 'This description.',
    audience: 'everybody',
    answers: { 200: z.looseObject({ openapi: z.string() }) },
  },
  {
    id: 'showReference',
    method: 'get',
    path: '/docs',
    tag: 'Service',
    summary: 'A page that shows this description.',
    audience: 'everybody',
    answers: { 200: { 'text/html': z.string() } },
    // What the page is made of.
    alsoAt: ['/docs/*'],
  },
];
