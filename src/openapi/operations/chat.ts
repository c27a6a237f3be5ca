// Chat Completions, and the embeddings beside them.
import { z } from 'zod';
import type { Operation } from '../operation.ts';
import { bodyAt, eventStream, openaiList, usage } from '../shapes.ts';

const messages = z.array(z.looseObject({ role: z.string() })).min(1);

export const CHAT_OPERATIONS: readonly Operation[] = [
  {
    id: 'createChatCompletion',
    method: 'post',
    path: '/v1/chat/completions',
    tag: 'Chat Completions',
    summary: 'Lets a model answer a conversation.',
    description: 'Bodies in the form of Responses or Messages are read here as well.',
    audience: 'models',
    body: {
      schema: bodyAt('/chat/completions', { model: z.string().min(1), messages }),
      example: { model: 'sim/chat', messages: [{ role: 'user', content: 'What is 6 x 7?' }] },
    },
    answers: {
      200: {
        'application/json': z.looseObject({
          id: z.string(),
          object: z.literal('chat.completion'),
          created: z.int(),
          model: z.string(),
          choices: z.array(
            z.looseObject({ index: z.int(), message: z.looseObject({}), finish_reason: z.string() }),
          ),
          usage: usage.optional(),
        }),
        'text/event-stream': eventStream,
      },
    },
  },
  {
    id: 'createEmbeddings',
    method: 'post',
    path: '/v1/embeddings',
    tag: 'Embeddings',
    summary: 'Makes vectors of texts.',
    audience: 'models',
    body: {
      schema: z.looseObject({
        model: z.string().min(1),
        input: z.unknown().describe('A text, a list of texts, or tokens.'),
        dimensions: z.unknown().optional().describe('A positive integer.'),
        encoding_format: z.unknown().optional().describe('`float` or `base64`.'),
      }),
      example: { model: 'sim/embed', input: ['a text', 'another'] },
    },
    answers: {
      200: openaiList(
        z.looseObject({
          object: z.literal('embedding'),
          index: z.int(),
          embedding: z.union([z.array(z.number()), z.string()]),
        }),
      ),
    },
  },
];
