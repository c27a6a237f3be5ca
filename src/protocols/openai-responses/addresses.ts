// Addresses of the Responses API for clients, and how its bodies are recognized. Stored responses have addresses of
// their own elsewhere.
import { z } from 'zod';
import { anyObject, bodyOf, eventStream } from '../members/described-shapes.ts';
import { ERROR_SHAPE } from '../openai/described-shapes.ts';
import type { ClientAddresses, ClientDescription, ClientOperation } from '../protocol.ts';
import { REQUEST_FIELDS } from './fields.ts';

const ANSWER: ClientOperation = { api: 'responses', does: 'answer' };

export const ADDRESSES: ClientAddresses = {
  routes: [
    { path: '/responses', operation: ANSWER, describes: describeResponse },
    // Clients that use the path of the operation as the base URL append it twice.
    { path: '/responses/responses', operation: ANSWER, describes: describeResponse },
    {
      path: '/responses/compact',
      operation: { api: 'responses.compact', does: 'compact' },
      describes: describeCompaction,
    },
  ],
  errors: ERROR_SHAPE,
  looksOwn: (body) => Object.hasOwn(body, 'input'),
};

/** Tag and texts that the descriptions of several operations share. */
export const tag = 'Responses';
export const bodyExample = { model: 'sim/responses', input: 'What is 6 x 7?' };
export const body = (): z.ZodType => bodyOf(REQUEST_FIELDS, { model: z.string().min(1) });

/** Schema of a response, as far as clients can rely on it. */
export const responseShape = z.looseObject({
  id: z.string(),
  object: z.literal('response'),
  created_at: z.number(),
  status: z.string(),
  model: z.string(),
  output: z.array(z.looseObject({ type: z.string() })),
});

function describeResponse(): ClientDescription {
  return {
    id: 'createResponse',
    tag,
    summary: 'Generates a response to an input, continuing a response or a conversation if named.',
    body: body(),
    bodyExample,
    answer: responseShape,
    alsoAs: { 'text/event-stream': eventStream },
    links: {
      retrieveResponse: { id: '$response.body#/id' },
      listInputItems: { id: '$response.body#/id' },
      deleteResponse: { id: '$response.body#/id' },
    },
  };
}

function describeCompaction(): ClientDescription {
  return {
    id: 'compactResponse',
    tag,
    summary: 'Replaces a long conversation by a summary.',
    body: body(),
    bodyExample,
    answer: z.looseObject({ id: z.string(), output: z.array(anyObject) }),
  };
}
