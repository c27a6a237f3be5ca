// Anthropic's Messages.
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { bodyAt, eventStream } from '../shapes.ts';

const messages = z.array(z.looseObject({ role: z.string() })).min(1);
const example = { model: 'sim/messages', messages: [{ role: 'user', content: 'What is 6 x 7?' }] };
const headers = {
  'anthropic-version': { description: 'By it clients of Anthropic are known.', example: '2023-06-01' },
};

export const MESSAGES_OPERATIONS: readonly Operation[] = [
  {
    id: 'createMessage',
    method: 'post',
    path: '/v1/messages',
    tag: 'Messages',
    summary: 'Lets a model answer a conversation, in the words of Anthropic.',
    audience: 'models',
    errors: 'anthropic',
    headers,
    body: {
      schema: bodyAt('/messages', { model: z.string().min(1), max_tokens: z.int().min(0), messages }),
      example: { ...example, max_tokens: 256 },
    },
    answers: {
      200: {
        'application/json': z.looseObject({
          id: z.string(),
          type: z.literal('message'),
          role: z.literal('assistant'),
          model: z.string(),
          content: z.array(z.looseObject({ type: z.string() })),
          stop_reason: z.string().nullable(),
          usage: z.looseObject({ input_tokens: z.int(), output_tokens: z.int() }),
        }),
        'text/event-stream': eventStream,
      },
    },
  },
  {
    id: 'countMessageTokens',
    method: 'post',
    path: '/v1/messages/count_tokens',
    tag: 'Messages',
    summary: 'Counts the tokens of a request without sending it to a model that answers.',
    audience: 'models',
    errors: 'anthropic',
    headers,
    body: { schema: bodyAt('/messages', { model: z.string().min(1), messages }), example },
    answers: { 200: z.looseObject({ input_tokens: z.int() }) },
  },
];
