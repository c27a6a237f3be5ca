// Addresses of Chat Completions for clients.
import { z } from 'zod';
import { bodyOf, eventStream } from '../members/described-shapes.ts';
import { ERROR_SHAPE, usage } from '../openai/described-shapes.ts';
import { UNSERVED } from '../openai/unserved.ts';
import type { ClientAddresses, ClientDescription } from '../protocol.ts';
import { REQUEST_FIELDS } from './fields.ts';

export const ADDRESSES: ClientAddresses = {
  routes: [
    {
      path: '/chat/completions',
      operation: { api: 'chat.completions', does: 'answer' },
      describes: describeChat,
    },
  ],
  unserved: UNSERVED,
  errors: ERROR_SHAPE,
};

function describeChat(): ClientDescription {
  const messages = z.array(z.looseObject({ role: z.string() })).min(1);
  return {
    id: 'createChatCompletion',
    tag: 'Chat Completions',
    summary: 'Generates a response to a conversation.',
    description: 'Bodies in the format of Responses or Messages are accepted, too.',
    body: bodyOf(REQUEST_FIELDS, { model: z.string().min(1), messages }),
    bodyExample: { model: 'sim/chat', messages: [{ role: 'user', content: 'What is 6 x 7?' }] },
    answer: z.looseObject({
      id: z.string(),
      object: z.literal('chat.completion'),
      created: z.int(),
      model: z.string(),
      choices: z.array(
        z.looseObject({ index: z.int(), message: z.looseObject({}), finish_reason: z.string() }),
      ),
      usage: usage.optional(),
    }),
    alsoAs: { 'text/event-stream': eventStream },
  };
}
