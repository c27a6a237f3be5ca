// API description of the methods of Gemini's models.
import { TEXTS } from '../../canonical/index.ts';
import { z } from 'zod';
import type { RouteDescription } from '../../base/lib/route-description.ts';
import { anyObject, bodyOf, eventStream } from '../members/described-shapes.ts';
import { REQUEST_FIELDS } from './fields.ts';

export const contents = z.array(z.looseObject({ parts: z.array(anyObject).optional() }));
export const bodyExample = { contents: [{ role: 'user', parts: [{ text: 'What is 6 x 7?' }] }] };

/** Returns what the methods of all models share. @param example id of a model, as in a path */
export function ofModel(example: string): Pick<RouteDescription, 'method' | 'tag' | 'params'> {
  return {
    method: 'post',
    tag: 'Gemini',
    params: { model: { description: TEXTS.modelId, example } },
  };
}

/** Describes the methods, each below a model id in the path. */
export function describeMethods(): readonly RouteDescription[] {
  const answer = z.looseObject({ candidates: z.array(anyObject).optional() });
  const generation = ofModel('sim%2Fgemini');
  return [
    {
      ...generation,
      id: 'generateContent',
      path: '/v1beta/models/{model}:generateContent',
      summary: "Generates a response to a conversation, in Google's format.",
      body: bodyOf(REQUEST_FIELDS, { contents }),
      bodyExample,
      answer,
    },
    {
      ...generation,
      id: 'streamGenerateContent',
      path: '/v1beta/models/{model}:streamGenerateContent',
      summary: 'The same as a stream of events (`alt=sse`) or as a JSON array that is sent in parts.',
      query: z.object({ alt: z.enum(['sse', 'json']).optional() }),
      queryExample: { alt: 'sse' },
      body: bodyOf(REQUEST_FIELDS, { contents }),
      bodyExample,
      answer: z.array(answer),
      alsoAs: { 'text/event-stream': eventStream },
    },
  ];
}
