// Description of the methods that make vectors, for the description of the API. Answers nothing.
import { z } from 'zod';
import type { RouteDescription } from '../../../../base/lib/route-description.ts';
import { anyObject } from '../../../described-shapes.ts';
import { ofModel } from '../../described-methods.ts';

/** Each is below a model, whose id stands in the path. */
export function describeEmbeddings(): readonly RouteDescription[] {
  const embedding = z.looseObject({ values: z.array(z.number()) });
  const content = z.looseObject({ parts: z.array(anyObject) });
  const text = { content: { parts: [{ text: 'a text' }] } };
  const embeds = ofModel('sim%2Fembed');
  return [
    {
      ...embeds,
      id: 'embedContent',
      path: '/v1beta/models/{model}:embedContent',
      summary: 'Makes a vector of a text.',
      body: z.looseObject({ content }),
      bodyExample: text,
      answer: z.looseObject({ embedding }),
    },
    {
      ...embeds,
      id: 'batchEmbedContents',
      path: '/v1beta/models/{model}:batchEmbedContents',
      summary: 'Makes vectors of several texts.',
      body: z.looseObject({ requests: z.array(z.looseObject({ content })) }),
      bodyExample: { requests: [{ model: 'models/sim/embed', ...text }] },
      answer: z.looseObject({ embeddings: z.array(embedding) }),
    },
  ];
}
