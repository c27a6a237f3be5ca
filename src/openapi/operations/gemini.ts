// Google's Gemini, and interactions, which are passed to Google.
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { anyObject, eventStream } from '../shapes.ts';

const tag = 'Gemini';
const contents = z.array(z.looseObject({ parts: z.array(anyObject).optional() }));
const example = { contents: [{ role: 'user', parts: [{ text: 'What is 6 x 7?' }] }] };
const answer = z.looseObject({ candidates: z.array(anyObject).optional() });
const params = { model: { description: 'The id of the model.', example: 'sim%2Fgemini' } };
const embedding = z.looseObject({ values: z.array(z.number()) });
const embedded = { model: { description: 'The id of the model.', example: 'sim%2Fembed' } };
const content = z.looseObject({ parts: z.array(anyObject) });
const text = { content: { parts: [{ text: 'a text' }] } };
/** One path of the router for all methods. */
const alsoAt = ['/v1beta/*', '/v1/models/*', '/api/v1/models/*', '/api/vertex-ai/*'];
const base = { method: 'post', tag, audience: 'models', errors: 'google', alsoAt } as const;

const interaction = z.looseObject({ id: z.string() });
const ofInteraction = { id: { description: 'The id of the interaction.' } };
const interactions = { tag: 'Interactions', audience: 'models', errors: 'google' } as const;

export const GEMINI_OPERATIONS: readonly Operation[] = [
  {
    ...base,
    id: 'generateContent',
    path: '/v1beta/models/{model}:generateContent',
    summary: 'Lets a model answer a conversation, in the words of Google.',
    params,
    body: { schema: z.looseObject({ contents }), example },
    answers: { 200: answer },
  },
  {
    ...base,
    id: 'streamGenerateContent',
    path: '/v1beta/models/{model}:streamGenerateContent',
    summary: 'The same as a stream of events (`alt=sse`), or as one array that grows.',
    params,
    query: z.object({ alt: z.enum(['sse', 'json']).optional() }),
    queryExample: { alt: 'sse' },
    body: { schema: z.looseObject({ contents }), example },
    answers: { 200: { 'text/event-stream': eventStream, 'application/json': z.array(answer) } },
  },
  {
    ...base,
    id: 'countTokens',
    path: '/v1beta/models/{model}:countTokens',
    summary: 'Counts the tokens of a request without sending it to a model that answers.',
    params,
    body: { schema: z.looseObject({ contents: contents.optional() }), example },
    answers: { 200: z.looseObject({ totalTokens: z.int() }) },
  },
  {
    ...base,
    id: 'embedContent',
    path: '/v1beta/models/{model}:embedContent',
    summary: 'Makes a vector of a text.',
    params: embedded,
    body: { schema: z.looseObject({ content }), example: text },
    answers: { 200: z.looseObject({ embedding }) },
  },
  {
    ...base,
    id: 'batchEmbedContents',
    path: '/v1beta/models/{model}:batchEmbedContents',
    summary: 'Makes vectors of several texts.',
    params: embedded,
    body: {
      schema: z.looseObject({ requests: z.array(z.looseObject({ content })) }),
      example: { requests: [{ model: 'models/sim/embed', ...text }] },
    },
    answers: { 200: z.looseObject({ embeddings: z.array(embedding) }) },
  },
  {
    id: 'listGeminiModels',
    method: 'get',
    path: '/v1beta/models',
    tag,
    summary: 'The models that the key may use, in the words of Google.',
    audience: 'models',
    errors: 'google',
    query: z.object({
      pageSize: z.coerce.number().int().min(1).optional(),
      pageToken: z.string().optional(),
    }),
    answers: { 200: z.looseObject({ models: z.array(z.looseObject({ name: z.string() })) }) },
  },
  {
    id: 'getGeminiModel',
    method: 'get',
    path: '/v1beta/models/{id}',
    tag,
    summary: 'One model, in the words of Google.',
    audience: 'models',
    errors: 'google',
    params: { id: { description: 'The id of the model.', example: 'sim%2Fgemini' } },
    answers: { 200: z.looseObject({ name: z.string() }) },
    refusals: [404],
  },
  {
    ...interactions,
    id: 'createInteraction',
    method: 'post',
    path: '/v1beta/interactions',
    summary: "Passes an interaction to Google. Without one of Google's models there is none.",
    body: { schema: z.looseObject({ model: z.string().min(1) }) },
    answers: { 200: { 'application/json': interaction, 'text/event-stream': eventStream } },
  },
  {
    ...interactions,
    id: 'getInteraction',
    method: 'get',
    path: '/v1beta/interactions/{id}',
    summary: 'An interaction as Google has it now.',
    params: ofInteraction,
    query: z.object({ stream: z.string().optional(), last_event_id: z.string().optional() }),
    answers: { 200: { 'application/json': interaction, 'text/event-stream': eventStream } },
    refusals: [404],
  },
  {
    ...interactions,
    id: 'deleteInteraction',
    method: 'delete',
    path: '/v1beta/interactions/{id}',
    summary: 'Deletes an interaction at Google.',
    params: ofInteraction,
    answers: { 200: anyObject },
    refusals: [404],
  },
  {
    ...interactions,
    id: 'cancelInteraction',
    method: 'post',
    path: '/v1beta/interactions/{id}/cancel',
    summary: 'Stops an interaction that runs in the background at Google.',
    params: ofInteraction,
    answers: { 200: interaction },
    refusals: [404],
  },
];
